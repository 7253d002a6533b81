"""Read network files: definitions in the user's `network_folder`. A file is read only when its network is requested."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn

from swapcli.core.errors import ConfigError
from swapcli.core.plugins import NETWORK_GROUP, plugins
from swapcli.quoting.config.network_folder import JSON_SUFFIX, YAML_SUFFIXES, NetworkFolder
from swapcli.quoting.config.source_readers import read_text, without_line_ends

if TYPE_CHECKING:
    from pathlib import Path

    from swapcli.core.networks.catalogue import NetworkFile
    from swapcli.quoting.config.settings import Settings


def network_files(folder: NetworkFolder) -> dict[str, NetworkFile]:
    """Return the readers of the network files, by network name. Each file is read once."""
    return {name: open_network_file(path, folder.repeated.get(name, ())) for name, path in folder.files.items()}


def open_network_file(path: Path, repeated: tuple[Path, ...] = ()) -> NetworkFile:
    """Return the reader of a network file. Reading raises `ConfigError`, which names the file and the line."""
    from swapcli.core.networks.catalogue import NetworkFile

    content: list[object] = []

    def read() -> object:
        if repeated:
            names = ", ".join(each.name for each in repeated)
            raise ConfigError(f"{path.parent}: {names} describe the same network", hint="keep one of them")
        if not content:
            content.append(parse_network_file(read_network_text(path), str(path)))
        return content[0]

    return NetworkFile(str(path), read)


def described_by(name: str, settings: Settings) -> Iterator[str]:
    """Yield the sources that describe a network, each overriding the one before: the program or a package, a file, the
    settings file."""
    from swapcli.core.networks.definition_files import packaged_networks

    if name in packaged_networks():
        yield "program"
    elif name not in settings.network_folder.files and name in plugins(NETWORK_GROUP):
        yield f"package {plugins(NETWORK_GROUP)[name].origin}"
    if name in settings.network_folder.files:
        yield f"file {settings.network_folder.files[name]}"
    if name in settings.networks:
        yield "settings"


def parse_network_file(text: str, name: str) -> object:
    """Return the content of the network file called `name`. Raises `ConfigError`, which names the file and the line."""
    if is_json(text, name):
        return _parse_json(text, name)
    from swapcli.quoting.config.yaml_parser import parse_yaml

    return without_line_ends(parse_yaml(text, name))


def is_json(text: str, name: str) -> bool:
    """Return whether a network file is JSON, judged by its extension, otherwise by its first character."""
    return name.endswith(JSON_SUFFIX) or (not name.endswith(YAML_SUFFIXES) and text.lstrip()[:1] == "{")


def name_line(error: ConfigError, file_name: str, text: str | None = None) -> None:
    """Prefix an error about a key in a network file with `FILE:LINE: KEY`. Other errors stay unchanged.

    `text` is the file's content. Without it, the file is read.
    """
    if error.place is None or not error.place.startswith(file_name):
        return
    from pathlib import Path

    from swapcli.quoting.config.file_lines import place_error

    place_error(
        error,
        file_name,
        lines_of(read_network_text(Path(file_name)) if text is None else text, file_name),
        root=file_name,
    )


def lines_of(text: str, name: str) -> dict[str, int]:
    """Return the lines of a network file's keys, by path."""
    if is_json(text, name):
        from swapcli.quoting.config.file_lines import json_lines

        return dict(json_lines(text))
    from swapcli.quoting.config.yaml_parser import lines_of_yaml

    return lines_of_yaml(text)


def read_network_text(path: Path) -> str:
    """Return the text of a network file. Raises `ConfigError`."""
    try:
        return read_text(path)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: byte {error.start} is not UTF-8") from None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {getattr(error, 'strerror', None) or error}") from None


class _Repeated(Exception):
    """A key occurs twice in an object of a JSON text."""


def _parse_json(text: str, name: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{name}:{error.lineno}: not JSON: {error.msg}", details={"line": error.lineno}) from None
    except _Repeated:
        from swapcli.quoting.config.file_lines import RepeatedKey, json_lines

        try:
            for _ in json_lines(text):
                pass
        except RepeatedKey as repeated:
            problem = f'the key "{repeated.key}" appears twice'
            raise ConfigError(f"{name}:{repeated.line}: {problem}", details={"line": repeated.line}) from None
        raise
    except RecursionError:
        raise ConfigError(f"{name}: nested too deeply") from None
    except ValueError as error:
        raise ConfigError(f"{name}: not JSON: {error}") from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _Repeated
    return members


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")
