"""Weighted pools: what must hold of every swap, the versions' difference, and malformed state."""

from __future__ import annotations

from dataclasses import replace
from math import fsum, log

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError, SwapReverts
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.families.balancer.weighted import Weighted
from swapcli.testing.pool_laws import check_state_round_trip, swap_or_skip, swap_there_and_back
from swapcli.testing.strategies import ADDRESS, TOKENS, parts
from tests.families.random_pools import PERCENT, weighted_pools

A, B, C = TOKENS[:3]
IDENTITY = PoolIdentity(ADDRESS, "test", (A, B), (18, 6), 3000)
HALVES = (WAD // 2, WAD // 2)
STATE = {"reserves": [str(10**24), str(10**12)], "weights": [str(weight) for weight in HALVES]}

directions = st.sampled_from([(0, 1), (1, 0)])


GEL, DEXG = "0x94ec4e3a7c5068ae4a035f702f2cd5a6da9c5cc1", "0xb81d70802a816b5dacba06d708b5acf19dcd436d"


def test_a_fee_finer_than_a_part_per_million_is_charged_whole() -> None:
    """The pool GEL/DEXG of Balancer V2 on Ethereum, whose fee is 0.17609%.

    Source of state and output: BowTiedDevil/degenbot, tests/fixtures, balancer_weighted_gel_dexg_60_40.json.
    """
    state = {
        "reserves": ["105034099075562857610562", "183495310306396699229"],
        "weights": [str(6 * WAD // 10), str(4 * WAD // 10)],
        "version": 1,
    }
    identity = PoolIdentity(ADDRESS, "test", (GEL, DEXG), (18, 18), 1760)
    rounded = Weighted.from_state(identity, state)
    exact = Weighted.from_state(identity, {**state, "swap_fee": "1760900000000000"})
    assert exact.swap(GEL, DEXG, 105034099075562848)[0] == 274757945443575
    assert rounded.swap(GEL, DEXG, 105034099075562848)[0] > 274757945443575


@pytest.mark.parametrize("swap_fee", [str(1759 * 10**12), str(1761 * 10**12), "-1", "x"])
def test_a_fee_that_contradicts_its_rounded_form_is_refused(swap_fee: str) -> None:
    identity = PoolIdentity(ADDRESS, "test", (A, B), (18, 6), 1760)
    with pytest.raises(InvalidPoolState, match="swap_fee"):
        Weighted.from_state(identity, {**STATE, "swap_fee": swap_fee})


@given(weighted_pools(), directions, parts)
def test_a_swap_never_lowers_the_invariant(pool: Weighted, direction: tuple[int, int], part: float) -> None:
    amount_in, amount_out, after = swap(pool, direction, part)
    assert amount_in > 0
    assert amount_out > 0
    growth = fsum(
        weight / WAD * log(now / before)
        for weight, now, before in zip(pool.weights, after.reserves, pool.reserves, strict=True)
    )
    assert growth >= -1e-15


@given(weighted_pools(), directions, parts, parts)
def test_selling_more_never_brings_less(pool: Weighted, direction: tuple[int, int], part: float, more: float) -> None:
    _, amount_out, _ = swap(pool, direction, min(part, more))
    assert swap(pool, direction, max(part, more))[1] >= amount_out - slack(pool, direction)


@given(weighted_pools(), directions, parts, parts)
def test_splitting_a_swap_never_brings_more(
    pool: Weighted, direction: tuple[int, int], first: float, second: float
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


@given(weighted_pools(), directions, parts)
def test_there_and_back_never_pays(pool: Weighted, direction: tuple[int, int], part: float) -> None:
    i, j = direction
    amount_in = max(1, int(pool.reserves[i] * part))
    returned = swap_there_and_back(pool, pool.tokens[i], pool.tokens[j], amount_in)
    assert returned <= amount_in


@given(weighted_pools())
def test_state_survives_a_round_trip(pool: Weighted) -> None:
    check_state_round_trip(pool)


@pytest.mark.parametrize(
    ("weights", "differs"), [((50, 50), True), ((80, 20), True), ((20, 80), False), ((60, 40), False)]
)
def test_only_the_first_factory_rounds_exponents_1_2_and_4(weights: tuple[int, int], differs: bool) -> None:
    exact = tuple(weight * PERCENT for weight in weights)
    pool = Weighted(ADDRESS, "test", (A, B), (18, 18), 3000, (10**24, 10**24), exact)
    first, later = replace(pool, version=1).swap(A, B, 10**21)[0], pool.swap(A, B, 10**21)[0]
    assert (first < later) is differs
    assert later - first <= 2 * 10**24 * 10**-14


def test_with_equal_weights_the_output_is_the_constant_product_s() -> None:
    pool = Weighted(ADDRESS, "test", (A, B), (18, 18), 0, (10**24, 3 * 10**24), HALVES)
    truth = 10**21 * 3 * 10**24 // (10**24 + 10**21)
    assert 0 <= truth - pool.swap(A, B, 10**21)[0] <= 3 * 10**6


def test_the_fee_is_rounded_up_and_stays_in_the_pool() -> None:
    pool = Weighted(ADDRESS, "test", (A, B), (18, 18), 3000, (10**24, 10**24), HALVES)
    amount_out, after = pool.swap(A, B, 10**21 + 1)
    assert after.reserves == (10**24 + 10**21 + 1, 10**24 - amount_out)
    net = 10**21 + 1 - (3 * 10**18 + 1)
    assert replace(pool, fee_ppm=0).swap(A, B, net)[0] == amount_out


@given(weighted_pools(), directions)
def test_a_swap_takes_up_to_30_percent_of_the_balance(pool: Weighted, direction: tuple[int, int]) -> None:
    token_in, token_out = (pool.tokens[k] for k in direction)
    reserve = pool.reserves[direction[0]]
    most = int(pool.curve(token_in, token_out).capacity)
    net = most * (WAD - pool.swap_fee) // WAD
    assert reserve * 3 // 10 - 2 - (reserve >> 50) <= net <= reserve * 3 // 10
    swap(pool, direction, 0.29)
    with pytest.raises(SwapReverts, match="30%"):
        pool.swap(token_in, token_out, most + (most >> 50) + 4)


@pytest.mark.parametrize("reserves", [(0, WAD), (WAD, 0), (0, 0)])
def test_a_drained_pool_says_so(reserves: tuple[int, int]) -> None:
    with pytest.raises(InsufficientLiquidity):
        Weighted(ADDRESS, "test", (A, B), (18, 18), 500, reserves, HALVES).swap(A, B, 1)


@pytest.mark.parametrize(
    ("reserves", "amount_in", "reason"),
    [
        ((10**24, 10**24), 1, "rounds to zero"),
        ((10**24, 10**24), 2**112, "2\\^112"),
        ((2**112 - 100, 10**24), 100, "2\\^112"),
        ((10**24, 10**24), 4 * 10**23, "30%"),
    ],
)
def test_where_the_vault_reverts_the_swap_is_refused(reserves: tuple[int, int], amount_in: int, reason: str) -> None:
    pool = Weighted(ADDRESS, "test", (A, B), (18, 18), 500, reserves, HALVES)
    with pytest.raises(SwapReverts, match=reason):
        pool.swap(A, B, amount_in)


def test_a_nearly_full_balance_limits_the_curve() -> None:
    pool = Weighted(ADDRESS, "test", (A, B), (18, 18), 500, (2**112 - 10**20, 10**24), HALVES)
    assert 0 < pool.curve(A, B).capacity < 10**20


def test_other_tokens_are_not_traded() -> None:
    pool = Weighted.from_state(IDENTITY, STATE)
    for direction in ((A, A), (A, C), (C, B)):
        with pytest.raises(PoolError):
            pool.swap(*direction, 1)
        with pytest.raises(PoolError):
            pool.curve(*direction)


@pytest.mark.parametrize(
    ("field", "identity", "change"),
    [
        ("reserves", IDENTITY, {"reserves": None}),
        ("reserves", IDENTITY, {"reserves": ["1", "2", "3"]}),
        ("reserves[1]", IDENTITY, {"reserves": ["1", str(2**112)]}),
        ("weights", IDENTITY, {"weights": [str(WAD)]}),
        ("weights", IDENTITY, {"weights": [str(WAD // 2), str(WAD // 2 + 1)]}),
        ("weights[1]", IDENTITY, {"weights": [str(WAD - PERCENT + 1), str(PERCENT - 1)]}),
        ("weights[0]", IDENTITY, {"weights": [0.5, 0.5]}),
        ("version", IDENTITY, {"version": 0}),
        ("version", IDENTITY, {"version": 5}),
        ("version", IDENTITY, {"version": "latest"}),
        ("decimals", IDENTITY._replace(decimals=(19, 6)), {}),
        ("fee_ppm", IDENTITY._replace(fee_ppm=1_000_000), {}),
        ("tokens", IDENTITY._replace(tokens=(A, A)), {}),
        ("tokens", IDENTITY._replace(tokens=(*TOKENS, ADDRESS), decimals=(18,) * 9), {}),
    ],
)
def test_malformed_state_is_refused_by_field(field: str, identity: PoolIdentity, change: dict[str, object]) -> None:
    with pytest.raises(InvalidPoolState) as caught:
        Weighted.from_state(identity, {**STATE, **change})
    assert caught.value.field == field


def swap(pool: Weighted, direction: tuple[int, int], part: float) -> tuple[int, int, Weighted]:
    i, j = direction
    amount_in = max(1, int(pool.reserves[i] * part))
    return amount_in, *swap_or_skip(pool, (pool.tokens[i], pool.tokens[j]), amount_in)


def slack(pool: Weighted, direction: tuple[int, int]) -> int:
    """What the power's own error, 10^-18 of the balance or so, and the units of both tokens move."""
    curve = pool.curve(*(pool.tokens[k] for k in direction))
    return 4 + int(4 * curve.start_rate) + pool.reserves[direction[1]] * 100 // WAD
