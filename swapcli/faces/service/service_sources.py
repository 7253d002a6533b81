"""Open what a service needs: markets, nodes, API keys and shared state."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from swapcli.core.errors import InvalidOption, UnknownProtocol
from swapcli.core.model.network import FIBROUS, Network
from swapcli.core.records import NamedTuple
from swapcli.faces.service.banner import banner
from swapcli.interface.timestamps import format_iso_utc
from swapcli.payload.dialects import router_dialect
from swapcli.quoting.openers.server_pool_sources import choose_service_pools
from swapcli.quoting.price_policy import PriceRequest
from swapcli.quoting.resolve import find_protocols
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.head_rule import READ_AGAIN

if TYPE_CHECKING:
    from pathlib import Path

    from swapcli.core.encoding.secret import Secret
    from swapcli.faces.service.access_log import AccessLog
    from swapcli.faces.service.app import ServiceApp
    from swapcli.faces.service.keys import KeyStore
    from swapcli.faces.service.market_followers import NetworkThreads
    from swapcli.faces.service.market_registry import MarketRegistry
    from swapcli.faces.service.redis_state import RedisState
    from swapcli.faces.service.worker_group import GroupMember
    from swapcli.interface.document_types import ReadyJson
    from swapcli.quoting.config.settings import ServiceSettings, Settings
    from swapcli.quoting.followers.feed_follower import AnyFollowed
    from swapcli.quoting.openers.choose_source import SourceChooser
    from swapcli.state.rpc.rpc_node import RpcNode
    from swapcli.state.rpc.witness_node import Witnesses


class ServiceSources(NamedTuple):
    """The market registry, the markets to keep up to date, and, by network, the nodes for balance checks.

    `modelled` are the networks that start on prices that are not real, and `price_request` is how the user requested
    such prices. `witnesses`, by network, confirm the state of payloads.
    """

    registry: MarketRegistry
    followed: list[AnyFollowed]
    nodes: dict[str, RpcNode]
    modelled: tuple[str, ...]
    price_request: PriceRequest
    witnesses: dict[str, Witnesses]
    state_url: Secret | None
    """The URL of the server for the state shared by several services."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the served networks."""
        return tuple(network.name for network in self.registry.served_networks)

    def describe(self, url: str) -> Iterator[str]:
        """Yield the lines that a terminal shows about the service at `url`."""
        followed = [market.network.name for market in self.followed]
        return banner(url, self.names, self.modelled, followed, self.price_request)


class ReadyService(NamedTuple):
    """A service that accepts connections: its URL, process and networks, and the networks that start on modelled
    prices.

    `metrics_url` is the URL of its metrics, if they have a separate port.
    """

    url: str
    pid: int
    networks: tuple[str, ...]
    modelled: tuple[str, ...]
    metrics_url: str | None = None
    lines: tuple[str, ...] = ()
    """The lines that a terminal shows about the service."""

    def document(self) -> ReadyJson:
        """Return the line of JSON that `swapcli serve` prints."""
        document: dict[str, object] = {
            "url": self.url,
            "pid": self.pid,
            "networks": list(self.networks),
            "modelled": list(self.modelled),
        }
        if self.metrics_url is not None:
            document["metrics_url"] = self.metrics_url
        return cast("ReadyJson", document)


class ServicePolicy(NamedTuple):
    """The parts of a service that are read again on SIGHUP."""

    settings: ServiceSettings
    keys: KeyStore


def open_service_sources(sources: SourceChooser, names: Iterable[str], log: Callable[[str], object]) -> ServiceSources:
    """Return the sources for the networks called `names`, or for all configured networks. `log` receives messages about
    nodes.

    Raises the same errors as `choose_service_pools`, and `InvalidOption` for a network that has no router of its
    dialect.
    """
    from swapcli.faces.service.market_registry import MarketRegistry, ServiceRules

    pools = choose_service_pools(sources.markets, sources.nodes, list(names), warn_of_node=partial(_log_node, log))
    for network in pools.networks:
        _check_dialect(network)
    settings = sources.markets.setup.settings
    for key in ("exclude_protocols", "only_protocols"):
        _check_protocols(key, getattr(settings, key), pools.networks)
    registry = MarketRegistry(
        pools.networks,
        pools.openers,
        SYSTEM_CLOCK,
        ServiceRules.from_settings(settings),
        followed=[market.network.name for market in pools.followed],
        price_request=pools.price_request,
    )
    return ServiceSources(
        registry,
        pools.followed,
        pools.check_nodes,
        tuple(pools.modelled),
        pools.price_request,
        pools.witnesses,
        settings.service.state_url,
    )


def _check_protocols(key: str, names: Iterable[str], networks: Iterable[Network]) -> None:
    """Raise `UnknownProtocol` for a name in the setting `key` that is not a protocol of any of the networks."""
    for name in names:
        errors = []
        for network in networks:
            try:
                find_protocols([name], network)
                break
            except UnknownProtocol as error:
                errors.append(error)
        else:
            closest = max(errors, key=lambda each: any(each.closest.values()))
            where = closest.message if len(errors) == 1 else f"no protocol {name} on the served networks"
            raise UnknownProtocol(f"{key}: {where}", hint=closest.hint, details=closest.details)


def read_policy(settings: Settings, keys_file: Path) -> ServicePolicy:
    """Return the policy with the API keys in a file. Raises `ConfigError` if the file is invalid.

    If the settings require keys, the file must have a valid one.
    """
    from swapcli.faces.service.keys import KeyStore
    from swapcli.quoting.config import network_names_from

    keys = KeyStore(keys_file, networks=network_names_from(settings, everything=True))
    keys.check()
    if settings.service.require_keys:
        keys.check_usable()
    return ServicePolicy(settings.service, keys)


def open_app(
    sources: ServiceSources,
    policy: ServicePolicy,
    log: AccessLog,
    followers: NetworkThreads,
    member: GroupMember | None = None,
) -> ServiceApp:
    """Return the application of one process. `member` is its place in a group of workers. Raises the same errors as
    `open_shared_state`."""
    from swapcli.faces.service.app import create_app

    return create_app(
        sources.registry,
        policy.settings,
        keys=policy.keys,
        log=log,
        followers=followers,
        nodes=sources.nodes,
        witnesses=sources.witnesses,
        member=member,
        state=open_shared_state(sources, log),
    )


def open_shared_state(sources: ServiceSources, log: AccessLog) -> RedisState | None:
    """Return the state that the service shares with other services, if the settings name a server for it.

    Raises `ConfigError` if the required package is not installed.
    """
    if sources.state_url is None:
        return None
    from swapcli.core.encoding.redis_url import RedisUrl
    from swapcli.faces.service.redis_state import RedisState

    server = RedisUrl.parse(sources.state_url.reveal())
    return RedisState(server, lambda error: log.log_shared_state(error, SYSTEM_CLOCK.now_s()))


def _check_dialect(network: Network) -> None:
    """Raise `InvalidOption` if there is no router of the network's dialect."""
    try:
        router_dialect(network)
    except InvalidOption as error:
        hint = f"set networks.{network.name}.router_dialect to {FIBROUS}, or list the networks to serve"
        raise InvalidOption(error.message, hint=hint, details=error.details) from None


def _log_node(log: Callable[[str], object], network: str, message: str) -> None:
    """Write a log line about a failing node, or a network without nodes."""
    time, level = format_iso_utc(int(SYSTEM_CLOCK.now_s() * 1000)), "info" if READ_AGAIN in message else "warning"
    log(json.dumps({"time": time, "level": level, "network": network, "node": message}, separators=(",", ":")))
