"""After growth the neighbourhood holds what an order needs: no token outside would raise the output."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import NoRoute
from swapcli.core.model.order import Order
from swapcli.core.routing.router import Router
from swapcli.core.routing.search.column_generation import expand_active_set
from swapcli.core.routing.search.problem import CandidateSolution, RoutingProblem
from tests.core.routing.build import problem_of, solved
from tests.support.pools import (
    UNIT,
    build_constant_product,
    build_market,
    build_order,
    build_random_market,
    build_token,
    seeds,
)

amounts = st.floats(16, 21).map(lambda digits: int(10**digits))
POOLS = 200


def grown(problem: RoutingProblem) -> list[CandidateSolution]:
    """The stages of growth; none where no path is short enough."""
    path = problem.spot.path(0)
    return expand_active_set(problem, [path]).stages if 2 <= len(path) <= problem.spec.max_hops + 1 else []


@given(seeds, amounts, st.booleans())
def test_growth_is_worth_as_much_as_the_whole_market(seed: int, amount: int, every_family: bool) -> None:
    """Two hundred pools between a dozen tokens: nearly every two share some."""
    problem = problem_of(build_random_market(seed, tokens=12, pools=POOLS, every_family=every_family), amount)
    stages, everything = grown(problem), solved(problem, 1e-6)
    if stages and everything and everything.solution.residual < 1e-3:
        assert stages[-1].solution.value >= everything.solution.value * (1 - 5e-4)
        assert len(stages[-1].arcs) <= len(everything.arcs)


@given(st.integers(0, 500), st.floats(16, 19.5).map(lambda digits: int(10**digits)))
def test_quotes_of_dense_markets_are_certified_over_all_pools(seed: int, amount: int) -> None:
    market = build_random_market(seed, tokens=12, pools=POOLS)
    quote = Router(market).quote(build_order(market, 0, 1, amount), certify=True)
    assert quote.certificate is not None
    assert quote.certificate.pools_checked == POOLS
    assert quote.certificate.gap_bps <= 2.0


@given(seeds, amounts, st.integers(1, 6), st.integers(20, 120))
def test_in_sparse_markets_every_stage_lies_on_short_paths(seed: int, amount: int, max_hops: int, tokens: int) -> None:
    problem = problem_of(build_random_market(seed, tokens=tokens, pools=POOLS), amount, max_hops)
    for stage in grown(problem):
        assert {0, 1} <= stage.solution.prices.keys()
        assert stage.solution.prices[1] == 1.0
        assert not any(arc.token_out == 0 or arc.token_in == 1 for arc in stage.arcs)
        assert {id(trade.arc) for trade in stage.solution.trades} <= {id(arc) for arc in stage.arcs}


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_deep_detour_is_found_however_thin_the_direct_pool(length: int) -> None:
    a, b, *between = (build_token(k) for k in range(2 + length))
    way = [a, *between, b]
    thin = build_constant_product(0, a, b, 10**20, 10**20, 100)
    deep = [build_constant_product(k, i, j, 10**24, 10**24, 100) for k, (i, j) in enumerate(pairwise(way), 1)]
    market = build_market([thin, *deep], [a, b, *between])
    quote = Router(market).quote(build_order(market, 0, 1, 100 * UNIT))
    assert quote.amount_out > 0.995 * 100 * UNIT
    assert length + 1 in {len(segment.hops) for segment in quote.route.segments}


def test_a_detour_is_used_only_within_the_hop_limit() -> None:
    a, b, c, d = (build_token(k) for k in range(4))
    thin = build_constant_product(0, a, b, 10**20, 10**20, 100)
    deep = [
        build_constant_product(k, i, j, 10**24, 10**24, 100) for k, (i, j) in enumerate([(a, c), (c, d), (d, b)], 1)
    ]
    market = build_market([thin, *deep], [a, b, c, d])
    for max_hops, least, most in ((2, 49, 51), (3, 99, 100)):
        calls = Order(a, b, 100 * UNIT, max_hops=max_hops)
        assert least * UNIT < Router(market).quote(calls).amount_out < most * UNIT
    with pytest.raises(NoRoute):
        Router(build_market(deep, [a, b, c, d])).quote(Order(a, b, UNIT, max_hops=2))
