"""Amounts in other decimals are rounded down, and a swap moves what it says between the reserves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from swapcli.families.reserves import change_decimals, reserves_after_swap, to_18_decimals

places = st.integers(0, 18)
amounts = st.integers(0, 10**30)


@given(amounts, places, places)
def test_an_amount_in_other_decimals_is_rounded_down(amount: int, before: int, after: int) -> None:
    changed = change_decimals(amount, before, after)
    assert changed * to_18_decimals(after) <= amount * to_18_decimals(before)
    assert (changed + 1) * to_18_decimals(after) > amount * to_18_decimals(before)


@given(amounts, amounts)
def test_a_swap_changes_two_reserves(amount_in: int, amount_out: int) -> None:
    assert reserves_after_swap((10, 20, 30), 2, amount_in, 0, amount_out) == (10 - amount_out, 20, 30 + amount_in)
