"""Add network files to the user's folder, and remove them again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from swapcli.core.encoding.disk_errors import write_error
from swapcli.core.encoding.text import printable, truncate
from swapcli.core.errors import ConfigError, InvalidOption
from swapcli.core.model.network import Network
from swapcli.core.records import NamedTuple
from swapcli.core.validation.argument_types import checks_arguments
from swapcli.interface.own_document import own_document
from swapcli.quoting.openers.program_setup import open_program_sources, sources_with_node

if TYPE_CHECKING:
    from os import PathLike

    from swapcli.interface.document_types import AddedNetworkJson, RemovedNetworkJson
    from swapcli.quoting.config.network_folder import NetworkFolder
    from swapcli.quoting.network_check import DefinitionFile, NetworkCheck
    from swapcli.quoting.openers.choose_source import SourceChooser

_COUNTED = ("tokens", "protocols", "deployments", "quoters", "hook_rules", "aggregators")

NetworkChange = Literal["listed", "extended", "replaced", "described"]
"""What a network file does: list a packaged network among the user's, extend or replace it, or define a new one."""


class AddedNetwork(NamedTuple):
    """The result of adding a network file: its effect, the number of its entries by key, and the node's check, if there
    was one.

    `file` is the path at which the network file is stored.
    """

    network: Network
    file: str
    change: NetworkChange
    entries: Mapping[str, int]
    check: NetworkCheck | None = None

    @own_document
    def document(self) -> AddedNetworkJson:
        """Return the JSON that `swapcli networks add` prints."""
        return {
            "network": self.network.name,
            "chainId": str(self.network.chain_id),
            "file": self.file,
            "change": self.change,
            "entries": dict(self.entries),
            "check": self.check.document() if self.check else None,
        }


class RemovedNetwork(NamedTuple):
    """The result of removing a network file. `is_packaged` means that swapcli itself includes the network, so it stays
    available."""

    network: str
    file: str
    is_packaged: bool

    @own_document
    def document(self) -> RemovedNetworkJson:
        """Return the JSON that `swapcli networks remove` prints."""
        return {"network": self.network, "file": self.file, "packaged": self.is_packaged}


@checks_arguments
def add_network(
    source: str | PathLike[str],
    *,
    replace: bool = False,
    rpc_url: str | None = None,
    settings: Mapping[str, object] | SourceChooser | None = None,
) -> AddedNetwork:
    """Add a network. `source` is the path of a network file (- for stdin), or the name of a network that swapcli
    includes.

    The file is stored beside the settings file. If `rpc_url` names a node, it must confirm the file's facts. If
    anything is wrong, nothing is stored. Raises `ConfigError`, which names the file and the line, `InvalidOption` if
    the network exists and `replace` is false, and `UpstreamError` if the node fails.
    """
    from swapcli.core.networks.definition_files import packaged_networks

    source = os.fspath(source)
    sources = sources_with_node(open_program_sources(settings), rpc_url)
    folder = _folder(sources)
    name = source.strip().lower()
    if name in packaged_networks():
        return _add_packaged(sources, folder, name, replace=replace)
    from swapcli.quoting.network_check import DefinitionFile

    text = _read(sources, source)
    network, change, content = _parse(text, source)
    _check_free(folder, network.name, replace=replace)
    check = _check(sources, network, DefinitionFile(source, text, content))
    entries = {key: len(content[key]) for key in _COUNTED if content.get(key)}
    from swapcli.quoting.config.network_files import is_json

    file = _store(folder, network.name, text, ".json" if is_json(text, source) else ".yaml")
    return AddedNetwork(network, str(file), change, entries, check)


@checks_arguments
def remove_network(
    network: str,
    *,
    confirm: Callable[[RemovedNetwork], object] | None = None,
    settings: Mapping[str, object] | SourceChooser | None = None,
) -> RemovedNetwork:
    """Remove a network's file. `confirm` is called first, and may raise an error to keep the file.

    Raises `InvalidOption` if the network has no file.
    """
    from swapcli.core.networks.definition_files import packaged_networks

    sources = open_program_sources(settings)
    folder, name = _folder(sources), network.strip().lower()
    if name not in folder.files:
        raise _without_file(sources, name)
    removed = RemovedNetwork(name, str(folder.files[name]), name in packaged_networks())
    if confirm is not None:
        confirm(removed)
    for file in folder.repeated.get(name, (folder.files[name],)):
        _delete(file)
    return removed


