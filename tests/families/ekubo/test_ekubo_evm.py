"""Pools of Ekubo's EVM contracts: swaps recorded from the core's bytecode, the laws of all pools, malformed state."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.families.ekubo.ekubo_evm import (
    CORE,
    EXACT_EXTENSIONS,
    MAX_TICK,
    MEV_CAPTURE,
    EkuboEvm,
    fee_ppm_of,
    pool_config,
    stableswap_range,
)
from swapcli.families.ekubo.ekubo_tick_math import EVM_TICKS, round_ratio
from swapcli.testing.pool_laws import (
    check_concave,
    check_state_round_trip,
    check_swap_laws,
    swap_or_skip,
    trade_to_rate,
)
from swapcli.testing.recorded_swaps import check_recorded_swaps
from swapcli.testing.strategies import log_uniform
from tests.families.random_pairs import DOWN, UP, Direction, directions, identity
from tests.families.recorded import vectors_file

FEE_30_BPS = (1 << 64) * 3 // 1_000
SIZE = 10**20
TWAMM = "0xd47f1b1edcfeabb08f6ebd8fc337c27e636c75ba"

fees_x64 = st.sampled_from([0, 1, FEE_30_BPS, 1 << 63]) | st.integers(0, (1 << 63) - 1)
parts = st.floats(1e-9, 1.0, allow_subnormal=False)


def build(fee_x64: int = FEE_30_BPS, **fields: Any) -> EkuboEvm:
    state = {
        "pool_id": "0x" + "5e" * 32,
        "fee_x64": fee_x64,
        "extension": ZERO_ADDRESS,
        "sqrt_ratio": EVM_TICKS.ratio_at(0),
        "tick": 0,
        **fields,
    }
    return EkuboEvm.from_state(identity(fee_ppm_of(fee_x64)), state)


def concentrated(**fields: Any) -> EkuboEvm:
    ticks = [[-100_000, SIZE], [-20_000, 5 * SIZE], [20_000, -5 * SIZE], [100_000, -SIZE]]
    defaults: dict[str, Any] = {"tick_spacing": 100, "ticks": ticks, "liquidity": 6 * SIZE}
    return build(**(defaults | fields))


def stableswap(**fields: Any) -> EkuboEvm:
    return build(**({"amplification": 10, "center_tick": 160, "liquidity": SIZE} | fields))


def valid_pool() -> EkuboEvm:
    return concentrated()


@st.composite
def ekubo_pools(draw: st.DrawFn, reach: int = 40_000_000) -> EkuboEvm:
    """Concentrated pools with up to eight positions around the price, and stableswap pools."""
    tick = draw(st.integers(-reach, reach))
    low, high = EVM_TICKS.ratio_at(tick), EVM_TICKS.ratio_at(tick + 1)
    ratio = round_ratio(draw(st.just(low) | st.integers(low, high - 1)))
    price = {"sqrt_ratio": ratio, "tick": EVM_TICKS.tick_at(ratio)}
    fee_x64 = draw(fees_x64)
    if draw(st.booleans()):
        amplification = draw(st.integers(0, 26))
        center = tick + draw(st.integers(-(MAX_TICK >> amplification), MAX_TICK >> amplification))
        center = min(max(center, -MAX_TICK), MAX_TICK) // 16 * 16
        shape = {"amplification": amplification, "center_tick": max(center, -MAX_TICK + 3)}
        return build(fee_x64, **price, **shape, liquidity=draw(log_uniform(10, 100)))
    spacing = draw(st.sampled_from([1, 20, 200, 1_000, 5_982, CORE.max_tick_spacing]))
    limit = MAX_TICK // spacing
    nets: dict[int, int] = {}
    for _ in range(draw(st.integers(1, 8))):
        width = draw(st.sampled_from([1, 2, 256]) | st.integers(1, 1_500))
        lower = tick // spacing + draw(st.integers(-width, 0) | st.integers(-1_500, 1_500))
        lower = min(max(lower, -limit), limit - 1)
        size = draw(log_uniform(10, 100))
        for each, net in ((lower, size), (min(lower + width, limit), -size)):
            nets[each * spacing] = nets.get(each * spacing, 0) + net
    liquidity = sum(net for each, net in nets.items() if each <= price["tick"])
    ladder = [[each, nets[each]] for each in sorted(nets)]
    return build(fee_x64, **price, tick_spacing=spacing, ticks=ladder, liquidity=liquidity)


@st.composite
def captured_pools(draw: st.DrawFn) -> EkuboEvm:
    """Pools with MEVCapture whose liquidity is around the price, as new in their second or after another swap."""
    tick = draw(st.integers(-20_000_000, 20_000_000))
    spacing = draw(st.sampled_from([200, 1_000, 5_982]))
    low, size = tick // spacing * spacing, draw(log_uniform(80, 100))
    reach = spacing * draw(st.integers(20, 2_000))
    return build(
        int((1 << 64) * draw(st.floats(1e-4, 1e-2))),
        extension=MEV_CAPTURE,
        tick_spacing=spacing,
        sqrt_ratio=EVM_TICKS.ratio_at(tick),
        tick=tick,
        ticks=[[low - reach, size], [low + reach, -size]],
        liquidity=size,
        first_tick=tick + draw(st.just(0) | st.integers(-spacing, spacing)),
    )


def rounding(pool: EkuboEvm, way: Direction) -> float:
    """Return what the steps between ticks and edges of words round off, in units of the output.

    A step rounds an input up and an output down by a unit, and the ratio by a part of 2^-61, which is worth as much of
    the liquidity's virtual reserve.
    """
    curve = pool.curve(*way)
    depth = max(map(abs, pool.pool_key.liquidity_nets), default=0)
    q = sqrt(curve.start_rate)
    return 8 * 6_000 * (2 + curve.start_rate + 8 * depth * max(q, 1 / (q or 1)) * 2**-60)


def test_recorded_swaps_agree() -> None:
    assert check_recorded_swaps(vectors_file("ekubo_evm")) > 200


@given(ekubo_pools())
def test_the_state_reads_back(pool: EkuboEvm) -> None:
    check_state_round_trip(pool)


@given(ekubo_pools(), directions, parts)
def test_the_curve_follows_the_integers(pool: EkuboEvm, way: Direction, part: float) -> None:
    curve = pool.curve(*way)
    amount_in = int(curve.capacity * part)
    amount_out, after = swap_or_skip(pool, way, amount_in)
    check_state_round_trip(after)
    assert curve.amount_out(float(amount_in)) == pytest.approx(amount_out, rel=1e-12, abs=rounding(pool, way))


@given(ekubo_pools(), directions, parts)
def test_the_laws_of_all_pools_hold(pool: EkuboEvm, way: Direction, part: float) -> None:
    amount_in = int(pool.curve(*way).capacity * part * 0.9)
    assume(amount_in > 0)
    dust = rounding(pool, way)
    check_swap_laws(pool, way, amount_in, dust=int(dust * (1 + 1 / pool.curve(*way).start_rate)) + 1)


@given(ekubo_pools(), directions, parts, parts)
def test_the_curve_is_increasing_and_concave(pool: EkuboEvm, way: Direction, a: float, b: float) -> None:
    check_concave(pool.curve(*way), a, b)


@given(ekubo_pools(), directions, parts)
def test_the_trade_to_a_rate_ends_at_that_rate(pool: EkuboEvm, way: Direction, part: float) -> None:
    _, amount_out, _ = trade_to_rate(pool.curve(*way), part, 1e-9)
    assert amount_out >= 0


@given(ekubo_pools(), directions, st.floats(0.01, 0.99))
def test_gas_grows_with_the_ticks_crossed(pool: EkuboEvm, way: Direction, part: float) -> None:
    assert pool.gas_units(pool) == pool.swap_gas
    curve = pool.curve(*way)
    assume(curve.start_rate > 0)
    assert pool.gas_units_to(*way, 0.0) >= pool.gas_units_to(*way, curve.start_rate * part) >= pool.swap_gas


@given(captured_pools(), directions, parts)
def test_a_further_fee_is_taken_of_the_output(pool: EkuboEvm, way: Direction, part: float) -> None:
    """MEVCapture takes the fee once more for each spacing that the tick has moved since the second's first swap."""
    check_state_round_trip(pool)
    amount_in = int(pool.curve(*way).capacity * part)
    key = pool.pool_key
    plain = replace(pool, pool_key=key._replace(first_tick=None))
    whole, moved = swap_or_skip(plain, way, amount_in)
    amount_out, after = swap_or_skip(pool, way, amount_in)
    assert (after.sqrt_ratio, after.tick, after.liquidity) == (moved.sqrt_ratio, moved.tick, moved.liquidity)
    assert key.first_tick is not None
    taken = abs(after.tick - key.first_tick) * key.fee / key.tick_spacing / 2**64
    assert whole - amount_out == pytest.approx(whole * taken, rel=1e-9, abs=2)
    check_state_round_trip(after)
    assert pool.gas_units(after) > plain.gas_units(moved)


