"""StableSwap pools: recorded exchanges of the contract to the unit, what must hold of every swap, malformed state."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError, SwapReverts
from swapcli.core.model.pool import PoolIdentity
from swapcli.families.curve.stableswap import StableSwap
from swapcli.families.curve.stableswap_math import invariant
from swapcli.testing.pool_laws import check_state_round_trip, swap_or_skip, swap_there_and_back
from swapcli.testing.strategies import ADDRESS, TOKENS, parts
from tests.families.random_pools import stableswap_pools
from tests.families.recorded import VECTORS, read_vectors

A, B, C = TOKENS[:3]
WAD = 10**18
IDENTITY = PoolIdentity(ADDRESS, "test", (A, B), (18, 6), 100)
THREE, FIVE = (IDENTITY._replace(tokens=TOKENS[:n], decimals=(18,) * n) for n in (3, 5))
STATE = {"reserves": [str(10**24), str(10**12)], "amp": 200, "rates": [str(WAD), str(WAD)]}

directions = st.sampled_from([(0, 1), (1, 0)])


@cache
def recorded_exchanges() -> list[dict[str, Any]]:
    pools: list[dict[str, Any]] = json.loads((VECTORS / "stableswap.json").read_text())["pools"]
    return pools


def test_every_recorded_exchange_is_repeated_to_the_unit() -> None:
    repeated = 0
    for recorded in recorded_exchanges():
        pool = as_recorded(recorded)
        for i, j, dx, dy, balances_after in recorded["steps"]:
            pool = repeat(pool, i, j, int(dx), int(dy), tuple(map(int, balances_after)))
            repeated += 1
    assert repeated == 1490


def repeat(pool: StableSwap, i: int, j: int, dx: int, dy: int, balances_after: tuple[int, ...]) -> StableSwap:
    if dy == 0:  # the contract takes the input and pays nothing
        with pytest.raises(SwapReverts, match="rounds to zero"):
            pool.swap(pool.tokens[i], pool.tokens[j], dx)
        return replace(pool, reserves=balances_after)
    amount_out, after = pool.swap(pool.tokens[i], pool.tokens[j], dx)
    assert (amount_out, after.reserves) == (dy, balances_after)
    return after


def as_recorded(recorded: dict[str, Any]) -> StableSwap:
    decimals = tuple(recorded["decimals"])
    fee_ppm, rest = divmod(recorded["fee_1e10"], 10_000)
    assert rest == 0
    identity = PoolIdentity(ADDRESS, "test", TOKENS[: recorded["n_coins"]], decimals, fee_ppm)
    state = {
        "reserves": recorded["balances_before"],
        "amp": recorded["amp"],
        "rates": [int(rate) // 10 ** (18 - places) for rate, places in zip(recorded["rates"], decimals, strict=True)],
        "offpeg_fee_multiplier": recorded["offpeg_fee_multiplier_1e10"],
    }
    return StableSwap.from_state(identity, state)


def test_plain_pools_exchange_as_their_contracts_do() -> None:
    outcomes, other_than_ng = Counter[str](), Counter[int]()
    for recorded in read_vectors("stableswap_plain")["pools"]:
        pool = plain_pool(recorded)
        for step in recorded["steps"]:
            sold, bought, amount_in = pool.tokens[step["i"]], pool.tokens[step["j"]], int(step["amount_in"])
            reserves = tuple(map(int, step["reserves"]))
            expected = None if step["amount_out"] is None else (int(step["amount_out"]), reserves)
            other_than_ng[len(pool.tokens)] += (
                outcome_of(replace(pool, variant="ng"), sold, bought, amount_in) != expected
            )
            assert outcome_of(pool, sold, bought, amount_in) == expected
            outcomes[f"{pool.variant} {'reverts' if expected is None else 'pays'}"] += 1
            pool = replace(pool, reserves=reserves)
    assert outcomes == {"plain pays": 551, "plain reverts": 169, "plain_ema pays": 152, "plain_ema reverts": 88}
    assert min(other_than_ng[coins] for coins in (2, 3, 4)) > 0


def with_reserves(pool: StableSwap, reserves: list[str]) -> StableSwap:
    return replace(pool, reserves=tuple(map(int, reserves)))


def plain_pool(recorded: dict[str, Any]) -> StableSwap:
    decimals = tuple(recorded["decimals"])
    identity = PoolIdentity(ADDRESS, "test", TOKENS[: len(decimals)], decimals, recorded["fee_ppm"])
    rates = [WAD] * len(decimals)
    state = {key: recorded[key] for key in ("reserves", "amp", "variant")} | {"rates": rates}
    return StableSwap.from_state(identity, state)


def outcome_of(pool: StableSwap, sold: str, bought: str, amount_in: int) -> tuple[int, tuple[int, ...]] | None:
    try:
        amount_out, after = pool.swap(sold, bought, amount_in)
    except PoolError:
        return None
    return amount_out, after.reserves


def test_the_recorded_exchanges_cover_what_changes_the_maths() -> None:
    pools = recorded_exchanges()
    assert {pool["n_coins"] for pool in pools} >= {2, 3, 4}
    assert {pool["offpeg_fee_multiplier_1e10"] for pool in pools} >= {0, 2 * 10**10, 5 * 10**10}
    assert {places for pool in pools for places in pool["decimals"]} >= {6, 18}
    assert {pool["amp"] for pool in pools} >= {10, 2000}


def test_the_invariant_gives_virtual_prices_of_real_pools() -> None:
    pools = json.loads((VECTORS / "curve_virtual_prices.json").read_text())["pools"]
    assert len(pools) == 4
    for pool in pools:
        scaled = [
            int(balance) * 10 ** (18 - places)
            for balance, places in zip(pool["balances"], pool["precision_decimals"], strict=True)
        ]
        d = invariant(scaled, int(pool["A"]) * 100)
        assert d * WAD // int(pool["total_supply"]) == int(pool["virtual_price"])


@given(stableswap_pools(), directions, parts)
def test_a_swap_never_lowers_the_invariant(pool: StableSwap, direction: tuple[int, int], part: float) -> None:
    _, after = swap(pool, direction, part)
    assert scaled_invariant(after) >= scaled_invariant(pool) - 2


@given(stableswap_pools(off_peg=False), directions, parts, parts)
def test_selling_more_never_brings_less(pool: StableSwap, direction: tuple[int, int], part: float, more: float) -> None:
    amount_out, _ = swap(pool, direction, min(part, more))
    assert swap(pool, direction, max(part, more))[0] >= amount_out - slack(pool, direction)


@given(stableswap_pools(off_peg=False), directions, parts, parts)
def test_splitting_a_swap_without_fee_never_brings_more(
    pool: StableSwap, direction: tuple[int, int], first: float, second: float
) -> None:
    i, j = direction
    free = replace(pool, fee_ppm=0, fee_remainder_wad=0)
    amounts = [max(1, int(pool.reserves[i] * part)) for part in (first, second)]
    try:
        whole, _ = free.swap(pool.tokens[i], pool.tokens[j], sum(amounts))
        out_1, between = free.swap(pool.tokens[i], pool.tokens[j], amounts[0])
        out_2, _ = between.swap(pool.tokens[i], pool.tokens[j], amounts[1])
    except PoolError:
        assume(False)
    assert out_1 + out_2 <= whole + slack(pool, direction)


@given(stableswap_pools(), directions, parts)
def test_there_and_back_never_pays(pool: StableSwap, direction: tuple[int, int], part: float) -> None:
    i, j = direction
    amount_in = max(1, int(pool.reserves[i] * part))
    returned = swap_there_and_back(pool, pool.tokens[i], pool.tokens[j], amount_in)
    assert returned <= amount_in + slack(pool, direction[::-1])


@given(stableswap_pools(), directions, parts)
def test_the_order_of_the_coins_does_not_matter(pool: StableSwap, direction: tuple[int, int], part: float) -> None:
    turned = replace(
        pool,
        tokens=pool.tokens[::-1],
        decimals=pool.decimals[::-1],
        reserves=pool.reserves[::-1],
        rates=pool.rates[::-1],
    )
    i, j = direction
    amount_out, _ = swap(pool, direction, part)
    mirrored, _ = turned.swap(pool.tokens[i], pool.tokens[j], max(1, int(pool.reserves[i] * part)))
    assert abs(mirrored - amount_out) <= slack(pool, direction)


@given(stableswap_pools())
def test_state_survives_a_round_trip(pool: StableSwap) -> None:
    check_state_round_trip(pool)


def test_a_ramp_counts_hundredths_of_the_amplification() -> None:
    pool = StableSwap(ADDRESS, "test", (A, B), (18, 18), 100, (10**24, 3 * 10**24), 200, (WAD, WAD))
    outputs = [replace(pool, amp_hundredths=k).swap(A, B, 10**23)[0] for k in (0, 50, 99)]
    assert outputs == sorted(set(outputs), reverse=True)
    assert outputs[-1] > replace(pool, amp=201).swap(A, B, 10**23)[0]
    curve = replace(pool, amp_hundredths=50).curve(A, B)
    assert curve.amount_out(1e23) == pytest.approx(outputs[1], rel=1e-9)


def test_half_of_the_fee_leaves_the_pool() -> None:
    pool = StableSwap(ADDRESS, "test", (A, B), (18, 18), 10_000, (10**24, 10**24), 2000, (WAD, WAD))
    amount_out, after = pool.swap(A, B, 10**21)
    gross, _ = replace(pool, fee_ppm=0).swap(A, B, 10**21)
    fee = gross // 100
    assert amount_out == gross - fee
    assert after.reserves == (10**24 + 10**21, 10**24 - amount_out - fee // 2)


def test_the_fee_grows_with_the_imbalance_mid_trade() -> None:
    def fee_paid(x: int, y: int) -> float:
        pool = StableSwap(ADDRESS, "test", (A, B), (18, 18), 1000, (x, y), 2000, (WAD, WAD), 5 * 10**10)
        return 1 - pool.swap(A, B, 10**18)[0] / replace(pool, fee_ppm=0).swap(A, B, 10**18)[0]

    assert fee_paid(10**24, 10**24) == pytest.approx(1e-3, rel=1e-6)
    assert fee_paid(10**24, 10**23) == pytest.approx(5e-3 / (4 * 0.4 / 1.21 + 1), rel=1e-4)
    assert fee_paid(10**23, 10**24) == pytest.approx(fee_paid(10**24, 10**23), rel=1e-4)


@pytest.mark.parametrize("reserves", [(0, WAD, WAD), (WAD, 0, WAD), (WAD, WAD, 0), (0, 0, 0)])
def test_a_drained_pool_says_so(reserves: tuple[int, ...]) -> None:
    pool = StableSwap(ADDRESS, "test", (A, B, C), (18, 18, 18), 100, reserves, 100, (WAD, WAD, WAD))
    with pytest.raises(InsufficientLiquidity):
        pool.swap(A, B, WAD)


@pytest.mark.parametrize(
    ("reserves", "amount_in"),
    [
        ((WAD, WAD), 1),
        ((10**24, 10**24), 10**65),
        ((10**24, 10**24), 10**45),
        ((10**38, 10**38), 10**38),
        ((10**38, 1), 10**30),
        ((10**30, 2), 10**33),
    ],
    ids=["rounds to zero", "amount overflows", "power overflows", "oracle overflows", "tilt overflows", "runs out"],
)
def test_where_the_contract_reverts_the_swap_is_refused(reserves: tuple[int, int], amount_in: int) -> None:
    pool = StableSwap(ADDRESS, "test", (A, B), (18, 18), 100, reserves, 100, (WAD, WAD))
    with pytest.raises(SwapReverts):
        pool.swap(A, B, amount_in)


def test_reserves_beyond_the_contract_give_an_empty_curve() -> None:
    pool = StableSwap(ADDRESS, "test", (A, B), (18, 18), 100, (2**127, 1), 100, (2**127, WAD))
    assert pool.curve(A, B).start_rate == 0.0


def test_other_tokens_are_not_traded() -> None:
    pool = StableSwap.from_state(IDENTITY, STATE)
    for direction in ((A, A), (A, C), (C, B)):
        with pytest.raises(PoolError):
            pool.swap(*direction, 1)
        with pytest.raises(PoolError):
            pool.curve(*direction)


@pytest.mark.parametrize(
    ("field", "identity", "change"),
    [
        ("reserves", IDENTITY, {"reserves": ["1"]}),
        ("reserves[0]", IDENTITY, {"reserves": ["-1", "1"]}),
        ("reserves[1]", IDENTITY, {"reserves": ["1", True]}),
        ("amp", IDENTITY, {"amp": 0}),
        ("amp", IDENTITY, {"amp": 1_000_001}),
        ("amp", IDENTITY, {"amp": 1.5}),
        ("amp", IDENTITY, {"amp": None}),
        ("rates", IDENTITY, {"rates": [str(WAD)]}),
        ("rates", IDENTITY, {"rates": ["0", str(WAD)]}),
        ("rates[1]", IDENTITY, {"rates": [str(WAD), "one"]}),
        ("amp_hundredths", IDENTITY, {"amp_hundredths": 100}),
        ("is_ramping", IDENTITY, {"is_ramping": 1}),
        ("offpeg_fee_multiplier", IDENTITY, {"offpeg_fee_multiplier": "-1"}),
        ("offpeg_fee_multiplier", IDENTITY, {"offpeg_fee_multiplier": str(5001 * 10**10)}),
        ("offpeg_fee_multiplier", IDENTITY, {"offpeg_fee_multiplier": "1", "variant": "plain"}),
        ("variant", IDENTITY, {"variant": "v5.0.0"}),
        ("variant", THREE, {"reserves": [1] * 3, "rates": [WAD] * 3, "variant": "plain_ema"}),
        ("variant", FIVE, {"reserves": [1] * 5, "rates": [WAD] * 5, "variant": "plain"}),
        ("fee_ppm", IDENTITY._replace(fee_ppm=500_001), {}),
        ("decimals", IDENTITY._replace(decimals=(18, 19)), {}),
        ("tokens", IDENTITY._replace(tokens=(A, A)), {}),
        ("tokens", IDENTITY._replace(tokens=(A,), decimals=(18,)), {}),
        ("tokens", IDENTITY._replace(tokens=(*TOKENS, ADDRESS), decimals=(18,) * 9), {}),
    ],
)
def test_malformed_state_is_refused_by_field(field: str, identity: PoolIdentity, change: dict[str, object]) -> None:
    with pytest.raises(InvalidPoolState) as caught:
        StableSwap.from_state(identity, {**STATE, **change})
    assert caught.value.field == field


def swap(pool: StableSwap, direction: tuple[int, int], part: float) -> tuple[int, StableSwap]:
    i, j = direction
    return swap_or_skip(pool, (pool.tokens[i], pool.tokens[j]), max(1, int(pool.reserves[i] * part)))


def scaled_invariant(pool: StableSwap) -> int:
    scaled = [
        reserve * rate * 10 ** (18 - places) // WAD
        for reserve, rate, places in zip(pool.reserves, pool.rates, pool.decimals, strict=True)
    ]
    return invariant(scaled, pool.amp * 100)


def slack(pool: StableSwap, direction: tuple[int, int]) -> int:
    """Return the effect of rounding: a few units of the bought token, or the value of a unit sold."""
    curve = pool.curve(*(pool.tokens[k] for k in direction))
    return 8 + int(8 * curve.start_rate)
