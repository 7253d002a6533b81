"""Vaults of GMX V1: the laws of every pool, and swaps of the contract, which was run in an EVM from states of mainnets.

The same run compared 10,080 swaps of random pairs and sizes; a part of them is recorded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError
from swapcli.core.model.pool import PoolIdentity
from swapcli.families.gmx.gmx_vault import GmxVault
from swapcli.testing.pool_laws import check_curve_follows, check_state_round_trip, check_swap_laws, swap_or_skip
from swapcli.testing.recorded_swaps import check_recorded_swaps
from swapcli.testing.strategies import ADDRESS, TOKENS, decimals, parts
from tests.families.recorded import read_vectors, vectors_file

directions = st.sampled_from([(0, 1), (1, 0), (1, 2)])


def valid_pool() -> GmxVault:
    """Return a liquid vault, from which the tests of all families make contradictory and extreme states."""
    return vault((18, 6, 6), prices=(3_000.0, 1.0, 1.0), debts=(9e6, 1.1e7, 4e6), targets=(1e7, 1e7, 5e6))


def vault(
    places: tuple[int, ...],
    prices: tuple[float, ...],
    debts: tuple[float, ...],
    targets: tuple[float, ...],
    spread: float = 0.001,
) -> GmxVault:
    """Return a vault whose reserves are its debts, in USD at its prices, of which a tenth is reserved."""
    reserves = tuple(int(debt / price * 10.0**k) for debt, price, k in zip(debts, prices, places, strict=True))
    return GmxVault(
        *(ADDRESS, "test", TOKENS[: len(places)], places, 3_000),
        reserves,
        tuple(reserve // 10 for reserve in reserves),
        tuple(int(price * (1 - spread) * 1e30) for price in prices),
        tuple(int(price * (1 + spread) * 1e30) for price in prices),
        tuple(int(debt) * 10**18 for debt in debts),
        tuple(3 * int(debt) * 10**18 for debt in debts),
        tuple(int(target) * 10**18 for target in targets),
        (0, *(1 for _ in places[1:])),
        tax_bps=50,
        stable_fee_bps=4,
        stable_tax_bps=20,
    )


@st.composite
def pools(draw: st.DrawFn) -> GmxVault:
    places = draw(st.tuples(decimals, decimals, decimals))
    prices = tuple(10 ** draw(st.floats(-2.0, 5.0)) for _ in places)
    debts = tuple(10 ** draw(st.floats(4.0, 8.0)) for _ in places)
    targets = tuple(debt * draw(st.sampled_from([0.0, 0.2, 0.9, 1.0, 1.1, 5.0])) for debt in debts)
    return vault(places, prices, debts, targets, draw(st.sampled_from([0.0, 0.0005, 0.01])))


FEE_STEP = 1.01e-4
"""A fee of whole basis points: an order may pay one more than its parts do on average."""


def amount_of(pool: GmxVault, direction: tuple[int, int], part: float) -> int:
    """Return an input worth a part of the debt in the bought token."""
    i, j = direction
    return max(2, int(pool.usdg[j] * part * 10 ** (12 + pool.decimals[i]) / pool.min_prices[i]))


@given(pools(), directions, parts)
def test_swaps_keep_the_laws(pool: GmxVault, direction: tuple[int, int], part: float) -> None:
    i, j = direction
    dust = 2 + 2 * int(max(rate_of(pool, i, j), rate_of(pool, j, i)))
    check_swap_laws(pool, (pool.tokens[i], pool.tokens[j]), amount_of(pool, direction, part), dust, FEE_STEP)


def rate_of(pool: GmxVault, i: int, j: int) -> float:
    """Return how many base units of the j-th token one of the i-th is worth."""
    return pool.max_prices[i] / pool.min_prices[j] * 10.0 ** (pool.decimals[j] - pool.decimals[i])


@given(pools(), directions, parts)
def test_the_curve_follows_the_swaps(pool: GmxVault, direction: tuple[int, int], part: float) -> None:
    i, j = direction
    amount_in = amount_of(pool, direction, part)
    way = pool.tokens[i], pool.tokens[j]
    check_curve_follows(pool, way, amount_in, relative=2e-2)
    paid, _ = swap_or_skip(pool, way, amount_in)
    assert paid <= pool.curve(*way).amount_out(float(amount_in)) * (1 + 1e-6) + 2


@given(pools(), directions)
def test_a_swap_of_the_capacity_goes_through(pool: GmxVault, direction: tuple[int, int]) -> None:
    i, j = direction
    way = pool.tokens[i], pool.tokens[j]
    capacity = int(pool.curve(*way).capacity)
    assert capacity
    assert pool.swap(*way, capacity)[0] == pytest.approx(pool.curve(*way).amount_out(capacity), rel=1e-6, abs=2)
    with pytest.raises(InsufficientLiquidity):
        pool.swap(*way, int(capacity * 1.01) + 2 + 2 * int(rate_of(pool, j, i)))


@given(pools())
def test_state_survives_a_round_trip(pool: GmxVault) -> None:
    check_state_round_trip(pool)


def test_the_fee_falls_towards_the_target_and_rises_away_from_it() -> None:
    pool = valid_pool()
    # A tenth below its target, so that a sale of the first token gets a tenth of the tax as a rebate; the second token,
    # a tenth above its target, gets as much for being bought.
    assert pool.fee_bps(0, 1, 10**22) == 25
    assert pool.fee_bps(1, 0, 10**22) == 35
    assert pool.fee_bps(1, 2, 10**18) == 8
    # Beyond the target as far as before, the rebate ends; the mean distance is then taxed.
    assert pool.fee_bps(0, 1, 2 * 10**24) == 35
    assert replace(pool, targets=(0, 0, 0)).fee_bps(0, 1, 10**22) == 30


def test_recorded_swaps_are_the_contracts() -> None:
    assert check_recorded_swaps(vectors_file("gmx_vault")) > 200


def test_vaults_of_ten_tokens_swap_as_the_recorded_ones() -> None:
    """A swap depends on its two tokens only: recorded vaults list further ones, as those of mainnets do."""
    paid = 0
    for recorded in read_vectors("gmx_vault")["pools"]:
        pool = with_more_tokens(recorded)
        assert len(pool.tokens) >= 10
        check_state_round_trip(pool)
        for step in recorded["steps"]:
            way = pool.tokens[step["sold"]], pool.tokens[step["bought"]]
            if step["amount_out"] is None:
                with pytest.raises(PoolError):
                    pool.swap(*way, int(step["amount_in"]))
                continue
            amount_out, pool = pool.swap(*way, int(step["amount_in"]))
            assert str(amount_out) == step["amount_out"]
            paid += 1
    assert paid > 200


def with_more_tokens(recorded: dict[str, Any], times: int = 2) -> GmxVault:
    """Return a recorded vault with its tokens several times, of the same amounts and prices."""
    tokens = tuple(f"0x{k:040x}" for k in range(1, times * len(recorded["tokens"]) + 1))
    state = {name: value * times if isinstance(value, list) else value for name, value in recorded["state"].items()}
    identity = PoolIdentity(ADDRESS, "test", tokens, tuple(recorded["decimals"]) * times, recorded["fee_ppm"])
    return GmxVault.from_state(identity, state)


def test_a_vault_has_a_limit_of_tokens() -> None:
    recorded = read_vectors("gmx_vault")["pools"][3]
    assert len(with_more_tokens(recorded, times=4).tokens) == 32
    with pytest.raises(InvalidPoolState, match="expected 2 to 32 tokens, not 40"):
        with_more_tokens(recorded, times=5)
