"""Ratios rise with their ticks, by one millionth each, and each ratio has one tick; an EVM core stores fewer digits."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.families.ekubo.ekubo_tick_math import (
    EVM_TICKS,
    STARKNET_TICKS,
    EkuboTicks,
    expand_ratio,
    is_compact_ratio,
    round_ratio,
)

MIN_RATIO, MAX_RATIO = 18446748437148339061, 6277100250585753475930931601400621808602321654880405518632
MIN_COMPACT, MAX_COMPACT = 4611797791050542631, 79227682466138141934206691491
"""The limits of the contracts: `MIN_SQRT_RATIO` and `MAX_SQRT_RATIO`, on EVM networks with `_RAW`."""
ticks = st.integers(-EVM_TICKS.max_tick, EVM_TICKS.max_tick)
ratios = st.integers(1, 192).flatmap(lambda bits: st.integers(1 << (bits - 1), (1 << bits) - 1))


@given(st.integers(-STARKNET_TICKS.max_tick, STARKNET_TICKS.max_tick - 1))
def test_a_tick_is_a_millionth_of_the_price(tick: int) -> None:
    ratio, following = STARKNET_TICKS.ratio_at(tick), STARKNET_TICKS.ratio_at(tick + 1)
    assert abs(Fraction(following, ratio) ** 2 - Fraction(1_000_001, 1_000_000)) < Fraction(1, 10**12)
    assert STARKNET_TICKS.tick_at(ratio) == STARKNET_TICKS.tick_at(following - 1) == tick


def test_the_limits_are_those_of_the_contracts() -> None:
    """On EVM networks the ratio 1 is 2^95 + 2^62."""
    assert (STARKNET_TICKS.min_ratio, STARKNET_TICKS.max_ratio) == (MIN_RATIO, MAX_RATIO)
    assert (EVM_TICKS.min_ratio, EVM_TICKS.max_ratio) == (expand_ratio(MIN_COMPACT), expand_ratio(MAX_COMPACT))
    assert expand_ratio((1 << 95) + (1 << 62)) == EVM_TICKS.ratio_at(0) == STARKNET_TICKS.ratio_at(0) == 1 << 128


@pytest.mark.parametrize("core", [STARKNET_TICKS, EVM_TICKS])
def test_numbers_beyond_the_limits_are_refused(core: EkuboTicks) -> None:
    for tick in (-core.max_tick - 1, core.max_tick + 1):
        with pytest.raises(ValueError, match="is outside"):
            core.ratio_at(tick)
    for ratio in (core.min_ratio - 1, core.max_ratio + 1):
        with pytest.raises(ValueError, match="is outside"):
            core.tick_at(ratio)


@given(ticks)
def test_a_stored_ratio_keeps_62_digits(tick: int) -> None:
    exact = STARKNET_TICKS.ratio_at(tick)
    assert 0 <= exact - EVM_TICKS.ratio_at(tick) <= exact >> 61


@given(ticks)
def test_the_tick_of_a_stored_ratio_is_the_greatest_one_below(tick: int) -> None:
    ratio = EVM_TICKS.ratio_at(tick)
    assert EVM_TICKS.tick_at(ratio) == tick
    if tick > -EVM_TICKS.max_tick:
        assert EVM_TICKS.tick_at(ratio - 1) == tick - 1


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
