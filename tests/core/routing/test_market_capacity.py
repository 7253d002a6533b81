"""No route moves more than the bounds, and for simple liquidity the bounds are tight."""

from __future__ import annotations

import random
from itertools import pairwise
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.errors import PoolError
from swapcli.core.model.market import MarketState
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Route
from swapcli.core.routing.graph.best_paths import best_spot_rate
from swapcli.core.routing.market_capacity import max_input, max_output
from swapcli.core.routing.replay import Replay, replay
from tests.core.routing.build import graph_of
from tests.core.routing.random_routes import random_route
from tests.examples import examples
from tests.support.pools import (
    UNIT,
    build_concentrated,
    build_constant_product,
    build_market,
    build_random_market,
    build_token,
    seeds,
)

ENDS = (0, 1)
HOPS = 6
digits = st.floats(3, 33)


def replayed(market: MarketState, route: Route, amount: int) -> Replay | None:
    try:
        return replay(market.pools, route, amount)
    except PoolError:
        return None


def uses_a_pool_twice(route: Route) -> bool:
    uses = {(s.pool, s.token_in, s.token_out) for segment in route.segments for hop in segment.hops for s in hop}
    return len({pool for pool, _, _ in uses}) < len(uses)


@settings(max_examples=examples(5, full=40))
@given(seeds, st.integers(0, 10**6), st.sampled_from([0.8, 5.0, 50.0]))
def test_no_route_moves_more_than_the_bounds(seed: int, draw: int, noise: float) -> None:
    """Any route, also one that is a poor deal: dumping a token into thin pools absorbs most of it."""
    market, rng = build_random_market(seed, pools=18, noise=noise, every_family=True), random.Random(draw)
    graph = graph_of(market)
    sold, bought, rate = (bound(graph, ENDS, HOPS) for bound in (max_input, max_output, best_spot_rate))
    for _ in range(5):
        route = random_route(rng, market)
        if route is None or uses_a_pool_twice(route):
            continue
        for power in range(36, 15, -1):
            done = replayed(market, route, 10**power)
            if done:
                assert 10**power <= sold
                assert done.amount_out <= min(bought, 10**power * rate * (1 + 1e-9))


def chained(*pools: Pool) -> MarketState:
    return build_market(pools, [build_token(k) for k in range(4)])


def narrow(number: int, i: int, j: int, liquidity: int = 10**24) -> Pool:
    """A concentrated pool that ends soon in both directions."""
    return build_concentrated(number, build_token(i), build_token(j), liquidity, 1.0, 600)


def largest(market: MarketState, tokens: list[int], high: int) -> tuple[int, int]:
    """The most that the path of the only pools along `tokens` takes, by bisection, and what it then pays."""
    listed = list(market.tokens)
    pools = [
        next(p for p in market.pools.values() if set(p.tokens) == {listed[i], listed[j]}) for i, j in pairwise(tokens)
    ]

    def paid(amount: int) -> int:
        try:
            for pool, (i, j) in zip(pools, pairwise(tokens), strict=True):
                amount, _ = pool.swap(listed[i], listed[j], amount)
        except PoolError:
            return 0
        return amount

    low = UNIT
    assert paid(low)
    assert not paid(high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if paid(middle) else (low, middle)
    return low, paid(low)


@pytest.mark.parametrize(
    ("pools", "tokens"),
    [
        ([narrow(0, 0, 1)], [0, 1]),
        ([narrow(0, 0, 1, 10**22)], [0, 1]),
        ([narrow(0, 0, 2), narrow(1, 2, 1, 10**23)], [0, 2, 1]),
        ([narrow(0, 0, 2, 10**23), narrow(1, 2, 1)], [0, 2, 1]),
        (
            [build_constant_product(0, build_token(0), build_token(2), 10**24, 10**24), narrow(1, 2, 1, 10**25)],
            [0, 2, 1],
        ),
        ([narrow(0, 0, 2), narrow(1, 2, 3, 10**25), narrow(2, 3, 1, 10**23)], [0, 2, 3, 1]),
    ],
    ids=["one pool", "a thin one", "a bottleneck ahead", "a bottleneck behind", "constant product", "in the middle"],
)
def test_along_a_single_path_the_bounds_are_what_it_can_move(pools: list[Pool], tokens: list[int]) -> None:
    market = chained(*pools)
    sold, bought = largest(market, tokens, 10**30)
    graph = graph_of(market)
    assert sold <= max_input(graph, ENDS, HOPS) <= sold * 1.001
    assert bought <= max_output(graph, ENDS, HOPS) <= bought * 1.001


def test_parallel_paths_add_up_and_the_hop_limit_counts() -> None:
    market = chained(narrow(0, 0, 1), narrow(1, 0, 2), narrow(2, 2, 1))
    graph, one = graph_of(market), graph_of(chained(narrow(0, 0, 1)))
    single = max_input(one, ENDS, HOPS)
    assert max_input(graph, ENDS, 1) == pytest.approx(single)
    assert max_input(graph, ENDS, 2) == pytest.approx(2 * single, rel=0.05)
    assert max_output(graph, ENDS, 2) == pytest.approx(2 * max_output(graph, ENDS, 1), rel=0.05)


def test_where_nothing_leads_nothing_can_be_moved() -> None:
    graph = graph_of(chained(narrow(0, 0, 2)))
    assert max_input(graph, ENDS, HOPS) == max_output(graph, ENDS, HOPS) == best_spot_rate(graph, ENDS, HOPS) == 0.0


@settings(max_examples=examples(4, full=30))
@given(seeds, digits)
def test_stopping_early_does_not_change_the_decision(seed: int, size: float) -> None:
    graph, amount = graph_of(build_random_market(seed, pools=18, every_family=True)), 10**size
    for bound in (max_input, max_output):
        known = bound(graph, ENDS, HOPS)
        found = bound(graph, ENDS, HOPS, sufficient=amount)
        if amount <= known:
            assert found in (inf, known)
        else:  # beyond all liquidity, each pool may take all that reaches a token
            assert known <= found <= (known if bound is max_input else amount)


def test_the_work_can_be_ended() -> None:
    graph = graph_of(build_random_market(7, tokens=12, pools=60))

    def leave() -> None:
        raise TimeoutError

    for bound in (max_input, max_output):
        with pytest.raises(TimeoutError):
            bound(graph, ENDS, HOPS, check=leave)
