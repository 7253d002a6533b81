"""The solver finds the least value of the dual, also where tokens trade in circles at a profit or pools run out."""

from __future__ import annotations

from math import exp, inf, log, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption
from scipy.optimize import minimize

from swapcli.core.model.market import MarketState
from swapcli.core.routing.graph.market_graph import Arc, Prices
from swapcli.core.routing.solver.newton import Solution, minimize_dual
from tests.core.routing.build import problem_of
from tests.support.pools import (
    UNIT,
    build_concentrated,
    build_constant_product,
    build_market,
    build_random_market,
    build_token,
    seeds,
)

TOLERANCE = 1e-7
MAX_ITERATIONS = 60
A, B, C, D = (build_token(k) for k in range(4))
amounts = st.floats(15, 24).map(lambda digits: int(10**digits))
reserves = st.floats(20, 22).map(lambda digits: int(10**digits))
prices = st.floats(0.8, 1.25)


@st.composite
def markets(draw: st.DrawFn) -> MarketState:
    """Markets whose pools disagree on prices: most have arbitrage, and the ranges of some pools end."""
    noise = draw(st.sampled_from([0.1, 0.8, 3.0]))
    return build_random_market(
        draw(seeds), pools=draw(st.integers(4, 14)), noise=noise, every_family=draw(st.booleans())
    )


@st.composite
def cycles(draw: st.DrawFn) -> MarketState:
    """A source, a target, and a cycle of two tokens between them on which a profit may be made; ranges that end."""
    pools = [build_constant_product(0, A, C, draw(reserves), draw(reserves))]
    for number, (i, j) in enumerate([(A, B), (C, D), (C, D), (D, B), (C, B)], start=1):
        if draw(st.booleans()):
            pools.append(build_constant_product(number, i, j, x := draw(reserves), int(x * draw(prices))))
        else:
            pools.append(build_concentrated(number, i, j, draw(reserves), draw(prices), draw(st.integers(1, 20)) * 60))
    return build_market(pools, [A, B, C, D])


def arcs_and_start(market: MarketState, amount: int) -> tuple[list[Arc], Prices]:
    problem = problem_of(market, amount)
    start = {t: price for t in range(len(market.tokens)) if (price := problem.spot.value(t)) > 0.0}
    arcs = problem.arcs_between(start)
    if not arcs:
        raise UnsatisfiedAssumption
    return arcs, start | {1: 1.0}


def solve(arcs: list[Arc], start: Prices, amount: float) -> Solution:
    return minimize_dual(arcs, (0, 1), amount, start, tolerance=TOLERANCE, max_iterations=MAX_ITERATIONS)


def least_dual(arcs: list[Arc], start: Prices, amount: float, unit: float) -> float:
    """The least value of the dual that scipy finds from `start`, in logarithms of prices."""
    tokens = sorted({t for arc in arcs for t in (arc.token_in, arc.token_out)} - {1})

    def dual(logs: Any) -> tuple[float, Any]:
        at = {t: exp(x) for t, x in zip(tokens, logs, strict=True)} | {1: 1.0}
        value, inflow = amount * at[0], dict.fromkeys(at, 0.0)
        inflow[0] += amount
        for arc in arcs:
            rate = at[arc.token_in] / at[arc.token_out]
            sold, bought, _ = arc.curve.trade_to_marginal_rate(rate)
            if bought > sold * rate:
                value += at[arc.token_out] * bought - at[arc.token_in] * sold
                inflow[arc.token_in] -= sold
                inflow[arc.token_out] += bought
        return value / unit, np.array([at[t] * inflow[t] for t in tokens]) / unit

    at, least = np.array([log(start[t]) for t in tokens]), inf
    for _ in range(4):  # a kink may end its search; the Hessian is forgotten with a new one
        found = minimize(
            dual, at, jac=True, bounds=[(-270.0, 270.0)] * len(tokens), method="L-BFGS-B",
            options={"maxiter": 3_000, "maxfun": 9_000, "ftol": 1e-15, "gtol": 1e-12, "maxcor": 30, "maxls": 60},
        )  # fmt: skip
        if found.fun >= least * (1.0 - 1e-9):
            break
        least, at = found.fun, found.x
    return min(least, float(found.fun)) * unit


