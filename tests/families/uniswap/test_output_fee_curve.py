"""A curve less a fee of the input that comes out of the output."""

from __future__ import annotations

from math import nextafter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swapcli.families.uniswap.constant_product import ConstantProductCurve
from swapcli.families.uniswap.output_fee_curve import OutputFeeCurve
from swapcli.testing.pool_laws import check_concave, trade_to_rate


@example(fee=1e-6, part=0.5, a=1.0, b=1.0)
@given(fee=st.floats(0.0, 1.5), part=st.floats(0.01, 0.999), a=st.floats(1e-6, 1.0), b=st.floats(1e-6, 1.0))
def test_it_is_concave_up_to_where_more_brings_nothing(fee: float, part: float, a: float, b: float) -> None:
    inner = ConstantProductCurve(1e6, 2e6, 3_000, 1e9)
    curve = OutputFeeCurve(inner, fee)
    trade_to_rate(curve, part, 1e-6)
    check_concave(curve, a, b)
    assert curve.rate(curve.capacity) == 0.0
    if curve.capacity == inner.capacity:  # the contract takes no more, before the rate has fallen to the fee
        assert inner.rate(nextafter(inner.capacity, 0.0)) >= fee * (1 - 1e-9)
    else:
        assert inner.rate(curve.capacity) == pytest.approx(fee)
    if fee:
        assert curve.amount_out(curve.capacity) >= curve.amount_out(curve.capacity * 0.99)
    assert curve.amount_out(1e3) == pytest.approx(inner.amount_out(1e3) - fee * 1e3)


def test_a_fee_above_the_rate_leaves_nothing() -> None:
    curve = OutputFeeCurve(ConstantProductCurve(1e6, 2e6, 3_000, 1e9), 2.0)
    assert (curve.start_rate, curve.capacity) == (0.0, 0.0)
    assert curve.trade_to_marginal_rate(0.1) == (0.0, 0.0, 0.0)
    assert curve.amount_out(5.0) == 0.0
