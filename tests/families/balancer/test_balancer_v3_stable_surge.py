"""The fee of a surge pool rises with the imbalance, and its curve stays increasing and concave."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.families.balancer.balancer_v2_stable import BalancerV2Stable
from swapcli.families.balancer.balancer_v3 import BalancerV3
from swapcli.families.balancer.balancer_v3_stable_surge import BalancerV3StableSurge
from swapcli.families.reserves import to_18_decimals
from swapcli.testing.pool_laws import swap_or_skip
from swapcli.testing.strategies import ADDRESS, TOKENS, parts
from tests.families.random_pools import balancer_v3_surge_pools

BalancerPool = BalancerV2Stable | BalancerV3

A, B, C = TOKENS[:3]

IDENTITY = PoolIdentity(ADDRESS, "test", (A, B), (18, 6), 3000)

STABLE_STATE: dict[str, object] = {
    "reserves": [str(10**24), str(10**12)],
    "rates": [str(WAD), str(WAD)],
    "amp": 200_000,
}

SURGE_STATE = STABLE_STATE | {"max_surge_fee": str(WAD // 2), "surge_threshold": str(WAD // 10)}

directions = st.sampled_from([(0, 1), (1, 0)])


@given(balancer_v3_surge_pools(), directions, parts)
def test_a_surge_pool_never_pays_more_than_its_curve_says(
    pool: BalancerV3StableSurge, direction: tuple[int, int], part: float
) -> None:
    amount_in, amount_out, _ = swap(pool, direction, part)
    i, j = direction
    curve = pool.curve(pool.tokens[i], pool.tokens[j])
    assert amount_out <= curve.amount_out(float(amount_in)) * (1 + 1e-9) + 1


@given(balancer_v3_surge_pools(), directions, parts)
def test_a_surge_curve_is_exact_while_its_fee_is_constant(
    pool: BalancerV3StableSurge, direction: tuple[int, int], part: float
) -> None:
    i, j = direction
    amount_in, amount_out, _ = swap(pool, direction, part)
    assume(pool.fee_for_swap(pool.scaled_balances(), i, j, live(pool, i, amount_in * 101 // 100)) == pool.swap_fee)
    curve = pool.curve(pool.tokens[i], pool.tokens[j])
    assert curve.amount_out(float(amount_in)) == pytest.approx(amount_out, rel=1e-9, abs=3 * (1 + curve.start_rate))


@given(balancer_v3_surge_pools(), directions, st.lists(st.floats(-6.0, 1.0), min_size=2, max_size=8))
def test_a_surge_curve_is_increasing_and_concave(
    pool: BalancerV3StableSurge, direction: tuple[int, int], exponents: list[float]
) -> None:
    i, j = direction
    curve = pool.curve(pool.tokens[i], pool.tokens[j])
    rates = [curve.start_rate, *(curve.rate(pool.reserves[i] * 10.0**exponent) for exponent in sorted(exponents))]
    for rate, lower in pairwise(rates):
        assert 0.0 <= lower <= rate * (1 + 1e-9)
    for rate in rates[1:]:
        amount_in, amount_out, slope = curve.trade_to_marginal_rate(rate)
        assert slope >= 0.0
        assert curve.amount_out(amount_in) == pytest.approx(amount_out, rel=1e-9)


def test_the_surge_fee_rises_with_the_imbalance() -> None:
    pool = BalancerV3StableSurge.from_state(IDENTITY, SURGE_STATE)
    fees = [pool.fee_for_swap(pool.scaled_balances(), 0, 1, part * 10**22) for part in (1, 9, 11, 30, 60)]
    assert fees[0] == fees[1] == 3 * 10**15
    assert fees[1] < fees[2] < fees[3] < fees[4] < WAD // 2
    back = pool.swap(A, B, 3 * 10**23)[1]
    assert back.fee_for_swap(back.scaled_balances(), 1, 0, 10**22) == 3 * 10**15


def live(pool: BalancerV3, k: int, amount: int) -> int:
    return amount * to_18_decimals(pool.decimals[k]) * pool.rates[k] // WAD


def swap(pool: BalancerPool, direction: tuple[int, int], part: float) -> tuple[int, int, BalancerPool]:
    i, j = direction
    amount_in = max(1, int(pool.reserves[i] * part))
    return amount_in, *swap_or_skip(pool, (pool.tokens[i], pool.tokens[j]), amount_in)
