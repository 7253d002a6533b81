"""The float curves of all families with several coins keep the contract of `RateCurve` and follow the exact swaps."""

from __future__ import annotations

from itertools import pairwise
from math import exp, isfinite

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool, RateCurve
from swapcli.core.model.units import WAD
from swapcli.families.balancer.balancer_v2_composable import BalancerV2Composable
from swapcli.families.balancer.balancer_v2_stable import BalancerV2Stable
from swapcli.families.balancer.balancer_v3 import BalancerV3
from swapcli.families.balancer.balancer_v3_boosted import BalancerV3Boosted
from swapcli.families.balancer.balancer_v3_eclp import BalancerV3Eclp
from swapcli.families.balancer.balancer_v3_weighted import BalancerV3Weighted
from swapcli.families.balancer.weighted import Weighted
from swapcli.families.curve.cryptoswap import CryptoSwap
from swapcli.families.curve.stableswap import StableSwap
from swapcli.families.hull_curve import HullCurve
from swapcli.families.rounding import div_up
from swapcli.families.solidly.solidly_stable import SolidlyStable
from swapcli.testing.strategies import ADDRESS, TOKENS, parts
from tests.families.random_pools import (
    balancer_v2_stable_pools,
    balancer_v3_boosted_pools,
    balancer_v3_stable_pools,
    balancer_v3_weighted_pools,
    crypto_pools,
    eclp_pools,
    fx_pools,
    pools_with_their_token,
    reclamm_pools,
    solidly_stable_pools,
    stableswap_pools,
    two_clp_pools,
    weighted_pools,
)

pools = st.one_of(
    solidly_stable_pools(),
    stableswap_pools(),
    weighted_pools(),
    crypto_pools(),
    fx_pools(),
    balancer_v2_stable_pools(),
    pools_with_their_token(),
    balancer_v3_stable_pools(),
    balancer_v3_weighted_pools(),
    balancer_v3_boosted_pools(),
    eclp_pools(),
    two_clp_pools(),
    reclamm_pools(),
)
directions = st.sampled_from([(0, 1), (1, 0)])
drops = st.floats(-6.0, 0.3).map(lambda exponent: 10.0**exponent)
"""How far a logarithm of the rate falls, from a ten-thousandth of a percent to almost everything."""


@given(pools, directions, parts)
def test_the_curve_gives_what_the_exact_swap_gives(pool: Pool, direction: tuple[int, int], part: float) -> None:
    i, j = direction
    amount_in = max(1, int(reserves(pool)[i] * part))
    try:
        exact, _ = pool.swap(pool.tokens[i], pool.tokens[j], amount_in)
    except PoolError:
        assume(False)
    curve = pool.curve(pool.tokens[i], pool.tokens[j])
    assume(not inside_chord(curve, amount_in))
    assert curve.amount_out(float(amount_in)) == pytest.approx(exact, rel=1e-9, abs=dust(pool, curve, j))


@given(pools, directions, drops)
def test_trading_to_a_rate_reaches_it(pool: Pool, direction: tuple[int, int], drop: float) -> None:
    curve = pool.curve(*tokens(pool, direction))
    rate = curve.start_rate * exp(-drop)
    amount_in, amount_out, slope = curve.trade_to_marginal_rate(rate)
    assert amount_in > 0
    assert slope >= 0
    if amount_in < curve.capacity:
        assert curve.rate(amount_in) == pytest.approx(rate, rel=1e-9)
    assert curve.amount_out(amount_in) == pytest.approx(amount_out, rel=1e-9)


