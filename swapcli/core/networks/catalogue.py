"""Look up a network by name or chain ID. A network is a file in `definitions/`: adding one requires no code.

A user may describe more networks, or add tokens, routers and the like to the packaged ones, in network files (`files`,
by name) and in the `networks` section of the settings (`added`, name -> mapping), which override the files. Files and
settings are read only for the requested network.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType

from swapcli.core.errors import ConfigError, InvalidAddress, UnknownNetwork
from swapcli.core.model.network import Network
from swapcli.core.model.token import Token
from swapcli.core.networks.address import without_chain
from swapcli.core.networks.definition import extend_network, is_whole, parse_network, require_same_network
from swapcli.core.networks.definition_files import interface_networks, packaged_networks, read_definition
from swapcli.core.records import NamedTuple

__all__ = [
    "NetworkFile",
    "all_network_names",
    "build_from_file",
    "extend_network",
    "find_network",
    "find_network_by_chain_id",
    "network_names",
    "own_contracts",
    "own_tokens",
    "parse_network",
]

_CHAIN_ID = re.compile(r"[0-9]{1,78}|0x[0-9a-f]{1,64}")
_NOTHING: Mapping[str, object] = MappingProxyType({})


class NetworkFile(NamedTuple):
    """A file that describes a network or extends a packaged one.

    `place` names the file in errors, and `read` returns its content.
    """

    place: str
    read: Callable[[], object]


_NO_FILES: Mapping[str, NetworkFile] = MappingProxyType({})


def find_network(
    name: str, added: Mapping[str, object] = _NOTHING, files: Mapping[str, NetworkFile] = _NO_FILES
) -> Network:
    """Return the network with this name, in any letter case, or with this chain ID (decimal, or hex with 0x).

    Raises `UnknownNetwork` with close matches in the hint and all names in the details, and `ConfigError` if the
    configuration of the network is invalid.
    """
    requested = name.strip().lower()
    if requested in all_network_names((*added, *files)):
        return _build_network(requested, added, files)
    chain_id = _parse_chain_id(requested)
    if chain_id is not None:
        return find_network_by_chain_id(chain_id, added, files)
    return _raise_unknown(name, requested, (*added, *files))


def own_tokens(network: Network) -> tuple[Token, ...]:
    """Return the tokens that a user's configuration adds to the packaged network or describes differently."""
    packaged = _packaged_part(network)
    return tuple(token for token in network.tokens if packaged is None or token not in packaged.tokens)


def own_contracts(network: Network) -> dict[str, str]:
    """Return the contracts in a user's configuration, by address, with the role and the name of each, for people.

    Routers are not included: whether a router has code is checked before it is called.
    """
    packaged = _packaged_part(network)
    own = {
        address: f"the {role.replace('_', ' ')} of {deployment.name}"
        for deployment in network.deployments
        if packaged is None or deployment not in packaged.deployments
        for role, address in deployment.addresses.items()
    }
    if network.multicall and (packaged is None or network.multicall != packaged.multicall):
        own[network.multicall] = "the multicall"
    return own


def _packaged_part(network: Network) -> Network | None:
    """Return the packaged network that a user's configuration may extend; None if it describes the network in full."""
    return _load_packaged(network.name) if network.name in packaged_networks() else None


