"""The dual with gas: its gradient, its kinks, and branches that bound less than the whole."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.routing.gas_proof.gas_dual import Fixed, GasDual, least_rate, price_arcs
from swapcli.core.routing.gas_proof.token_limits import token_limits
from swapcli.core.routing.graph.best_paths import price_tokens
from swapcli.core.routing.search.problem import SwapSpec
from tests.core.routing.build import graph_of
from tests.support.pools import build_random_market, seeds

AMOUNT = 10**21
gas_values = st.sampled_from([0.0, 1e9, 1e12, 1e14])


def build_dual(seed: int, gas_value: float) -> tuple[GasDual, list[float]]:
    """A dual over a random market, and logarithms of its spot prices."""
    market = build_random_market(seed, pools=10, noise=3, every_family=True)
    graph = graph_of(market)
    prices = price_tokens(graph, graph, {1: 1.0}, 1)
    spec = SwapSpec(0, 1, AMOUNT, 8, gas_value)
    sold = [arc for arc in graph.arcs() if {arc.token_in, arc.token_out} <= prices.keys()]
    arcs = price_arcs(sold, spec, token_limits(graph, (0, 1), AMOUNT, 8, prices).amounts)
    dual = GasDual(spec, float(AMOUNT), arcs)
    return dual, [log(prices[token]) for token in dual.tokens]


@given(seeds, gas_values, st.floats(-0.05, 0.05), st.integers(0, 9))
def test_the_gradient_is_the_slope(seed: int, gas_value: float, shift: float, which: int) -> None:
    """Between two points without a kink between them, the value changes by the mean of both slopes."""
    dual, point = build_dual(seed, gas_value)
    point = [each + shift for each in point]
    number, step = which % len(point), 1e-5
    moved = [each + step * (k == number) for k, each in enumerate(point)]
    (value, gradient), (after, slope) = dual.evaluate(point, Fixed()), dual.evaluate(moved, Fixed())
    assume(abs(slope[number] - gradient[number]) < 1e-3 * abs(gradient[number]))
    assert after - value == pytest.approx(
        step * (slope[number] + gradient[number]) / 2, rel=1e-3, abs=1e-7 * abs(value)
    )


@given(seeds, gas_values)
def test_a_branch_bounds_no_more_than_the_whole(seed: int, gas_value: float) -> None:
    dual, point = build_dual(seed, gas_value)
    whole = dual.evaluate(point, Fixed())[0]
    for number in range(len(dual.arcs)):
        used = dual.evaluate(point, Fixed(used=frozenset({number})))[0]
        unused = dual.evaluate(point, Fixed(unused=frozenset({number})))[0]
        assert max(used, unused) <= whole + 1e-12 * abs(whole)
        assert max(used, unused) == pytest.approx(whole)


@given(seeds)
def test_gas_only_lowers_the_bound(seed: int) -> None:
    bounds = []
    for gas_value in (0.0, 1e9, 1e12, 1e14):
        dual, point = build_dual(seed, gas_value)
        bounds.append(dual.evaluate(point, Fixed())[0])
    assert bounds == sorted(bounds, reverse=True)


@given(seeds, st.floats(1e-6, 1.0), st.integers(0, 30))
def test_no_trade_gains_more_above_the_least_rate(seed: int, part: float, which: int) -> None:
    """And one does below it, if it is below the rate of the first unit."""
    dual, _ = build_dual(seed, 0.0)
    each = dual.arcs[which % len(dual.arcs)]
    arc, amount = each.arc, min(each.limit, each.arc.curve.capacity)
    gain = part * arc.curve.amount_out(amount)
    rate = least_rate(each, gain)
    assert each.surplus(rate * (1 + 1e-6), 1.0) <= gain * (1 + 1e-6)
    assert rate >= arc.rate or each.best_trade(rate * (1 - 1e-4), 1.0)[0] >= gain * (1 - 1e-6)


def test_the_kink_that_costs_most_is_nearest() -> None:
    """None where gas is free: no pool is worth about its gas."""
    dual, point = build_dual(1, 0.0)
    assert dual.nearest_kink(dual.prices(point), Fixed()) is None
