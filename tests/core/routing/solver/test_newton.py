"""At the solver's prices the pools' own best trades are the optimal flow, and no routing can beat the dual."""

from __future__ import annotations

import random
from collections import defaultdict
from math import exp, inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

from swapcli.core.errors import PoolError
from swapcli.core.model.market import MarketState
from swapcli.core.routing.graph.market_graph import Arc, Prices
from swapcli.core.routing.replay import replay
from swapcli.core.routing.search.problem import CandidateSolution, RoutingProblem
from swapcli.core.routing.solver.constants import OUTPUT_WEIGHT
from swapcli.core.routing.solver.newton import Solution
from tests.core.routing.build import problem_of, solved
from tests.core.routing.random_routes import random_route
from tests.examples import but_slow
from tests.support.pools import (
    UNIT,
    build_concentrated,
    build_constant_product,
    build_market,
    build_random_market,
    build_token,
    seeds,
)

SETTLED = 1e-4
A, B, C = (build_token(k) for k in range(3))
amounts = st.floats(15, 22).map(lambda digits: int(10**digits))


@st.composite
def markets(draw: st.DrawFn, noise: float = 0.8) -> MarketState:
    return build_random_market(
        draw(seeds), pools=draw(st.integers(6, 20)), noise=noise, every_family=draw(st.booleans())
    )


def found(problem: RoutingProblem, tolerance: float = 1e-5) -> CandidateSolution:
    result = solved(problem, tolerance)
    if result is None:
        raise UnsatisfiedAssumption
    return result


def settled(market: MarketState, amount: int) -> Solution:
    """The solution of an order that the pools can carry and whose size floats can express."""
    solution = found(problem_of(market, amount), SETTLED).solution
    if solution.residual > SETTLED:
        raise UnsatisfiedAssumption
    return solution


def dual(arcs: list[Arc], amount: float, prices: Prices) -> float:
    """What the input is worth, and what every arc's best trade adds."""
    value = amount * prices[0]
    for arc in arcs:
        sold, bought, _ = arc.curve.trade_to_marginal_rate(prices[arc.token_in] / prices[arc.token_out])
        value += prices[arc.token_out] * bought - prices[arc.token_in] * sold
    return value


def imbalance(solution: Solution, amount: float) -> dict[int, float]:
    """What piles up (or is missing) of each token but the target, as a part of the order's value."""
    market: dict[int, float] = defaultdict(float, {0: amount})
    for trade in solution.trades:
        market[trade.arc.token_in] -= trade.amount_in
        market[trade.arc.token_out] += trade.amount_out
    market.pop(1, None)
    return {t: x * solution.prices[t] / (amount * solution.prices[0]) for t, x in market.items()}


# --- what a solution says of itself


@given(markets(), amounts)
def test_value_is_the_dual_and_residual_the_largest_imbalance(market: MarketState, amount: int) -> None:
    problem = problem_of(market, amount)
    solution, arcs, _ = found(problem)
    assert solution.prices[1] == 1.0
    assert solution.value == pytest.approx(dual(arcs, amount, solution.prices), rel=1e-9)
    assert solution.value == pytest.approx(
        amount * solution.prices[0] + sum(t.surplus for t in solution.trades), rel=1e-9
    )
    worst = max(map(abs, imbalance(solution, amount).values()))
    more = 1 + OUTPUT_WEIGHT * solution.value / (amount * solution.prices[0])
    assert solution.residual == pytest.approx(worst / more, rel=1e-6, abs=1e-9)


# --- optimal


@given(markets(), amounts)
def test_arcs_trade_down_to_the_rate_of_the_prices(market: MarketState, amount: int) -> None:
    solution, arcs, _ = found(problem_of(market, amount))
    prices, used = solution.prices, {id(trade.arc) for trade in solution.trades}
    for trade in solution.trades:
        rate, curve = prices[trade.arc.token_in] / prices[trade.arc.token_out], trade.arc.curve
        assert trade.surplus >= -1e-7 * trade.amount_out * prices[trade.arc.token_out]
        assert curve.rate(trade.amount_in * (1 + 1e-6)) <= rate * (1 + 1e-6)
        assert curve.rate(trade.amount_in * (1 - 1e-6)) >= rate * (1 - 1e-6)
    for arc in arcs:
        if id(arc) not in used:
            assert prices[arc.token_out] * arc.rate <= prices[arc.token_in] * (1 + 1e-12)


@given(markets(), amounts)
def test_a_settled_solution_delivers_what_the_dual_promises(market: MarketState, amount: int) -> None:
    """Where every token is balanced the trades are a flow, and its output equals the bound on all flows."""
    solution = settled(market, amount)
    assert max(map(abs, imbalance(solution, amount).values())) <= SETTLED * (1 + 1e-6)
    delivered = sum(t.amount_out for t in solution.trades if t.arc.token_out == 1)
    assert delivered == pytest.approx(solution.value, rel=1e-3 * SETTLED + len(market.tokens) * SETTLED)


@given(markets(), amounts, seeds, st.sampled_from([1e-4, 1e-2, 1.0]))
def test_no_other_prices_lower_the_dual_of_a_settled_solution(
    market: MarketState, amount: int, seed: int, distance: float
) -> None:
    solution, rng = settled(market, amount), random.Random(seed)
    problem = problem_of(market, amount)
    arcs = problem.arcs_between(solution.prices)
    for _ in range(10):
        other = {t: price * exp(rng.gauss(0, distance)) for t, price in solution.prices.items()} | {1: 1.0}
        assert dual(arcs, amount, other) >= solution.value * (1 - len(other) * SETTLED * max(1.0, distance))


