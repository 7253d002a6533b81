"""Ekubo's swap, against the contract's own test vectors and a model of its core."""

from __future__ import annotations

from math import inf, isclose

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError, SwapReverts
from swapcli.families.ekubo.ekubo import CORES, LATEST_CORE, Ekubo, fee_ppm_of
from swapcli.families.ekubo.ekubo_pool import sell_step
from swapcli.families.ekubo.ekubo_tick_math import STARKNET_TICKS
from swapcli.testing.pool_laws import check_concave, trade_to_rate
from tests.families.ekubo.random_ekubo import FEE_30_BPS, ekubo_models, ekubo_pools, fees_x128, pool_of, skips_ahead
from tests.families.random_pairs import DOWN, UP, Direction, directions, identity
from tests.payload.starknet import ekubo_core
from tests.payload.starknet.ekubo_core import PoolState, Q

H, MIN, MAX = Q // 2, STARKNET_TICKS.min_ratio, STARKNET_TICKS.max_ratio
BELOW, ABOVE = 333476719582519694194107115283132847226, 347088014259357232732642099580403575685
NEAR_MAX = 6277097112037982093607560459510404859184006466505191360460
VECTORS = [
    (Q, 100000, MIN, 10000, 0, H, 10000, 4761, 324078444686608060441309149935017344244, 5000),
    (Q, 100000, MIN, 1, 0, H, 1, 0, Q, 1),
    (Q, 100000, MAX, -10000, 0, H, -10000, 22224, 378091518801042737181527341590853568285, 11112),
    (Q, 100000, MAX, -1, 0, H, -1, 4, 340285769778636249825872866160429815755, 2),
    (Q, 100000, MAX, 10000, 1, H, 10000, 4761, 357296485266985386636543337803356622028, 5000),
    (Q, 100000, MAX, 1, 1, H, 1, 0, Q, 1),
    (Q, 100000, MIN, -10000, 1, H, -10000, 22224, 306254130228844617117037146688591390310, 11112),
    (Q, 100000, MIN, -1, 1, H, -1, 4, 340278964097269254078739973685693893773, 2),
    (Q, 100000, BELOW, 10000, 0, H, 4082, 2000, BELOW, 2041),
    (Q, 100000, ABOVE, 10000, 1, H, 4000, 1960, ABOVE, 2000),
    (Q, 100000, ABOVE, -10000, 0, H, -1960, 4000, ABOVE, 2000),
    (Q, 100000, BELOW, -10000, 1, H, -2000, 4082, BELOW, 2041),
    (Q, 100000, MIN, Q - 1, 0, 0, 1844673971027179630843441, 99999, MIN, 0),
    (Q, 100000, MIN, 1, 0, 0, 1, 0, 340278964131297150491869688734880862648, 0),
    (MAX, 100000, MIN, 1, 0, 0, 1, 1844673971027169630943440, 34028236692093661878853089260786211618685032, 0),
    (NEAR_MAX, 2**63, MIN, 1, 0, 0, 1, 113427344248215141431086464908842577688,
     2092366731423230380742239773058784341020777786053236834275, 0),
    (Q, 100000, MAX, Q - 1, 1, 0, 1844673971027179630843441, 99999, MAX, 0),
    (Q, 100000, MAX, 1, 1, 0, 1, 0, 340285769744607672848009241177842529138, 0),
    (MIN, 100000, MAX, 1, 1, 0, 1, 1844673971027169630943440, 3402823669209403081382183222656743, 0),
]  # fmt: skip
"""From `src/tests/math/swap_test.cairo`: ratio, liquidity, limit, amount, is_token1, fee; consumed, calculated, ratio
after, fee amount."""
TICKS = {
    354892: Q + 0x31B4B265E1423F777A15722778490040,
    -354892: 0xD660423F1925F68C36DAC925648CD720,
    1: 340282537062079388658008856451427006219,
    -1: 340282196779882608775400081051345954875,
    100: Q + 17014535198616014082186950856589198,
    12345: 342389254469694125686226937056172151010,
    -12345: 338188444075616549187284995740093254701,
    1000000: 561030636129153856592777659729523183729,
    23027002: 34047630767010176236249081862512878338007859,
    -23027002: 3400885366435270565227992985871768,
    STARKNET_TICKS.max_tick: MAX,
    -STARKNET_TICKS.max_tick: MIN,
}
SIZE = 10**20
ticks = st.integers(-STARKNET_TICKS.max_tick, STARKNET_TICKS.max_tick)
amounts = st.integers(0, 127).flatmap(lambda bits: st.integers(1 << bits, (2 << bits) - 1))


def model_of_four_ticks() -> PoolState:
    model = PoolState(100, 0)
    model.update(-100_000, 100_000, SIZE)
    model.update(-20_000, 20_000, 5 * SIZE)
    return model


