"""Amounts in whole tokens are exact."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.token import Token, fixed_point, in_tokens, whole_tokens


@given(st.integers(-(10**30), 10**30), st.integers(0, 30))
def test_the_text_is_the_exact_amount(amount: int, decimals: int) -> None:
    expected = Decimal(f"{amount}e-{decimals}")  # `scaleb` would round to 28 digits
    assert Decimal(whole_tokens(amount, decimals).replace(",", "")) == expected
    text = fixed_point(amount, decimals)
    assert Decimal(text.replace(",", "")) == expected
    assert len(text.partition(".")[2]) == decimals


def test_digits_are_grouped_and_zeros_left_out() -> None:
    assert in_tokens(1_234_500_000, Token("0x" + "11" * 20, "USDC", "USD Coin", 6)) == "1,234.5 USDC"
    assert whole_tokens(10_000, 0) == "10,000"
