"""What `swapcli serve` answers from: the networks, where the pools of each come from, and which are kept fresh."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from swapcli.api.timestamps import format_iso_utc
from swapcli.cli.output import print_to_stderr
from swapcli.cli.session import Session
from swapcli.config import network_names_from
from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.errors import InvalidOption
from swapcli.markets.embedded import embedded_names
from swapcli.model.network import Network

if TYPE_CHECKING:
    from swapcli.chain.rpc_node import RpcNode
    from swapcli.engine.market_follower import Kept
    from swapcli.service.market_registry import MarketOpener, MarketRegistry


class Served(NamedTuple):
    """The desk, those of its markets that have to be kept, and nodes for checks by network."""

    desk: MarketRegistry
    kept: list[Kept]
    nodes: dict[str, RpcNode]


def open_served(session: Session, names: Iterable[str], *, skip_bad_pools: bool) -> Served:
    """The market file, for its network alone; else of each network the store if there is one, else the embedded market.

    All networks where no `names` are given. Raises `InvalidOption`, `InvalidInput`, `UnknownNetwork`.
    """
    held = session.file_market(skip_bad_pools=skip_bad_pools)
    if held is None:
        return _of_networks(session, list(names) or network_names_from(session.settings))
    if any(name.lower() not in (held.network.name.lower(), str(held.network.chain_id)) for name in names):
        raise InvalidOption(f"the market file is of {held.network.name} alone", hint="leave --networks out")
    return Served(_desk(session, [held.network], {held.network.name: lambda: held}, []), [], {})


def _of_networks(session: Session, names: Iterable[str]) -> Served:
    networks: list[Network] = []
    openers: dict[str, MarketOpener] = {}
    kept: list[Kept] = []
    nodes: dict[str, RpcNode] = {}
    for name in names:
        network, file = _found(session, name)
        networks.append(network)
        market = partial(session.market, network.name) if network.name in embedded_names() else None
        report = partial(_report_node, network.name)
        pools, node = file or market, session.node(network, report)
        if pools is None:
            continue  # the service knows its tokens and protocols; orders on it are refused
        if isinstance(pools, Path) or node is not None:
            from swapcli.engine.market_follower import Kept

            kept.append(Kept(network, session.network, pools, node))
            # One that only checks use: none is for several threads.
            checking = session.node(network, report)
            if checking is not None:
                nodes[network.name] = checking
        else:
            openers[network.name] = pools
    return Served(_desk(session, networks, openers, [each.network.name for each in kept]), kept, nodes)


def _report_node(network: str, message: str) -> None:
    """Write a line of the log: another node stands in for one that fails."""
    now_ms = int(SYSTEM_CLOCK.now_s() * 1000)
    print_to_stderr(
        json.dumps({"time": format_iso_utc(now_ms), "network": network, "node": message}, separators=(",", ":"))
    )


def _found(session: Session, name: str) -> tuple[Network, Path | None]:
    """A network, and the file of its store if there is one. What only a store knows is as the store describes it."""
    store = session.stored(name)
    if store is None:
        return session.network(name), None
    with store:
        return store.network, Path(store.path)


def _desk(
    session: Session, networks: list[Network], openers: dict[str, MarketOpener], kept: list[str]
) -> MarketRegistry:
    from swapcli.service.market_registry import MarketRegistry

    settings = session.settings
    return MarketRegistry(
        networks,
        openers,
        SYSTEM_CLOCK,
        followed=kept,
        route_ttl_s=settings.route_ttl_s,
        max_age_s=settings.max_age_s,
        max_hops=settings.max_hops,
        gas_price_wei=settings.gas_price_wei,
        solve_time_s=settings.service.solve_time_s,
        impact_warning_ppm=settings.impact_warning_ppm,
    )