def network_names(added: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names of the networks to use if none is named: the networks in the Fibrous API, and the added ones.

    The names are in lower case and alphabetical order.
    """
    return _sorted_names(interface_networks(), added)


def all_network_names(added: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names of all known networks, in lower case and alphabetical order."""
    return _sorted_names(packaged_networks(), added)


def find_network_by_chain_id(
    chain_id: int, added: Mapping[str, object] = _NOTHING, files: Mapping[str, NetworkFile] = _NO_FILES
) -> Network:
    """Return the network with this chain ID: from the settings, packaged, or from a file, in this order.

    No file is read if the network is already known. Raises `UnknownNetwork`.
    """
    names = all_network_names((*added, *files))
    own = {str(name).lower() for name in added} - packaged_networks()
    for name in sorted(names, key=lambda each: (each not in own, each not in packaged_networks())):
        if _read_chain_id(name, added, files) == chain_id:
            return _build_network(name, added, files)
    raise UnknownNetwork(
        f"no network has chain ID {chain_id}",
        hint=f"known networks: {', '.join(names)}",
        details={"network": str(chain_id), "networks": list(names)},
    )


def build_from_file(name: str, file: NetworkFile) -> Network:
    """Return the network that a file describes or, if it extends a packaged one, the extended network. Raises
    `ConfigError`.

    A file with the `name` of a packaged network extends it; with `native`, it is complete and replaces it.
    """
    content = file.read()
    require_same_network(content, file.place, name)
    if name not in packaged_networks():
        if not is_whole(content):
            raise _not_whole(name, file.place)
        network = parse_network(content, file.place)
    else:
        packaged = _load_packaged(name)
        require_same_network(content, file.place, name, packaged.chain_id)
        if is_whole(content):
            network = parse_network(content, file.place)
        else:
            content = _without_chain(content, packaged, file.place)
            network = extend_network(packaged, content, file.place, is_file=True)
    _check_lazy_parts(network, content, file.place)
    return network


def _not_whole(name: str, place: str) -> ConfigError:
    from swapcli.core.encoding.closest import closest_names, did_you_mean

    error = ConfigError(
        f'"{name}" is not a built-in network, and a new network needs chain_id and native',
        hint=did_you_mean(closest_names(name, packaged_networks())) or "swapcli help networks has an example",
        details={"key": f"{place}.name"},
    )
    error.place = f"{place}.name"
    return error


def _sorted_names(packaged: frozenset[str], added: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({*packaged, *(str(name).lower() for name in added)}))


def _build_network(name: str, added: Mapping[str, object], files: Mapping[str, NetworkFile]) -> Network:
    given = [(label, mapping) for label, mapping in added.items() if str(label).lower() == name]
    if name in files:
        known = build_from_file(name, files[name])
    elif name in packaged_networks():
        known = _load_packaged(name)
    else:
        label, mapping = given.pop(0)
        described = {**mapping, "name": name} if isinstance(mapping, Mapping) else mapping
        known = parse_network(described, f"networks.{label}")
        _check_lazy_parts(known, mapping, f"networks.{label}")
    for label, each in given:
        mapping = _without_chain(each, known, f"networks.{label}")
        known = extend_network(known, mapping, f"networks.{label}")
        _check_lazy_parts(known, mapping, f"networks.{label}")
    return known


def _without_chain(value: object, network: Network, where: str) -> object:
    """Return a user's addition to a network with plain addresses in place of those that name their chain, as in
    `base:0x...`.

    Raises `ConfigError` for an address on a different chain.
    """
    if isinstance(value, Mapping):
        pairs = ((_without_chain(key, network, where), key, each) for key, each in value.items())
        return {name: _without_chain(each, network, f"{where}.{key}") for name, key, each in pairs}
    if isinstance(value, list):
        return [_without_chain(each, network, f"{where}[{place}]") for place, each in enumerate(value)]
    try:
        return without_chain(value, network) if isinstance(value, str) else value
    except InvalidAddress as error:
        problem = ConfigError(error.message, hint=error.hint, details={"key": where})
        problem.place = where
        raise problem from None


def _check_lazy_parts(network: Network, mapping: object, where: str) -> None:
    """Raise `ConfigError` for mistakes in the user's quoters and hook rules, which only reading from nodes parses."""
    if not isinstance(mapping, Mapping):
        return
    if mapping.get("quoters"):
        from swapcli.core.networks.quoter_definitions import parse_quoters

        parse_quoters(network, where)
    if mapping.get("hook_rules"):
        from swapcli.core.networks.hook_rules import parse_hook_rules

        parse_hook_rules(network, where)


def _read_chain_id(name: str, added: Mapping[str, object], files: Mapping[str, NetworkFile]) -> int:
    if name in packaged_networks():
        return int(read_definition(name)["chain_id"])
    return _build_network(name, added, files).chain_id


@lru_cache
def _load_packaged(name: str) -> Network:
    return parse_network(read_definition(name), f"{name}.json")


def _parse_chain_id(text: str) -> int | None:
    return int(text, 16 if text.startswith("0x") else 10) if _CHAIN_ID.fullmatch(text) else None


def _raise_unknown(name: str, requested: str, added: Iterable[str]) -> Network:
    from swapcli.core.encoding.closest import closest_names, did_you_mean

    names = all_network_names(added)
    closest = closest_names(requested, names)
    hint = did_you_mean(closest) or f"known networks: {', '.join(names)}"
    details = {"network": name, "networks": list(names), "closest": closest}
    raise UnknownNetwork(f'no network "{name}"', hint=hint, details=details)