@given(captured_pools(), directions, parts, parts)
def test_the_curve_with_a_further_fee_follows_it(pool: EkuboEvm, way: Direction, a: float, b: float) -> None:
    curve = pool.curve(*way)
    assert curve.start_rate > 0
    check_concave(curve, a, b)
    amount_in = int(curve.capacity * max(a, 1e-3))
    amount_out, _ = swap_or_skip(pool, way, amount_in)
    assert curve.amount_out(float(amount_in)) == pytest.approx(amount_out, rel=3e-3, abs=200 + rounding(pool, way))


@pytest.mark.parametrize("fields", [{"fee_x64": 0}, {"amplification": 1, "center_tick": 0}])
def test_pools_that_capture_refuses_are_refused(fields: dict[str, Any]) -> None:
    shape: dict[str, Any] = {} if "amplification" in fields else {"tick_spacing": 100, "ticks": []}
    with pytest.raises(InvalidPoolState, match="MEVCapture"):
        build(**{"liquidity": 0, "extension": MEV_CAPTURE, **shape, **fields})


def test_without_liquidity_nothing_is_captured() -> None:
    pool = concentrated(ticks=[], liquidity=0, extension=MEV_CAPTURE)
    assert pool.curve(*DOWN).capacity == 0
    assert pool.pool_key.first_tick == 0