@pytest.mark.parametrize("vector", VECTORS)
def test_a_step_gives_what_the_contract_gives(vector: tuple[int, ...]) -> None:
    ratio, liquidity, limit, amount, token1, fee, consumed, calculated, after, fee_amount = vector
    expected = (consumed, calculated, after)
    assert ekubo_core.step(ratio, liquidity, limit, amount, bool(token1), fee) == (*expected, fee_amount)
    if amount > 0:
        assert sell_step(LATEST_CORE, ratio, limit, liquidity, amount, fee, down=not token1) == expected


@pytest.mark.parametrize(
    ("ratio", "liquidity", "calculated", "after"),
    [
        (MAX, 100_000, 1844673971027169630943440, 34028236692093846346337460743176821145600000),
        (
            NEAR_MAX,
            2**63,
            85070466414117034458562383229529895669,
            3138550867693340381917894711603833208051177722232017256448,
        ),
    ],
)
def test_version_4_rounds_on_the_way(ratio: int, liquidity: int, calculated: int, after: int) -> None:
    assert sell_step(CORES[4], ratio, MIN, liquidity, 1, 0, down=True) == (1, calculated, after)


@pytest.mark.parametrize(("tick", "ratio"), TICKS.items())
def test_a_tick_has_the_ratio_of_the_contract(tick: int, ratio: int) -> None:
    assert STARKNET_TICKS.ratio_at(tick) == ekubo_core.ratio_of(tick) == ratio
    assert STARKNET_TICKS.tick_at(ratio) == tick


@given(ticks)
def test_ratios_equal_the_rule_they_come_from(tick: int) -> None:
    assert STARKNET_TICKS.ratio_at(tick) == ekubo_core.ratio_of(tick)


@given(ticks, st.integers(0, 1 << 200))
def test_the_tick_of_a_ratio_is_the_greatest_one_below(tick: int, beyond: int) -> None:
    low = STARKNET_TICKS.ratio_at(tick)
    ratio = low + beyond % max(STARKNET_TICKS.ratio_at(min(tick + 1, STARKNET_TICKS.max_tick)) - low, 1)
    assert STARKNET_TICKS.tick_at(ratio) == tick
    assert STARKNET_TICKS.tick_at(low) == tick


@pytest.mark.parametrize(
    ("way", "amount", "out", "ratio", "liquidity"),
    [
        (DOWN, 10**18, 995346066619300928, 339717869061847360432788790058953583585, 6 * SIZE),
        (DOWN, 8 * 10**18, 7841416387933061349, 330528731828996233224014785984832867267, SIZE),
        (UP, 8 * 10**18, 7841416387933061349, 350323823882345238594322472306095875395, SIZE),
    ],
)
def test_a_swap_over_several_ticks(way: Direction, amount: int, out: int, ratio: int, liquidity: int) -> None:
    got, after = pool_of(model_of_four_ticks(), FEE_30_BPS, skip_ahead=100).swap(*way, amount)
    assert (got, after.sqrt_ratio, after.liquidity) == (out, ratio, liquidity)


def test_the_model_gives_the_exact_output_of_the_facts() -> None:
    assert model_of_four_ticks().swap(-(10**18), True, FEE_30_BPS, 100).amount0 == 1004683499580544640


@given(ekubo_models(), fees_x128, skips_ahead, st.lists(st.tuples(directions, amounts), min_size=1, max_size=3))
@example(model_of_four_ticks(), FEE_30_BPS, 0, [(DOWN, 8 * 10**18), (UP, 10**18)])
def test_swaps_equal_the_model_of_the_core(
    model: PoolState, fee_x128: int, skip_ahead: int, swaps: list[tuple[Direction, int]]
) -> None:
    """Walk the same word edges with every `skip_ahead`, swap after swap."""
    pool = pool_of(model, fee_x128, skip_ahead)
    for way, size in swaps:
        amount = min(size, int(pool.curve(*way).capacity * 0.999))
        assume(amount > 0)
        try:
            amount_out, pool = pool.swap(*way, amount)
        except PoolError:
            assume(False)
        swapped = model.swap(amount, way == UP, fee_x128, skip_ahead)
        paid = (swapped.amount0, swapped.amount1)
        assert paid == ((amount, -amount_out) if way == DOWN else (-amount_out, amount))
        assert (pool.sqrt_ratio, pool.tick, pool.liquidity) == swapped[2:]


@given(ekubo_models(), fees_x128, directions, amounts)
def test_a_refused_swap_is_refused_by_the_core(model: PoolState, fee_x128: int, way: Direction, amount: int) -> None:
    """An input is refused only if the core leaves a part of it at the last tick, pays nothing, or reverts."""
    pool = pool_of(model, fee_x128, 100)
    try:
        pool.swap(*way, amount)
    except PoolError:
        last = ekubo_core.ratio_of(pool.pool_key.ticks[-1 if way == UP else 0])
        try:
            swapped = model.swap(amount, way == UP, fee_x128, 100, limit=last)
        except ekubo_core.Reverted:
            return
        taken, paid = (swapped.amount0, swapped.amount1) if way == DOWN else (swapped.amount1, swapped.amount0)
        assert taken < amount or paid == 0 or -paid >= Q


