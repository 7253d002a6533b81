"""Segments follow one another by falling rates, and a tick is exact at both of its ends."""

from __future__ import annotations

from math import inf, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.families.maverick.maverick_curve import MaverickCurve, TickSale
from swapcli.testing.pool_laws import check_concave, trade_to_rate


@st.composite
def curves(draw: st.DrawFn) -> MaverickCurve:
    q, sales = draw(st.floats(0.01, 100.0)), []
    for _ in range(draw(st.integers(1, 6))):
        end = q * draw(st.floats(1.00001, 1.5))
        liquidity = draw(st.floats(1e6, 1e25))
        sales.append(TickSale(q, end, liquidity * (end - q), liquidity * (1 / q - 1 / end)))
        q = end * draw(st.sampled_from([1.0, 1.3]))
    return MaverickCurve(sales, draw(st.floats(0.1, 1.0)))


def test_ticks_are_bought_one_after_the_other() -> None:
    sales = [TickSale(1.0, 1.25, 100.0, 80.0), TickSale(1.3, 1.4, 50.0, 0.0), TickSale(1.5, 2.0, 300.0, 100.0)]
    curve = MaverickCurve(sales, 0.5)
    assert (curve.start_rate, curve.capacity) == (0.5, 800.0)
    assert curve.amount_out(200.0) == pytest.approx(80.0)
    assert curve.amount_out(800.0) == curve.amount_out(inf) == pytest.approx(180.0)
    assert curve.rate(800.0) == 0.0
    # Between the ticks, the rate jumps from 0.5 / 1.25^2 to 0.5 / 1.5^2.
    assert list(curve.trade_to_marginal_rate(0.5 / 1.4**2)) == pytest.approx([200.0, 80.0, 0.0])
    assert list(curve.trade_to_marginal_rate(1e-9)) == pytest.approx([800.0, 180.0, 0.0])
    assert curve.trade_to_marginal_rate(0.5) == (0.0, 0.0, 0.0)


def test_without_ticks_nothing_is_paid() -> None:
    curve = MaverickCurve([], 0.5)
    assert (curve.start_rate, curve.capacity, curve.amount_out(5.0), curve.rate(5.0)) == (0.0, 0.0, 0.0, 0.0)
    assert curve.trade_to_marginal_rate(0.1) == (0.0, 0.0, 0.0)


def test_a_tick_of_few_units_has_one_rate() -> None:
    curve = MaverickCurve([TickSale(2.0, 2.1, 3.0, 1.0)], 1.0)
    assert curve.amount_out(3.0) == pytest.approx(0.75)


def test_rounding_in_a_tick_of_few_units_moves_no_later_tick() -> None:
    after = TickSale(1.1, 1.2, 1.32e6, 1e6)
    curve = MaverickCurve([TickSale(1.0, 1.1, 20.0, 10.0), after], 1.0)
    assert curve.capacity == pytest.approx(11 + after.amount_in)
    assert curve.amount_out(11.0) == pytest.approx(10)
    assert curve.rate(12.0) == pytest.approx(1 / 1.1**2, rel=1e-5)
    assert curve.amount_out(curve.capacity) == pytest.approx(10 + after.amount_out)


@given(curves(), st.floats(0, 1), st.floats(0, 1))
def test_the_curve_is_increasing_and_concave(curve: MaverickCurve, a: float, b: float) -> None:
    check_concave(curve, a, b)


@given(curves(), st.floats(0.01, 0.9999))
def test_the_trade_to_a_rate_ends_at_that_rate(curve: MaverickCurve, part: float) -> None:
    amount_in, amount_out, _ = trade_to_rate(curve, part, 1e-9)
    assert isclose(curve.amount_out(amount_in), amount_out, rel_tol=1e-9)
