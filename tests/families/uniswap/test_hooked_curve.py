"""The curve of a pool between two fees is its swap in floats."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import SwapReverts
from swapcli.families.uniswap.hook_fees import DirectionFees, HookFees
from swapcli.testing.pool_laws import check_concave, trade_to_rate
from tests.families.uniswap.hooked_pools import FEES, forward, hooked_pool


@given(fees=FEES, part=st.floats(0.01, 0.999), a=st.floats(1e-9, 1.0), b=st.floats(1e-9, 1.0))
def test_the_curve_is_the_swap_in_floats(fees: DirectionFees, part: float, a: float, b: float) -> None:
    pool = hooked_pool(HookFees(fees, fees))
    curve = pool.curve(*forward(pool))
    amount_in, _, _ = trade_to_rate(curve, part, 1e-6)
    check_concave(curve, a, b)
    if 10**6 < amount_in < 10**30:
        try:
            exact, _ = pool.swap(*forward(pool), int(amount_in))
        except SwapReverts:
            return
        assert curve.amount_out(int(amount_in)) == pytest.approx(exact, rel=1e-9, abs=3)


def test_the_capacity_is_that_of_the_pool_before_the_fee() -> None:
    plain = hooked_pool(HookFees(DirectionFees(3_000), DirectionFees(3_000)))
    taken = hooked_pool(HookFees(DirectionFees(3_000, 10**17), DirectionFees(3_000)))
    tokens = forward(plain)
    assert taken.curve(*tokens).capacity == pytest.approx(plain.curve(*tokens).capacity / 0.9)
    assert taken.curve(*tokens).rate(1e18) == pytest.approx(0.9 * plain.curve(*tokens).rate(0.9e18))
