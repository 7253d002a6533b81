"""On a market of all families, the curves that the solver uses say what the exact swaps pay."""

from __future__ import annotations

from contextlib import suppress

from bench.speed.mixed import SwapAccuracy, accuracies
from bench.speed.mixed_market import STATES, mixed_market, random_orders
from swapcli.core.errors import NoRoute
from swapcli.core.model.pool import Pool
from swapcli.core.routing.router import Router

MIN_ACCURACY = 0.9999
BOUNDED = "balancer_v3_stable_surge"
"""The family whose curve is only a bound from above, as surge fees make swaps that are not concave."""


def test_routes_pay_what_the_curves_say() -> None:
    market, swaps = mixed_market(100), list[SwapAccuracy]()
    router = Router(market)
    for order in random_orders(market, 16):
        with suppress(NoRoute):
            swaps += accuracies(market, router.quote(order, gas_price_wei=0))
    assert len(swaps) > 100
    assert len({swap.family for swap in swaps} & STATES.keys()) > len(STATES) * 2 // 3
    assert [swap for swap in swaps if swap.ratio < MIN_ACCURACY and swap.family != BOUNDED] == []
    assert max(swap.ratio for swap in swaps) < 1.0 + 1e-5


def test_mixed_markets_have_pools_of_every_family() -> None:
    pools: list[Pool] = list(mixed_market(100).pools.values())
    assert {pool.family for pool in pools} == {*STATES, "vault", "constant_product", "concentrated"}