@given(st.one_of(markets(), cycles()), amounts)
def test_the_value_is_the_least_that_another_method_finds(market: MarketState, amount: int) -> None:
    arcs, start = arcs_and_start(market, amount)
    solution = solve(arcs, start, float(amount))
    assert 0.0 < solution.value < inf
    for begin in (start, solution.prices):
        assert solution.value <= least_dual(arcs, begin, float(amount), solution.value) * (1.0 + 1e-6)


@given(st.one_of(markets(), cycles()), amounts, st.floats(0.01, 0.99))
def test_a_part_of_an_order_is_worth_no_more_than_all_of_it(market: MarketState, amount: int, part: float) -> None:
    """What the pools cannot carry is given away: it never lowers what the rest pays."""
    arcs, start = arcs_and_start(market, amount)
    whole, less = (solve(arcs, start, sold).value for sold in (float(amount), amount * part))
    assert less <= whole * (1.0 + 1e-6)
    assert less >= whole * part * (1.0 - 1e-6)  # the dual is concave in the amount, and not below zero


@given(cycles(), amounts)
def test_solutions_are_equal_to_the_bit(market: MarketState, amount: int) -> None:
    """Also those over other objects: nothing depends on where they are in memory."""
    first, second = (solve(*arcs_and_start(market, amount), float(amount)) for _ in range(2))
    assert (first.prices, first.value, first.residual) == (second.prices, second.value, second.residual)
    assert [trade[1:] for trade in first.trades] == [trade[1:] for trade in second.trades]


@pytest.mark.parametrize("surplus", [1.5, 10.0, 1e3, 1e6])
def test_what_a_pool_cannot_take_has_no_value(surplus: float) -> None:
    """All of the first pool's output would be more than the second takes: it pays what it has, and the rest is free."""
    wide = build_constant_product(0, A, C, 10**24, 10**24)
    narrow = build_concentrated(1, C, B, 10**21, 1.0, 600)
    curve = narrow.curve(C.address, B.address)
    amount = surplus * curve.capacity
    arcs, start = arcs_and_start(build_market([wide, narrow], [A, B, C]), int(amount))
    solution = solve(arcs, start, amount)
    assert solution.residual <= TOLERANCE
    assert solution.value == pytest.approx(curve.amount_out(curve.capacity), rel=1e-6)
    assert solution.prices[0] < 1e-3


@pytest.mark.parametrize("profit", [0.02, 0.2, 1.0])
def test_the_profit_of_a_cycle_joins_the_order(profit: float) -> None:
    """Two pools in a row pay b d x / (a c + (b + c) x), which leaves most at a profit of (sqrt(b d) - sqrt(a c))^2 /
    (b + c). It is sold with what the order brings."""
    a = c = d = 1000 * UNIT
    b = int(1000 * UNIT * (1.0 + profit))
    pools = [
        build_constant_product(0, A, C, 1000 * UNIT, 1000 * UNIT, 0),
        build_constant_product(1, C, B, 1000 * UNIT, 1000 * UNIT, 0),
        build_constant_product(2, C, D, a, b, 0),
        build_constant_product(3, D, C, c, d, 0),
    ]
    sold = UNIT * 1000 / 1001 + (sqrt(b * d) - sqrt(a * c)) ** 2 / (b + c)
    arcs, start = arcs_and_start(build_market(pools, [A, B, C, D]), UNIT)
    solution = solve(arcs, start, float(UNIT))
    assert solution.residual <= TOLERANCE
    assert solution.value == pytest.approx(1000 * UNIT * sold / (1000 * UNIT + sold), rel=1e-9)
