"""Metapools: every recorded swap of the contracts to the unit, swaps that share a base pool, malformed state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidPoolState, PoolError
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.quote import Route, Segment, Swap
from swapcli.core.routing.replay import replay
from swapcli.families.curve.curve_meta import CurveMeta
from swapcli.families.curve.stableswap import StableSwap
from swapcli.families.curve.stableswap_math import scale_to_18_decimals
from swapcli.testing.pool_laws import check_state_round_trip, swap_there_and_back
from swapcli.testing.strategies import ADDRESS, TOKENS, parts
from tests.families.recorded import read_vectors

BASE = "0x" + "ba" * 20
OWN, LP, *COINS = TOKENS
WAD = 10**18


def recorded_steps() -> Iterator[tuple[CurveMeta, dict[str, Any]]]:
    """Yield the pool before each recorded swap, and the swap."""
    for pool in read_vectors("curve_meta")["pools"]:
        for step in pool["steps"]:
            yield as_recorded(pool, step), step


def as_recorded(pool: dict[str, Any], step: dict[str, Any]) -> CurveMeta:
    before = step["before"]
    decimals = (*pool["meta_decimals"], *pool["base_decimals"])
    amp, amp_hundredths = divmod(int(before["meta_amp_x100"]), 100)
    base_amp, base_hundredths = divmod(int(before["base_amp_x100"]), 100)
    state = {
        "reserves": before["meta_balances"],
        "amp": amp,
        "amp_hundredths": amp_hundredths,
        "rates": [str(WAD)],
        "offpeg_fee_multiplier": pool["meta_offpeg_fee_multiplier_1e10"],
        "base_pool": BASE,
        "lp_supply": before["base_total_supply"],
        "base": {
            "fee_ppm": pool["base_fee_1e10"] // 10_000,
            "reserves": before["base_balances"],
            "amp": base_amp,
            "amp_hundredths": base_hundredths,
            "rates": [str(WAD)] * len(pool["base_decimals"]),
            "offpeg_fee_multiplier": pool["base_offpeg_fee_multiplier_1e10"],
        },
    }
    tokens = TOKENS[: len(decimals)]
    return CurveMeta.from_state(PoolIdentity(ADDRESS, "test", tokens, decimals, pool["meta_fee_1e10"] // 10_000), state)


def tokens_of(step: dict[str, Any]) -> tuple[str, str]:
    is_underlying = step["call"] == "exchange_underlying"
    sold, bought = (k + 1 if is_underlying and k else k for k in (step["i"], step["j"]))
    return TOKENS[sold], TOKENS[bought]


def test_recorded_swaps_are_repeated_to_the_unit() -> None:
    outcomes = {"paid": 0, "zero": 0, "reverts": 0}
    for pool, step in recorded_steps():
        sold, bought = tokens_of(step)
        outcome = "reverts" if step["dy"] is None else "zero" if step["dy"] == "0" else "paid"
        outcomes[outcome] += 1
        nothing = None if int(step["dx"]) else "an input of 0"
        swapped: CurveMeta | StableSwap = pool
        if step["i"] and step["j"]:  # the contract passes it to the base pool
            swapped = pool.base.pool
            with pytest.raises(PoolError, match=nothing or "does not trade"):
                pool.swap(sold, bought, int(step["dx"]))
        if outcome != "paid":  # for nothing, the contract takes the input and pays nothing
            with pytest.raises(PoolError, match=nothing or ("rounds to zero" if outcome == "zero" else None)):
                swapped.swap(sold, bought, int(step["dx"]))
            continue
        assert pool.base.virtual_price == int(step["before"]["base_virtual_price"])
        amount_out, after = swapped.swap(sold, bought, int(step["dx"]))
        assert amount_out == int(step["dy"])
        if isinstance(after, StableSwap):
            after = replace(pool, base=pool.base._replace(pool=after))
        assert state_after(after) == expected_after(step["after"])
    assert sum(outcomes.values()) == 982
    assert outcomes["reverts"] == 24


def state_after(pool: CurveMeta) -> tuple[object, ...]:
    return pool.own.reserves, pool.base.pool.reserves, pool.base.lp_supply, pool.base.virtual_price


def expected_after(after: dict[str, Any]) -> tuple[object, ...]:
    own, base = (tuple(map(int, after[key])) for key in ("meta_balances", "base_balances"))
    return own, base, int(after["base_total_supply"]), int(after["base_virtual_price"])


pools = st.sampled_from([pool for pool, step in recorded_steps() if step["dy"] not in (None, "0")][::7])
coins = st.integers(0, 1)


@given(pools, coins, st.booleans(), parts)
def test_there_and_back_never_pays(pool: CurveMeta, coin: int, is_own_sold: bool, part: float) -> None:
    sold, bought = (OWN, COINS[coin]) if is_own_sold else (COINS[coin], OWN)
    reserve = pool.own.reserves[0] if is_own_sold else pool.base.pool.reserves[coin]
    amount_in = max(1, int(reserve * part))
    assert swap_there_and_back(pool, sold, bought, amount_in) <= amount_in + 4 + amount_in // 10**9


@given(pools, coins, st.booleans(), parts, parts)
def test_selling_more_never_brings_less(
    pool: CurveMeta, coin: int, is_own_sold: bool, part: float, more: float
) -> None:
    sold, bought = (OWN, COINS[coin]) if is_own_sold else (COINS[coin], OWN)
    reserve = pool.own.reserves[0] if is_own_sold else pool.base.pool.reserves[coin]
    less, more = sorted(max(1, int(reserve * each)) for each in (part, more))
    try:
        assert pool.swap(sold, bought, more)[0] >= pool.swap(sold, bought, less)[0] * (1 - 1e-9) - 4
    except PoolError:
        assume(False)


@given(pools, coins, st.booleans(), parts)
def test_the_curve_is_close_to_the_exact_swap(pool: CurveMeta, coin: int, is_own_sold: bool, part: float) -> None:
    sold, bought = (OWN, COINS[coin]) if is_own_sold else (COINS[coin], OWN)
    assume(tilt(pool) < 30)
    curve = pool.curve(sold, bought)
    reserve = pool.own.reserves[0] if is_own_sold else pool.base.pool.reserves[coin]
    amount_in = max(1, int(reserve * part))
    try:
        amount_out, _ = pool.swap(sold, bought, amount_in)
    except PoolError:
        assume(False)
    assert curve.amount_out(float(amount_in)) == pytest.approx(amount_out, rel=0.03, abs=4 * (1 + curve.start_rate))


def tilt(pool: CurveMeta) -> float:
    """Return the ratio of the largest to the smallest balance."""
    balances = [
        scaled
        for each in (pool.own, pool.base.pool)
        for scaled in scale_to_18_decimals(each.reserves, each.contract_rates())
    ]
    return max(balances) / min(balances)


@given(coins, st.booleans(), parts)
def test_the_curve_of_a_liquid_pool_is_closer(coin: int, is_own_sold: bool, part: float) -> None:
    sold, bought = (OWN, COINS[coin]) if is_own_sold else (COINS[coin], OWN)
    amount_in = int(10**24 * part)
    amount_out, _ = liquid_pool().swap(sold, bought, amount_in)
    assert liquid_pool().curve(sold, bought).amount_out(float(amount_in)) == pytest.approx(amount_out, rel=2e-4)


def liquid_pool() -> CurveMeta:
    """Return a pool of a million of each coin, over a base pool of ten million each."""
    own, base = 10**24, 10**25
    state: dict[str, object] = {
        "reserves": [own, own],
        "amp": 200,
        "rates": [WAD],
        "base_pool": BASE,
        "lp_supply": 2 * base,
        "base": {"fee_ppm": 400, "reserves": [base, base], "amp": 500, "rates": [WAD, WAD]},
    }
    return CurveMeta.from_state(PoolIdentity(ADDRESS, "test", TOKENS[:4], (18,) * 4, 400), state)


def route(*hops: tuple[str, str, str]) -> Route:
    """Return a route of one path of single pools."""
    return Route((Segment(10_000, tuple((Swap(pool, sold, bought, 10_000),) for pool, sold, bought in hops)),))


def test_swaps_of_a_route_share_the_base_pool() -> None:
    meta = liquid_pool()
    base = meta.base.pool
    first, second = COINS[:2]
    amount_in = 3 * 10**23
    out_1, after_base = base.swap(first, second, amount_in)
    chained = meta.with_shared_state(after_base.shared_states[0])
    out_2, after_meta = chained.swap(second, OWN, out_1)
    assert out_2 != meta.swap(second, OWN, out_1)[0]
    done = replay(
        {base.key: base, meta.key: meta}, route((base.key, first, second), (meta.key, second, OWN)), amount_in
    )
    assert done.amount_out == out_2
    assert done.pools_after[meta.key] == after_meta

    other = replace(meta, address="0x" + "cd" * 20, tokens=(TOKENS[7], *meta.tokens[1:]))
    other = replace(other, own=replace(meta.own, address=other.address, tokens=other.tokens[:2]))
    through = replay(
        {meta.key: meta, other.key: other}, route((meta.key, OWN, first), (other.key, first, TOKENS[7])), amount_in
    )
    out_1, after_meta = meta.swap(OWN, first, amount_in)
    assert through.amount_out == other.with_shared_state(after_meta.shared_states[0]).swap(first, TOKENS[7], out_1)[0]
    assert through.amount_out != other.swap(first, TOKENS[7], out_1)[0]


def test_a_supply_is_kept_through_a_swap_of_the_base_pool() -> None:
    meta = liquid_pool()
    base, (first, second) = meta.base.pool, COINS[:2]
    third = TOKENS[7]
    other = replace(meta, address="0x" + "cd" * 20, tokens=(third, *meta.tokens[1:]))
    other = replace(other, own=replace(meta.own, address=other.address, tokens=other.tokens[:2]))
    pools = {pool.key: pool for pool in (meta, base, other)}
    hops = route((meta.key, OWN, first), (base.key, first, second), (other.key, second, third))
    done = replay(pools, hops, 10**22)
    out_1, meta_after = meta.swap(OWN, first, 10**22)
    out_2, base_after = base.with_shared_state(meta_after.shared_states[0]).swap(first, second, out_1)
    shared = base_after.shared_states[0]._replace(lp_supply=meta_after.base.lp_supply)
    assert done.amount_out == other.with_shared_state(shared).swap(second, third, out_2)[0]


@pytest.mark.parametrize("direction", [(LP, COINS[0]), (COINS[0], LP), (COINS[0], COINS[1])])
def test_directions_without_the_own_coin_are_not_offered(direction: tuple[str, str]) -> None:
    assert liquid_pool().curve(*direction).start_rate == 0.0
    with pytest.raises(PoolError):
        liquid_pool().swap(*direction, 10**18)


@given(pools)
def test_state_survives_a_round_trip(pool: CurveMeta) -> None:
    check_state_round_trip(pool)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("reserves", {"reserves": ["1"]}),
        ("rates", {"rates": [str(WAD), str(WAD)]}),
        ("rates", {"rates": ["0"]}),
        ("base_pool", {"base_pool": "0x12"}),
        ("lp_supply", {"lp_supply": None}),
        ("base", {"base": None}),
        ("base.amp", {"base": {"fee_ppm": 400, "reserves": ["1", "1"], "amp": 0, "rates": ["1", "1"]}}),
        ("base.fee_ppm", {"base": {"fee_ppm": 10**6, "reserves": ["1", "1"], "amp": 1, "rates": ["1", "1"]}}),
    ],
)
def test_malformed_state_is_refused_by_field(field: str, change: dict[str, object]) -> None:
    pool = liquid_pool()
    with pytest.raises(InvalidPoolState) as caught:
        CurveMeta.from_state(pool.identity, {**pool.state(), **change})
    assert caught.value.field == field
