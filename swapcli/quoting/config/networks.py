"""Networks as the user's settings extend them: other nodes and routers, more tokens, whole networks.

`networks.NAME` holds `rpc_url`, `router` and further additions to a known network, or a new network in full.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from swapcli.core.encoding.secret import Secret
from swapcli.core.errors import ConfigError
from swapcli.core.model.network import AUTO, Network
from swapcli.interface.value_types import NODE_URL
from swapcli.payload.dialects import has_dialects
from swapcli.quoting.config.settings import NETWORK_TABLE, NETWORKS, NetworkSettings, Settings
from swapcli.quoting.config.source_readers import RawValue


def networks_from(settings: Settings) -> Callable[[str], Network]:
    """Look a network up by name or chain id, in the catalogue and the user's settings. Raises `UnknownNetwork`.

    Its router is that of the dialect in the settings, which may leave it to quotes.
    """
    from swapcli.core.networks.catalogue import find_network

    added = {name: _described(each) for name, each in settings.networks.items()}

    def find(name: str) -> Network:
        return _with_dialect(find_network(name, added), settings)

    return find


def _with_dialect(network: Network, settings: Settings) -> Network:
    """Return a network with the router dialect of the settings.

    With `auto`, the choice is left to quotes, unless the settings of the network name a router.
    """
    if settings.router_dialect != AUTO:
        return network.for_dialect(settings.router_dialect)
    own = settings.networks.get(network.name)
    if own and own.router_dialect != AUTO and (own.router or own.router_dialect):
        return network
    return network._replace(chooses_router=has_dialects(network))


def network_names_from(settings: Settings) -> tuple[str, ...]:
    """Return the names of the interface's networks and those of the user's settings, in alphabetical order."""
    from swapcli.core.networks.catalogue import network_names

    return network_names(settings.networks)


def known_names(given: Mapping[str, RawValue]) -> tuple[str, ...]:
    """Return the names of the catalogue and of the networks that `given` mentions."""
    return _all_names(dict.fromkeys(_names(given)))


def read_networks(given: Mapping[str, RawValue], values: Mapping[str, Any]) -> dict[str, NetworkSettings]:
    """Return the settings of each network, checked by building it. `values` holds the parsed values of `given`."""
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
            rpc_urls=_node_urls(members.pop("rpc_urls", []), f"{whole.place}.rpc_urls" if whole else ""),
            additions={member: value for member, value in members.items() if member not in NETWORK_TABLE},
        )
        _check(name, networks[name], given)
    return networks


def _described(settings: NetworkSettings) -> dict[str, object]:
    """Return the settings in the form of the catalogue's definitions."""
    described = dict(settings.additions)
    urls = [url.reveal() for url in (settings.rpc_url, *settings.rpc_urls) if url]
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


def _all_names(added: Mapping[str, object]) -> tuple[str, ...]:
    from swapcli.core.networks.catalogue import all_network_names

    return all_network_names(added)


def _node_urls(value: object, place: str) -> tuple[Secret, ...]:
    """Parse the list of nodes. An error of the catalogue would show a wrong URL, which may hold a key."""
    try:
        return tuple(NODE_URL.parse(url) for url in (value if isinstance(value, list) else [None]))
    except ValueError:
        raise ConfigError(f"{place}: expected a list, each entry {NODE_URL.expected}") from None


def _check(name: str, settings: NetworkSettings, given: Mapping[str, RawValue]) -> None:
    """Build the network. Raises `ConfigError` that names the source."""
    from swapcli.core.networks.catalogue import find_network

    key = f"{NETWORKS}.{name}"
    source = next(each for each_key, each in given.items() if f"{each_key}.".startswith(f"{key}."))
    if name not in _all_names({}) and "chain_id" not in settings.additions:
        raise _unknown(name, source)
    try:
        find_network(name, {name: _described(settings)})
    except ConfigError as error:
        place = error.place or ""
        error.place = given[place].place if place in given else source.place.removesuffix(key) + place
        raise


def _unknown(name: str, source: RawValue) -> ConfigError:
    from swapcli.core.encoding.closest import closest_names, did_you_mean

    closest = closest_names(name, _all_names({}), limit=1)
    new = "a new network needs chain_id, native, wrapped_native, tokens and protocols in the settings file"
    return ConfigError(
        f'{source.place}: there is no network "{name}"',
        hint=f"{did_you_mean(closest)} Else: {new}" if closest else new,
        details={"key": f"{NETWORKS}.{name}", "closest": closest},
    )
