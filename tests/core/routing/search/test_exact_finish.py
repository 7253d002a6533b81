"""The finish finds the shares that exact swaps pay most for, and never pays less than the route it starts from."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from swapcli.core.errors import PoolError, SwapReverts
from swapcli.core.model.market import MarketState
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import (
    HUNDREDTHS,
    MAX_SEGMENTS,
    SHARES_PER_HOP,
    SHARES_PER_ROUTE,
    WHOLE_PERCENTS,
    Route,
    Segment,
    Swap,
    has_whole_percents,
)
from swapcli.core.model.router_execution import OWN_ROUTER_GAS, RATES
from swapcli.core.model.token import Token
from swapcli.core.routing.graph.digraph import topological_order
from swapcli.core.routing.search.acyclic import break_cycles
from swapcli.core.routing.search.candidate_routes import CandidateRoutes
from swapcli.core.routing.search.exact_finish import ShareSearch
from swapcli.core.routing.search.problem import RoutingProblem
from swapcli.core.routing.search.route_search import RouteSearch, SearchResult
from swapcli.core.routing.search.scored_route import RouteScorer, ScoredRoute
from swapcli.families import family
from tests.core.routing.build import problem_of, solved
from tests.support.pools import (
    UNIT,
    build_concentrated,
    build_constant_product,
    build_market,
    build_random_market,
    build_stableswap,
    build_token,
    build_weighted,
    seeds,
)

A, B, C, D = (build_token(k) for k in range(4))
amounts = st.floats(4, 26).map(lambda digits: int(10**digits))
gas_parts = st.sampled_from([0.0, 1e-6, 1e-4, 1e-2])
"""Of what the order is worth at vanishing size: what a million units of gas cost."""
steps = st.sampled_from([WHOLE_PERCENTS, HUNDREDTHS])
BASIS_POINT = 1e-4


def problem_in(
    market: MarketState, amount: int, step: int, gas_value: float = 0.0, max_hops: int = 6
) -> RoutingProblem:
    problem = problem_of(market, amount, max_hops, gas_value)
    return problem._replace(spec=problem.spec._replace(share_step=step))


def improved(problem: RoutingProblem, market: MarketState, gap_part: float) -> list[ScoredRoute]:
    """The worst route that follows the problem's solutions, and what the finish makes of it and the others."""
    scorer = RouteScorer(problem.spec, market.pools, RATES)
    candidate = solved(problem)
    if candidate is None:
        return []
    routes = CandidateRoutes(problem, scorer)
    found = list(routes.follow(break_cycles(problem, candidate)))
    if not found:
        return []
    start = min(found, key=lambda each: each.net)
    search = ShareSearch(problem, scorer, start.route, gap_part * start.replay.amount_out, 0.0)
    search.join(found, candidate.solution)
    return [start, *search.run(start)]


@settings(max_examples=60)
@given(seeds, amounts, gas_parts, steps, st.integers(2, 6), st.sampled_from([1e-6, 1e-2]))
def test_every_route_pays_more_than_the_one_before_and_is_valid(
    seed: int, amount: int, gas_part: float, step: int, max_hops: int, gap_part: float
) -> None:
    market = build_random_market(seed, tokens=6, pools=20, every_family=True, noise=3.0)
    worth = problem_of(market, amount).spot_output()
    problem = problem_in(market, amount, step, gas_part * worth / 1e6, max_hops)
    routes = improved(problem, market, gap_part)
    assert all(after.net > before.net for before, after in pairwise(routes))
    for each in routes:
        segments = each.route.segments
        assert sum(segment.share for segment in segments) == SHARES_PER_ROUTE
        assert all(segment.share % step == 0 for segment in segments)
        assert len(segments) <= MAX_SEGMENTS
        assert max(len(segment.hops) for segment in segments) <= max_hops
        assert all(sum(swap.share for swap in hop) == SHARES_PER_HOP for s in segments for hop in s.hops)
        hops = {(hop[0].token_in, hop[0].token_out) for segment in segments for hop in segment.hops}
        assert topological_order(hops) is not None
        assert each.amount_in == amount
        uses = {swap[:3] for segment in segments for hop in segment.hops for swap in hop}
        assert len({pool for pool, _, _ in uses}) == len(uses)


class Unfinished(RouteSearch):
    """A search whose shares stay as they were rounded."""

    def finish(self, result: SearchResult) -> SearchResult:
        return result


@settings(max_examples=20)
@given(seeds, amounts, gas_parts, steps)
def test_a_search_is_no_worse_for_its_finish(seed: int, amount: int, gas_part: float, step: int) -> None:
    market = build_random_market(seed, tokens=5, pools=14, every_family=True)
    worth = problem_of(market, amount).spot_output()
    problem = problem_in(market, amount, step, gas_part * worth / 1e6)
    before = Unfinished(problem, market.pools).run()
    assume(before is not None)
    assert before
    after = RouteSearch(problem, market.pools).run()
    assert after
    assert after.best.net >= before.best.net


# --- markets whose best route is known from exact swaps alone


Figures = tuple[int, int]
"""What an exact swap pays, and its gas."""


