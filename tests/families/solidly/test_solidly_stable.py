"""Stable Solidly pools: what must hold of every swap, the contract's oddities, and malformed state."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError, SwapReverts
from swapcli.core.model.pool import PoolIdentity
from swapcli.families.solidly.solidly_stable import SolidlyStable
from swapcli.testing.pool_laws import check_state_round_trip, swap_or_skip, swap_there_and_back
from swapcli.testing.strategies import ADDRESS, TOKENS, parts
from tests.families.random_pools import solidly_stable_pools

A, B = TOKENS[:2]
WAD = 10**18
IDENTITY = PoolIdentity(ADDRESS, "test", (A, B), (18, 6), 500)

directions = st.sampled_from([(0, 1), (1, 0)])


@given(solidly_stable_pools(), directions, parts)
def test_a_swap_never_lowers_the_invariant(pool: SolidlyStable, direction: tuple[int, int], part: float) -> None:
    _, after = swap(pool, direction, part)
    assert exact_invariant(after) >= exact_invariant(pool) * (1 - 1e-15)
    assert pool._invariant_of_reserves(*after.reserves) >= pool._invariant_of_reserves(*pool.reserves)


@given(solidly_stable_pools(), directions, parts, parts)
def test_selling_more_never_brings_less(
    pool: SolidlyStable, direction: tuple[int, int], part: float, more: float
) -> None:
    amount_out, _ = swap(pool, direction, min(part, more))
    assert swap(pool, direction, max(part, more))[0] >= amount_out - slack(pool, direction)


@given(solidly_stable_pools(), directions, parts, parts)
def test_splitting_a_swap_never_brings_more(
    pool: SolidlyStable, direction: tuple[int, int], first: float, second: float
) -> None:
    i, j = direction
    amounts = [max(1, int(pool.reserves[i] * part)) for part in (first, second)]
    try:
        whole, _ = pool.swap(pool.tokens[i], pool.tokens[j], sum(amounts))
        out_1, between = pool.swap(pool.tokens[i], pool.tokens[j], amounts[0])
        out_2, _ = between.swap(pool.tokens[i], pool.tokens[j], amounts[1])
    except PoolError:
        assume(False)
    assert out_1 + out_2 <= whole + slack(pool, direction)


@given(solidly_stable_pools(), directions, parts)
def test_there_and_back_never_pays(pool: SolidlyStable, direction: tuple[int, int], part: float) -> None:
    i, j = direction
    amount_in = max(1, int(pool.reserves[i] * part))
    returned = swap_there_and_back(pool, pool.tokens[i], pool.tokens[j], amount_in)
    assert returned <= amount_in + slack(pool, direction[::-1])


@given(solidly_stable_pools())
def test_state_survives_a_round_trip(pool: SolidlyStable) -> None:
    check_state_round_trip(pool)


def test_the_fee_is_rounded_down_and_leaves_the_pool() -> None:
    pool = SolidlyStable(ADDRESS, "test", (A, B), (18, 18), 500, (10**24, 10**24))
    fee = 10**21 * 500 // 10**6
    amount_out, after = pool.swap(A, B, 10**21)
    assert after.reserves == (10**24 + 10**21 - fee, 10**24 - amount_out)
    free = replace(pool, fee_ppm=0)
    assert free.swap(A, B, 10**21 - fee)[0] == amount_out
    assert pool.swap(A, B, 1999)[1].reserves[0] == 10**24 + 1999  # 1999 * 0.05% rounds to nothing


def test_small_pools_of_few_decimals_revert_for_some_amounts() -> None:
    pool = SolidlyStable(ADDRESS, "test", (A, B), (6, 6), 0, (2_000_000, 3_000_000))
    outcomes = {pays(pool, amount) for amount in range(1_000, 3_000)}
    assert outcomes == {True, False}


@pytest.mark.parametrize("reserves", [(0, WAD), (WAD, 0), (0, 0)])
def test_a_drained_pool_says_so(reserves: tuple[int, int]) -> None:
    with pytest.raises(InsufficientLiquidity):
        SolidlyStable(ADDRESS, "test", (A, B), (18, 18), 500, reserves).swap(A, B, WAD)


@pytest.mark.parametrize(
    ("reserves", "amount_in"),
    [((WAD, WAD), 1), ((10**24, 10**24), 10**40), ((10**30, 10**30), 10**20), ((1, 1), 10**6)],
    ids=["output rounds to zero", "amount overflows", "reserves overflow", "invariant is zero"],
)
def test_where_the_contract_reverts_the_swap_is_refused(reserves: tuple[int, int], amount_in: int) -> None:
    with pytest.raises(SwapReverts):
        SolidlyStable(ADDRESS, "test", (A, B), (18, 18), 500, reserves).swap(A, B, amount_in)


@given(solidly_stable_pools(), directions, st.floats(-13, -1))
def test_the_smallest_trade_is_paid_within_its_rates(
    pool: SolidlyStable, direction: tuple[int, int], digits: float
) -> None:
    """A trade of 1e-12 of a pool moves its rate by as much, and a solver compares what goes in with what comes out."""
    curve = pool.curve(*(pool.tokens[k] for k in direction))
    assume(curve.start_rate > 0.0)
    last = curve.start_rate * (1 - 10.0**digits)
    sold, bought, _ = curve.trade_to_marginal_rate(last)
    assert last * sold * (1 - 1e-9) <= bought <= curve.start_rate * sold * (1 + 1e-9)
    # The last rate itself is a float: that is how far the amounts may be off one another.
    assert curve.amount_out(sold) == pytest.approx(bought, rel=1e-9)


def test_the_curve_ends_before_the_contract_overflows() -> None:
    pool = SolidlyStable(ADDRESS, "test", (A, B), (18, 18), 500, (10**24, 10**24))
    capacity = pool.curve(A, B).capacity
    assert 1e28 < capacity < 1e32
    with pytest.raises(SwapReverts, match="overflows"):
        pool.swap(A, B, int(capacity * 2))
    assert pool.swap(A, B, int(capacity * 0.999))[0] > 0
    assert SolidlyStable(ADDRESS, "test", (A, B), (18, 18), 500, (10**30, 10**30)).curve(A, B).capacity == 0.0


def test_other_tokens_are_not_traded() -> None:
    pool = SolidlyStable(ADDRESS, "test", (A, B), (18, 18), 500, (WAD, WAD))
    for direction in ((A, A), (A, TOKENS[2]), (TOKENS[2], B)):
        with pytest.raises(PoolError):
            pool.swap(*direction, 1)
        with pytest.raises(PoolError):
            pool.curve(*direction)


@pytest.mark.parametrize(
    ("field", "identity", "state"),
    [
        ("reserves", IDENTITY, {}),
        ("reserves", IDENTITY, {"reserves": ["1"]}),
        ("reserves", IDENTITY, {"reserves": "1,2"}),
        ("reserves[1]", IDENTITY, {"reserves": ["1", "-2"]}),
        ("reserves[0]", IDENTITY, {"reserves": [1.5, "2"]}),
        ("reserves[0]", IDENTITY, {"reserves": [str(2**256), "2"]}),
        ("tokens", IDENTITY._replace(tokens=(A, B, TOKENS[2])), {"reserves": ["1", "2"]}),
        ("decimals", IDENTITY._replace(decimals=(18, 77)), {"reserves": ["1", "2"]}),
        ("fee_ppm", IDENTITY._replace(fee_ppm=1_000_000), {"reserves": ["1", "2"]}),
    ],
)
def test_malformed_state_is_refused_by_field(field: str, identity: PoolIdentity, state: dict[str, object]) -> None:
    with pytest.raises(InvalidPoolState) as caught:
        SolidlyStable.from_state(identity, state)
    assert caught.value.field == field


def swap(pool: SolidlyStable, direction: tuple[int, int], part: float) -> tuple[int, SolidlyStable]:
    i, j = direction
    return swap_or_skip(pool, (pool.tokens[i], pool.tokens[j]), max(1, int(pool.reserves[i] * part)))


def pays(pool: SolidlyStable, amount_in: int) -> bool:
    try:
        return pool.swap(A, B, amount_in)[0] > 0
    except SwapReverts:
        return False


def exact_invariant(pool: SolidlyStable) -> float:
    x, y = (reserve / 10**places for reserve, places in zip(pool.reserves, pool.decimals, strict=True))
    return float(x * y * (x * x + y * y))


def slack(pool: SolidlyStable, direction: tuple[int, int]) -> int:
    """Return the effect of rounding: units of the bought token or the value of one sold, more if k has few digits."""
    i, j = direction
    smallest = min(reserve / 10**places for reserve, places in zip(pool.reserves, pool.decimals, strict=True))
    rate = pool.curve(pool.tokens[i], pool.tokens[j]).start_rate
    unit_value = max(rate, 10.0 ** max(0, pool.decimals[j] - pool.decimals[i]))
    return int((4 + 8 * unit_value) * (1 + smallest**-3))