def test_edges_of_words_change_the_rounding() -> None:
    wide = [[-60_000, 12_345_678_901], [60_000, -12_345_678_901]]
    with_words = concentrated(tick_spacing=1, ticks=wide, liquidity=12_345_678_901)
    without = concentrated(tick_spacing=1_000, ticks=wide, liquidity=12_345_678_901)
    assert with_words.swap(*DOWN, 200_000_000)[0] < without.swap(*DOWN, 200_000_000)[0]


@pytest.mark.parametrize("way", [DOWN, UP])
def test_a_stableswap_pool_outside_of_its_range_trades_into_it(way: Direction) -> None:
    low, high = stableswap_range(10, 160)
    outside = high + 500 if way == DOWN else low - 500
    pool = stableswap(sqrt_ratio=EVM_TICKS.ratio_at(outside), tick=outside)
    assert pool.liquidity == 0
    assert pool.state()["liquidity"] == str(SIZE)
    _, after = pool.swap(*way, 10**15)
    assert after.liquidity == SIZE
    with pytest.raises(InsufficientLiquidity):
        pool.swap(way[1], way[0], 10**15)


def test_the_full_range_is_one_of_a_stableswap_pool() -> None:
    assert stableswap_range(0, 0) == (-MAX_TICK, MAX_TICK)
    assert stableswap(liquidity=0).swap_gas == stableswap().gas_units_to(*DOWN, 0.0)
    with pytest.raises(InsufficientLiquidity):
        stableswap(liquidity=0).swap(*DOWN, 10**15)


