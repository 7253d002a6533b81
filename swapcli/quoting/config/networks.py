"""Networks with the user's files and settings applied: different nodes and routers, more tokens, new networks.

`networks.NAME` in the settings holds `rpc_url`, `router` and other additions to a known network, or a new network in
full. A network file (`network_files`) can do the same; the settings override it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from swapcli.core.errors import ConfigError, UnknownNetwork
from swapcli.core.model.network import AUTO, DIALECTS, FIBROUS, Network
from swapcli.core.plugins import NETWORK_GROUP, is_plugin, plugins, skipped_plugin
from swapcli.interface.value_types import NODE_URL, PUBLIC_URLS, ValueType
from swapcli.payload.dialects import has_dialects
from swapcli.quoting.config.network_folder import NetworkFolder
from swapcli.quoting.config.settings import NETWORK_TABLE, NETWORKS, NetworkSettings, Settings
from swapcli.quoting.config.source_readers import RawValue

if TYPE_CHECKING:
    from swapcli.core.networks.catalogue import NetworkFile
    from swapcli.core.networks.definition_fields import DefinitionFields


def networks_from(settings: Settings) -> Callable[[str], Network]:
    """Return the function that finds a network by name or chain id in the catalogue, files and settings. It raises
    `UnknownNetwork`.

    The network's router is the one for the dialect in the settings, unless the settings leave the choice to each quote.
    A network file is read when its network is requested. An error in the file raises `ConfigError` with the file and
    the line.
    """
    added = {name: _described(each) for name, each in settings.networks.items()}
    files = {**_plugin_files(settings), **_files_of(settings.network_folder)}
    checked: set[str] = set()

    def find(name: str) -> Network:
        try:
            network = _find_with_plugins(name, added, files)
            file = files.get(network.name)
            if file is not None and network.name not in checked:
                check_parts(file.read(), file.place)
                checked.add(network.name)
        except ConfigError as error:
            if files:
                from swapcli.quoting.config.network_files import name_line

                for each in files.values():
                    name_line(error, each.place)
            raise
        return _with_dialect(network, settings, file)

    return find


def described_network(settings: Settings, name: str) -> Network:
    """Return a network as defined by definitions, files and settings, without the nodes in the settings.

    Raises the same errors as the function that `networks_from` returns.
    """
    found = networks_from(settings)(name)
    without_nodes = {
        label: _described(each._replace(rpc_url=None, rpc_urls=None, public_rpc_urls=None))
        for label, each in settings.networks.items()
    }
    files = {**_plugin_files(settings), **_files_of(settings.network_folder)}
    return _find_with_plugins(found.name, without_nodes, files)


def _files_of(folder: NetworkFolder) -> dict[str, NetworkFile]:
    """Return the readers of the user's network files, by network name."""
    if not folder.files:
        return {}
    from swapcli.quoting.config.network_files import network_files

    return network_files(folder)


def _plugin_files(settings: Settings) -> dict[str, NetworkFile]:
    """Return the readers of definitions from packages that the settings extend, by network name."""
    known = _all_names(settings.network_folder.files) if settings.networks else ()
    files: dict[str, NetworkFile] = {}
    for name, each in settings.networks.items():
        if name not in known and "chain_id" not in each.additions:
            from swapcli.quoting.config.plugin_networks import plugin_network_file

            file = plugin_network_file(name, check_parts)
            if file is not None:
                files[name] = file
    return files


def _find_with_plugins(name: str, added: Mapping[str, object], files: dict[str, NetworkFile]) -> Network:
    """Find a network as `find_network`, also in installed packages; a package's definition is added to `files`.

    Packages are searched by name only: a search by chain id would have to import all of them.
    """
    from swapcli.core.networks.catalogue import find_network

    try:
        return find_network(name, added, files)
    except UnknownNetwork as error:
        from swapcli.quoting.config.plugin_networks import plugin_network_file

        requested = name.strip().lower()
        file = plugin_network_file(requested, check_parts)
        if file is None:
            raise _with_plugin_names(error, requested) from None
        network = find_network(requested, added, {**files, requested: file})
        files[requested] = file
        return network