def _folder(sources: SourceChooser) -> NetworkFolder:
    from swapcli.state.user_folders import NO_HOME

    folder = sources.setup.settings.network_folder
    if folder.path is None or folder.path.is_relative_to(NO_HOME):
        raise ConfigError(
            "your home folder is unknown, so there is no folder for network files",
            hint="set HOME to an absolute path, or name the settings file with --config",
        )
    return folder


def _add_packaged(sources: SourceChooser, folder: NetworkFolder, name: str, *, replace: bool) -> AddedNetwork:
    from swapcli.core.networks.definition_files import interface_networks

    if name in interface_networks() or (name in folder.files and not replace):
        raise InvalidOption(f"{name} is already one of your networks", hint=f"swapcli networks show {name}")
    network = sources.networks.find(name)
    check = _check(sources, network, None)
    file = _store(folder, name, json.dumps({"name": name}) + "\n", ".json")
    return AddedNetwork(network, str(file), "listed", {}, check)


def _read(sources: SourceChooser, source: str) -> str:
    from swapcli.core.encoding.byte_order_mark import to_plain_utf8
    from swapcli.quoting.config.source_readers import MAX_BYTES

    if os.sep not in source and "." not in source and source != "-" and not os.path.exists(source):
        raise _no_such_network(source)
    content = sources.setup.read(source)
    if len(content) > MAX_BYTES:
        raise ConfigError(f"{source}: larger than {MAX_BYTES} bytes")
    try:
        return to_plain_utf8(content).decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{source}: byte {error.start} is not UTF-8") from None


def _no_such_network(name: str) -> InvalidOption:
    from swapcli.core.encoding.closest import closest_names, did_you_mean
    from swapcli.core.networks.definition_files import packaged_networks

    known = sorted(packaged_networks())
    hint = did_you_mean(closest_names(name.lower(), known)) or f"built-in networks: {', '.join(known)}"
    return InvalidOption(f'neither a file nor a network: "{printable(truncate(name, 60))}"', hint=hint)


def _parse(text: str, source: str) -> tuple[Network, NetworkChange, Mapping[str, Any]]:
    """Return the network in a file, with the effect and the content of the file."""
    from swapcli.core.networks.catalogue import NetworkFile, build_from_file
    from swapcli.core.networks.definition import is_whole, network_name_of
    from swapcli.core.networks.definition_files import packaged_networks
    from swapcli.quoting.config.network_files import name_line, parse_network_file
    from swapcli.quoting.config.networks import check_parts

    content = parse_network_file(text, source)
    try:
        name = network_name_of(content, source)
        network = build_from_file(name, NetworkFile(source, lambda: content))
        check_parts(content, source)
    except ConfigError as error:
        name_line(error, source, text)
        raise
    assert isinstance(content, Mapping)
    if name not in packaged_networks():
        return network, "described", content
    return network, "replaced" if is_whole(content) else "extended", content


def _check_free(folder: NetworkFolder, name: str, *, replace: bool) -> None:
    if name in folder.files and not replace:
        raise InvalidOption(f"{folder.files[name]} already describes {name}", hint="--replace replaces it")


def _check(sources: SourceChooser, network: Network, file: DefinitionFile | None) -> NetworkCheck | None:
    """Have the command line's node, if any, confirm a network. Raises `ConfigError` if it does not."""
    if sources.setup.rpc_url is None:
        return None
    from swapcli.quoting.network_check import require_confirmed

    return require_confirmed(sources, network, file)


def _store(folder: NetworkFolder, name: str, text: str, suffix: str) -> Path:
    from swapcli.state.file_writing import OWNER_ONLY, write_text_file

    assert folder.path is not None
    file = folder.path / f"{name}{suffix}"
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise write_error(str(folder.path), error) from error
    write_text_file(str(file), text, mode=OWNER_ONLY)
    for other in folder.repeated.get(name, (folder.files[name],) if name in folder.files else ()):
        if other != file:
            _delete(other)
    return file


def _delete(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise write_error(str(file), error) from error


def _without_file(sources: SourceChooser, name: str) -> InvalidOption:
    from swapcli.core.networks.definition_files import packaged_networks

    shown = printable(truncate(name, 60))
    if name in sources.setup.settings.networks:
        return InvalidOption(f"{shown} is described in the settings file", hint=f"remove networks.{shown} there")
    if name in packaged_networks():
        return InvalidOption(f"{shown} is built in and has no network file")
    sources.networks.find(name)  # raises for an unknown one
    return InvalidOption(f"{shown} has no network file", hint="use the network's name, not its chain ID")
