"""The curve of a pool with Clanker's dynamic fee: concave, and close to the swaps where the fee is steady."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.testing.pool_laws import check_concave
from tests.families.uniswap.hooked_pools import backward, forward
from tests.families.uniswap.test_clanker_volatility import volatile_pool

POOL = volatile_pool()


@given(first=st.floats(1e12, 1e23), second=st.floats(1e12, 1e23), down=st.booleans())
def test_the_curve_is_concave(first: float, second: float, down: bool) -> None:
    curve = POOL.curve(*(forward(POOL) if down else backward(POOL)))
    top = min(curve.capacity, 1e24)
    if curve.capacity < 1e30:
        check_concave(curve, first / 1e24, second / 1e24)
    low, high = sorted((min(first, top), min(second, top)))
    middle = curve.amount_out(low / 2 + high / 2)
    assert middle >= (curve.amount_out(low) / 2 + curve.amount_out(high) / 2) * (1 - 1e-12)
    assert curve.rate(low) * (1 + 1e-9) >= curve.rate(high)


@given(amount_in=st.integers(10**12, 10**22), down=st.booleans())
def test_no_swap_pays_more_than_its_curve_and_few_pay_much_less(amount_in: int, down: bool) -> None:
    """A bound from above: it ends at the largest trade that pays more than a smaller one."""
    tokens = forward(POOL) if down else backward(POOL)
    curve = POOL.curve(*tokens)
    amount_out = POOL.swap(*tokens, amount_in)[0]
    assert amount_out <= curve.amount_out(amount_in) * (1 + 1e-6) + 1
    assert amount_out >= 0.9 * curve.amount_out(amount_in) - 1


def test_small_trades_have_the_fee_of_the_smallest() -> None:
    for tokens in (forward(POOL), backward(POOL)):
        exact = POOL.swap(*tokens, 10**15)[0]
        assert POOL.curve(*tokens).amount_out(1e15) == pytest.approx(exact, rel=1e-3)
