"""Prices, liquidity and amounts of a tick of Maverick V2 agree with each other, and keep to the edges of the tick."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.model.units import WAD
from swapcli.families.maverick.maverick_math import (
    MAX_SUB_TICK,
    input_for_output,
    output_for_input,
    prices_in_tick,
    sqrt_price_of_tick,
)
from swapcli.testing.strategies import log_uniform

sub_ticks = st.integers(-100_000, 100_000)
spacings = st.sampled_from([1, 10, 198, 2_232, 10_000])
reserves = log_uniform(40, 100)


@given(sub_ticks)
def test_a_sub_tick_is_a_basis_point_of_the_price(tick: int) -> None:
    growth = Fraction(sqrt_price_of_tick(tick + 1), sqrt_price_of_tick(tick)) ** 2
    assert abs(growth - Fraction(10_001, 10_000)) < Fraction(1, 10**13)


def test_the_ends_have_prices() -> None:
    assert sqrt_price_of_tick(0) == WAD
    assert 0 < sqrt_price_of_tick(-MAX_SUB_TICK) < 10**12
    assert sqrt_price_of_tick(MAX_SUB_TICK) > 10**24


@given(st.integers(-30, 30), spacings, reserves, reserves)
def test_a_price_is_within_its_tick(tick: int, spacing: int, reserve_a: int, reserve_b: int) -> None:
    assume(abs(tick) * spacing < 100_000)
    prices = prices_in_tick(tick, spacing, reserve_a, reserve_b)
    assert prices.low <= prices.price <= prices.high
    assert prices_in_tick(tick, spacing, reserve_a, 0).price == prices.high
    assert prices_in_tick(tick, spacing, 0, reserve_b).price == prices.low


@given(st.integers(-30, 30), spacings, reserves, reserves, st.booleans(), st.floats(0.001, 0.999))
def test_an_input_buys_what_it_is_the_price_of(
    tick: int, spacing: int, reserve_a: int, reserve_b: int, sells_a: bool, part: float
) -> None:
    assume(abs(tick) * spacing < 100_000)
    prices = prices_in_tick(tick, spacing, reserve_a, reserve_b)
    wanted = int((reserve_b if sells_a else reserve_a) * part)
    amount_in = input_for_output(prices, wanted, sells_a)
    bought = output_for_input(prices, amount_in, sells_a)
    rate = Fraction(wanted, max(amount_in, 1))
    # A price has 18 digits after the point, and each amount is rounded against the swapper.
    allowed = 3 + 3 * rate + wanted * Fraction(20, min(prices.price, WAD * WAD // prices.price))
    allowed += wanted * Fraction(4 * WAD, max(wanted * min(prices.price, WAD * WAD // prices.price), 1))
    assert abs(bought - wanted) <= allowed
