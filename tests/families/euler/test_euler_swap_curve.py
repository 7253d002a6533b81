"""The direction of EulerSwap in floats, by its closed forms."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.families.euler.euler_swap_curve import EulerSwapCurve
from swapcli.testing.pool_laws import check_concave, trade_to_rate

DILUTIONS = st.one_of(st.just(0.0), st.floats(1e-9, 1.0))


@st.composite
def curves(draw: st.DrawFn) -> EulerSwapCurve:
    """Return a direction from anywhere on the curve."""
    x0, y0, rate = (10.0 ** draw(st.floats(-3, 20)) for _ in range(3))
    c, d = draw(DILUTIONS), draw(DILUTIONS)
    if draw(st.booleans()):
        x, above = x0 * draw(st.floats(0.01, 0.999)), x0
        y = y0 + rate * (above - x) * (1.0 + c * (above / x - 1.0))
    else:
        y = y0 * draw(st.floats(0.01, 1.0))
        x = x0 + (y0 - y) * (1.0 + d * (y0 / y - 1.0)) / rate
    limits = draw(st.sampled_from(((inf, y), (inf, y * 0.3), (x0 * 0.1, y))))
    return EulerSwapCurve((x, y), (x0, y0), rate, (c, d), draw(st.floats(0.5, 1.0)), max(x0 - x, 0.0), limits)


@given(curve=curves(), part=st.floats(0.01, 0.999), a=st.floats(1e-6, 0.9), b=st.floats(1e-6, 0.9))
def test_the_direction_is_concave_and_its_rates_are_its_slopes(
    curve: EulerSwapCurve, part: float, a: float, b: float
) -> None:
    amount_in, _, _ = trade_to_rate(curve, part, 1e-4)
    if curve.capacity < inf:
        check_concave(curve, a, b)
    if 0.0 < amount_in < 0.99 * curve.capacity:
        step = amount_in * 1e-4
        slope = (curve.amount_out(amount_in + step) - curve.amount_out(amount_in - step)) / (2 * step)
        assert curve.rate(amount_in + step) * (1 - 1e-6) <= slope <= curve.rate(amount_in - step) * (1 + 1e-6)


def test_a_constant_sum_ends_where_a_limit_does() -> None:
    curve = EulerSwapCurve((50.0, 150.0), (100.0, 100.0), 1.0, (0.0, 0.0), 0.5, 50.0, (inf, 120.0))
    assert (curve.start_rate, curve.capacity) == (0.5, 240.0)
    assert curve.trade_to_marginal_rate(0.4) == (240.0, 120.0, 0.0)
    assert curve.amount_out(1_000.0) == 120.0
    assert curve.rate(240.0) == 0.0
    assert curve.rate(239.0) == 0.5


def test_half_of_a_constant_product() -> None:
    """Both halves dilute wholly: x y = 10^4 on either side of the equilibrium."""
    curve = EulerSwapCurve((50.0, 200.0), (100.0, 100.0), 1.0, (1.0, 1.0), 1.0, 50.0, (inf, 200.0))
    assert curve.start_rate == pytest.approx(4.0)
    for amount_in in (25.0, 50.0, 150.0):
        assert curve.amount_out(amount_in) == pytest.approx(200.0 - 1e4 / (50.0 + amount_in))
        assert curve.rate(amount_in) == pytest.approx(1e4 / (50.0 + amount_in) ** 2)
    for rate in (2.0, 1.0, 0.25):
        assert curve.trade_to_marginal_rate(rate)[0] == pytest.approx(100.0 / rate**0.5 - 50.0)


def test_nothing_is_sold_where_a_limit_is_zero() -> None:
    for limits in ((0.0, 1.0), (1.0, 0.0)):
        curve = EulerSwapCurve((1.0, 1.0), (1.0, 1.0), 1.0, (0.5, 0.5), 1.0, 0.0, limits)
        assert (curve.start_rate, curve.capacity) == (0.0, 0.0)
