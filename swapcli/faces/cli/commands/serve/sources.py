"""What `swapcli serve` builds its application from: markets, nodes, API keys and shared state."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidOption
from swapcli.core.model.network import FIBROUS, Network
from swapcli.core.records import NamedTuple
from swapcli.faces.cli.commands.serve.banner import banner
from swapcli.faces.cli.output import print_to_stderr
from swapcli.faces.cli.session import Session
from swapcli.interface.timestamps import format_iso_utc
from swapcli.payload.dialects import router_dialect
from swapcli.quoting.openers.server_pool_sources import choose_service_pools
from swapcli.quoting.price_policy import PriceRequest
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from swapcli.faces.service.access_log import AccessLog
    from swapcli.faces.service.keys import KeyStore
    from swapcli.faces.service.market_followers import NetworkThreads
    from swapcli.faces.service.market_registry import MarketRegistry
    from swapcli.faces.service.redis_state import RedisState
    from swapcli.faces.service.worker_group import GroupMember
    from swapcli.quoting.config.settings import ServiceSettings
    from swapcli.quoting.followers.feed_follower import AnyFollowed
    from swapcli.state.rpc.rpc_node import RpcNode
    from swapcli.state.rpc.witness_node import Witnesses


METRICS_PORT = "service.metrics_port"
"""The setting that errors about the port of the metrics name; it has no flag of its own."""


class ServiceSources(NamedTuple):
    """The market registry, the markets to keep current, and the nodes for balance checks by network.

    `modelled` are the networks whose prices are not real at the start, and `price_request` is how the user requested
    those. `witnesses` by network confirm the state of payloads.
    """

    registry: MarketRegistry
    followed: list[AnyFollowed]
    nodes: dict[str, RpcNode]
    modelled: tuple[str, ...]
    price_request: PriceRequest
    witnesses: dict[str, Witnesses]

    def describe(self, url: str) -> Iterator[str]:
        """Yield the lines that a terminal shows about the service at `url`."""
        names = [network.name for network in self.registry.served_networks]
        followed = [market.network.name for market in self.followed]
        return banner(url, names, self.modelled, followed, self.price_request)


class ServicePolicy(NamedTuple):
    """What a service reads again on SIGHUP."""

    settings: ServiceSettings
    keys: KeyStore


def open_service_sources(session: Session, names: Iterable[str], *, skip_bad_pools: bool) -> ServiceSources:
    """Return the sources of the networks `names`, or of all configured ones.

    Raises as `choose_service_pools`, and `InvalidOption` for a network without a router of its dialect.
    """
    from swapcli.faces.service.market_registry import MarketRegistry, ServiceRules

    pools = choose_service_pools(
        session.markets, session.nodes, list(names), skip_bad_pools=skip_bad_pools, warn_of_node=_log_node_warning
    )
    for network in pools.networks:
        _check_dialect(network)
    registry = MarketRegistry(
        pools.networks,
        pools.openers,
        SYSTEM_CLOCK,
        ServiceRules.from_settings(session.settings),
        followed=[market.network.name for market in pools.followed],
        price_request=pools.price_request,
    )
    return ServiceSources(
        registry, pools.followed, pools.check_nodes, tuple(pools.modelled), pools.price_request, pools.witnesses
    )


def read_policy(session: Session) -> ServicePolicy:
    """Return the settings of the service, and open the file of API keys. Raises `ConfigError` if it is invalid."""
    from swapcli.faces.service.keys import KeyStore

    keys = KeyStore(session.keys_file())
    keys.check()
    return ServicePolicy(session.settings.service, keys)


def open_app(
    session: Session,
    sources: ServiceSources,
    policy: ServicePolicy,
    log: AccessLog,
    followers: NetworkThreads,
    member: GroupMember | None = None,
) -> Starlette:
    """Return the application of one process; `member` is its place among several. Raises as `open_shared_state`."""
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
        state=open_shared_state(session, log),
    )


def open_shared_state(session: Session, log: AccessLog) -> RedisState | None:
    """Return the state that the service shares with others, if the settings name its server.

    Raises `ConfigError` if the package for it is not installed.
    """
    url = session.settings.service.state_url
    if url is None:
        return None
    from swapcli.core.encoding.redis_url import RedisUrl
    from swapcli.faces.service.redis_state import RedisState

    server = RedisUrl.parse(url.reveal())
    return RedisState(server, lambda error: log.log_shared_state(error, SYSTEM_CLOCK.now_s()))


def _check_dialect(network: Network) -> None:
    """Raise `InvalidOption` if there is no router of the network's dialect."""
    try:
        router_dialect(network)
    except InvalidOption as error:
        hint = f"set networks.{network.name}.router_dialect to {FIBROUS}, or name the networks to serve"
        raise InvalidOption(error.message, hint=hint, details=error.details) from None


def _log_node_warning(network: str, message: str) -> None:
    """Write a log line about a failing node that a spare one replaces."""
    now_ms = int(SYSTEM_CLOCK.now_s() * 1000)
    print_to_stderr(
        json.dumps({"time": format_iso_utc(now_ms), "network": network, "node": message}, separators=(",", ":"))
    )
