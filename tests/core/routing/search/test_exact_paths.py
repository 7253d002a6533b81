"""Paths by exact swaps: as good as the best of all paths on small markets, and the last resort of a search."""

from __future__ import annotations

import random

from hypothesis import given

from swapcli.core.errors import NoRoute, PoolError
from swapcli.core.routing.cancellation import no_cancellation
from swapcli.core.routing.replay import replay
from swapcli.core.routing.router import Router
from swapcli.core.routing.search.exact_paths import exact_paths
from tests.core.routing.build import graph_of
from tests.core.routing.random_routes import random_route
from tests.support.pools import amounts, build_order, build_random_market, seeds


@given(seeds, amounts)
def test_no_direct_swap_pays_more(seed: int, amount: int) -> None:
    market = build_random_market(seed, pools=10, noise=3, every_family=True)
    graph = graph_of(market)
    paid = [
        replay(market.pools, route, amount).amount_out
        for route in exact_paths(graph, (0, 1), amount, 3, no_cancellation)
    ]
    source, target = graph.addresses[0], graph.addresses[1]
    for pool in market.pools.values():
        if {source, target} <= set(pool.tokens):
            try:
                direct = pool.swap(source, target, amount)[0]
            except PoolError:
                continue
            assert direct <= max(paid, default=0)


@given(seeds, amounts)
def test_an_order_with_a_path_has_a_route(seed: int, amount: int) -> None:
    """However much it drains, and however little it is."""
    market = build_random_market(seed, pools=6, noise=30, every_family=True)
    rng, order = random.Random(seed), build_order(market, 0, 1, amount * 10 ** (seed % 9))
    try:
        assert Router(market).search(order).best.replay.amount_out > 0
    except NoRoute:
        for route in filter(None, (random_route(rng, market, segments=1) for _ in range(10))):
            if all(len(hop) == 1 for hop in route.segments[0].hops):
                try:
                    assert not replay(market.pools, route, order.amount).amount_out
                except PoolError:
                    continue
