"""Levels are filled in their order, and only readable ones are read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidPoolState
from swapcli.families.order_books.price_levels import (
    LevelRule,
    PriceLevel,
    count_levels,
    fill_levels,
    level_curve,
    levels_state,
    read_levels,
)
from swapcli.families.state_fields import StateFields

LEVELS = (PriceLevel(10, 5), PriceLevel(9, 4), PriceLevel(2, 7))
PRICES = range(1, 101)


EXACT = LevelRule(scale=1, buys_size=False)
"""A unit is sold for its price, without rounding."""


@given(st.integers(0, 20))
def test_the_best_levels_are_filled_first(amount_in: int) -> None:
    units = [level.price for level in LEVELS for _ in range(level.size)]
    filled = fill_levels(LEVELS, amount_in, EXACT)
    assert filled.amount_out == sum(units[:amount_in])
    assert [level.price for level in filled.levels for _ in range(level.size)] == units[amount_in:]
    assert filled.amount_left == max(amount_in - len(units), 0)
    assert filled.is_exhausted == (amount_in > len(units))


def test_a_curve_has_the_rates_of_the_levels() -> None:
    curve = level_curve(LEVELS, EXACT)
    assert curve.capacity == pytest.approx(16)
    assert [curve.rate(each) for each in (1.0, 6.0, 12.0)] == pytest.approx([10, 9, 2], rel=1e-6)
    assert [count_levels(LEVELS, EXACT, rate) for rate in (11.0, 10.0, 9.5, 9.0, 1.0)] == [1, 1, 1, 2, 3]


@pytest.mark.parametrize(
    ("rule", "amount_in", "left", "amount_out"),
    [
        (LevelRule(scale=4, buys_size=False), 3, 0, 7),  # 3 * 10 / 4 rounds down
        (LevelRule(scale=4, buys_size=True), 9, 1, 3),  # 3 cost 7.5, rounded up
        (LevelRule(scale=4, buys_size=True, unit=100), 9, 1, 300),
        (LevelRule(scale=4, buys_size=True, counts_rest_in_sizes=True), 14, 0, 5),  # 5.6 sizes: the rest buys nothing
        (LevelRule(scale=1, buys_size=True, fee_in_ppm=300_000), 39, 0, 3),
        (LevelRule(scale=1, buys_size=True, fee_in_ppm=300_000), 38, 12, 2),
        (LevelRule(scale=1, buys_size=True, fee_in_ppm=-300_000), 21, 0, 3),
        (LevelRule(scale=1, buys_size=True, fee_out_ppm=300_000), 30, 0, 2),  # 0.9 rounds up to 1
        (LevelRule(scale=1, buys_size=True, fee_out_ppm=-300_000), 30, 0, 3),  # a rebate of 0.9 rounds down
        (LevelRule(scale=30, buys_size=True, price_of_tick=lambda tick: tick), 9, 0, 3),
    ],
)
def test_a_rule_rounds_in_favour_of_the_book(rule: LevelRule, amount_in: int, left: int, amount_out: int) -> None:
    filled = fill_levels(LEVELS[:1], amount_in, rule)
    assert (filled.amount_left, filled.amount_out) == (left, amount_out)


def test_levels_survive_a_round_trip() -> None:
    fields = StateFields({"levels": levels_state(LEVELS)})
    assert read_levels(fields, "levels", PRICES, 64, ascending=False) == LEVELS


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (None, "levels"),
        ("10", "levels"),
        ([[1, 1]] * 1_001, "levels"),
        ([5], r"levels\[0\]"),
        ([[10, 5, 1]], r"levels\[0\]"),
        ([[10, 0]], r"levels\[0\]"),
        ([[10, -1]], r"levels\[0\]"),
        ([[10, 1 << 64]], r"levels\[0\]"),
        ([[101, 1]], r"levels\[0\]"),
        ([[0, 1]], r"levels\[0\]"),
        ([[10, 1], [10, 1]], r"levels\[1\]"),
        ([[10, 1], [11, 1]], r"levels\[1\]"),
    ],
)
def test_contradictory_levels_are_refused(value: object, field: str) -> None:
    with pytest.raises(InvalidPoolState, match=field):
        read_levels(StateFields({"levels": value}), "levels", PRICES, 64, ascending=False)


def test_the_order_is_that_of_the_swap() -> None:
    fields = StateFields({"asks": levels_state(LEVELS[::-1])})
    assert read_levels(fields, "asks", PRICES, 64, ascending=True) == LEVELS[::-1]
    with pytest.raises(InvalidPoolState, match=r"asks\[1\].*above"):
        read_levels(StateFields({"asks": levels_state(LEVELS)}), "asks", PRICES, 64, ascending=True)
