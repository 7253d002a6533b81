"""Lunarbase's pools: the laws of every pool, and what the venue's test vectors and public simulators pay.

The venue publishes 1,613 vectors of its quadratic rule and 793 of its linear one; all were equal. So were 20,000 random
sales of each rule, by the public simulator in Go for the first and by a second implementation for the other.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError, SwapReverts
from swapcli.families import family
from swapcli.families.oracle_priced.lunarbase import Lunarbase, lowest_fee_ppm
from swapcli.families.oracle_priced.lunarbase_math import Anchor, gross_output
from swapcli.testing.pool_laws import check_concave, check_curve_follows, check_state_round_trip, trade_to_rate
from swapcli.testing.recorded_swaps import check_recorded_swaps
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.families.recorded import vectors_file

directions = st.sampled_from([(0, 1), (1, 0)])
parts = st.floats(0.0, 1.0)


def pool_of(
    price: float, wealth: int, balance: float, concentration: int, fee: int = 16_777, is_linear: bool = False
) -> Lunarbase:
    """Return a pool that holds a part `balance` of its wealth in the second token, at a price in base units."""
    reserves = int(wealth * (1 - balance) / price), int(wealth * balance)
    return Lunarbase(
        *(ADDRESS, "test", TOKENS[:2], (18, 6), lowest_fee_ppm(2 * fee, fee, 1)),
        reserves,
        anchor=int(price**0.5 * 2**96),
        fee_ask=2 * fee,
        fee_bid=fee,
        concentration=concentration,
        is_linear=is_linear,
    )


def valid_pool() -> Lunarbase:
    """Return a liquid pool, from which the tests of all families make contradictory and extreme states."""
    return pool_of(3e-9, 10**13, 0.5, 5_000 << 12)


def sell(pool: Lunarbase, i: int, amount_in: int) -> tuple[int, Lunarbase]:
    """Sell the i-th token for the other one."""
    return pool.swap(pool.tokens[i], pool.tokens[1 - i], amount_in)


@st.composite
def pools(draw: st.DrawFn) -> Lunarbase:
    price = 10 ** draw(st.floats(-14.0, 3.0))
    wealth = int(10 ** draw(st.floats(12.0, 20.0)))
    concentration = draw(st.sampled_from([0, 1, 4_096, 5_000, 40_960, 5_000 << 12, 10**6 << 12]))
    fee = draw(st.sampled_from([0, 838, 16_777, 838_860]))
    return pool_of(price, wealth, draw(st.floats(0.01, 0.99)), concentration, fee, draw(st.booleans()))


@given(pools(), directions, parts)
def test_the_curve_follows_the_swaps(pool: Lunarbase, direction: tuple[int, int], part: float) -> None:
    way = pool.tokens[direction[0]], pool.tokens[direction[1]]
    amount = max(2, int(pool.curve(*way).capacity * part))
    check_curve_follows(pool, way, amount, 4e-6 if pool.is_linear else 2e-7)


@given(pools(), directions, parts, parts)
def test_the_curve_is_increasing_and_concave(pool: Lunarbase, direction: tuple[int, int], a: float, b: float) -> None:
    check_concave(pool.curve(pool.tokens[direction[0]], pool.tokens[direction[1]]), a, b)


@given(pools(), directions, st.floats(0.3, 0.99999))
def test_a_trade_to_a_rate_ends_there(pool: Lunarbase, direction: tuple[int, int], part: float) -> None:
    curve = pool.curve(pool.tokens[direction[0]], pool.tokens[direction[1]])
    amount_in, amount_out, slope = trade_to_rate(curve, part, 1e-9)
    assert min(amount_in, amount_out, slope) >= 0


@given(pools(), directions, parts)
def test_more_pays_more_up_to_the_end_of_the_curve(pool: Lunarbase, direction: tuple[int, int], part: float) -> None:
    way = pool.tokens[direction[0]], pool.tokens[direction[1]]
    amount = max(2, int(pool.curve(*way).capacity * part))
    try:
        less, more = (pool.swap(*way, each)[0] for each in (amount // 2, amount))
    except PoolError:
        return
    assert less <= more


@given(pools())
def test_state_survives_a_round_trip(pool: Lunarbase) -> None:
    check_state_round_trip(pool)
    check_state_round_trip(replace(pool, fee_multiplier=3, fee_ppm=lowest_fee_ppm(pool.fee_ask, pool.fee_bid, 3)))


def test_recorded_swaps_are_those_of_the_venue_and_of_simulators() -> None:
    assert check_recorded_swaps(vectors_file("lunarbase")) >= 10


def test_a_swap_keeps_the_price_and_takes_the_fee_from_the_reserve() -> None:
    pool = valid_pool()
    amount_out, after = pool.swap(pool.tokens[0], pool.tokens[1], 10**18)
    assert after.anchor == pool.anchor
    assert after.reserves[0] == pool.reserves[0] + 10**18
    assert pool.reserves[1] - after.reserves[1] > amount_out
    assert pool.is_single_use


def test_callers_without_a_privilege_pay_the_fee_several_times() -> None:
    pool = valid_pool()
    amounts = [
        replace(pool, fee_multiplier=times).swap(pool.tokens[0], pool.tokens[1], 10**18)[0] for times in (1, 2, 3)
    ]
    assert amounts[0] - amounts[1] == amounts[1] - amounts[2] > 0
    with pytest.raises(SwapReverts):
        replace(pool, fee_multiplier=10**6).swap(pool.tokens[0], pool.tokens[1], 10**18)


def test_a_sale_of_one_unit_that_the_range_rounds_away_pays_nothing() -> None:
    """As the venue's vectors V22 and V23 say."""
    anchor = Anchor(2**96, 10**6, 10**6, 5_000)
    assert gross_output(anchor, 1, True, False) == (0, 79228162514259615227061080973)
    assert gross_output(anchor, 1, False, False) == (0, 79228162514269059960026819981)


@pytest.mark.parametrize("amount_in", [0, -1, -(10**30)])
def test_nothing_is_paid_for_nothing(amount_in: int) -> None:
    pool = valid_pool()
    for i in range(2):
        with pytest.raises(PoolError):
            sell(pool, i, amount_in)


@pytest.mark.parametrize("is_linear", [False, True])
@pytest.mark.parametrize("amount_in", [10**25, 2**255, 2**256])
def test_a_sale_beyond_the_reserves_is_refused(amount_in: int, is_linear: bool) -> None:
    pool = replace(valid_pool(), is_linear=is_linear)
    with pytest.raises((InsufficientLiquidity, SwapReverts)):
        pool.swap(pool.tokens[0], pool.tokens[1], amount_in)


@pytest.mark.parametrize(("field", "value"), [("anchor", 0), ("slippage", "cubic"), ("fee_ask", 2**24)])
def test_a_contradiction_is_refused_by_its_field(field: str, value: object) -> None:
    pool = valid_pool()
    with pytest.raises(InvalidPoolState) as caught:
        family("lunarbase").from_state(pool.identity, {**pool.state(), field: value})
    assert caught.value.field == field


def test_the_fee_of_the_identity_is_the_lower_one() -> None:
    pool = valid_pool()
    with pytest.raises(InvalidPoolState) as caught:
        family("lunarbase").from_state(pool.identity._replace(fee_ppm=pool.fee_ppm + 1), pool.state())
    assert caught.value.field == "fee_ppm"