def _with_plugin_names(error: UnknownNetwork, requested: str) -> UnknownNetwork:
    """Return the error for an unknown network, with the names that packages define, or why a package was skipped."""
    from swapcli.core.encoding.closest import closest_names, did_you_mean

    skipped, added = skipped_plugin(NETWORK_GROUP, requested), plugins(NETWORK_GROUP)
    if not added:
        return UnknownNetwork(error.message, hint=skipped or error.hint, details=error.details)
    names = sorted({*cast("list[str]", error.details["networks"]), *added})
    closest = closest_names(requested, names)
    hint = skipped or did_you_mean(closest) or f"known networks: {', '.join(names)}"
    return UnknownNetwork(error.message, hint=hint, details={**error.details, "networks": names, "closest": closest})


def _with_dialect(network: Network, settings: Settings, file: NetworkFile | None) -> Network:
    """Return a network with the router dialect in the settings.

    With `auto`, the choice is left to quotes, unless the settings or the network's file name a router.
    """
    if settings.router_dialect != AUTO:
        return network.for_dialect(settings.router_dialect)
    own = settings.networks.get(network.name)
    if own and own.router_dialect != AUTO and (own.router or own.router_dialect):
        return network
    if (own is None or own.router_dialect != AUTO) and file is not None and _names_router(file.read()):
        return network
    if not has_dialects(network) or network.router_dialect not in DIALECTS:
        return network  # quotes choose among swapcli's own routers, not those with a package's dialect
    # A definition may name a router of any dialect as the network's; it is then one of those to choose from.
    return network.for_dialect(FIBROUS)._replace(chooses_router=True)


def _names_router(content: object) -> bool:
    """Return whether a network file names a router for a network in the catalogue."""
    from swapcli.core.networks.definition import is_whole

    if not isinstance(content, Mapping) or is_whole(content):
        return False
    return bool(content.get("router") or content.get("router_dialect"))


def network_names_from(settings: Settings, *, everything: bool = False) -> tuple[str, ...]:
    """Return the names of the Fibrous API's networks and of the networks in the user's files and settings, in
    alphabetical order.

    With `everything`, the names of the program's other networks are included. A network from a package that the
    settings extend is included unless it is skipped.
    """
    from swapcli.core.networks.catalogue import all_network_names, network_names

    skipped = [name for name, file in _plugin_files(settings).items() if _is_skipped(file)]
    own = (*settings.network_folder.files, *(name for name in settings.networks if name not in skipped))
    return all_network_names(own) if everything else network_names(own)


def _is_skipped(file: NetworkFile) -> bool:
    """Return whether the package of a network was skipped; a warning has said so."""
    try:
        file.read()
    except UnknownNetwork:
        return True
    return False


def known_names(given: Mapping[str, RawValue], folder: NetworkFolder) -> tuple[str, ...]:
    """Return the names of the networks in the catalogue, in the user's files, and in `given`."""
    return _all_names((*folder.files, *_names(given)))


def check_parts(content: object, where: str) -> None:
    """Check the parts of a user's definition that only this layer can check: families, contract kinds, nodes,
    aggregators.

    Raises `ConfigError`, which names the place, starting from `where`.
    """
    from swapcli.core.networks.definition_fields import DefinitionFields
    from swapcli.core.validation.values import parse_object

    fields = DefinitionFields(content, where)
    for path, item in fields.optional_items("protocols"):
        _check_protocol(DefinitionFields(item, path))
    for path, item in fields.optional_items("rpc_urls"):
        if isinstance(item, Mapping):
            _check_node(fields, f"{path}.url", [item.get("url")], PUBLIC_URLS)
        else:
            _check_node(fields, path, item, NODE_URL)
    for path, item in fields.optional_items("public_rpc_urls"):
        _check_node(fields, path, [item], PUBLIC_URLS)
    if fields.has("aggregators"):
        from swapcli.quoting.aggregators.adapter_definitions import find_adapter

        for name, path, value in fields.members("aggregators"):
            try:
                find_adapter(name, {name: fields.parse(path, value, parse_object)})
            except ConfigError as error:
                error.place = f"{where}.{error.place}" if error.place else path
                if "key" in error.details:
                    error.details["key"] = f"{where}.{error.details['key']}"
                raise


def _check_protocol(protocol: DefinitionFields) -> None:
    from swapcli.families import family_names, is_family, is_kind, kind_names

    family = protocol.optional_text("family")
    if family is not None and not is_family(family):
        raise protocol.unknown(protocol.path_of("family"), "family", family, sorted(family_names()))
    for path, kind in protocol.optional_items("contracts"):
        if not isinstance(kind, str) or not is_kind(kind):
            raise protocol.unknown(path, "kind of contract", kind, sorted(kind_names()))


