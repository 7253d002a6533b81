"""Ticks and prices against the real `TickMath`, and against each other."""

from __future__ import annotations

from math import isclose
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.families.tick_math import (
    MAX_SQRT_RATIO,
    MAX_TICK,
    MIN_SQRT_RATIO,
    MIN_TICK,
    Q96,
    limited_sqrt_ratio,
    sqrt_ratio_at_tick,
    tick_at_sqrt_ratio,
)
from swapcli.testing.evm import Chain
from tests.contracts.evm import load_artifact

ticks = st.integers(MIN_TICK, MAX_TICK)
prices = st.integers(MIN_SQRT_RATIO, MAX_SQRT_RATIO - 1)


def test_thousands_of_ticks_and_prices_equal_the_contract() -> None:
    rng = Random("tick math")
    contract = Chain().deploy(load_artifact("@uniswap/v4-core/out/TickMathTest.sol/TickMathTest.json"))
    edges = [sign * ((1 << k) + d) for k in range(20) for d in (-1, 0, 1) for sign in (1, -1)]
    inside = [tick for tick in edges if MIN_TICK <= tick <= MAX_TICK]
    for tick in [*inside, MIN_TICK, MAX_TICK, *(rng.randint(MIN_TICK, MAX_TICK) for _ in range(4_000))]:
        assert contract.send("getSqrtPriceAtTick", tick) == (sqrt_ratio_at_tick(tick),)
    for _ in range(4_000):
        price = int(2 ** rng.uniform(32.0001, 159.9999)) | rng.getrandbits(20)
        assert contract.send("getTickAtSqrtPrice", price) == (tick_at_sqrt_ratio(price),)
    for _ in range(2_000):
        price = sqrt_ratio_at_tick(rng.randint(MIN_TICK + 1, MAX_TICK - 1)) + rng.choice((-1, 0, 1))
        assert contract.send("getTickAtSqrtPrice", price) == (tick_at_sqrt_ratio(price),)


def test_the_ends_of_the_range() -> None:
    assert sqrt_ratio_at_tick(MIN_TICK) == MIN_SQRT_RATIO
    assert sqrt_ratio_at_tick(MAX_TICK) == MAX_SQRT_RATIO
    assert sqrt_ratio_at_tick(0) == Q96
    assert tick_at_sqrt_ratio(MIN_SQRT_RATIO) == MIN_TICK
    assert tick_at_sqrt_ratio(MAX_SQRT_RATIO - 1) == MAX_TICK - 1


@given(ticks.filter(lambda tick: tick < MAX_TICK))
def test_a_tick_begins_at_its_own_price(tick: int) -> None:
    price = sqrt_ratio_at_tick(tick)
    assert tick_at_sqrt_ratio(price) == tick
    if tick > MIN_TICK:
        assert tick_at_sqrt_ratio(price - 1) == tick - 1


@given(prices)
def test_the_tick_of_a_price_brackets_it(price: int) -> None:
    tick = tick_at_sqrt_ratio(price)
    assert sqrt_ratio_at_tick(tick) <= price < sqrt_ratio_at_tick(tick + 1)


@given(ticks)
def test_a_ratio_is_the_root_of_the_price(tick: int) -> None:
    # The lowest ratios have only 32 bits.
    assert isclose((sqrt_ratio_at_tick(tick) / Q96) ** 2, 1.0001**tick, rel_tol=1e-9)


@given(ticks)
def test_a_limit_stands_one_inside_the_range(tick: int) -> None:
    limited = limited_sqrt_ratio(tick)
    assert MIN_SQRT_RATIO < limited < MAX_SQRT_RATIO
    assert abs(limited - sqrt_ratio_at_tick(tick)) == (tick in (MIN_TICK, MAX_TICK))


@pytest.mark.parametrize("tick", [MIN_TICK - 1, MAX_TICK + 1])
def test_a_tick_outside_the_range_has_no_ratio(tick: int) -> None:
    with pytest.raises(ValueError, match="outside"):
        sqrt_ratio_at_tick(tick)


@pytest.mark.parametrize("price", [0, MIN_SQRT_RATIO - 1, MAX_SQRT_RATIO])
def test_a_price_outside_the_range_has_no_tick(price: int) -> None:
    with pytest.raises(ValueError, match="outside"):
        tick_at_sqrt_ratio(price)
