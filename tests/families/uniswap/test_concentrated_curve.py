"""The float view of concentrated pools: it follows the integers, and its questions agree with each other."""

from __future__ import annotations

from math import inf, isclose

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.families.tick_math import Q96
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.testing.pool_laws import check_concave, swap_or_skip, trade_to_rate
from tests.families.random_pairs import (
    DOWN,
    UP,
    Direction,
    concentrateds,
    directions,
    pool_at,
)

parts = st.floats(1e-9, 1.0, allow_subnormal=False)


@given(concentrateds(), directions, parts)
def test_the_curve_follows_the_integers(pool: Concentrated, way: Direction, part: float) -> None:
    curve = pool.curve(*way)
    amount_in = int(curve.capacity * part)
    amount_out, after = swap_or_skip(pool, way, amount_in)
    assert isclose(
        curve.amount_out(float(amount_in)), amount_out, rel_tol=1e-12, abs_tol=rounding_loss(pool, after, way)
    )


@given(concentrateds(), directions, parts)
def test_the_trade_to_a_rate_ends_at_that_rate(pool: Concentrated, way: Direction, part: float) -> None:
    curve = pool.curve(*way)
    amount_in, _, slope = trade_to_rate(curve, part, 1e-7)
    if amount_in >= curve.capacity:
        assert (amount_in, slope, curve.rate(amount_in)) == (curve.capacity, 0.0, 0.0)


@given(concentrateds(), directions, st.floats(-12, -0.1).map(lambda digits: 1 - 10**digits))
def test_a_trade_near_the_price_equals_the_table_exactly(pool: Concentrated, way: Direction, part: float) -> None:
    near, tabled = pool.curve(*way), pool.curve(*way)
    tabled._first_segment_end = 0.0
    rate = near.start_rate * part
    assume(rate > 0)
    assert near.trade_to_marginal_rate(rate) == tabled.trade_to_marginal_rate(rate)


def test_a_trade_near_the_price_needs_no_table() -> None:
    curve = pool_at(30, (0, 60, 10**18)).curve(*UP)
    assert curve.trade_to_marginal_rate(curve.start_rate * 0.9999)[0] > 0
    assert curve._table is None
    assert curve.trade_to_marginal_rate(curve.start_rate * 0.99)[0] == curve.capacity


@given(concentrateds(), directions, st.lists(st.tuples(st.booleans(), parts), min_size=1, max_size=6))
def test_a_partial_table_answers_as_the_whole_one(
    pool: Concentrated, way: Direction, questions: list[tuple[bool, float]]
) -> None:
    whole, used = pool.curve(*way), pool.curve(*way)
    capacity = whole.capacity
    assert used.start_rate == whole.start_rate
    for is_rate, part in questions:
        if is_rate:
            rate = whole.start_rate * part
            assert rate == 0.0 or used.trade_to_marginal_rate(rate) == whole.trade_to_marginal_rate(rate)
        else:
            assert used.amount_out(capacity * part) == whole.amount_out(capacity * part)
    assert used.capacity == capacity


def test_a_trade_builds_the_table_only_as_far_as_it_goes() -> None:
    pool = pool_at(30, *((60 * k, 60 * k + 60, 10**18 + k) for k in range(20)))
    curve = pool.curve(*UP)
    curve.trade_to_marginal_rate(curve.start_rate * 1.0001**-100)
    assert curve._table is not None
    near = len(curve._table[0])
    curve.trade_to_marginal_rate(curve.start_rate * 1.0001**-110)
    assert near == len(curve._table[0]) < 5
    assert curve.amount_out(inf) == pool.curve(*UP).amount_out(inf)
    assert len(curve._table[0]) == 21


@given(concentrateds(), directions, st.floats(0.5, 1 - 1e-6))
def test_the_slope_is_the_derivative_of_the_trade(pool: Concentrated, way: Direction, part: float) -> None:
    curve = pool.curve(*way)
    assume(curve.start_rate > 0)
    rate = curve.start_rate * part
    around = [curve.trade_to_marginal_rate(rate * factor) for factor in (1 + 1e-7, 1.0, 1 - 1e-7)]
    assume(around[0][2] == pytest.approx(around[2][2], rel=1e-6))  # no kink in between
    assume(around[0][2] > 0)
    lost = 1e-15 * around[2][0] + 3e-16 * around[1][2]
    assert (around[2][0] - around[0][0]) / 2e-7 == pytest.approx(around[1][2], rel=1e-5, abs=lost / 2e-7)


@given(concentrateds(), directions, parts, parts)
def test_the_curve_is_increasing_and_concave(pool: Concentrated, way: Direction, a: float, b: float) -> None:
    check_concave(pool.curve(*way), a, b)