def _check_node(fields: DefinitionFields, path: str, value: object, value_type: ValueType[Any]) -> None:
    """Check the URL of a node. It may hold a key, so the error does not repeat it."""
    try:
        value_type.parse(value)
    except ValueError:
        raise fields.failure(path, value_type.problem(value, is_secret=True)) from None


def read_networks(
    given: Mapping[str, RawValue], values: Mapping[str, Any], folder: NetworkFolder
) -> dict[str, NetworkSettings]:
    """Return the settings of each network, checked by building the network. `values` holds the parsed values of
    `given`."""
    networks = {}
    for name in _names(given):
        key = f"{NETWORKS}.{name}"
        whole = given.get(key)
        members = dict(cast(Mapping[str, object], whole.value)) if whole else {}
        networks[name] = NetworkSettings(
            rpc_url=values.get(f"{key}.rpc_url"),
            rpc_headers=values.get(f"{key}.rpc_headers"),
            public_rpc_urls=values.get(f"{key}.public_rpc_urls"),
            router=values.get(f"{key}.router"),
            router_dialect=values.get(f"{key}.router_dialect"),
            rpc_urls=values.get(f"{key}.rpc_urls"),
            additions={member: value for member, value in members.items() if member not in NETWORK_TABLE},
        )
        _check(name, networks[name], given, folder)
    return networks


def _described(settings: NetworkSettings) -> dict[str, object]:
    """Return the settings in the form of catalogue definitions."""
    described = dict(settings.additions)
    urls = [url.reveal() for url in (settings.rpc_url, *(settings.rpc_urls or ())) if url]
    if urls:
        described["rpc_urls"] = urls
    if settings.public_rpc_urls:
        described["public_rpc_urls"] = [url.reveal() for url in settings.public_rpc_urls]
    if settings.router:
        described["router"] = settings.router
    if settings.router_dialect not in (None, AUTO):
        described["router_dialect"] = settings.router_dialect
    return described


def _names(given: Mapping[str, RawValue]) -> list[str]:
    """Return the networks that have a key, in order of first appearance."""
    keys = (key.split(".") for key in given)
    return list(dict.fromkeys(parts[1] for parts in keys if parts[0] == NETWORKS))


def _all_names(added: Iterable[str]) -> tuple[str, ...]:
    from swapcli.core.networks.catalogue import all_network_names

    return all_network_names(added)


def _check(name: str, settings: NetworkSettings, given: Mapping[str, RawValue], folder: NetworkFolder) -> None:
    """Build the network if its settings contain more than nodes. Raises `ConfigError`, which names the source."""
    key = f"{NETWORKS}.{name}"
    source = next(each for each_key, each in given.items() if f"{each_key}.".startswith(f"{key}."))
    if name not in _all_names(folder.files) and "chain_id" not in settings.additions:
        if is_plugin(NETWORK_GROUP, name):
            return  # checked when the network is used, as its package is not imported before
        raise _unknown(name, source, folder)
    if not (settings.additions or settings.router or settings.router_dialect):
        return  # nodes are checked already
    from swapcli.core.networks.catalogue import find_network

    described = _described(settings)
    files = _files_of(folder)
    try:
        find_network(name, {name: described}, files)
        check_parts(settings.additions, key)
    except ConfigError as error:
        if name in files and error.place is not None and error.place.startswith(files[name].place):
            from swapcli.quoting.config.network_files import name_line

            name_line(error, files[name].place)
            raise
        raw = given.get(error.place or "", source)
        if raw.source is not None:
            from swapcli.quoting.config.file_lines import place_error

            place_error(error, raw.source.path, raw.source.lines())
        else:
            error.place = raw.place if error.place in given else source.place.removesuffix(key) + (error.place or "")
        raise


def _unknown(name: str, source: RawValue, folder: NetworkFolder) -> ConfigError:
    from swapcli.core.encoding.closest import closest_names, did_you_mean

    closest = closest_names(name, _all_names(()), limit=1)
    new = "a new network needs chain_id and native: see swapcli help networks"
    if source.source is not None and folder.path is not None:
        new = f"{new}; networks added to this settings file are in {folder.path}"
    return ConfigError(
        f'{source.lined_place}: unknown network "{name}"',
        hint=f"{did_you_mean(closest)} Otherwise: {new}" if closest else new,
        details={"key": f"{NETWORKS}.{name}", "closest": closest},
    )
