"""Pools of iZiSwap keep the laws of all pools, and their curve follows the swaps recorded from the contracts."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState
from swapcli.families import family
from swapcli.families.iziswap.iziswap import IziSwap, LimitOrders, make_marks
from swapcli.testing.pool_laws import (
    check_concave,
    check_state_round_trip,
    check_two_parts,
    swap_or_skip,
    swap_there_and_back,
    trade_to_rate,
)
from swapcli.testing.recorded_swaps import replay_recorded_swaps
from tests.families.recorded import vectors_file

RECORDED = [
    (each.pool, each.after)
    for each in replay_recorded_swaps(vectors_file("iziswap"))
    if each.amount_out and isinstance(each.pool, IziSwap) and isinstance(each.after, IziSwap)
]
POOLS = [pool for pool, _ in RECORDED]


def valid_pool() -> IziSwap:
    """Return a pool with limit orders of both tokens."""
    return next(pool for pool in POOLS if {bool(each.selling_x) for each in pool.marks.orders} == {True, False})


def reserve_of(pool: IziSwap, k: int) -> float:
    """Return what a sale of the other token can bring at most."""
    curve = pool.curve(pool.tokens[1 - k], pool.tokens[k])
    return curve.amount_out(curve.capacity) * (1 + 1e-6) + 3


@st.composite
def swaps(draw: st.DrawFn) -> tuple[IziSwap, tuple[str, str], int]:
    """Return a recorded pool, a direction, and a part of its capacity."""
    pool = draw(st.sampled_from(POOLS))
    tokens = (pool.tokens[0], pool.tokens[1]) if draw(st.booleans()) else (pool.tokens[1], pool.tokens[0])
    capacity = pool.curve(*tokens).capacity
    assume(capacity > 0)
    return pool, tokens, max(1, int(capacity * 10 ** draw(st.floats(-7.0, -1e-3))))


def rounding(pool: IziSwap, tokens: tuple[str, str]) -> float:
    """Return a few units of the output for each marked point, and what a unit of liquidity is worth."""
    start_rate = pool.curve(*tokens).start_rate
    return (4 + len(pool.marks.points)) * (2 + start_rate + sqrt(start_rate))


@given(swaps())
def test_the_curve_gives_what_the_exact_swap_gives(swap: tuple[IziSwap, tuple[str, str], int]) -> None:
    pool, tokens, amount = swap
    amount_out, _ = swap_or_skip(pool, tokens, amount)
    expected = pool.curve(*tokens).amount_out(float(amount))
    assert expected == pytest.approx(amount_out, rel=1.5e-4, abs=rounding(pool, tokens))


@given(swaps(), st.floats(0.0, 0.999), st.floats(0.0, 0.999))
def test_the_curve_is_increasing_and_concave(swap: tuple[IziSwap, tuple[str, str], int], a: float, b: float) -> None:
    pool, tokens, _ = swap
    check_concave(pool.curve(*tokens), a, b)


@given(swaps(), st.floats(0.5, 0.9999))
def test_a_trade_to_a_rate_ends_there(swap: tuple[IziSwap, tuple[str, str], int], part: float) -> None:
    pool, tokens, _ = swap
    amount_in, _, slope = trade_to_rate(pool.curve(*tokens), part, 1e-12)
    assert min(amount_in, slope) >= 0


@given(swaps())
def test_more_input_never_pays_less(swap: tuple[IziSwap, tuple[str, str], int]) -> None:
    pool, tokens, amount = swap
    less, _ = swap_or_skip(pool, tokens, amount)
    more, after = swap_or_skip(pool, tokens, amount + max(amount // 1_000, 1))
    assert more + 2 >= less
    check_state_round_trip(after)


@given(swaps())
def test_there_and_back_gains_nothing(swap: tuple[IziSwap, tuple[str, str], int]) -> None:
    pool, tokens, amount = swap
    assert swap_there_and_back(pool, *tokens, amount) <= amount


@given(swaps(), st.floats(0.01, 0.99))
def test_two_parts_pay_no_more_than_the_whole(swap: tuple[IziSwap, tuple[str, str], int], part: float) -> None:
    pool, tokens, amount = swap
    check_two_parts(pool, tokens, amount, part, rounding(pool, tokens))


def test_orders_are_filled_before_the_liquidity_of_their_point() -> None:
    marks = make_marks(10, (-10, 20), (10**18, -(10**18)), (LimitOrders(0, 0, 10**12),))
    plain = replace(valid_pool(), fee_ppm=0, point=0, liquidity=10**18, liquidity_x=5 * 10**17, marks=marks)
    tokens = plain.tokens[0], plain.tokens[1]
    amount_out, after = plain.swap(*tokens, 10**11)
    assert amount_out == 10**11
    assert after.marks.orders == (LimitOrders(0, 0, 10**12 - 10**11),)
    assert after.liquidity_x == plain.liquidity_x
    _, emptied = plain.swap(*tokens, 10**12 + 10**17)
    assert emptied.marks.orders == ()
    assert emptied.liquidity_x == plain.liquidity_x + 10**17
    with pytest.raises(InsufficientLiquidity):
        plain.swap(*tokens, 10**21)


def test_crossed_points_cost_gas() -> None:
    pool, after = max(RECORDED, key=lambda each: each[0].gas_units(each[1]))
    assert pool.gas_units(after) > pool.swap_gas == pool.gas_units(pool)
    tokens = (pool.tokens[0], pool.tokens[1]) if after.point < pool.point else (pool.tokens[1], pool.tokens[0])
    curve = pool.curve(*tokens)
    last = curve.rate(curve.capacity * (1 - 1e-9))
    assert pool.gas_units_to(*tokens, last) >= pool.gas_units(after) > pool.gas_units_to(*tokens, curve.start_rate)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("points", [[0, "5"]]),
        ("points", [[3, "5"], [13, "-5"]]),
        ("liquidity", "1"),
        ("orders", [[-800, "1", "0"], [800, "0", "1"]]),
        ("orders", [[0, "0", "0"]]),
        ("orders", [[0, "-1", "1"]]),
    ],
)
def test_a_contradiction_is_refused_by_its_field(field: str, value: object) -> None:
    pool = replace(valid_pool(), point=0, liquidity=7, liquidity_x=3, marks=make_marks(10, (-10, 20), (7, -7), ()))
    check_state_round_trip(pool)
    with pytest.raises(InvalidPoolState) as caught:
        family("iziswap").from_state(pool.identity, {**pool.state(), field: value})
    assert caught.value.field
