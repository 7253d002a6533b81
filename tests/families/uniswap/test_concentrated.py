"""Properties of exact swaps in concentrated pools, and the data that a pool reports."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, PoolError, SwapReverts
from swapcli.core.model.pool import Pool
from swapcli.families import family
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
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.testing.pool_laws import swap_or_skip
from swapcli.testing.strategies import log_uniform
from tests.examples import examples, few
from tests.families.random_pairs import (
    DOWN,
    TOKEN0,
    TOKEN1,
    UP,
    Direction,
    concentrateds,
    directions,
    identity,
    pool_at,
    with_fields,
)

parts = st.floats(1e-9, 1.0, allow_subnormal=False)


@given(concentrateds(), directions, log_uniform(0, 120), log_uniform(0, 120))
def test_splitting_a_swap_never_gives_more(pool: Concentrated, way: Direction, first: int, second: int) -> None:
    whole, _ = swap_or_skip(pool, way, first + second)
    part, between = swap_or_skip(pool, way, first)
    assert part + swap_or_skip(between, way, second)[0] <= whole


@given(concentrateds(), directions, parts)
def test_a_round_trip_never_gains(pool: Concentrated, way: Direction, part: float) -> None:
    amount_in = int(pool.curve(*way).capacity * part)
    amount_out, after = swap_or_skip(pool, way, amount_in)
    back, _ = swap_or_skip(after, way[::-1], amount_out)
    assert back <= amount_in


@given(concentrateds(), directions, parts, log_uniform(0, 60))
def test_a_larger_input_never_gives_less(pool: Concentrated, way: Direction, part: float, more: int) -> None:
    amount_in = int(pool.curve(*way).capacity * part)
    assert swap_or_skip(pool, way, amount_in)[0] <= swap_or_skip(pool, way, amount_in + more)[0]


@given(concentrateds(), directions, parts)
def test_a_swap_leaves_a_valid_pool_with_the_same_ticks(pool: Concentrated, way: Direction, part: float) -> None:
    """Its state reads back equal, so price, tick and liquidity agree, also exactly on a boundary."""
    _, after = swap_or_skip(pool, way, int(pool.curve(*way).capacity * part))
    assert Concentrated.from_state(identity(pool.fee_ppm), json.loads(json.dumps(after.state()))) == after
    assert after.tick_list is pool.tick_list
    assert (after.sqrt_price_x96 <= pool.sqrt_price_x96) == (way == DOWN) or after.sqrt_price_x96 == pool.sqrt_price_x96


@given(concentrateds(), directions)
def test_the_pool_takes_its_capacity_and_little_more(pool: Concentrated, way: Direction) -> None:
    capacity = pool.curve(*way).capacity
    if capacity >= 1:
        sells(pool, way, int(capacity))
    steps = 2 * 887_272 // 256
    with pytest.raises(InsufficientLiquidity, match=f"pool {pool.key} runs out"):
        pool.swap(*way, int(capacity * (1 + 1e-9)) + 2 * steps * 10**6)


def sells(pool: Concentrated, way: Direction, amount_in: int) -> bool:
    """Return whether the swap pays; an input that exhausts the pool's liquidity is an error."""
    try:
        return pool.swap(*way, amount_in)[0] > 0
    except SwapReverts:
        return False


def test_one_tick_range_is_a_constant_product() -> None:
    """L = 10^24 at price 1: x = y = 10^24 virtual units; out = y dx' / (x + dx')."""
    pool = pool_at(0, (-60_000, 60_000, 10**24), fee_ppm=0)
    for way in (DOWN, UP):
        amount_out, after = pool.swap(*way, 10**22)
        assert amount_out == 10**22 * 10**24 // (10**24 + 10**22)
        assert isclose(after.sqrt_price_x96 / Q96, 1.01 ** (-1 if way == DOWN else 1), rel_tol=1e-15)