def swapped(pool: Pool, amount: int, token_in: str = A.address, token_out: str = B.address) -> Figures | None:
    """None if the pool rejects the amount. Selling nothing takes no gas."""
    if not amount:
        return 0, 0
    try:
        paid, after = pool.swap(token_in, token_out, amount)
    except PoolError:
        return None
    return paid, pool.gas_units(after) + OWN_ROUTER_GAS.each_swap


def best_split(pools: tuple[Pool, Pool], amount: int, gas_value: float) -> float:
    """The most that an order pays net of gas when two pools share it in hundredths of a percent."""
    best = 0.0
    for share in range(SHARES_PER_ROUTE + 1):
        part = amount * share // SHARES_PER_ROUTE
        first, second = swapped(pools[0], part), swapped(pools[1], amount - part)
        if first and second:
            gas = OWN_ROUTER_GAS.base + first[1] + second[1]
            best = max(best, first[0] + second[0] - gas * gas_value)
    return best


def ladder(number: int, liquidity: int, ticks: int) -> Pool:
    """A concentrated pool of A and B at a price of 1, with an initialised tick at every 60th below it."""
    return ladder_of(number, A, B, liquidity, ticks)


def ladder_of(number: int, a: Token, b: Token, liquidity: int, ticks: int) -> Pool:
    """The same of other tokens, for sales of the one with the lower address."""
    step = liquidity // 100
    lower = [[-60 * k, str(step)] for k in range(ticks - 1, 0, -1)]
    bottom = [-60 * ticks, str(liquidity - step * (ticks - 1))]
    state = {
        "sqrt_price_x96": str(1 << 96),
        "tick": 0,
        "liquidity": str(liquidity),
        "tick_spacing": 60,
        "ticks": [bottom, *lower, [600, str(-liquidity)]],
    }
    return family("concentrated").from_state(build_concentrated(number, a, b, UNIT, 1.0, 600).identity, state)


