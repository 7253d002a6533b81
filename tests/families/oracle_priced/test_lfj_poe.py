"""Pools of POE: the laws of every pool, and what the public simulator pays.

20,000 random sales were compared with that simulator in Go, without a difference. The contract is not published.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError
from swapcli.families import family
from swapcli.families.oracle_priced.lfj_poe import LfjPoe
from swapcli.testing.pool_laws import check_concave, check_curve_follows, check_state_round_trip, trade_to_rate
from swapcli.testing.recorded_swaps import check_recorded_swaps
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.families.recorded import vectors_file

directions = st.sampled_from([(0, 1), (1, 0)])
parts = st.floats(0.0, 1.0)


def pool_of(price: float, wealth: int, balance: float, alpha_bps: int, fee_ppm: int = 100) -> LfjPoe:
    """Return a pool that holds a part `balance` of its wealth in the second token, at a price in base units."""
    reserves = int(wealth * (1 - balance) / price), int(wealth * balance)
    return LfjPoe(ADDRESS, "test", TOKENS[:2], (18, 6), fee_ppm, reserves, int(price * 10**24), alpha_bps)


def valid_pool() -> LfjPoe:
    """Return a liquid pool, from which the tests of all families make contradictory and extreme states."""
    return pool_of(3e-9, 10**13, 0.4, 10_500)


def sell(pool: LfjPoe, i: int, amount_in: int) -> tuple[int, LfjPoe]:
    """Sell the i-th token for the other one."""
    return pool.swap(pool.tokens[i], pool.tokens[1 - i], amount_in)


@st.composite
def pools(draw: st.DrawFn) -> LfjPoe:
    price = 10 ** draw(st.floats(-13.0, 3.0))
    wealth = int(10 ** draw(st.floats(12.0, 20.0)))
    alpha_bps = 10_000 + draw(st.sampled_from([1, 20, 500, 10_000]))
    fee_ppm = draw(st.sampled_from([0, 100, 3_000, 50_000]))
    return pool_of(price, wealth, draw(st.floats(0.01, 0.99)), alpha_bps, fee_ppm)


@given(pools(), directions, parts)
def test_the_curve_follows_the_swaps(pool: LfjPoe, direction: tuple[int, int], part: float) -> None:
    way = pool.tokens[direction[0]], pool.tokens[direction[1]]
    check_curve_follows(pool, way, max(2, int(pool.curve(*way).capacity * part)), 2e-7)


@given(pools(), directions, parts, parts)
def test_the_curve_is_increasing_and_concave(pool: LfjPoe, direction: tuple[int, int], a: float, b: float) -> None:
    check_concave(pool.curve(pool.tokens[direction[0]], pool.tokens[direction[1]]), a, b)


@given(pools(), directions, st.floats(0.3, 0.99999))
def test_a_trade_to_a_rate_ends_there(pool: LfjPoe, direction: tuple[int, int], part: float) -> None:
    curve = pool.curve(pool.tokens[direction[0]], pool.tokens[direction[1]])
    amount_in, amount_out, slope = trade_to_rate(curve, part, 1e-9)
    assert min(amount_in, amount_out, slope) >= 0


@given(pools(), directions, parts)
def test_more_pays_more(pool: LfjPoe, direction: tuple[int, int], part: float) -> None:
    way = pool.tokens[direction[0]], pool.tokens[direction[1]]
    amount = max(2, int(pool.curve(*way).capacity * part))
    try:
        less, more = (pool.swap(*way, each)[0] for each in (amount // 2, amount))
    except PoolError:
        return
    assert less <= more


@given(pools())
def test_state_survives_a_round_trip(pool: LfjPoe) -> None:
    check_state_round_trip(pool)


def test_recorded_swaps_are_those_of_the_public_simulator() -> None:
    assert check_recorded_swaps(vectors_file("lfj_poe")) >= 10


@pytest.mark.parametrize(
    ("sells_x", "amount_in", "expected"),
    [(True, 10**10, 18_991), (False, 5 * 10**9, 2_492_500_000_000_000), (True, 10**17, None), (False, 10**14, None)],
)
def test_the_published_examples(sells_x: bool, amount_in: int, expected: int | None) -> None:
    """KyberNetwork/kyberswap-dex-lib@ae6a99aa lfj/poe/math_test.go; None is a partial fill."""
    pool = LfjPoe(ADDRESS, "test", TOKENS[:2], (18, 6), 3_000, (10**19, 2 * 10**10), 2 * 10**18, 10_500)
    i = 0 if sells_x else 1
    if expected is None:
        with pytest.raises(InsufficientLiquidity):
            sell(pool, i, amount_in)
    else:
        assert sell(pool, i, amount_in)[0] == expected


def test_a_sale_towards_the_balance_is_paid_the_price() -> None:
    pool = replace(valid_pool(), fee_ppm=0, reserves=(10**21, 9 * 10**12))
    amount_out, after = pool.swap(pool.tokens[0], pool.tokens[1], 10**20)
    assert amount_out == 10**20 * pool.price // 10**24
    back, _ = after.swap(pool.tokens[1], pool.tokens[0], amount_out)
    assert back < 10**20


def test_the_fee_leaves_the_pool() -> None:
    pool = replace(valid_pool(), fee_ppm=10_000)
    amount_out, after = pool.swap(pool.tokens[0], pool.tokens[1], 10**18)
    assert pool.reserves[1] - after.reserves[1] == pytest.approx(amount_out / 0.99)
    _, after = pool.swap(pool.tokens[1], pool.tokens[0], 10**6)
    assert after.reserves[1] - pool.reserves[1] == 990_000


@pytest.mark.parametrize("amount_in", [0, -1, -(10**30), 2**256])
def test_nothing_is_paid_for_nothing(amount_in: int) -> None:
    pool = valid_pool()
    for i in range(2):
        with pytest.raises(PoolError):
            sell(pool, i, amount_in)


@pytest.mark.parametrize(("field", "value"), [("alpha_bps", 10_000), ("price", 0), ("reserves", [1])])
def test_a_contradiction_is_refused_by_its_field(field: str, value: object) -> None:
    pool = valid_pool()
    with pytest.raises(InvalidPoolState) as caught:
        family("lfj_poe").from_state(pool.identity, {**pool.state(), field: value})
    assert caught.value.field == field