def test_a_boundary_reached_on_the_way_down_is_already_crossed() -> None:
    pool = pool_at(30, (0, 60, 10**18), (-60, 0, 10**15))
    amount_in = least_input_that(pool, DOWN, lambda after: after.sqrt_price_x96 <= Q96)
    _, after = pool.swap(*DOWN, amount_in)
    assert (after.sqrt_price_x96, after.tick, after.liquidity) == (Q96, -1, 10**15)
    _, back = after.swap(*UP, 10**12)
    assert (back.tick >= 0, back.liquidity) == (True, 10**18)


def test_a_boundary_reached_on_the_way_up_is_crossed_too() -> None:
    pool = pool_at(30, (0, 60, 10**18), (60, 120, 10**15))
    edge = sqrt_ratio_at_tick(60)
    amount_in = least_input_that(pool, UP, lambda after: after.sqrt_price_x96 >= edge)
    _, after = pool.swap(*UP, amount_in)
    assert (after.sqrt_price_x96, after.tick, after.liquidity) == (edge, 60, 10**15)


def test_the_edge_of_a_bitmap_word_rounds_on_its_own() -> None:
    """The same pool with its ticks in a list differs in the last unit: the reason for `variant`."""
    words = pool_at(10, (-60_000, 60_000, 10**12 + 7), tick_spacing=1)
    listed = with_fields(words, variant="algebra_integral")
    differing = 0
    for amount_in in range(10**11, 10**11 + examples(60, full=200)):
        in_words, in_list = words.swap(*DOWN, amount_in), listed.swap(*DOWN, amount_in)
        assert 0 <= in_list[0] - in_words[0] <= 40
        differing += in_words[0] != in_list[0]
    assert differing > examples(6, full=20)


def test_a_gap_between_positions_is_jumped_not_walked() -> None:
    pool = pool_at(0, (-1, 1, 10**18), (-800_000, -799_999, 10**18), tick_spacing=1)
    beyond = int(pool.curve(*DOWN).capacity * 0.999)
    before = limited_sqrt_ratio.cache_info()
    _, after = pool.swap(*DOWN, beyond)
    assert after.tick == -800_000
    assert lookups(before) <= 8


def test_exhaustion_is_seen_without_walking_empty_words() -> None:
    pool = pool_at(0, (-1, 1, 10**18), tick_spacing=1)
    for way in (DOWN, UP):
        before = limited_sqrt_ratio.cache_info()
        with pytest.raises(InsufficientLiquidity):
            pool.swap(*way, 10**30)
        assert lookups(before) <= 3


@pytest.mark.parametrize("way", few([DOWN, UP], 1))
def test_the_price_limit_stops_a_full_range_position(way: Direction) -> None:
    pool = pool_at(0, (MIN_TICK, MAX_TICK, 10**6), tick_spacing=1, fee_ppm=0)
    least = least_input_that(pool, way, lambda after: after.tick in (MIN_TICK, MAX_TICK - 1))
    limit = MIN_SQRT_RATIO + 1 if way == DOWN else MAX_SQRT_RATIO - 1
    last = least_input_that(pool, way, lambda after: after.sqrt_price_x96 == limit)
    assert least <= last
    _, after = pool.swap(*way, last)
    assert (after.tick, after.liquidity) == (tick_at_sqrt_ratio(limit), 10**6)
    for amount_in in (1, 10**40):
        with pytest.raises(InsufficientLiquidity):
            after.swap(*way, amount_in)
    with pytest.raises(InsufficientLiquidity):
        pool.swap(*way, last + 1)


@pytest.mark.parametrize("price", [MIN_SQRT_RATIO, MAX_SQRT_RATIO - 1])
def test_a_pool_at_the_end_of_the_range_sells_only_one_way(price: int) -> None:
    tick = tick_at_sqrt_ratio(price)
    pool = with_fields(pool_at(0, (MIN_TICK, MAX_TICK, 10**6), tick_spacing=1), sqrt_price_x96=price, tick=tick)
    away, back = (DOWN, UP) if price == MIN_SQRT_RATIO else (UP, DOWN)
    with pytest.raises(InsufficientLiquidity):
        pool.swap(*away, 10**9)
    assert pool.swap(*back, 10**24)[0] > 0
    assert pool.curve(*away).start_rate == pool.curve(*away).capacity == 0


