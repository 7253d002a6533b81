"""The peer's routes in our route format, which the exact replay judges net of gas."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.optimum.peer import install, run_peer
from bench.optimum.real_market import read_document
from bench.optimum.simple_methods import exact_paths
from bench.optimum.simple_methods.routes import build_route
from swapcli.core.model.quote import Route

if TYPE_CHECKING:
    from bench.optimum.bound import Leg
    from bench.worlds.random_pairs import PairOrder
    from bench.worlds.world import World

_LEAST_PART = 1e-6  # of the order: less is no share of a segment


def route_with_peer(
    world: World, source: Path, orders: Sequence[PairOrder], share_step: int, folder: Path
) -> list[Route | None]:
    """Return the peer's route for each order on a world of a market file; None if it does not route the whole order.

    Raises `BenchmarkFailed`.
    """
    install()
    market = world.write_market(folder)
    market.write_text(json.dumps(_with_reserves(json.loads(market.read_text()), read_document(source))))
    file = folder / "peer_orders.ndjson"
    rows = [
        {"id": number, "token_in": order.token_in, "token_out": order.token_out, "amount_in": str(order.amount)}
        for number, order in enumerate(orders)
    ]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    found: list[Route | None] = [None] * len(orders)
    for route in run_peer(market, folder / "peer_routes.json", orders=file):
        if route.is_whole and route.legs:
            order = orders[route.id]
            found[route.id] = convert(route.legs, order.token_in, order.token_out, share_step)
    return found


def _with_reserves(document: dict[str, Any], source: dict[str, Any]) -> dict[str, Any]:
    """Return a market with the reserves of concentrated pools, against which the peer checks outputs.

    Our format omits them. Pools changed by a swap get their earlier reserves.
    """
    reserves = {pool["address"]: pool["reserves"] for pool in source["pools"]}
    pools = [{"reserves": reserves[pool["address"]], **pool} for pool in document["pools"]]
    return {**document, "pools": pools}


def convert(legs: Sequence[Leg], token_in: str, token_out: str, share_step: int) -> Route | None:
    """Return the route made of legs, in order, each of which swaps a share of the remaining amount of a token."""
    held: dict[str, dict[exact_paths.Path, float]] = {token_in: {(): 1.0}}
    for pool, sold, bought, part in legs:
        paths = held.get(sold, {})
        hop = exact_paths.Hop(pool, sold, bought)
        received = held.setdefault(bought, {})
        for path, weight in paths.items():
            if weight * part > _LEAST_PART:
                received[(*path, hop)] = received.get((*path, hop), 0.0) + weight * part
        held[sold] = {path: weight * (1.0 - part) for path, weight in paths.items() if part < 1.0}
    return build_route(held.get(token_out, {}), share_step)
