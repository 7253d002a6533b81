"""Cryptoswap pools: every recorded swap of the contracts to the unit, what must hold of any swap, malformed state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError, SwapReverts
from swapcli.core.model.pool import PoolIdentity
from swapcli.families.curve.cryptoswap import CryptoSwap
from swapcli.families.curve.cryptoswap_math import cbrt
from swapcli.testing.pool_laws import check_state_round_trip, swap_or_skip, swap_there_and_back
from swapcli.testing.strategies import ADDRESS, TOKENS, parts
from tests.families.random_pools import crypto_pools
from tests.families.recorded import read_vectors

WAD = 10**18
directions = st.sampled_from([(0, 1), (1, 0), (0, -1), (-1, 0), (1, -1)])


def recorded_steps(name: str) -> Iterator[tuple[CryptoSwap, dict[str, Any]]]:
    """Yield the pool before each recorded swap, and the swap."""
    for pool in read_vectors(name)["pools"]:
        for step in pool["steps"]:
            yield as_recorded(pool, step), step


def as_recorded(pool: dict[str, Any], step: dict[str, Any]) -> CryptoSwap:
    before, count = step["before"], pool["n_coins"]
    # The average of the prices as of the block is recorded after a swap only.
    oracle = step.get("after", {}).get("price_oracle_cached") or before["price_oracle_cached"]
    left = before["future_A_gamma_time"] - step["timestamp"]
    state = {
        "version": pool["version"] if count == 2 else "v2.0.0",
        "reserves": before["balances"],
        "invariant": before["D"],
        "amp": step["A"],
        "gamma": step["gamma"],
        "price_scale": before["price_scale"],
        "price_oracle": oracle,
        "last_prices": before["last_prices"],
        **{key: pool[key] for key in ("mid_fee", "out_fee", "fee_gamma", "allowed_extra_profit", "adjustment_step")},
        "xcp_profit": before["xcp_profit"],
        "virtual_price": before["virtual_price"],
        "lp_supply": before["total_supply"],
        "ramp_seconds_left": left if left >= 0 else None,
    }
    fee_ppm = int(pool["mid_fee"]) // 10_000
    return CryptoSwap.from_state(PoolIdentity(ADDRESS, "test", TOKENS[:count], tuple(pool["decimals"]), fee_ppm), state)


@pytest.mark.parametrize(("name", "steps", "reverting"), [("twocrypto", 1200, 108), ("tricrypto", 1000, 59)])
def test_recorded_swaps_are_repeated_to_the_unit(name: str, steps: int, reverting: int) -> None:
    seen = refused = 0
    for pool, step in recorded_steps(name):
        seen += 1
        sold, bought = TOKENS[step["i"]], TOKENS[step["j"]]
        if step["dy"] is None:
            refused += 1
            with pytest.raises(PoolError):
                pool.swap(sold, bought, int(step["dx"]))
        elif step["dy"] == "0":  # the contract takes the input and pays nothing
            with pytest.raises(SwapReverts, match="rounds to zero"):
                pool.swap(sold, bought, int(step["dx"]))
        else:
            amount_out, after = pool.swap(sold, bought, int(step["dx"]))
            assert amount_out == int(step["dy"])
            assert state_after(after) == expected_after(step["after"])
    assert (seen, refused) == (steps, reverting)


def state_after(pool: CryptoSwap) -> tuple[object, ...]:
    prices = pool.prices
    return pool.reserves, prices.invariant, prices.scale, prices.last, prices.xcp_profit, prices.virtual_price


def expected_after(after: dict[str, Any]) -> tuple[object, ...]:
    balances, scale, last = (tuple(map(int, after[key])) for key in ("balances", "price_scale", "last_prices"))
    return balances, int(after["D"]), scale, last, int(after["xcp_profit"]), int(after["virtual_price"])


def test_recorded_swaps_cover_moves_of_the_scale_and_ramps() -> None:
    steps = [step for name in ("twocrypto", "tricrypto") for step in recorded_steps(name)]
    moves = [step for _, step in steps if step["dy"] and step["after"]["price_scale"] != step["before"]["price_scale"]]
    ramps = [pool for pool, _ in steps if pool.parameters.ramp_seconds_left]
    assert len(moves) > 50
    assert len(ramps) > 50
    assert all(pool.changes_without_events for pool in ramps)


@given(crypto_pools(), directions, parts)
def test_a_swap_raises_the_value_of_the_liquidity(pool: CryptoSwap, direction: tuple[int, int], part: float) -> None:
    _, after = swap(pool, direction, part)
    prices = after.prices
    if prices.scale == pool.prices.scale:
        assert prices.virtual_price > pool.prices.virtual_price
    else:  # a move of the scale costs at most half of the profit
        assert 2 * prices.virtual_price - WAD > prices.xcp_profit


@given(crypto_pools(), directions, parts, parts)
def test_selling_more_never_brings_less(pool: CryptoSwap, direction: tuple[int, int], part: float, more: float) -> None:
    pool = without_fee_growth(pool)
    amount_out, _ = swap(pool, direction, min(part, more))
    assert swap(pool, direction, max(part, more))[0] >= amount_out - slack(pool, direction)


@given(crypto_pools(), directions, parts)
def test_there_and_back_never_pays(pool: CryptoSwap, direction: tuple[int, int], part: float) -> None:
    pool = with_fixed_scale(pool)
    i, j = direction
    amount_in = max(1, int(pool.reserves[i] * part))
    assert swap_there_and_back(pool, pool.tokens[i], pool.tokens[j], amount_in) <= amount_in


@given(crypto_pools(), directions, parts, parts)
def test_splitting_a_swap_never_pays_more_than_the_fee(
    pool: CryptoSwap, direction: tuple[int, int], first: float, second: float
) -> None:
    """The second swap starts from the state that the first one left."""
    pool = with_fixed_scale(without_fee_growth(pool))
    i, j = direction
    amounts = [max(1, int(pool.reserves[i] * part)) for part in (first, second)]
    sold, bought = pool.tokens[i], pool.tokens[j]
    try:
        whole, _ = pool.swap(sold, bought, sum(amounts))
        out_1, between = pool.swap(sold, bought, amounts[0])
        out_2, _ = between.swap(sold, bought, amounts[1])
    except PoolError:
        assume(False)
    assert out_1 + out_2 <= whole * (1 + 2 * pool.parameters.mid_fee / 10**10) + slack(pool, direction)


@given(crypto_pools())
def test_state_survives_a_round_trip(pool: CryptoSwap) -> None:
    check_state_round_trip(pool)


@given(st.integers(0, 2**256 - 1))
def test_the_cube_root_is_close_from_both_sides(x: int) -> None:
    root, scale = cbrt(x), 10**36
    step = 10**13 if x > 10**59 else 10**7 if x > 10**41 else 10
    assert (root - step) ** 3 <= x * scale <= (root + step) ** 3


def test_a_pool_without_liquidity_says_so() -> None:
    pool = replace(next(recorded_steps("twocrypto"))[0], lp_supply=0)
    with pytest.raises(InsufficientLiquidity):
        pool.swap(TOKENS[0], TOKENS[1], WAD)
    assert pool.curve(TOKENS[0], TOKENS[1]).start_rate == 0.0


def test_a_pool_out_of_the_contracts_limits_has_no_curve() -> None:
    pool = next(recorded_steps("twocrypto"))[0]
    for parameters in (pool.parameters._replace(amp=1), pool.parameters._replace(gamma=10**18)):
        broken = replace(pool, parameters=parameters)
        assert broken.curve(TOKENS[0], TOKENS[1]).start_rate == 0.0
        with pytest.raises(SwapReverts):
            broken.swap(TOKENS[0], TOKENS[1], WAD)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("version", {"version": "v3.0.0"}),
        ("version", {"version": None}),
        ("reserves", {"reserves": ["1"]}),
        ("price_scale", {"price_scale": ["0"]}),
        ("price_scale", {"price_scale": ["1", "1"]}),
        ("price_oracle", {"price_oracle": ["0"]}),
        ("last_prices[0]", {"last_prices": ["-1"]}),
        ("invariant", {"invariant": str(2**128)}),
        ("amp", {"amp": 0}),
        ("gamma", {"gamma": "0"}),
        ("mid_fee", {"mid_fee": "90000000", "out_fee": "80000000"}),
        ("out_fee", {"out_fee": str(10**10 + 1)}),
        ("fee_ppm", {"mid_fee": "1"}),
        ("fee_gamma", {"fee_gamma": "0"}),
        ("lp_supply", {"lp_supply": None}),
        ("ramp_seconds_left", {"ramp_seconds_left": -1}),
    ],
)
def test_malformed_state_is_refused_by_field(field: str, change: dict[str, object]) -> None:
    pool = next(recorded_steps("twocrypto"))[0]
    with pytest.raises(InvalidPoolState) as caught:
        CryptoSwap.from_state(pool.identity, {**pool.state(), **change})
    assert caught.value.field == field


def swap(pool: CryptoSwap, direction: tuple[int, int], part: float) -> tuple[int, CryptoSwap]:
    i, j = direction
    assume(pool.tokens[i] != pool.tokens[j])
    return swap_or_skip(pool, (pool.tokens[i], pool.tokens[j]), max(1, int(pool.reserves[i] * part)))


def without_fee_growth(pool: CryptoSwap) -> CryptoSwap:
    return replace(pool, parameters=pool.parameters._replace(out_fee=pool.parameters.mid_fee))


def with_fixed_scale(pool: CryptoSwap) -> CryptoSwap:
    """Return the pool as one that never moves its price scale, which spends profit of the pool."""
    return replace(pool, parameters=pool.parameters._replace(allowed_extra_profit=2**63))


def slack(pool: CryptoSwap, direction: tuple[int, int]) -> int:
    """Return the effect of rounding: a few units of the bought token, the value of a unit sold, and the solver's."""
    i, j = direction
    assume(pool.tokens[i] != pool.tokens[j])
    return 8 + int(8 * pool.curve(pool.tokens[i], pool.tokens[j]).start_rate) + pool.reserves[j] // 10**12
