"""Ratios are those of Starknet, rounded to the digits that the EVM core stores, and each has one tick."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.families.ekubo import ekubo_tick_math
from swapcli.families.ekubo.ekubo_evm_tick_math import (
    MAX_SQRT_RATIO,
    MAX_TICK,
    MIN_SQRT_RATIO,
    MIN_TICK,
    expand_ratio,
    is_compact_ratio,
    round_ratio,
    sqrt_ratio_at_tick,
    tick_at_sqrt_ratio,
)

ticks = st.integers(MIN_TICK, MAX_TICK)
ratios = st.integers(1, 192).flatmap(lambda bits: st.integers(1 << (bits - 1), (1 << bits) - 1))


def test_the_limits_are_those_of_the_contract() -> None:
    """They are `MIN_SQRT_RATIO_RAW` and `MAX_SQRT_RATIO_RAW`; the ratio 1 is 2^95 + 2^62."""
    assert expand_ratio(4611797791050542631) == MIN_SQRT_RATIO
    assert expand_ratio(79227682466138141934206691491) == MAX_SQRT_RATIO
    assert expand_ratio((1 << 95) + (1 << 62)) == sqrt_ratio_at_tick(0) == 1 << 128


@given(ticks)
def test_a_ratio_keeps_62_digits_of_starknets(tick: int) -> None:
    exact = ekubo_tick_math.sqrt_ratio_at_tick(tick)
    assert 0 <= exact - sqrt_ratio_at_tick(tick) <= exact >> 61


@given(ticks)
def test_the_tick_of_a_ratio_is_the_greatest_one_below(tick: int) -> None:
    ratio = sqrt_ratio_at_tick(tick)
    assert tick_at_sqrt_ratio(ratio) == tick
    if tick > MIN_TICK:
        assert tick_at_sqrt_ratio(ratio - 1) == tick - 1


@given(ratios)
def test_rounding_finds_the_neighbours_that_the_form_can_hold(ratio: int) -> None:
    below, above = round_ratio(ratio), round_ratio(ratio, up=True)
    assert below <= ratio <= above
    assert round_ratio(below) == below
    assert round_ratio(above, up=True) == above
    assert above - below <= max(ratio >> 61, 4)
    assert (below == above) == (below == ratio)


def test_numbers_beyond_the_form_are_known() -> None:
    assert round_ratio(1 << 192) == round_ratio((1 << 192) - 1, up=True) == 1 << 192
    assert is_compact_ratio((1 << 96) - 1)
    assert not is_compact_ratio(1 << 96)
    for tick in (MIN_TICK - 1, MAX_TICK + 1):
        with pytest.raises(ValueError, match="outside"):
            sqrt_ratio_at_tick(tick)
    for ratio in (MIN_SQRT_RATIO - 1, MAX_SQRT_RATIO + 1):
        with pytest.raises(ValueError, match="outside"):
            tick_at_sqrt_ratio(ratio)
