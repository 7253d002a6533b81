"""Spark's PSM, ERC-4626 vaults and bridges convert at one rate, round down, and end at their limits."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import isfinite

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError, SwapReverts
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families import family
from swapcli.families.fixed_rate.bridge import StablecoinBridge
from swapcli.families.fixed_rate.psm import RAY, PegStabilityModule
from swapcli.families.fixed_rate.vault import ShareVault
from swapcli.testing.pool_laws import check_state_round_trip
from swapcli.testing.strategies import ADDRESS, TOKENS

UNLIMITED = 2**256 - 1

PSM_DECIMALS = (6, 18, 18)

amounts = st.floats(0.0, 30.0).map(lambda exponent: int(10.0**exponent))

parts = st.floats(-9.0, 0.0).map(lambda exponent: 10.0**exponent)
"""A trade's size as a part of the capacity."""

balances = st.one_of(st.just(0), amounts)


@st.composite
def modules(draw: st.DrawFn) -> PegStabilityModule:
    reserves = draw(st.tuples(balances, balances, balances))
    return PegStabilityModule(
        ADDRESS, "test", TOKENS[:3], PSM_DECIMALS, 0, reserves, draw(st.integers(RAY // 2, 3 * RAY))
    )


@st.composite
def vaults(draw: st.DrawFn) -> ShareVault:
    places, assets = draw(st.tuples(st.sampled_from([6, 8, 18]), st.sampled_from([6, 18]))), draw(amounts)
    shares = max(1, int(assets * 10.0 ** (places[1] - places[0]) * draw(st.floats(0.3, 3.0))))
    limit = draw(st.one_of(st.just(UNLIMITED), balances))
    return ShareVault(ADDRESS, "test", (TOKENS[0], ADDRESS), places, 0, assets, shares, limit, assets)


@st.composite
def bridges(draw: st.DrawFn) -> StablecoinBridge:
    places, minted = (18, draw(st.sampled_from([6, 8, 18]))), draw(balances)
    limit, reserve = draw(st.one_of(st.just(0), amounts.map(lambda more: minted + more))), draw(balances)
    return StablecoinBridge(ADDRESS, "test", TOKENS[:2], places, 0, reserve, minted, limit)


pools = st.one_of(modules(), vaults(), bridges())

directions = st.permutations(range(3))


def exact_rate(pool: Pool, i: int, j: int) -> Fraction:
    """Return the output per input of a conversion without rounding, in base units."""
    if isinstance(pool, ShareVault):
        return Fraction(pool.shares, pool.assets) ** (1 if j else -1)
    values = [Fraction(1, 10**places) for places in pool.decimals]
    if isinstance(pool, PegStabilityModule):
        values[2] *= Fraction(pool.rate, RAY)
    return values[i] / values[j]


def pick(pool: Pool, order: list[int]) -> tuple[int, int]:
    i, j, *_ = [k for k in order if k < len(pool.tokens)]
    return i, j


@given(pools, directions, amounts)
def test_an_output_is_the_rate_rounded_down(pool: Pool, order: list[int], amount: int) -> None:
    i, j = pick(pool, order)
    try:
        amount_out, _ = pool.swap(pool.tokens[i], pool.tokens[j], amount)
    except PoolError:
        assume(False)
    exact = amount * exact_rate(pool, i, j)
    # The PSM rounds twice: once in units of a token with more decimals than the one bought, or as many.
    dust = 1 + Fraction(10 ** pool.decimals[j], 10 ** pool.decimals[i]) * isinstance(pool, PegStabilityModule)
    assert exact - dust < amount_out <= exact


@given(pools, directions, parts)
def test_a_conversion_and_its_inverse_never_gain(pool: Pool, order: list[int], part: float) -> None:
    i, j = pick(pool, order)
    first, second = pool.tokens[i], pool.tokens[j]
    curve = pool.curve(first, second)
    assert curve.start_rate * pool.curve(second, first).start_rate <= 1 + 1e-12
    amount = max(1, int(curve.capacity * part))
    try:
        amount_out, after = pool.swap(first, second, amount)
        assert after.swap(second, first, amount_out)[0] <= amount
    except PoolError:
        return


@given(pools, directions, amounts)
def test_the_curve_follows_the_conversions(pool: Pool, order: list[int], amount: int) -> None:
    i, j = pick(pool, order)
    curve = pool.curve(pool.tokens[i], pool.tokens[j])
    try:
        amount_out, _ = pool.swap(pool.tokens[i], pool.tokens[j], amount)
    except PoolError:
        assume(False)
    assume(amount <= curve.capacity)  # that of a vault without a limit of deposits is set by its size
    dust = 2 + 2 * float(exact_rate(pool, i, j)) + 10.0 ** (pool.decimals[j] - pool.decimals[i])
    assert curve.amount_out(float(amount)) == pytest.approx(amount_out, rel=2e-7, abs=dust)


@given(pools, directions, st.floats(1e-9, 2.0))
def test_the_curve_falls_once_to_its_capacity(pool: Pool, order: list[int], part: float) -> None:
    i, j = pick(pool, order)
    curve = pool.curve(pool.tokens[i], pool.tokens[j])
    sold, bought, slope = curve.trade_to_marginal_rate(part * curve.start_rate) if curve.start_rate else (0.0, 0.0, 0.0)
    assert isfinite(sold)
    assert isfinite(bought)
    assert slope >= 0
    if part >= 1:
        assert (sold, bought) == (0.0, 0.0)
    elif part < 1 - 1e-6:
        assert (sold, bought) == (curve.capacity, curve.amount_out(curve.capacity))
    assert curve.rate(curve.capacity) == 0.0


@given(pools, directions)
def test_amounts_beyond_the_curve_are_refused(pool: Pool, order: list[int]) -> None:
    i, j = pick(pool, order)
    curve = pool.curve(pool.tokens[i], pool.tokens[j])
    assume(not (isinstance(pool, ShareVault) and j == 1))
    with pytest.raises((InsufficientLiquidity, SwapReverts)):
        pool.swap(pool.tokens[i], pool.tokens[j], int(curve.capacity * 1.001) + 10**22)


@given(pools)
def test_state_survives_a_round_trip(pool: Pool) -> None:
    check_state_round_trip(pool)
    assert pool.changes_without_events


PSM = PoolIdentity(ADDRESS, "test", TOKENS[:3], PSM_DECIMALS, 0)

VAULT = PoolIdentity(ADDRESS, "test", (TOKENS[0], ADDRESS), (18, 18), 0)

BRIDGE = PoolIdentity(ADDRESS, "test", TOKENS[:2], (18, 6), 0)

PSM_STATE: dict[str, object] = {"reserves": [1, 2, 3], "rate": RAY}

VAULT_STATE: dict[str, object] = {"share_price": [2, 1], "max_deposit": 5, "max_redeemed": 5}

BRIDGE_STATE: dict[str, object] = {"reserve": 1, "minted": 2, "limit": 3}


@pytest.mark.parametrize(
    ("name", "identity", "state", "field"),
    [
        ("psm", PSM, PSM_STATE | {"rate": 0}, "rate"),
        ("psm", PSM, PSM_STATE | {"rate": 2**128}, "rate"),
        ("psm", PSM, PSM_STATE | {"reserves": [1, 2]}, "reserves"),
        ("psm", PSM._replace(fee_ppm=1), PSM_STATE, "fee_ppm"),
        ("psm", PSM._replace(tokens=TOKENS[:2], decimals=(6, 18)), PSM_STATE, "tokens"),
        ("vault", VAULT, VAULT_STATE | {"share_price": [0, 1]}, "share_price"),
        ("vault", VAULT, VAULT_STATE | {"max_deposit": -1}, "max_deposit"),
        ("vault", VAULT._replace(tokens=TOKENS[:2]), VAULT_STATE, "tokens"),
        ("vault", VAULT._replace(fee_ppm=1), VAULT_STATE, "fee_ppm"),
        ("bridge", BRIDGE, {"reserve": 1, "minted": 2}, "limit"),
        ("bridge", BRIDGE._replace(decimals=(18, 19)), BRIDGE_STATE, "decimals"),
        ("bridge", BRIDGE._replace(fee_ppm=1), BRIDGE_STATE, "fee_ppm"),
    ],
)
def test_a_state_that_cannot_be_names_its_field(
    name: str, identity: PoolIdentity, state: Mapping[str, object], field: str
) -> None:
    with pytest.raises(InvalidPoolState) as caught:
        family(name).from_state(identity, state)
    assert caught.value.field == field
