"""No route brings more of a token than its limit."""

from __future__ import annotations

import random

from hypothesis import given

from swapcli.core.errors import PoolError
from swapcli.core.routing.gas_proof.token_limits import token_limits
from swapcli.core.routing.graph.best_paths import price_tokens
from swapcli.core.routing.replay import replay
from tests.core.routing.build import graph_of
from tests.core.routing.random_routes import random_route
from tests.support.pools import (
    UNIT,
    amounts,
    build_constant_product,
    build_market,
    build_random_market,
    build_token,
    seeds,
)

A, B, C = (build_token(k) for k in range(3))


@given(seeds, amounts)
def test_routes_bring_no_more_than_the_limits(seed: int, amount: int) -> None:
    market = build_random_market(seed, pools=12, noise=3, every_family=True)
    graph, rng = graph_of(market), random.Random(seed)
    prices = price_tokens(graph, graph, {1: 1.0}, 1)
    limits = token_limits(graph, (0, 1), amount, 8, prices).amounts
    for route in filter(None, (random_route(rng, market) for _ in range(8))):
        try:
            done = replay(market.pools, route, amount)
        except PoolError:
            continue
        brought: dict[int, int] = {0: amount}
        for step in done.steps:
            token = graph.token_index[step.token_out]
            brought[token] = brought.get(token, 0) + step.amount_out
        brought.pop(1)
        assert all(units <= limits[token] * (1 + 1e-7) for token, units in brought.items())


def test_each_of_the_limits_counts_where_it_is_least() -> None:
    """A small order by its rate, a large one by what the only pool holds; a token behind too many hops has none."""
    pools = [build_constant_product(k, C, token, 20 * UNIT, 10 * UNIT, fee_ppm=0) for k, token in enumerate((A, B))]
    market = build_market(pools, [A, B, C])
    graph = graph_of(market)
    for amount, least, most in (
        (UNIT // 10**6, 1.99 * UNIT / 1e6, 2 * UNIT / 1e6 * (1 + 1e-9)),
        (10**6 * UNIT, 19 * UNIT, 20 * UNIT),
    ):
        assert least <= token_limits(graph, (0, 1), amount, 8, {0: 1.0}).amounts[2] <= most
    assert token_limits(graph, (0, 1), 1, 1, {0: 1.0}).amounts == {0: 1.0}
