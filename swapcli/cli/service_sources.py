"""The markets that `swapcli serve` answers from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from swapcli.api.timestamps import format_iso_utc
from swapcli.cli.output import print_to_stderr
from swapcli.cli.session import Session
from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.compose import choose_service_pools

if TYPE_CHECKING:
    from swapcli.chain.rpc_node import RpcNode
    from swapcli.engine.market_follower import Followed
    from swapcli.service.market_registry import MarketRegistry


class Served(NamedTuple):
    """The registry of markets, those of its markets that have to be followed, and nodes for balance checks by
    network."""

    desk: MarketRegistry
    kept: list[Followed]
    nodes: dict[str, RpcNode]


def open_served(session: Session, names: Iterable[str], *, skip_bad_pools: bool) -> Served:
    """Open what the service of a session answers from. Raises as `choose_service_pools`."""
    from swapcli.service.market_registry import MarketRegistry

    pools = choose_service_pools(session, list(names), skip_bad_pools=skip_bad_pools, warn_of_node=_log_node_warning)
    settings = session.settings
    registry = MarketRegistry(
        pools.networks,
        pools.openers,
        SYSTEM_CLOCK,
        followed=[each.network.name for each in pools.followed],
        route_ttl_s=settings.route_ttl_s,
        max_age_s=settings.max_age_s,
        max_hops=settings.max_hops,
        gas_price_wei=settings.gas_price_wei,
        solve_time_s=settings.service.solve_time_s,
        impact_warning_ppm=settings.impact_warning_ppm,
    )
    return Served(registry, pools.followed, pools.check_nodes)


def _log_node_warning(network: str, message: str) -> None:
    """Write a line of the log: another node replaces one that fails."""
    now_ms = int(SYSTEM_CLOCK.now_s() * 1000)
    print_to_stderr(
        json.dumps({"time": format_iso_utc(now_ms), "network": network, "node": message}, separators=(",", ":"))
    )