MARKETS: dict[str, tuple[tuple[Pool, Pool], int, float]] = {
    "the gas of ticks is worth a few shares": (
        (ladder(0, 100 * UNIT, 30), build_constant_product(1, A, B, 40 * UNIT, 40 * UNIT)),
        2 * UNIT,
        2e9,
    ),
    "gas decides how many ticks are crossed": (
        (ladder(0, 100 * UNIT, 30), build_constant_product(1, A, B, 40 * UNIT, 40 * UNIT)),
        2 * UNIT,
        2e10,
    ),
    "a pool is filled to its last unit": (
        (ladder(0, 100 * UNIT, 4), build_constant_product(1, A, B, UNIT, UNIT)),
        3 * UNIT,
        0.0,
    ),
    "a weighted pool accepts a part of its balance": (
        (
            build_weighted(0, [A, B], [1.0, 1.0], 4.0, [1, 1], 3000),
            build_constant_product(1, A, B, UNIT // 10, UNIT // 10),
        ),
        UNIT,
        0.0,
    ),
    "more than both pools are worth": (
        (ladder(0, UNIT, 4), build_constant_product(1, A, B, UNIT // 100, UNIT // 100)),
        50 * UNIT,
        0.0,
    ),
}


@pytest.mark.parametrize("name", MARKETS)
def test_two_pools_share_an_order_as_well_as_any_shares_do(name: str) -> None:
    pools, amount, gas_value = MARKETS[name]
    market = build_market(pools, [A, B])
    outcome = RouteSearch(problem_in(market, amount, HUNDREDTHS, gas_value), market.pools).run()
    assert outcome
    assert outcome.best.net >= best_split(pools, amount, gas_value) * (1 - 0.05 * BASIS_POINT)


def two_ways_twice(depths: tuple[int, ...]) -> tuple[list[Pool], list[Token]]:
    """From A to C directly or over D, and from C to B directly or over E: with three hops, only one of the detours."""
    e = build_token(4)
    pairs = [(A, C), (A, D), (D, C), (C, B), (C, e), (e, B)]
    pools = [
        build_constant_product(k, a, b, depth * UNIT, depth * UNIT)
        for k, ((a, b), depth) in enumerate(zip(pairs, depths, strict=True))
    ]
    return pools, [A, B, C, D, e]


def best_over_paths(pools: list[Pool], amount: int) -> int:
    """The most that any whole percents of the three paths of at most three hops pay: each token's balance is split."""
    first, to_d, from_d, last, to_e, from_e = pools
    d, e = D.address, build_token(4).address

    def pay(pool: Pool, amount_in: int, token_in: str, token_out: str) -> int:
        return pool.swap(token_in, token_out, amount_in)[0] if amount_in else 0

    best = 0
    for over_d in range(101):
        part = amount * over_d // 100
        middle = pay(first, amount - part, A.address, C.address)
        middle += pay(from_d, pay(to_d, part, A.address, d), d, C.address)
        for over_e in range(101 - over_d):
            part = middle * over_e // 100
            paid = pay(last, middle - part, C.address, B.address)
            best = max(best, paid + pay(from_e, pay(to_e, part, C.address, e), e, B.address))
    return best


@pytest.mark.parametrize(
    "depths", [(10, 8, 8, 10, 8, 8), (10, 30, 30, 12, 4, 4), (5, 50, 50, 5, 50, 50), (20, 20, 30, 20, 40, 30)]
)
def test_under_a_hop_limit_long_paths_get_what_only_they_can_carry(depths: tuple[int, ...]) -> None:
    pools, tokens = two_ways_twice(depths)
    market = build_market(pools, tokens)
    amount = 2 * UNIT
    outcome = RouteSearch(problem_in(market, amount, HUNDREDTHS, max_hops=3), market.pools).run()
    assert outcome
    assert outcome.best.replay.amount_out >= best_over_paths(pools, amount) * (1 - 0.05 * BASIS_POINT)


@pytest.mark.parametrize("digits", [1, 2, 3])
def test_what_no_pool_has_a_use_for_does_not_lower_the_output(digits: int) -> None:
    """The pools of B fill up. More of A still has to go somewhere: into a stable pool that pays little for it.

    A share of 0.01% of a large order is up to a percent of what the pools take.
    """
    pools = [
        build_stableswap(0, [A, C], [1.0, 1.0], 20.0, 1_000, 400),
        build_constant_product(1, A, D, 100 * UNIT, 300 * UNIT),
        build_weighted(2, [C, D], [1.0, 0.3], 150.0, [1, 1], 3000),
        ladder_of(3, D, B, 4_000 * UNIT, 30),
        ladder_of(4, D, B, 200 * UNIT, 30),
    ]
    market = build_market(pools, [A, B, C, D])
    paid = [output_of(market, int(part * 10**digits * UNIT)) for part in (1.0, 1.6, 2.5, 4.0, 6.3, 10.0)]
    assert paid[0] > 0
    assert all(after >= before * (1 - 1e-4 - 10.0**digits * 1e-5) for before, after in pairwise(paid))


def output_of(market: MarketState, amount: int) -> int:
    outcome = RouteSearch(problem_in(market, amount, HUNDREDTHS), market.pools).run()
    return outcome.best.replay.amount_out if outcome else 0


class FailingScorer(RouteScorer):
    """Rejects the first routes."""

    rejected = 0

    def score(self, route: Route, amount_in: int) -> ScoredRoute:
        if self.rejected:
            self.rejected -= 1
            raise SwapReverts("rejected", details={"pool": route.segments[0].hops[0][0].pool})
        return super().score(route, amount_in)


def test_shares_stay_fine_after_a_solution_that_no_pool_takes() -> None:
    pools = [build_constant_product(k, A, C, (k + 1) * UNIT, UNIT) for k in range(2)]
    pools += [build_constant_product(2, C, B, UNIT, UNIT), build_constant_product(3, A, B, 2 * UNIT, 2 * UNIT)]
    market = build_market(pools, [A, B, C])
    problem = problem_in(market, UNIT // 7, HUNDREDTHS)
    candidate, scorer = solved(problem), FailingScorer(problem.spec, market.pools, RATES)
    assert candidate
    routes = CandidateRoutes(problem, scorer)
    expected = CandidateRoutes(problem, RouteScorer(problem.spec, market.pools, RATES)).round(candidate)
    assert expected
    assert not has_whole_percents(expected.route)
    scorer.rejected = 100
    assert routes.round(candidate) is None
    scorer.rejected = 0
    assert routes.round(candidate) == expected


def test_a_direct_start_takes_over_the_paths_of_other_routes() -> None:
    """Two equal pools: all over the first one, and the finish moves half of it."""
    pools = [build_constant_product(k, A, B, 100 * UNIT, 100 * UNIT) for k in range(2)]
    pools += [
        build_constant_product(2, A, C, 100 * UNIT, 100 * UNIT),
        build_constant_product(3, C, B, UNIT * 10**4, UNIT * 10**4),
    ]
    market = build_market(pools, [A, B, C])
    problem = problem_in(market, 3 * UNIT, HUNDREDTHS)
    scorer = RouteScorer(problem.spec, market.pools, RATES)

    def over(*pools: Pool, tokens: tuple[Token, ...]) -> ScoredRoute:
        hops = tuple(
            (Swap(pool.key, a.address, b.address, SHARES_PER_HOP),)
            for pool, (a, b) in zip(pools, pairwise(tokens), strict=True)
        )
        return scorer.score(Route((Segment(SHARES_PER_ROUTE, hops),)), 3 * UNIT)

    start = over(pools[0], tokens=(A, B))
    others = [over(pools[1], tokens=(A, B)), over(pools[2], pools[3], tokens=(A, C, B))]
    candidate = solved(problem)
    assert candidate
    search = ShareSearch(problem, scorer, start.route, candidate.solution.value - start.net, 0.0)
    search.join(others, candidate.solution._replace(trades=[]))
    best = [start, *search.run(start)][-1]
    by_pool = {step.pool: step.amount_in for step in best.replay.steps}
    assert by_pool[pools[0].key] == pytest.approx(by_pool[pools[1].key], rel=1e-3)
    assert best.net >= candidate.solution.value * (1 - 0.05 * BASIS_POINT)
