"""Pools of Valantis STEX: the laws of every pool, and swaps recorded from the published contracts, run in an EVM.

The same run compared 10,500 swaps, of which every fourth was at a step of the fee, with the contracts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidPoolState, SwapReverts
from swapcli.core.model.units import BPS, WAD
from swapcli.families import family
from swapcli.families.valantis.stex_fee import StexFee, StexRatioFee, StexStepwiseFee
from swapcli.families.valantis.valantis_stex import ValantisStex
from swapcli.testing.pool_laws import check_concave, check_state_round_trip, check_swap_laws, swap_or_skip
from swapcli.testing.recorded_swaps import check_recorded_swaps
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.families.recorded import vectors_file

directions = st.sampled_from([(0, 1), (1, 0)])
sizes = st.floats(-6.0, 0.3).map(lambda exponent: 10.0**exponent)


def pool_of(module: StexFee, staked: int = 10**22, wrapped: int = 3 * 10**22, **fields: Any) -> ValantisStex:
    state = {"rate_wad": 102 * WAD // 100, "lent": 10**22, "unstaking": 2 * 10**21, "owed": 10**21} | fields
    fee_ppm = module.levels_bps[0] * 100
    return ValantisStex(
        *(ADDRESS, "test", TOKENS[:2], (18, 18), fee_ppm),
        (staked, wrapped),
        **state,
        manager_fee_bps=2_000,
        fee_module=module,
    )


def valid_pool() -> ValantisStex:
    """Return a liquid pool, from which the tests of all families make contradictory and extreme states."""
    return pool_of(StexRatioFee(2_000, 9_500, 1, 60))


@st.composite
def pools(draw: st.DrawFn) -> ValantisStex:
    wrapped = int(10 ** draw(st.floats(18.0, 25.0)))
    fees = sorted(draw(st.lists(st.integers(1, 500), min_size=2, max_size=6)))
    amounts = [int(wrapped * draw(st.sampled_from([0.0, 0.1, 0.5, 2.0]))) for _ in range(3)]
    if draw(st.booleans()):
        low, width = draw(st.integers(0, 20_000)), draw(st.integers(1, 20_000))
        module: StexFee = StexRatioFee(low, low + width, fees[0], fees[-1])
    else:
        low = int(wrapped * draw(st.floats(1e-3, 1.0)))
        module = StexStepwiseFee(low, low + int(wrapped * draw(st.floats(1e-3, 2.0))) + 1, tuple(fees))
    staked = int(wrapped * draw(st.floats(0.01, 3.0)))
    rate_wad = int(WAD * draw(st.sampled_from([1.0, 0.8, 1.0123, 1.5])))
    return pool_of(
        module, staked, wrapped, rate_wad=rate_wad, lent=amounts[0], unstaking=amounts[1], owed=amounts[2] // 8
    )


def amount_of(pool: ValantisStex, i: int, size: float) -> int:
    """Return an amount of the i-th token by the reserve of the other one."""
    return max(2, int(pool.reserves[1 - i] * size))


def rise_of(pool: ValantisStex) -> float:
    """Return the part of an amount by which the fee can rise."""
    fees = pool.fee_module.levels_bps
    return 1.05 * (fees[-1] - fees[0]) / (BPS - fees[-1])


@given(pools(), directions, sizes)
def test_swaps_keep_the_laws_up_to_the_rise_of_the_fee(
    pool: ValantisStex, direction: tuple[int, int], size: float
) -> None:
    i, j = direction
    check_swap_laws(pool, (pool.tokens[i], pool.tokens[j]), amount_of(pool, i, size), 4, rise_of(pool) + 1e-4)


@given(pools(), sizes)
def test_no_sale_is_paid_more_than_the_curve_says(pool: ValantisStex, size: float) -> None:
    amount = amount_of(pool, 0, size)
    exact, _ = swap_or_skip(pool, (pool.tokens[0], pool.tokens[1]), amount)
    curve = pool.curve(*pool.tokens)
    expected = curve.amount_out(float(amount))
    assert exact <= expected * (1 + 1e-9) + 2
    assert exact >= expected * (1 - rise_of(pool) - 1e-4) - 4


@given(pools())
def test_one_unit_above_the_largest_sale_pays_the_next_fee(pool: ValantisStex) -> None:
    module, reserves = pool.fee_module, pool._fee_reserves
    for level, amount in enumerate(module.largest_sales(reserves)):
        if amount > 0:
            assert module.fee_bps(reserves, amount) <= module.levels_bps[level]
            assert module.fee_bps(reserves, amount + 1) >= module.levels_bps[level + 1]


@given(pools(), directions)
def test_the_curve_is_concave_and_ends_at_what_the_pool_can_pay(pool: ValantisStex, direction: tuple[int, int]) -> None:
    i, j = direction
    curve = pool.curve(pool.tokens[i], pool.tokens[j])
    assume(curve.capacity > 2)
    check_concave(curve, 0.3, 0.9)
    paid, _ = swap_or_skip(pool, (pool.tokens[i], pool.tokens[j]), int(curve.capacity * (1 - 1e-12)))
    assert paid <= pool.reserves[j]


@given(pools(), sizes)
def test_the_wrapped_token_is_sold_without_a_fee(pool: ValantisStex, size: float) -> None:
    amount = amount_of(pool, 1, size)
    paid, after = swap_or_skip(pool, (pool.tokens[1], pool.tokens[0]), amount)
    assert paid == amount * WAD // pool.rate_wad
    assert after.reserves == (pool.reserves[0] - paid, pool.reserves[1] + amount)


@given(pools(), sizes)
def test_the_managers_part_of_the_fee_leaves_the_pool(pool: ValantisStex, size: float) -> None:
    amount = amount_of(pool, 0, size)
    _, after = swap_or_skip(pool, (pool.tokens[0], pool.tokens[1]), amount)
    whole = swap_or_skip(replace(pool, manager_fee_bps=0), (pool.tokens[0], pool.tokens[1]), amount)[1]
    assert whole.reserves[0] == pool.reserves[0] + amount
    assert 0 <= whole.reserves[0] - after.reserves[0] <= amount // 5


@given(pools())
def test_state_survives_a_round_trip(pool: ValantisStex) -> None:
    module = pool.fee_module
    check_state_round_trip(replace(pool, unstaking=0, owed=0) if isinstance(module, StexStepwiseFee) else pool)


def test_recorded_swaps_are_the_contracts() -> None:
    assert check_recorded_swaps(vectors_file("valantis_stex")) >= 500


def test_more_owed_than_there_is_reverts() -> None:
    pool = replace(valid_pool(), owed=10**30)
    with pytest.raises(SwapReverts):
        pool.swap(pool.tokens[0], pool.tokens[1], 10**18)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("fee_ppm", None),
        ("fees_bps", [60, 1]),
        ("fees_bps", [1, 5_000]),
        ("fees_bps", [1, 2, 3]),
        ("thresholds", [9_500, 9_500]),
        ("rate", 0),
        ("fee_by", "price"),
        ("manager_fee_bps", BPS + 1),
    ],
)
def test_a_contradiction_is_refused_by_its_field(field: str, value: object) -> None:
    pool = valid_pool()
    identity = pool.identity._replace(fee_ppm=200) if field == "fee_ppm" else pool.identity
    with pytest.raises(InvalidPoolState) as caught:
        family("valantis_stex").from_state(identity, {**pool.state(), field: value})
    assert caught.value.field.startswith(field)
