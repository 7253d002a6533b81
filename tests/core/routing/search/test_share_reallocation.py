"""Orders that drain pools: percents lie where they bring most."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.errors import PoolError
from swapcli.core.model.market import MarketState
from swapcli.core.model.quote import SHARES_PER_HOP, Route
from swapcli.core.routing.replay import replay
from swapcli.core.routing.search.route_search import RouteSearch, SearchResult
from swapcli.core.routing.search.share_reallocation import reallocate_shares
from tests.core.routing.build import problem_of
from tests.support.pools import build_constant_product, build_market, build_random_market, build_token, seeds

digits = st.floats(20, 27)
gas_parts = st.sampled_from([0.0, 1e-6, 1e-3])
"""Of what the order is worth at vanishing size: what a million units of gas cost."""


def drained(seed: int) -> MarketState:
    return build_random_market(seed, tokens=8, pools=30, every_family=True, with_balancer=False)


@pytest.mark.parametrize(
    ("seed", "size", "least"),
    [
        (16, 24, 0.88),
        (54, 25, 0.96),
        (118, 25, 0.99),
        (26, 25, 0.89),
        (120, 25, 0.97),
        (81, 25, 0.985),
        (110, 24, 0.99),
    ],
)
def test_orders_that_drain_a_market_get_most_of_what_it_has(seed: int, size: int, least: float) -> None:
    """Rounded as if a percent were worth the same everywhere they got 14 to 92% of it."""
    market = drained(seed)
    outcome = RouteSearch(problem_of(market, 10**size), market.pools).run()
    assert outcome is not None
    assert outcome.best.replay.amount_out >= least * outcome.solution.value


def searched(market: MarketState, amount: int, gas_part: float) -> tuple[RouteSearch, SearchResult | None]:
    value = problem_of(market, amount).spot_output()
    search = RouteSearch(problem_of(market, amount, gas_value=gas_part * value / 1e6), market.pools)
    return search, search._search_problem()


@settings(max_examples=12)
@given(seeds, digits, gas_parts)
def test_an_exchanged_route_is_one_that_pays_no_less(seed: int, size: float, gas_part: float) -> None:
    """If a pool refuses it after all, the route before it stays."""
    market = drained(seed)
    search, before = searched(market, int(10**size), gas_part)
    if before is None:
        return
    route = reallocate_shares(before.problem, before.best.route, before.best.replay.amount_out, before.solution)
    assert sum(segment.share for segment in route.segments) == 10_000
    assert all(sum(swap.share for swap in hop) == SHARES_PER_HOP for s in route.segments for hop in s.hops)
    assert max(len(segment.hops) for segment in route.segments) <= search.spec.max_hops
    after = search.run()
    assert after is not None
    assert after.best.net >= before.best.net


@settings(max_examples=10)
@given(seeds, digits)
def test_with_gas_no_pool_is_added(seed: int, size: float) -> None:
    _, before = searched(drained(seed), int(10**size), 1e-6)
    if before is None:
        return
    route = reallocate_shares(before.problem, before.best.route, before.best.replay.amount_out, before.solution)
    assert pools_of(route) <= pools_of(before.best.route)


def pools_of(route: Route) -> set[str]:
    return {swap.pool for segment in route.segments for hop in segment.hops for swap in hop}


@pytest.mark.parametrize("size", [22, 23, 24, 25])
def test_no_percent_would_pay_more_on_another_path_of_the_route(size: int) -> None:
    """One deep pool behind thin ones, a thin one behind deep ones, and a thin short cut."""
    s, t, a, b = known = [build_token(k) for k in range(4)]
    pools = [
        build_constant_product(0, s, a, 10**22, 10**22),
        build_constant_product(1, a, t, 10**25, 10**25),
        build_constant_product(2, s, b, 10**25, 10**25),
        build_constant_product(3, b, t, 10**22, 10**22),
        build_constant_product(4, b, a, 10**23, 10**23),
        build_constant_product(5, s, t, 10**21, 10**21),
    ]
    market = build_market(pools, known)
    outcome = RouteSearch(problem_of(market, 10**size), market.pools).run()
    assert outcome is not None
    route, paid = outcome.best.route, outcome.best.replay.amount_out
    for giver, taker in permutations(range(len(route.segments)), 2):
        moved = [
            segment._replace(share=segment.share + 100 * (k == taker) - 100 * (k == giver))
            for k, segment in enumerate(route.segments)
        ]
        other = Route(tuple(segment for segment in moved if segment.share))
        try:
            assert replay(market.pools, other, 10**size).amount_out <= paid * (1 + 1e-9)
        except PoolError:
            continue


def test_a_route_that_uses_a_pool_twice_stays_as_it_is() -> None:
    market = drained(16)
    _, before = searched(market, 10**24, 0.0)
    assert before is not None
    segment = before.best.route.segments[0]
    first = segment.hops[0][0]
    again = first._replace(token_in=first.token_out, token_out=first.token_in)
    twice = Route((segment._replace(share=10_000, hops=(*segment.hops, (again,))),))
    assert reallocate_shares(before.problem, twice, before.best.replay.amount_out, before.solution) is twice
