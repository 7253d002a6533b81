"""Pools of Maverick V2: swaps recorded from the deployed bytecode, the laws of all pools, malformed state."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, SwapReverts
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families.maverick.maverick_v2 import ALL_KINDS, STATIC, MaverickV2, fee_ppm_of
from swapcli.testing.pool_laws import (
    check_concave,
    check_state_round_trip,
    check_swap_laws,
    swap_or_skip,
    trade_to_rate,
)
from swapcli.testing.recorded_swaps import check_recorded_swaps, replay_recorded_swaps
from tests.families.random_pairs import DOWN, UP, Direction, directions
from tests.families.recorded import vectors_file

UNIT = 10**18
RECORDED = [
    each.pool
    for each in replay_recorded_swaps(vectors_file("maverick_v2"))
    if each.amount_out and isinstance(each.pool, MaverickV2)
]
parts = st.floats(1e-6, 1.0)


def build(decimals: tuple[int, int] = (18, 18), fee: int = 10**15, **fields: Any) -> MaverickV2:
    state = {
        "tick_spacing": 10,
        "fees": [fee, 2 * 10**15],
        "protocol_fee_per_mille": 100,
        "kinds": STATIC,
        "active_tick": 0,
        "ticks": [[-3, 5 * UNIT, 0], [-1, 1_000 * UNIT, 0], [0, 300 * UNIT, 700 * UNIT], [1, 0, 900 * UNIT], [4, 0, 7]],
        **fields,
    }
    identity = PoolIdentity("0x" + "0c" * 20, "test", DOWN, decimals, fee_ppm_of(fee))
    return MaverickV2.from_state(identity, state)


def valid_pool() -> MaverickV2:
    return build()


def reserve_of(pool: Pool, k: int) -> float:
    """Return what the ticks hold of a token, in its own units."""
    assert isinstance(pool, MaverickV2)
    held = sum(each.reserve_b if k else each.reserve_a for each in pool.ticks)
    return held / float(10 ** (18 - pool.decimals[k]))


@st.composite
def pools(draw: st.DrawFn) -> MaverickV2:
    """Pools around a price, with decimals and fees of all sizes."""
    spacing = draw(st.sampled_from([1, 10, 198, 2_232]))
    active = draw(st.integers(-50_000 // spacing, 50_000 // spacing))
    ticks = []
    for tick in range(active - draw(st.integers(0, 4)), active + draw(st.integers(1, 5))):
        size = 10 ** draw(st.floats(19.0, 27.0))
        price = 1.0001 ** (tick * spacing / 2)
        share = draw(st.floats(0.0, 1.0)) if tick == active else float(tick < active)
        ticks.append([tick, int(size * price * share), int(size / price * (1 - share))])
    fees = [draw(st.sampled_from([0, 10**13, 3 * 10**15]) | st.integers(0, 5 * 10**17)) for _ in range(2)]
    return build(
        draw(st.sampled_from([(18, 18), (6, 18), (18, 6), (6, 6)])),
        fees[0],
        fees=fees,
        tick_spacing=spacing,
        active_tick=active,
        protocol_fee_per_mille=draw(st.sampled_from([0, 250])),
        ticks=[each for each in ticks if each[1] or each[2]],
    )


def rounding(pool: MaverickV2, way: Direction) -> float:
    """Return some units of both tokens, and what the 18 digits of a price round off of the output of each tick."""
    curve = pool.curve(*way)
    return 10 * (2 + curve.start_rate) + 1e-12 * curve.amount_out(curve.capacity)


def test_recorded_swaps_agree() -> None:
    assert check_recorded_swaps(vectors_file("maverick_v2")) > 150


@given(st.sampled_from(RECORDED), directions, parts)
def test_the_curve_follows_recorded_pools(pool: MaverickV2, way: Direction, part: float) -> None:
    tokens = pool.tokens if way == DOWN else pool.tokens[::-1]
    curve = pool.curve(tokens[0], tokens[1])
    amount_in = int(curve.capacity * part)
    assume(amount_in > 10**6)
    amount_out = swap_or_skip(pool, (tokens[0], tokens[1]), amount_in)[0]
    dust = 10 * (2 + curve.start_rate) + 1e-9 * curve.amount_out(curve.capacity)
    assert curve.amount_out(float(amount_in)) == pytest.approx(amount_out, rel=1e-6, abs=dust)


@pytest.mark.parametrize("units", [1, 2, 19, 1_000])
@pytest.mark.parametrize("way", [DOWN, UP])
def test_a_tick_of_few_units_does_not_move_the_curve_after_it(units: int, way: Direction) -> None:
    """The tick takes a whole unit too much, which is much of its price but nothing of a swap beyond it."""
    reserve = 10**6 * UNIT
    ahead = [[1, 0, units], [2, 0, reserve]] if way == DOWN else [[-2, reserve, 0], [-1, units, 0]]
    pool = build(ticks=sorted([*ahead, [0, reserve, reserve]]))
    for amount_in in (1_100_000 * UNIT, 1_900_000 * UNIT):
        amount_out, _ = pool.swap(*way, amount_in)
        assert pool.curve(*way).amount_out(float(amount_in)) == pytest.approx(amount_out, rel=1e-12)


@given(pools(), directions, parts)
def test_the_curve_follows_the_integers(pool: MaverickV2, way: Direction, part: float) -> None:
    curve = pool.curve(*way)
    amount_in = int(curve.capacity * part)
    amount_out, after = swap_or_skip(pool, way, amount_in)
    check_state_round_trip(after)
    assert curve.amount_out(float(amount_in)) == pytest.approx(amount_out, rel=1e-9, abs=rounding(pool, way))


@given(pools(), directions, parts)
def test_the_laws_of_all_pools_hold(pool: MaverickV2, way: Direction, part: float) -> None:
    amount_in = int(pool.curve(*way).capacity * part * 0.9)
    assume(amount_in > 0)
    dust = rounding(pool, way) + rounding(pool, (way[1], way[0])) + 1e-12 * amount_in
    check_swap_laws(pool, way, amount_in, dust=int(dust) + 1)


@given(pools(), directions, parts, parts)
def test_the_curve_is_increasing_and_concave(pool: MaverickV2, way: Direction, a: float, b: float) -> None:
    check_concave(pool.curve(*way), a, b)


@given(pools(), directions, st.floats(0.01, 0.9999))
def test_the_trade_to_a_rate_ends_at_that_rate(pool: MaverickV2, way: Direction, part: float) -> None:
    assert trade_to_rate(pool.curve(*way), part, 1e-9)[1] >= 0


@given(pools(), directions, st.floats(0.01, 0.99))
def test_gas_grows_with_the_ticks_bought(pool: MaverickV2, way: Direction, part: float) -> None:
    assert pool.gas_units(pool) == pool.swap_gas
    curve = pool.curve(*way)
    assume(curve.start_rate > 0)
    assert pool.gas_units_to(*way, 0.0) >= pool.gas_units_to(*way, curve.start_rate * part) >= pool.swap_gas


def test_a_tick_keeps_the_fee_without_the_part_of_the_protocol() -> None:
    pool = build()
    amount_in = 10 * UNIT
    amount_out, after = pool.swap(*DOWN, amount_in)
    before, active = pool.ticks[2], after.ticks[2]
    assert active.reserve_a - before.reserve_a == 10 * UNIT - 10**15
    assert before.reserve_b - active.reserve_b == amount_out
    assert build(fee=0, protocol_fee_per_mille=0).swap(*DOWN, amount_in)[1].ticks[2].reserve_a == 310 * UNIT


def test_a_swap_goes_on_at_the_next_tick_with_reserves() -> None:
    pool = build()
    _, up = pool.swap(*DOWN, 1_500 * UNIT)
    assert (up.active_tick, [each.tick for each in up.ticks]) == (1, [-3, -1, 0, 1, 4])
    assert up.ticks[2].reserve_b == 0
    _, down = pool.swap(*UP, 600 * UNIT)
    assert (down.active_tick, down.ticks[2].reserve_a) == (-1, 0)
    for way, amount in ((DOWN, 1_800 * UNIT), (UP, 1_800 * UNIT)):
        with pytest.raises(InsufficientLiquidity):
            pool.swap(*way, amount)


def test_only_static_bins_stay_where_they_are() -> None:
    assert not build().is_single_use
    assert build(kinds=ALL_KINDS).is_single_use


@pytest.mark.parametrize("amount", [1, 1 << 127])
def test_an_amount_of_no_use_is_refused(amount: int) -> None:
    with pytest.raises(SwapReverts):
        build((6, 18) if amount > 1 else (18, 18)).swap(*DOWN, amount)


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("tick_spacing", 0, "tick_spacing"),
        ("tick_spacing", 10_001, "tick_spacing"),
        ("fees", [0, 0], "fee_ppm"),
        ("fees", [10**18, 0], "fees"),
        ("protocol_fee_per_mille", 251, "protocol_fee_per_mille"),
        ("kinds", 0, "kinds"),
        ("kinds", 16, "kinds"),
        ("active_tick", 40_000, "active_tick"),
        ("ticks", [[0, 1]], "ticks[0]"),
        ("ticks", [[0, 1, -1]], "ticks[0]"),
        ("ticks", [[0, 0, 0]], "ticks[0]"),
        ("ticks", [[0, 1, 0], [0, 1, 0]], "ticks[1]"),
        ("ticks", [[40_000, 1, 0]], "ticks[0]"),
    ],
)
def test_a_state_that_contradicts_itself_is_refused(field: str, value: object, named: str) -> None:
    pool = build()
    with pytest.raises(InvalidPoolState) as caught:
        MaverickV2.from_state(pool.identity, {**pool.state(), field: value})
    assert caught.value.field == named


def test_tokens_of_more_than_18_decimals_are_refused() -> None:
    with pytest.raises(InvalidPoolState, match="decimals"):
        build((19, 18))