def test_the_key_of_a_swap_is_packed_as_the_core_unpacks_it() -> None:
    extension = min(EXACT_EXTENSIONS)
    assert concentrated(extension=extension).api_extra_data() == {
        "poolId": "0x" + "5e" * 32,
        "config": f"{extension}{FEE_30_BPS:016x}80000064",
    }
    assert pool_config(1, 0, 26, -16, ZERO_ADDRESS)[-24:] == "0000000000000001" + "1affffff"


@pytest.mark.parametrize("amount", [1, 1 << 127])
def test_an_amount_that_the_core_cannot_use_is_refused(amount: int) -> None:
    with pytest.raises(SwapReverts):
        concentrated().swap(*DOWN, amount)


def test_a_step_whose_amounts_overflow_reverts() -> None:
    depth = 1 << 126
    ticks = [[-88_000_000, depth], [-87_000_000, -depth]]
    pool = concentrated(
        fee_x64=0,
        tick_spacing=500_000,
        ticks=ticks,
        liquidity=depth,
        sqrt_ratio=EVM_TICKS.ratio_at(-87_900_000),
        tick=-87_900_000,
    )
    with pytest.raises(SwapReverts):
        pool.swap(*UP, 10**30)


def test_a_swap_beyond_the_liquidity_is_refused() -> None:
    with pytest.raises(InsufficientLiquidity):
        concentrated().swap(*DOWN, 10**20)


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("pool_id", None, "pool_id"),
        ("pool_id", "0x12", "pool_id"),
        ("fee_x64", 1 << 64, "fee_x64"),
        ("fee_x64", 0, "fee_ppm"),
        ("tick_spacing", 0, "tick_spacing"),
        ("tick_spacing", CORE.max_tick_spacing + 1, "tick_spacing"),
        ("tick_spacing", 3, "ticks[0]"),
        ("extension", TWAMM, "extension"),
        ("extension", "oracle", "extension"),
        ("sqrt_ratio", EVM_TICKS.min_ratio - 4, "sqrt_ratio"),
        ("sqrt_ratio", EVM_TICKS.max_ratio + 1, "sqrt_ratio"),
        ("sqrt_ratio", EVM_TICKS.ratio_at(0) + 1, "sqrt_ratio"),
        ("sqrt_ratio", EVM_TICKS.ratio_at(5), "tick"),
        ("tick", 1, "tick"),
        ("liquidity", 1, "liquidity"),
        ("ticks", [[0, 1]], "ticks"),
        ("ticks", [[-MAX_TICK - 100, 1], [0, -1]], "ticks[0]"),
        ("amplification", 3, "tick_spacing"),
    ],
)
def test_a_concentrated_state_that_contradicts_itself_is_refused(field: str, value: object, named: str) -> None:
    pool = concentrated()
    with pytest.raises(InvalidPoolState) as caught:
        EkuboEvm.from_state(pool.identity, {**pool.state(), field: value})
    assert caught.value.field == named


@pytest.mark.parametrize(("field", "value"), [("amplification", 27), ("center_tick", 8), ("liquidity", -1)])
def test_a_stableswap_state_that_contradicts_itself_is_refused(field: str, value: object) -> None:
    pool = stableswap()
    with pytest.raises(InvalidPoolState) as caught:
        EkuboEvm.from_state(pool.identity, {**pool.state(), field: value})
    assert caught.value.field == field


def test_the_native_token_comes_first_whatever_its_wrapped_form() -> None:
    swapped = identity(3_000, (DOWN[1], DOWN[0]))
    with pytest.raises(InvalidPoolState) as caught:
        EkuboEvm.from_state(swapped, concentrated().state())
    assert caught.value.field == "tokens"
    pool = EkuboEvm.from_state(swapped, {**concentrated().state(), "native": True})
    assert pool.state()["native"] is True
    assert replace(pool, tokens=DOWN).swap(*DOWN, 10**18)[0] == concentrated().swap(*DOWN, 10**18)[0]
