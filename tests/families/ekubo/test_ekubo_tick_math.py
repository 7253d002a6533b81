"""Ratios rise with their ticks, by one millionth each, and each ratio has one tick."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.families.ekubo.ekubo_tick_math import (
    MAX_SQRT_RATIO,
    MAX_TICK,
    MIN_SQRT_RATIO,
    MIN_TICK,
    sqrt_ratio_at_tick,
    tick_at_sqrt_ratio,
)


@given(st.integers(MIN_TICK, MAX_TICK - 1))
def test_a_tick_is_a_millionth_of_the_price(tick: int) -> None:
    ratio, following = sqrt_ratio_at_tick(tick), sqrt_ratio_at_tick(tick + 1)
    assert abs(Fraction(following, ratio) ** 2 - Fraction(1_000_001, 1_000_000)) < Fraction(1, 10**12)
    assert tick_at_sqrt_ratio(ratio) == tick_at_sqrt_ratio(following - 1) == tick


def test_the_ends_are_those_of_the_contract() -> None:
    assert sqrt_ratio_at_tick(0) == 1 << 128
    assert (sqrt_ratio_at_tick(MIN_TICK), sqrt_ratio_at_tick(MAX_TICK)) == (MIN_SQRT_RATIO, MAX_SQRT_RATIO)
    for tick in (MIN_TICK - 1, MAX_TICK + 1):
        with pytest.raises(ValueError, match="is outside"):
            sqrt_ratio_at_tick(tick)
    for ratio in (MIN_SQRT_RATIO - 1, MAX_SQRT_RATIO + 1):
        with pytest.raises(ValueError, match="is outside"):
            tick_at_sqrt_ratio(ratio)