def test_an_empty_pool_reads_but_sells_nothing() -> None:
    pool = pool_at(0)
    for way in (DOWN, UP):
        curve = pool.curve(*way)
        assert (curve.start_rate, curve.capacity, curve.amount_out(9.0), curve.rate(0.0)) == (0, 0, 0, 0)
        assert curve.trade_to_marginal_rate(1e-9) == (0, 0, 0)
        with pytest.raises(InsufficientLiquidity):
            pool.swap(*way, 1)


def test_an_input_that_pays_nothing_is_refused() -> None:
    pool = pool_at(0, (-600, 600, 10**18))
    with pytest.raises(SwapReverts, match="rounds to zero"):
        pool.swap(*DOWN, 1)


def test_uniswap_v4_keeps_amounts_below_128_bits_with_sign() -> None:
    v3 = pool_at(0, (-60_000, 60_000, 2**126), tick_spacing=60)
    v4 = with_fields(v3, pool_id="0x" + "01" * 32)
    amount_in = 2**127
    assert v3.swap(*DOWN, amount_in)[0] > 0
    assert v4.swap(*DOWN, amount_in - 1) == (v3.swap(*DOWN, amount_in - 1)[0], v4.swap(*DOWN, amount_in - 1)[1])
    with pytest.raises(SwapReverts, match=r"exceeds 2\^127"):
        v4.swap(*DOWN, amount_in)


@pytest.mark.parametrize("way", [(TOKEN0, TOKEN0), (TOKEN1, "0x" + "0d" * 20), ("", TOKEN0)])
def test_other_tokens_are_refused(way: Direction) -> None:
    with pytest.raises(PoolError, match="does not trade"):
        pool_at(0, (-60, 60, 10**18)).swap(*way, 1)


def test_gas_grows_with_the_ticks_crossed() -> None:
    pool = pool_at(30, (-180, 180, 10**18), (-120, 120, 10**18), (0, 60, 10**18))
    near, far = pool.swap(*DOWN, 10**12)[1], pool.swap(*DOWN, 10**16)[1]
    assert near.tick >= 0 > far.tick >= -120
    assert pool.gas_units(near) == pool.swap_gas < pool.gas_units(far)
    crossed_two = pool.swap(*UP, 12 * 10**15)[1]
    assert crossed_two.tick >= 120
    assert pool.gas_units(crossed_two) - pool.swap_gas == 2 * (pool.gas_units(far) - pool.swap_gas)


def test_api_data_distinguishes_variants() -> None:
    pool = pool_at(0, (-60, 60, 1), fee_ppm=500)
    assert (pool.key, pool.api_extra_data()) == (pool.address, {"fee": 500, "tickSpacing": 60})
    pool_id, zero = "0x" + "0f" * 32, "0x" + "0" * 40
    v4 = with_fields(pool, pool_id=pool_id.upper().replace("X", "x"), hooks=zero)
    key = {"poolId": pool_id, "token0": TOKEN0, "token1": TOKEN1, "hooks": zero}
    assert (v4.key, v4.api_extra_data()) == (pool_id, {"fee": 500, "tickSpacing": 60, **key})
    native = with_fields(v4, native=True)
    assert native.api_extra_data() == v4.api_extra_data() | {"token0": zero}
    assert native.tokens == v4.tokens  # the pool lists the wrapped token


def test_the_family_is_registered() -> None:
    pool: Pool = pool_at(0, (-60, 60, 1))
    assert family("concentrated") is type(pool)


def lookups(before: tuple[int, int, int | None, int]) -> int:
    after = limited_sqrt_ratio.cache_info()
    return after.hits + after.misses - before[0] - before[1]


def least_input_that(pool: Concentrated, way: Direction, holds: Callable[[Concentrated], bool]) -> int:
    """Return the smallest input for which `holds` is true, as it is for all larger ones up to exhaustion."""

    def reached(amount_in: int) -> bool:
        try:
            return holds(pool.swap(*way, amount_in)[1])
        except InsufficientLiquidity:
            return True
        except SwapReverts:
            return False

    low, high = 0, 1
    while not reached(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high
