"""The curve of a pool whose hook sells first is the concave hull of its swaps."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from swapcli.core.errors import SwapReverts
from swapcli.families.tick_math import Q96
from swapcli.testing.pool_laws import check_concave, trade_to_rate
from tests.families.uniswap.hooked_pools import backward, forward
from tests.families.uniswap.test_internal_swap import selling_pool

AMOUNTS = st.integers(10**6, 10**21)


@given(amount=AMOUNTS, part=st.floats(0.01, 0.999), a=st.floats(1e-9, 1.0), b=st.floats(1e-9, 1.0), down=st.booleans())
def test_the_curve_is_a_swap_that_empties_the_hook(amount: int, part: float, a: float, b: float, down: bool) -> None:
    pool = selling_pool(amount, token_is_first=not down)
    tokens = forward(pool) if down else backward(pool)
    curve = pool.curve(*tokens)
    amount_in, amount_out, _ = trade_to_rate(curve, part, 1e-6)
    check_concave(curve, a, b)
    assert curve.amount_out(amount_in) == pytest.approx(amount_out, rel=1e-9)
    # Where the whole input would move the price so far that the hook's sale has no end, it is a bound only.
    price = pool.plain.sqrt_price_x96 / Q96
    depth = pool.plain.liquidity / price if down else pool.plain.liquidity * price
    assume(10**6 < amount_in < 0.99 * depth)
    exact, after = pool.swap(*tokens, int(amount_in))
    assert after.plain != pool.plain, "the hook has sold all that it had"
    assert curve.amount_out(int(amount_in)) == pytest.approx(exact, rel=1e-9, abs=5)


@example(amount=1_000_004, amount_in=8_672_251, down=True)
@given(amount=AMOUNTS, amount_in=st.integers(1, 10**24), down=st.booleans())
def test_no_swap_pays_more_than_the_curve(amount: int, amount_in: int, down: bool) -> None:
    """But for the units that the hook rounds in the buyer's favour.

    Each of the two fees is rounded down: 2 units of the output. The hook rounds up what it asks for the whole input,
    which is 1 more. It rounds down the input that it takes for all of its tokens, so that the pool gets a unit more of
    the input, worth at most the start rate.
    """
    pool = selling_pool(amount, token_is_first=not down)
    tokens = forward(pool) if down else backward(pool)
    try:
        exact = pool.swap(*tokens, amount_in)[0]
    except SwapReverts:
        return
    curve = pool.curve(*tokens)
    assert exact <= curve.amount_out(amount_in) * (1 + 1e-9) + 2 + 1 + curve.start_rate


def test_without_anything_to_sell_it_is_the_pools_own_curve() -> None:
    selling, plain = selling_pool(0), selling_pool(0, token_is_first=True)
    curve, own = (pool.curve(*forward(pool)) for pool in (selling, plain))
    assert curve.start_rate == pytest.approx(own.start_rate)
    assert curve.capacity == own.capacity
    for amount_in in (1e10, 1e20):
        assert curve.amount_out(amount_in) == pytest.approx(own.amount_out(amount_in))
        assert curve.rate(amount_in) == pytest.approx(own.rate(amount_in))


def test_up_to_the_hooks_tokens_the_rate_is_that_of_the_chord() -> None:
    """At the price 2 and with 10^21 of liquidity, 10^20 tokens make it 1 + 10^20 / sqrt(2) / 10^21 times as good."""
    pool = selling_pool(10**20, fee_bps=0)
    curve = pool.curve(*forward(pool))
    assert curve.start_rate == pytest.approx(2 * (1 + 0.1 / 2**0.5), rel=1e-9)
    end = 10**20 / curve.start_rate
    assert curve.rate(0.9 * end) == curve.start_rate > curve.rate(1.1 * end)
    assert curve.trade_to_marginal_rate(curve.start_rate) == (0.0, 0.0, 0.0)
    assert pool.swap(*forward(pool), int(end))[0] == pytest.approx(10**20, rel=1e-6)
