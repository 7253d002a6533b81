"""How far the main solve of an order ends from a minimum of the dual, whose prices everything else builds on."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from bench.orders.in_turn import WEI_A_GWEI
from bench.orders.parts import part, replaced
from bench.worlds.world import World
from swapcli.core.errors import SwapcliError
from swapcli.core.model.order import Order
from swapcli.core.routing.router import Router

_MAIN_SOLVES = "swapcli.core.routing.search.route_search:expand_active_set"
"""Its last stage is the main solve; the first of a search is over all that the order may use."""


def main_residuals(world: World, gas_gwei: float) -> list[float]:
    """Return the residual of each order's main solve as a share of its amount. Raises `BenchmarkFailed`."""
    solve, found, router = part(_MAIN_SOLVES), list[float](), Router(world.market)
    tokens = world.market.tokens

    def observed(*arguments: Any, **options: Any) -> Any:
        active = solve(*arguments, **options)
        residuals.append(active.stages[-1].solution.residual)
        return active

    with replaced({_MAIN_SOLVES: observed}):
        for token_in, token_out, amount, reverse in world.orders:
            residuals: list[float] = []
            with suppress(SwapcliError):
                order = Order(tokens[token_in], tokens[token_out], amount, reverse)
                router.quote(order, gas_price_wei=round(gas_gwei * WEI_A_GWEI))
            found += residuals[:1]
    return found