@pytest.mark.parametrize("every_family", but_slow([False, True], True))
def test_nearly_every_order_settles_in_few_iterations(every_family: bool) -> None:
    unsettled = []
    for seed in range(150):
        market = build_random_market(seed, pools=12, every_family=every_family)
        amount = int(10 ** random.Random(seed).uniform(17, 21))
        solution = solved(problem_of(market, amount), SETTLED)
        if solution and solution.solution.residual > SETTLED:
            unsettled.append(seed)
        assert solution is None or solution.solution.iterations <= 20
    assert len(unsettled) <= 6


@pytest.mark.parametrize(
    ("seed", "amount"),
    [
        (280, 280189889947961524224),
        (33, 1469784801853323264),
        (63, 2781180720403217408),
        (6, 374817718503533248),
        (308, 140651925793381974016),
        (28, 5525275903426167832576),
    ],
)
def test_a_pool_deep_for_the_order_does_not_lock_the_prices(seed: int, amount: int) -> None:
    """It locks two prices together: they can only move as one, and past the start of the next pool."""
    market = build_random_market(seed, pools=random.Random(seed).randint(6, 20))
    market = build_market(
        [p for p in market.pools.values() if p.family == "constant_product"], list(market.tokens.values())
    )
    solution = found(problem_of(market, amount)).solution
    assert solution.residual <= 1e-4
    assert solution.iterations <= 10


@given(markets(), amounts, seeds)
def test_no_route_beats_the_dual(market: MarketState, amount: int, seed: int) -> None:
    solution, rng = found(problem_of(market, amount)).solution, random.Random(seed)
    for given_route in filter(None, (random_route(rng, market) for _ in range(5))):
        try:
            assert replay(market.pools, given_route, amount).amount_out <= solution.value * (1 + 1e-9)
        except PoolError:
            continue


# --- against brute force


reserves = st.floats(20, 22).map(lambda digits: int(10**digits))
tilts = st.floats(0.8, 1.25)
fees = st.sampled_from([0, 500, 3000, 10_000])
sizes = st.floats(19, 22).map(lambda digits: int(10**digits))


@given(st.lists(st.tuples(reserves, tilts, fees), min_size=2, max_size=3), sizes)
def test_parallel_pools_pay_as_much_as_the_best_split(pools: list[tuple[int, float, int]], amount: int) -> None:
    market = build_market(
        [build_constant_product(k, A, B, x, int(x * tilt), fee) for k, (x, tilt, fee) in enumerate(pools)], [A, B]
    )
    curves = [pool.curve(A.address, B.address) for pool in market.pools.values()]
    parts = 400 if len(curves) == 2 else 60
    table = [[curve.amount_out(amount * k / parts) for k in range(parts + 1)] for curve in curves]
    if len(curves) == 2:
        best = max(table[0][k] + table[1][parts - k] for k in range(parts + 1))
    else:
        one, two, three = table
        best = max(one[k] + two[j] + three[parts - k - j] for k in range(parts + 1) for j in range(parts + 1 - k))
    solution = found(problem_of(market, amount), 1e-9).solution
    delivered = sum(trade.amount_out for trade in solution.trades)
    assert best * (1 - 1e-6) <= delivered <= best * (1 + 0.5 / parts)
    assert solution.value == pytest.approx(delivered, rel=1e-6)


@given(st.tuples(reserves, reserves, reserves), fees, sizes)
def test_a_direct_pool_and_a_two_hop_path_are_split_optimally(
    depths: tuple[int, int, int], fee: int, amount: int
) -> None:
    pairs = [(A, B), (A, C), (C, B)]
    pools = [
        build_constant_product(k, i, j, x, x, fee) for k, ((i, j), x) in enumerate(zip(pairs, depths, strict=True))
    ]
    direct, first, second = (pool.curve(i.address, j.address) for pool, (i, j) in zip(pools, pairs, strict=True))
    best = max(
        direct.amount_out(amount * k / 400) + second.amount_out(first.amount_out(amount * (400 - k) / 400))
        for k in range(401)
    )
    solution = found(problem_of(build_market(pools, [A, B, C]), amount), 1e-9).solution
    delivered = sum(trade.amount_out for trade in solution.trades if trade.arc.token_out == 1)
    assert best * (1 - 1e-6) <= delivered <= best * (1 + 1e-4)


@given(st.lists(reserves, min_size=2, max_size=5), st.floats(0.001, 1.0))
def test_the_only_path_gets_the_whole_order(depths: list[int], part: float) -> None:
    way = [A, *(build_token(k + 2) for k in range(len(depths) - 1)), B]
    pools = [
        build_constant_product(k, i, j, x, x) for k, (i, j, x) in enumerate(zip(way, way[1:], depths, strict=False))
    ]
    amount = int(part * min(depths))
    expected = float(amount)
    for pool, i, j in zip(pools, way, way[1:], strict=False):
        expected = pool.curve(i.address, j.address).amount_out(expected)
    solution = found(problem_of(build_market(pools, [A, B, *way[1:-1]]), amount), 1e-9).solution
    assert solution.value == pytest.approx(expected, rel=1e-6)
    assert [trade.amount_out for trade in solution.trades if trade.arc.token_out == 1] == pytest.approx(
        [expected], rel=1e-4
    )


def test_an_order_beyond_every_capacity_ends_with_full_pools() -> None:
    narrow = build_concentrated(0, A, B, 10**21, 1.0, 600)
    market = build_market([narrow], [A, B])
    solution = found(problem_of(market, 10**6 * UNIT)).solution
    curve = narrow.curve(A.address, B.address)
    assert [trade.amount_in for trade in solution.trades] == [curve.capacity]
    assert solution.value >= curve.amount_out(inf)