@given(concentrateds(), directions)
def test_all_questions_agree_at_the_ends(pool: Concentrated, way: Direction) -> None:
    curve = pool.curve(*way)
    total = curve.amount_out(inf)
    assert total < inf
    assert curve.amount_out(curve.capacity) == total
    assert curve.amount_out(-1.0) == curve.amount_out(0.0) == 0.0
    assert curve.trade_to_marginal_rate(max(curve.start_rate, 1.0)) == (0.0, 0.0, 0.0)
    if curve.start_rate:
        assert curve.trade_to_marginal_rate(5e-324) == (curve.capacity, total, 0.0)
        assert curve.rate(0.0) == pytest.approx(curve.start_rate, rel=1e-9)


@given(concentrateds(), directions, parts)
def test_the_curve_after_a_swap_starts_where_the_other_ended(pool: Concentrated, way: Direction, part: float) -> None:
    curve = pool.curve(*way)
    amount_in = int(curve.capacity * part)
    assume(amount_in > 10**6)
    _, after = swap_or_skip(pool, way, amount_in)
    rest = after.curve(*way)
    margin = 1e-6 * curve.capacity + 1e6
    assert rest.capacity + amount_in == pytest.approx(curve.capacity, rel=1e-6, abs=margin)


def test_precision_over_many_adjacent_ticks() -> None:
    """A hundred one-tick positions far from price 1: the sum of the exact integers, to 12 digits."""
    tick = -276_300
    positions = [(tick + k, tick + k + 1, 10**24 + abs(k) ** 5 * 10**15) for k in range(-100, 100)]
    pool = pool_at(tick, *positions, tick_spacing=1, fee_ppm=100)
    for way, most in ((DOWN, 2e-13), (UP, 2e-13)):
        curve = pool.curve(*way)
        amount_in = int(curve.capacity)
        amount_out, _ = pool.swap(*way, amount_in)
        loss = rounding_loss(pool, pool, way)
        assert abs(curve.amount_out(float(amount_in)) - amount_out) <= most * amount_out + loss


def test_a_curve_starts_at_the_next_liquidity() -> None:
    """No liquidity at the price: nothing is lost in the gap, and the first rate is that of the next position."""
    pool = pool_at(0, (-6_000, -600, 10**18), (600, 6_000, 10**18), fee_ppm=3_000)
    assert pool.liquidity == 0
    down, up = pool.curve(*DOWN), pool.curve(*UP)
    assert down.start_rate == pytest.approx(0.997 * 1.0001**-600, rel=1e-12)
    assert up.start_rate == pytest.approx(0.997 * 1.0001**-600, rel=1e-12)
    amount_out, after = pool.swap(*DOWN, 10**15)
    assert after.tick < -600
    assert down.amount_out(1e15) == pytest.approx(amount_out, rel=1e-12)


def test_a_gap_is_a_kink_not_a_cost() -> None:
    pool = pool_at(0, (-60, 60, 10**18), (-6_000, -600, 10**18), fee_ppm=0)
    curve = pool.curve(*DOWN)
    in_gap, out_gap, slope = curve.trade_to_marginal_rate(1.0001**-300)
    assert (in_gap, out_gap, slope) == (*curve.trade_to_marginal_rate(1.0001**-400)[:2], 0.0)
    assert curve.rate(in_gap) == pytest.approx(1.0001**-600, rel=1e-9)
    assert curve.rate(in_gap * (1 - 1e-9)) == pytest.approx(1.0001**-60, rel=1e-9)


def test_a_curve_at_the_end_of_liquidity_starts_beyond_it() -> None:
    pool = pool_at(0, (0, 60, 10**18), (-600, -60, 10**18), fee_ppm=0)
    assert pool.liquidity == 10**18
    assert pool.curve(*DOWN).start_rate == pytest.approx(1.0001**-60, rel=1e-12)
    assert pool.curve(*UP).start_rate == pytest.approx(1.0, rel=1e-15)


def rounding_loss(pool: Concentrated, after: Concentrated, way: Direction) -> float:
    """The output that roundings can cost: in each step one unit of output, two of input, and one of the price."""
    steps = 3 + abs(pool.tick - after.tick) // (256 * pool.tick_list.tick_spacing) + len(pool.tick_list.ticks)
    most = float(max_liquidity(pool))
    price = min(pool.sqrt_price_x96, after.sqrt_price_x96)
    of_price = most / Q96 if way == DOWN else most / price * (Q96 / price)
    fee = 1 - pool.fee_ppm / 1e6
    return steps * (1 + of_price + (1 + 1 / fee) * max(pool.curve(*way).start_rate, 0.0))


def max_liquidity(pool: Concentrated) -> int:
    active, most = 0, 0
    for net in pool.tick_list.liquidity_nets:
        active += net
        most = max(most, active)
    return most
