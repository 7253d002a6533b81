"""Orders of the TWAMM move the price as in the contract's own tests, and swaps follow as in the model of the core."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidPoolState, PoolError, SwapReverts
from swapcli.core.model.pool import PoolIdentity
from swapcli.families import family
from swapcli.families.ekubo.ekubo import MAX_TICK_SPACING, Ekubo, fee_ppm_of
from swapcli.families.ekubo.ekubo_pool import EkuboKey
from swapcli.families.ekubo.ekubo_tick_math import Q128, STARKNET_TICKS
from swapcli.families.ekubo.ekubo_twamm import (
    MAX_USABLE_TICK,
    EkuboTwamm,
    RateChange,
    VirtualOrders,
    execute,
    sell_up_to,
)
from swapcli.families.rounding import div_up
from swapcli.testing.pool_laws import check_state_round_trip, check_swap_laws, swap_or_skip
from tests.families.ekubo.random_ekubo import FEE_30_BPS, ekubo_models, fees_x128, pool_of
from tests.families.random_pairs import TOKEN0, TOKEN1
from tests.payload.starknet.ekubo_core import PoolState, Reverted

WAD: Final = 10**18
EXTENSION: Final = f"0x{0x77:064x}"
START: Final = 16
LAST_TICK: Final = STARKNET_TICKS.max_tick
RATE: Final = (10_000 * WAD << 32) // 4_080
"""10,000 tokens in 4,080 seconds."""
directions = st.sampled_from([(0, 1), (1, 0)])
times = st.integers(1, 5_000)


def liquidity_of(sqrt_ratio: int, amount: int) -> int:
    """Return the liquidity of `amount` of both tokens over the whole range."""
    low, high = STARKNET_TICKS.ratio_at(-MAX_USABLE_TICK), STARKNET_TICKS.ratio_at(MAX_USABLE_TICK)
    return min(amount * (sqrt_ratio * high // Q128) // (high - sqrt_ratio), (amount << 128) // (sqrt_ratio - low))


def core_pool(tick: int, liquidity: int | None = None, fee_x128: int = 0, version: int = 5) -> Ekubo:
    """Return a pool over the whole range; by default with 100 million of the scarcer token."""
    sqrt_ratio = STARKNET_TICKS.ratio_at(tick)
    whole = liquidity_of(sqrt_ratio, 10**26) if liquidity is None else liquidity
    ticks, nets = ((-MAX_USABLE_TICK, MAX_USABLE_TICK), (whole, -whole)) if whole else ((), ())
    key = EkuboKey(f"0x{0x5E:064x}", fee_x128, MAX_TICK_SPACING, EXTENSION, ticks, nets, version=version)
    identity = PoolIdentity(f"0x{0xC0:064x}", "test", (TOKEN0, TOKEN1), (18, 18), fee_ppm_of(fee_x128))
    active = whole if -MAX_USABLE_TICK <= tick < MAX_USABLE_TICK else 0
    return Ekubo(*identity, sqrt_ratio, tick, active, key)


def twamm_of(pool: Ekubo, orders: VirtualOrders) -> EkuboTwamm:
    return EkuboTwamm(*pool.identity, pool, orders)


def due(rate0: int, rate1: int, seconds: int, *changes: RateChange) -> VirtualOrders:
    return VirtualOrders((rate0, rate1), START, START + seconds, changes)


def valid_pool() -> EkuboTwamm:
    """Return a liquid pool, from which the tests of all families make contradictory and extreme states."""
    return twamm_of(core_pool(693_147, fee_x128=FEE_30_BPS), due(RATE, RATE, 2_040, RateChange(START + 16, -1, RATE)))


def moved(before: Ekubo, after: Ekubo) -> tuple[int, int]:
    """Return what a sale without a fee put in and took out, by the price before and after it."""
    low, high = sorted((before.sqrt_ratio, after.sqrt_ratio))
    scaled, spread = before.liquidity << 128, high - low
    if after.sqrt_ratio < before.sqrt_ratio:
        return div_up(div_up(scaled * spread, high), low), before.liquidity * spread >> 128
    return div_up(before.liquidity * spread, Q128), scaled * spread // high // low


def test_one_order_sells_as_in_the_contracts_tests() -> None:
    pool = core_pool(693_147)
    halfway, rates = execute(pool, due(RATE, 0, 2_040))
    assert (moved(pool, halfway)[1], rates) == (0x21E0BEDB4ADE006D5F6, (RATE, 0))
    end = START + 4_080
    rest = VirtualOrders((RATE, 0), START + 2_040, end + 1, (RateChange(end, -RATE, 0),))
    done, rates = execute(halfway, rest)
    assert (moved(halfway, done)[1], rates) == (0x21DF02E6AC312FF0AAC, (0, 0))


def test_opposite_orders_move_the_price_as_in_its_tests() -> None:
    pool = core_pool(693_147)
    halfway, _ = execute(pool, due(RATE, RATE, 2_040))
    assert moved(pool, halfway) == (2499873684315947842004, 4999494771123188578496)
    end = START + 4_080
    rest = VirtualOrders((RATE, RATE), START + 2_040, end + 1, (RateChange(end, -RATE, -RATE),))
    done, rates = execute(halfway, rest)
    assert moved(halfway, done) == (2499623696949195880089, 4998495022657375226215)
    assert rates == (0, 0)


@pytest.mark.parametrize("tick", [-LAST_TICK, -MAX_USABLE_TICK, 0, MAX_USABLE_TICK, STARKNET_TICKS.max_tick - 1])
def test_prices_without_liquidity_move_to_the_ratio_of_the_rates(tick: int) -> None:
    rates = (10**12 << 32) // 16, (10**12 << 32) // 16
    pool, _ = execute(core_pool(tick, 0), due(*rates, 16))
    assert pool.sqrt_ratio == Q128
    lone, _ = execute(core_pool(tick, 0), due(rates[0], 0, 16))
    assert lone.tick == -LAST_TICK - (tick > -STARKNET_TICKS.max_tick)


@given(
    ekubo_models(),
    fees_x128,
    st.integers(1, 10**30),
    st.booleans(),
    st.integers(-80_000_000, 80_000_000),
)
def test_a_limited_sale_is_that_of_the_core(
    model: PoolState, fee_x128: int, amount: int, sells_token0: bool, tick: int
) -> None:
    pool = pool_of(model, fee_x128)
    limit = STARKNET_TICKS.ratio_at(tick)
    assume(limit != pool.sqrt_ratio and (limit < pool.sqrt_ratio) == sells_token0)
    try:
        swapped = model.swap(amount, not sells_token0, fee_x128, 0, limit)
    except Reverted:
        assume(False)
    after = sell_up_to(pool, amount, limit, sells_token0=sells_token0)
    assert (after.sqrt_ratio, after.tick, after.liquidity) == (swapped.ratio, swapped.tick, swapped.liquidity)


@st.composite
def pools(draw: st.DrawFn) -> EkuboTwamm:
    pool = core_pool(draw(st.integers(-20_000_000, 20_000_000)), 10 ** draw(st.integers(18, 28)), draw(fees_x128))
    rates = tuple(draw(st.sampled_from([0, 1])) * (int(10 ** draw(st.floats(0, 20))) << 32) for _ in range(2))
    seconds = draw(times)
    starts = sorted(draw(st.sets(st.integers(1, seconds), max_size=3)))
    changes = [RateChange(START + start, draw(st.integers(0, 1 << 60)), 0) for start in starts]
    return twamm_of(pool, due(rates[0], rates[1], seconds, *changes))


@given(pools(), directions, st.floats(-6.0, 0.0))
def test_swaps_keep_the_laws(pool: EkuboTwamm, direction: tuple[int, int], size: float) -> None:
    i, j = direction
    amount = max(2, int(pool.core_pool.liquidity * 10**size))
    check_swap_laws(pool, (pool.tokens[i], pool.tokens[j]), amount, dust=6, tolerance=1e-12)


@given(pools(), directions, st.integers(1, 10**24))
def test_a_swap_is_that_of_the_executed_pool(pool: EkuboTwamm, direction: tuple[int, int], amount: int) -> None:
    tokens = pool.tokens[direction[0]], pool.tokens[direction[1]]
    paid, after = swap_or_skip(pool, tokens, amount)
    executed, rates = execute(pool.core_pool, pool.orders)
    assert (paid, after.core_pool) == executed.swap(*tokens, amount)
    assert after.orders == VirtualOrders(rates, pool.orders.timestamp, pool.orders.timestamp, ())
    assert pool.curve(*tokens).start_rate == executed.curve(*tokens).start_rate
    check_state_round_trip(after)


@given(pools(), times, times)
def test_executing_in_two_parts_ends_at_about_the_same_price(pool: EkuboTwamm, first: int, second: int) -> None:
    """The contract rounds at each execution."""
    quiet = pool.orders._replace(changes=())
    free = core_pool(pool.core_pool.tick, pool.core_pool.liquidity)
    try:
        whole, _ = execute(free, quiet._replace(timestamp=START + first + second))
        half, rates = execute(free, quiet._replace(timestamp=START + first))
        both, _ = execute(half, VirtualOrders(rates, START + first, START + first + second, ()))
    except PoolError:
        assume(False)
    assert both.sqrt_ratio == pytest.approx(whole.sqrt_ratio, rel=1e-6)


@given(pools())
def test_state_survives_a_round_trip(pool: EkuboTwamm) -> None:
    check_state_round_trip(pool)


def test_orders_are_sold_without_events() -> None:
    pool = valid_pool()
    later = replace(pool, orders=pool.orders._replace(timestamp=START + 3_000))
    assert pool.changes_without_events
    assert pool.swap(TOKEN0, TOKEN1, WAD)[0] != later.swap(TOKEN0, TOKEN1, WAD)[0]
    assert (pool.key, pool.api_extra_data()["extension"]) == (pool.core_pool.key, EXTENSION)
    assert pool.gas_units(pool) == 2 * Ekubo.swap_gas


def test_a_rate_that_would_become_negative_reverts() -> None:
    pool = twamm_of(core_pool(0), due(5, 5, 100, RateChange(START + 16, -6, 0)))
    with pytest.raises(SwapReverts, match="sale rate"):
        pool.swap(TOKEN0, TOKEN1, WAD)
    assert pool.curve(*pool.tokens).capacity == 0


WHOLE: Final = str(valid_pool().core_pool.liquidity)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("executed_at", START + 2_041),
        ("rate_changes", [[START, "1", "1"]]),
        ("rate_changes", [[START + 32, "1", "1"], [START + 16, "1", "1"]]),
        ("rate_changes", [[START + 2_041, "1", "1"]]),
        ("rate_changes", [[START + 16, "1"]]),
        ("tick_spacing", 1_000),
        ("ticks", [[-10 * MAX_TICK_SPACING, WHOLE], [10 * MAX_TICK_SPACING, f"-{WHOLE}"]]),
        ("extension", "0x0"),
        ("sale_rates", ["1"]),
    ],
)
def test_a_contradiction_is_refused_by_its_field(field: str, value: object) -> None:
    pool = valid_pool()
    with pytest.raises(InvalidPoolState) as caught:
        family("ekubo_twamm").from_state(pool.identity, {**pool.state(), field: value})
    assert caught.value.field.startswith(field[:4])
