"""Networks as the user's settings extend them: other nodes and routers, more tokens, whole networks.

`networks.NAME` holds `rpc_url`, `router` and whatever the catalogue lets a known network add, or a new network in full.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from swapcli.config.kinds import NODE_URL
from swapcli.config.settings import NETWORKS, NetworkSettings, Settings
from swapcli.config.sources import Given
from swapcli.errors import ConfigError
from swapcli.model.network import Network


def networks_from(settings: Settings) -> Callable[[str], Network]:
    """Look a network up by name or chain id, in the catalogue and the user's settings. Raises `UnknownNetwork`."""
    from swapcli.networks.catalogue import network

    added = {name: each.additions for name, each in settings.networks.items()}
    return lambda name: network(name, added)


def network_names_from(settings: Settings) -> tuple[str, ...]:
    """The names of all networks, those of the user's settings included, in alphabetical order."""
    return _all_names(settings.networks)


def known_names(given: Mapping[str, Given]) -> tuple[str, ...]:
    """The names of the catalogue and of those networks that `given` mentions."""
    return _all_names(dict.fromkeys(_names(given)))


def read_networks(given: Mapping[str, Given], values: Mapping[str, Any]) -> dict[str, NetworkSettings]:
    """What the sources say of each network, checked by building it. `values` holds what `given` means."""
    networks = {}
    for name in _names(given):
        key = f"{NETWORKS}.{name}"
        rpc_url, router = values.get(f"{key}.rpc_url"), values.get(f"{key}.router")
        additions = _additions(given.get(key))
        if rpc_url:
            additions["rpc_urls"] = [rpc_url.reveal(), *cast(list[str], additions.get("rpc_urls", []))]
        if router:
            additions["router"] = router
        _check(name, additions, given)
        networks[name] = NetworkSettings(rpc_url, router, additions)
    return networks


def _names(given: Mapping[str, Given]) -> list[str]:
    """The networks that have a key, in order of first appearance."""
    keys = (key.split(".") for key in given)
    return list(dict.fromkeys(parts[1] for parts in keys if parts[0] == NETWORKS))


def _all_names(added: Mapping[str, object]) -> tuple[str, ...]:
    from swapcli.networks.catalogue import network_names

    return network_names(added)


def _additions(whole: Given | None) -> dict[str, object]:
    """The mapping that a file holds for a network, less the settings of their own."""
    if whole is None:
        return {}
    additions = {key: value for key, value in cast(dict[str, object], whole.value).items() if key != "rpc_url"}
    urls = additions.get("rpc_urls", [])
    try:
        for url in cast(list[object], urls) if isinstance(urls, list) else [None]:
            NODE_URL.read(url)
    except ValueError:
        # The catalogue would repeat what it found, and an address of a node may hold a key.
        raise ConfigError(f"{whole.place}.rpc_urls: expected a list, each entry {NODE_URL.expected}") from None
    return additions


def _check(name: str, additions: Mapping[str, object], given: Mapping[str, Given]) -> None:
    """Build the network, and let an error name the source."""
    from swapcli.networks.catalogue import network

    key = f"{NETWORKS}.{name}"
    source = next(each for each_key, each in given.items() if f"{each_key}.".startswith(f"{key}."))
    if name not in _all_names({}) and "chain_id" not in additions:
        raise _unknown(name, source)
    try:
        network(name, {name: additions})
    except ConfigError as error:
        wrong = str(error.details.get("key", ""))
        if wrong in given:
            place, problem = given[wrong].place, error.message.removeprefix(f"{wrong}: ")
        else:
            place, problem = source.place, error.message.removeprefix(f"{key}.").removeprefix(f"{key}: ")
        raise ConfigError(f"{place}: {problem}", hint=error.hint, details=error.details) from None


def _unknown(name: str, source: Given) -> ConfigError:
    from difflib import get_close_matches

    closest = get_close_matches(name, _all_names({}), n=1, cutoff=0.5)
    new = "a new network needs chain_id, native, wrapped_native, tokens and protocols in the settings file"
    return ConfigError(
        f'{source.place}: there is no network "{name}"',
        hint=f"did you mean {closest[0]}? Else: {new}" if closest else new,
        details={"key": f"{NETWORKS}.{name}", "closest": closest},
    )