@given(pools, directions, st.lists(drops, min_size=2, max_size=6))
def test_the_curve_is_increasing_and_concave(pool: Pool, direction: tuple[int, int], falls: list[float]) -> None:
    curve = pool.curve(*tokens(pool, direction))
    rates = [curve.start_rate * exp(-drop) for drop in sorted(falls)]
    trades = [(0.0, 0.0, curve.start_rate), *((*curve.trade_to_marginal_rate(rate)[:2], rate) for rate in rates)]
    for (amount_in, amount_out, rate), (more_in, more_out, less) in pairwise(trades):
        assert more_in >= amount_in * (1 - 1e-12)
        assert more_out >= amount_out * (1 - 1e-12)
        if more_in < curve.capacity:
            gain = (more_out - amount_out) * (1 + 1e-9)
            assert less * (more_in - amount_in) <= gain + 1e-12 * more_out
            assert gain <= (rate * (more_in - amount_in)) * (1 + 2e-9) + 1e-12 * more_out


@given(pools, directions, st.floats(-3.0, 0.0).map(lambda exponent: 10.0**exponent))
def test_the_slope_is_the_derivative_of_the_amount(pool: Pool, direction: tuple[int, int], drop: float) -> None:
    curve = pool.curve(*tokens(pool, direction))
    step = 1e-4 * drop
    rates = [curve.start_rate * exp(-drop - k * step) for k in (-1, 0, 1)]
    before, (here, _, slope), after = (curve.trade_to_marginal_rate(rate) for rate in rates)
    assume(after[0] < curve.capacity and not inside_chord(curve, here))
    slopes = before[2], slope, after[2]
    assume(max(slopes) < 1.01 * min(slopes))  # parity of a solidly pool, ends of a chord: no single derivative
    assert (after[0] - before[0]) / (2 * step) == pytest.approx(slope, rel=1e-3)


@given(pools, directions, parts)
def test_the_rate_is_the_derivative_of_the_output(pool: Pool, direction: tuple[int, int], part: float) -> None:
    curve = pool.curve(*tokens(pool, direction))
    amount_in = reserves(pool)[direction[0]] * part
    less, more = amount_in * (1 - 1e-4), amount_in * (1 + 1e-4)
    assume(not inside_chord(curve, less) and not inside_chord(curve, more))
    assume(more < curve.capacity)
    secant = (curve.amount_out(more) - curve.amount_out(less)) / (more - less)
    if curve.rate(more) > 0.9 * curve.rate(less):
        assert curve.rate(more) * (1 - 1e-9) <= secant <= curve.rate(less) * (1 + 1e-9)


@given(pools, directions, st.floats(1.0, 1e6))
def test_nothing_is_sold_at_the_start_rate_or_above(pool: Pool, direction: tuple[int, int], factor: float) -> None:
    curve = pool.curve(*tokens(pool, direction))
    assert curve.trade_to_marginal_rate(curve.start_rate * factor) == (0.0, 0.0, 0.0)
    assert curve.amount_out(0.0) == 0.0
    assert curve.rate(0.0) == pytest.approx(curve.start_rate, rel=1e-12)


@given(pools, directions, st.one_of(st.floats(2.0, 750.0), st.floats(34.0, 38.0)))
def test_a_rate_near_zero_is_answered_in_finite_numbers(pool: Pool, direction: tuple[int, int], drop: float) -> None:
    curve = pool.curve(*tokens(pool, direction))
    amount_in, amount_out, slope = curve.trade_to_marginal_rate(max(curve.start_rate * exp(-drop), 5e-324))
    assert 0 < amount_in <= curve.capacity
    assert isfinite(amount_in)
    assert isfinite(slope)
    assert 0 < amount_out <= reserves(pool)[direction[1]] * (1 + 1e-12)


@given(pools, directions, st.floats(0.0, 40.0).map(lambda exponent: 10.0**exponent))
def test_after_selling_far_too_much_the_rate_is_a_small_number(
    pool: Pool, direction: tuple[int, int], times: float
) -> None:
    curve = pool.curve(*tokens(pool, direction))
    amount_in = reserves(pool)[direction[0]] * times
    assert 0.0 <= curve.rate(amount_in) < curve.start_rate
    assert curve.amount_out(amount_in) <= reserves(pool)[direction[1]] * (1 + 1e-12)