def test_edges_of_words_change_the_rounding() -> None:
    model = PoolState(1, 0)
    model.update(-60_000, 60_000, 12_345_678_901)
    outputs = {skip: pool_of(model, FEE_30_BPS, skip).swap(*DOWN, 200_000_000)[0] for skip in (0, 1, 10, 1_000)}
    assert len(set(outputs.values())) > 1
    assert max(outputs.values()) == outputs[1_000]


def test_a_swap_beyond_the_liquidity_is_refused() -> None:
    with pytest.raises(InsufficientLiquidity):
        pool_of(model_of_four_ticks(), FEE_30_BPS).swap(*DOWN, 10**20)


@pytest.mark.parametrize("amount", [1, 1 << 128])
def test_an_amount_that_the_core_cannot_use_is_refused(amount: int) -> None:
    with pytest.raises(SwapReverts):
        pool_of(model_of_four_ticks(), FEE_30_BPS).swap(*DOWN, amount)


@given(ekubo_pools())
def test_the_state_reads_back(pool: Ekubo) -> None:
    assert Ekubo.from_state(identity(pool.fee_ppm)._replace(protocol=pool.protocol), pool.state()) == pool


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("pool_id", None, "pool_id"),
        ("pool_id", "0x12", "pool_id"),
        ("fee_x128", Q, "fee_x128"),
        ("fee_x128", 0, "fee_ppm"),
        ("tick_spacing", 0, "tick_spacing"),
        ("tick_spacing", 354_893, "tick_spacing"),
        ("tick_spacing", 3, "ticks[0]"),
        ("extension", "oracle", "extension"),
        ("skip_ahead", -1, "skip_ahead"),
        ("version", 3, "version"),
        ("sqrt_ratio", MIN - 1, "sqrt_ratio"),
        ("sqrt_ratio", MAX + 1, "sqrt_ratio"),
        ("sqrt_ratio", Q // 2, "tick"),
        ("tick", 1, "tick"),
        ("liquidity", 1, "liquidity"),
        ("ticks", [[0, 1]], "ticks"),
        ("ticks", [[-STARKNET_TICKS.max_tick - 100, 1], [0, -1]], "ticks[0]"),
        ("ticks", [[-100, Q], [100, -Q]], "ticks[0]"),
    ],
)
def test_a_state_that_contradicts_itself_is_refused(field: str, value: object, named: str) -> None:
    pool = pool_of(model_of_four_ticks(), FEE_30_BPS)
    with pytest.raises(InvalidPoolState) as caught:
        Ekubo.from_state(identity(pool.fee_ppm), {**pool.state(), field: value})
    assert caught.value.field == named


def test_the_fee_in_ppm_is_rounded() -> None:
    assert [fee_ppm_of(fee) for fee in (0, FEE_30_BPS, Q // 2, Q - 1)] == [0, 3_000, 500_000, 999_999]


parts = st.floats(1e-9, 1.0, allow_subnormal=False)


@given(ekubo_pools(), directions, parts)
def test_the_curve_follows_the_integers(pool: Ekubo, way: Direction, part: float) -> None:
    curve = pool.curve(*way)
    amount_in = int(curve.capacity * part)
    try:
        amount_out, _ = pool.swap(*way, amount_in)
    except PoolError:
        assume(False)
    # Each step rounds an input up and an output down by a unit; the unit of input is worth the rate.
    lost = 8 * 6_000 * (1 + curve.start_rate)
    assert isclose(curve.amount_out(float(amount_in)), amount_out, rel_tol=1e-12, abs_tol=lost)


@given(ekubo_pools(), directions, parts, parts)
def test_the_curve_is_increasing_and_concave(pool: Ekubo, way: Direction, a: float, b: float) -> None:
    check_concave(pool.curve(*way), a, b)


@given(ekubo_pools(), directions, parts)
def test_the_trade_to_a_rate_ends_at_that_rate(pool: Ekubo, way: Direction, part: float) -> None:
    curve = pool.curve(*way)
    _, amount_out, _ = trade_to_rate(curve, part, 1e-9)
    assert curve.amount_out(inf) >= amount_out


@given(ekubo_pools(), directions, st.floats(0.01, 0.99))
def test_gas_grows_with_the_ticks_crossed(pool: Ekubo, way: Direction, part: float) -> None:
    assert pool.gas_units(pool) == pool.swap_gas
    curve = pool.curve(*way)
    assume(curve.start_rate > 0)
    assert pool.gas_units_to(*way, curve.start_rate * part) >= pool.swap_gas
    assert pool.gas_units_to(*way, 0.0) >= pool.gas_units_to(*way, curve.start_rate * part)
