"""Equal orders on equal states have equal routes, after any other quotes and in any process."""

from __future__ import annotations

import random

import pytest

from swapcli.core.errors import NoRoute, PoolError
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.quote import Route
from swapcli.core.routing.router import Router
from tests.support.pools import build_order, build_random_market

OFTEN_EQUAL = (20, 36, 53)
"""Seeds of orders that drain pools: several trades of a pool then buy the same, all that it has of a token."""


def build(seed: int) -> MarketState:
    return build_random_market(seed, tokens=6, pools=40, every_family=True)


def find_route(router: Router, order: Order) -> Route | str:
    try:
        return router.quote(order, gas_price_wei=0).route
    except (NoRoute, PoolError) as error:
        return type(error).__name__


@pytest.mark.parametrize(
    "seed", [seed if seed in OFTEN_EQUAL else pytest.param(seed, marks=pytest.mark.slow) for seed in range(200)]
)
def test_a_route_does_not_depend_on_earlier_quotes(seed: int) -> None:
    rng = random.Random(seed)
    (first, second), (other_in, other_out) = rng.sample(range(6), 2), rng.sample(range(6), 2)
    amount, other_amount = int(10 ** rng.uniform(18, 25)), int(10 ** rng.uniform(18, 26))
    market = build(seed)
    order = build_order(market, first, second, amount)
    route = find_route(Router(market), order)
    again = build(seed)
    router = Router(again)
    find_route(router, build_order(again, other_in, other_out, other_amount))
    assert find_route(router, order) == route
    assert find_route(Router(again), order) == route