@given(pools, directions, parts)
def test_the_direction_back_never_pays_more_than_was_spent(pool: Pool, direction: tuple[int, int], part: float) -> None:
    there, back = pool.curve(*tokens(pool, direction)), pool.curve(*tokens(pool, direction[::-1]))
    assert there.start_rate * back.start_rate <= 1 + 1e-9
    amount_in = reserves(pool)[direction[0]] * part
    assert back.amount_out(there.amount_out(amount_in)) <= amount_in * (1 + 1e-9)


DRAINED: list[Pool] = [
    SolidlyStable(ADDRESS, "test", TOKENS[:2], (18, 18), 500, (0, WAD)),
    StableSwap(ADDRESS, "test", TOKENS[:3], (18, 18, 18), 100, (WAD, WAD, 0), 100, (WAD, WAD, WAD)),
    Weighted(ADDRESS, "test", TOKENS[:2], (18, 18), 500, (0, WAD), (WAD // 2, WAD // 2)),
]


@pytest.mark.parametrize("pool", DRAINED, ids=lambda pool: pool.family)
@pytest.mark.parametrize("direction", [(0, 1), (1, 0)])
def test_a_drained_pool_sells_nothing(pool: Pool, direction: tuple[int, int]) -> None:
    curve = pool.curve(*tokens(pool, direction))
    assert (curve.start_rate, curve.capacity) == (0.0, 0.0)
    assert curve.trade_to_marginal_rate(1e-9) == (0.0, 0.0, 0.0)
    assert curve.amount_out(1e18) == 0.0
    assert curve.rate(1e18) == 0.0


def reserves(pool: Pool) -> tuple[int, ...]:
    if isinstance(pool, BalancerV3Boosted):
        prices = [price or (1, 1) for price in pool.share_prices]
        return tuple(div_up(shares * value, one) for shares, (value, one) in zip(pool.reserves, prices, strict=True))
    assert isinstance(pool, SolidlyStable | StableSwap | Weighted | CryptoSwap | BalancerV2Stable | BalancerV3)
    return pool.reserves


def tokens(pool: Pool, direction: tuple[int, int]) -> tuple[str, str]:
    i, j = direction
    return pool.tokens[i], pool.tokens[j]


def inside_chord(curve: RateCurve, amount_in: float) -> bool:
    """Return whether the curve is a concave hull at that rate."""
    if not isinstance(curve, HullCurve) or curve._chord is None:
        return False
    low, high = curve._chord.low[0], curve._chord.high[0]
    return low * (1 - 1e-6) <= amount_in / curve._unit_in <= high * (1 + 1e-6)


def dust(pool: Pool, curve: RateCurve, j: int) -> float:
    """Return the rounding of the contract: a few units of either token, and the margins that some contracts add."""
    units = 3 * (1 + curve.start_rate)
    if isinstance(pool, Weighted | BalancerV3Weighted | CryptoSwap):
        return units + (1e-12 if isinstance(pool, CryptoSwap) else 2e-14) * pool.reserves[j]
    if isinstance(pool, BalancerV2Composable) and pool.pool_token:
        # Growth of the invariant is a fraction of 10^18.
        before = pool.join_or_exit(pool.pool_token)
        units += 4 * (before.supply + before.invariant) // WAD * (WAD / pool.scaling_factor(j))
    if isinstance(pool, BalancerV2Stable):
        # Two terms of the contract's equation are rounded to multiples of the amplification's precision, 1000.
        return units + 2_000 * (WAD / pool.scaling_factor(j))
    if isinstance(pool, BalancerV3Boosted):
        return 2 * units
    if isinstance(pool, BalancerV3Eclp):
        x, y = pool.scaled_balances()
        over, under = pool.parameters.invariant(x, y)
        # Both offsets, each a few times r lambda, are taken with r from above or from below: against the trader.
        stretch = pool.parameters.lambda_ / WAD * pool.base_units_per_scaled(j, j)[1]
        return units + 4 * units * (over - under) * stretch
    return units
