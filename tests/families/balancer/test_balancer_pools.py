"""What must hold of every swap of Balancer's stable and V3 pools, and what malformed state is refused."""

from __future__ import annotations

from dataclasses import replace
from math import fsum, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState, PoolError, SwapReverts
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.families import family
from swapcli.families.balancer.balancer_stable_math import invariant
from swapcli.families.balancer.balancer_v2_stable import BalancerV2Stable
from swapcli.families.balancer.balancer_v3 import BalancerV3
from swapcli.families.balancer.balancer_v3_stable import BalancerV3Stable
from swapcli.families.balancer.balancer_v3_weighted import BalancerV3Weighted
from swapcli.testing.pool_laws import check_state_round_trip, swap_or_skip, swap_there_and_back
from swapcli.testing.strategies import ADDRESS, TOKENS, parts
from tests.families.random_pools import (
    balancer_v2_stable_pools,
    balancer_v3_stable_pools,
    balancer_v3_surge_pools,
    balancer_v3_weighted_pools,
)

BalancerPool = BalancerV2Stable | BalancerV3

A, B, C = TOKENS[:3]

IDENTITY = PoolIdentity(ADDRESS, "test", (A, B), (18, 6), 3000)

STABLE_STATE: dict[str, object] = {
    "reserves": [str(10**24), str(10**12)],
    "rates": [str(WAD), str(WAD)],
    "amp": 200_000,
}

WEIGHTED_STATE = {key: STABLE_STATE[key] for key in ("reserves", "rates")} | {"weights": [str(WAD // 2)] * 2}

SURGE_STATE = STABLE_STATE | {"max_surge_fee": str(WAD // 2), "surge_threshold": str(WAD // 10)}

stable_pools = st.one_of(balancer_v2_stable_pools(), balancer_v3_stable_pools())

constant_fee_pools = st.one_of(stable_pools, balancer_v3_weighted_pools())

pools = st.one_of(constant_fee_pools, balancer_v3_surge_pools())

directions = st.sampled_from([(0, 1), (1, 0)])


@given(pools, directions, parts)
def test_a_swap_never_lowers_the_invariant(pool: BalancerPool, direction: tuple[int, int], part: float) -> None:
    if isinstance(pool, BalancerV3):
        pool = replace(pool, aggregate_swap_fee=0)
    _, _, after = swap(pool, direction, part)
    assert log_invariant(after) >= log_invariant(pool) - 1e-14


@given(constant_fee_pools, directions, parts, parts)
def test_selling_more_never_brings_less(
    pool: BalancerPool, direction: tuple[int, int], part: float, more: float
) -> None:
    _, amount_out, _ = swap(pool, direction, min(part, more))
    assert swap(pool, direction, max(part, more))[1] >= amount_out - slack(pool, direction)


@given(pools, directions, parts)
def test_there_and_back_never_pays(pool: BalancerPool, direction: tuple[int, int], part: float) -> None:
    i, j = direction
    amount_in = max(1, int(pool.reserves[i] * part))
    returned = swap_there_and_back(pool, pool.tokens[i], pool.tokens[j], amount_in)
    assert returned <= amount_in + slack(pool, (j, i))


@given(pools)
def test_state_survives_a_round_trip(pool: BalancerPool) -> None:
    check_state_round_trip(pool)


def test_a_part_of_the_fee_leaves_the_pool() -> None:
    whole = BalancerV3Stable.from_state(IDENTITY, STABLE_STATE)
    half = BalancerV3Stable.from_state(IDENTITY, STABLE_STATE | {"aggregate_swap_fee": str(WAD // 2)})
    amount_out, after = whole.swap(A, B, 10**21)
    assert half.swap(A, B, 10**21) == (
        amount_out,
        replace(half, reserves=(after.reserves[0] - 15 * 10**17, after.reserves[1])),
    )


@pytest.mark.parametrize("name", ["balancer_v2_stable", "balancer_v2_composable", "balancer_v3_stable"])
@pytest.mark.parametrize("reserves", [(0, WAD), (WAD, 0), (0, 0)])
def test_a_drained_pool_says_so(name: str, reserves: tuple[int, int]) -> None:
    pool = family(name).from_state(IDENTITY, STABLE_STATE | {"reserves": list(reserves)})
    with pytest.raises(InsufficientLiquidity):
        pool.swap(A, B, 10**12)
    assert pool.curve(A, B).start_rate == 0.0


@pytest.mark.parametrize("name", ["balancer_v2_stable", "balancer_v3_stable"])
@pytest.mark.parametrize("amount_in", [1, 2**112, 2**128])
def test_where_the_vault_reverts_the_swap_is_refused(name: str, amount_in: int) -> None:
    if amount_in == 2**112 and name == "balancer_v3_stable":
        amount_in <<= 16
    with pytest.raises(SwapReverts):
        family(name).from_state(IDENTITY, STABLE_STATE).swap(A, B, amount_in)


def test_other_tokens_are_not_traded() -> None:
    pool = BalancerV3Stable.from_state(IDENTITY, STABLE_STATE)
    for direction in ((A, A), (A, C), (C, B)):
        with pytest.raises(PoolError):
            pool.swap(*direction, 10**18)
        with pytest.raises(PoolError):
            pool.curve(*direction)


@pytest.mark.parametrize(
    ("field", "name", "state"),
    [
        ("reserves", "balancer_v2_stable", STABLE_STATE | {"reserves": ["1"]}),
        ("reserves[0]", "balancer_v2_stable", STABLE_STATE | {"reserves": [str(2**112), "1"]}),
        ("rates", "balancer_v2_stable", STABLE_STATE | {"rates": ["0", "1"]}),
        ("amp", "balancer_v2_stable", STABLE_STATE | {"amp": 999}),
        ("amp", "balancer_v3_stable", STABLE_STATE | {"amp": 50_000_001}),
        ("swap_fee", "balancer_v2_stable", STABLE_STATE | {"swap_fee": str(4 * 10**15)}),
        ("swap_fee", "balancer_v3_stable", STABLE_STATE | {"swap_fee": str(3 * 10**15 - 1)}),
        ("pool_id", "balancer_v2_composable", STABLE_STATE | {"pool_id": "0x12"}),
        ("rates", "balancer_v3_stable", STABLE_STATE | {"rates": ["0", "1"]}),
        ("reserves[1]", "balancer_v3_stable", STABLE_STATE | {"reserves": ["1", str(2**120)]}),
        ("aggregate_swap_fee", "balancer_v3_stable", STABLE_STATE | {"aggregate_swap_fee": str(WAD + 1)}),
        ("changes_without_events", "balancer_v3_stable", STABLE_STATE | {"changes_without_events": 1}),
        ("weights", "balancer_v3_weighted", WEIGHTED_STATE | {"weights": [str(WAD)]}),
        ("floors", "balancer_v3_weighted", WEIGHTED_STATE | {"floors": ["1"]}),
        ("surge_threshold", "balancer_v3_stable_surge", SURGE_STATE | {"surge_threshold": str(WAD)}),
        ("max_surge_fee", "balancer_v3_stable_surge", SURGE_STATE | {"max_surge_fee": None}),
    ],
)
def test_malformed_state_is_refused_by_field(field: str, name: str, state: dict[str, object]) -> None:
    with pytest.raises(InvalidPoolState) as caught:
        family(name).from_state(IDENTITY, state)
    assert caught.value.field == field


def swap(pool: BalancerPool, direction: tuple[int, int], part: float) -> tuple[int, int, BalancerPool]:
    i, j = direction
    amount_in = max(1, int(pool.reserves[i] * part))
    return amount_in, *swap_or_skip(pool, (pool.tokens[i], pool.tokens[j]), amount_in)


def log_invariant(pool: BalancerPool) -> float:
    if isinstance(pool, BalancerV3Weighted):
        return fsum(
            weight / WAD * log(balance) for weight, balance in zip(pool.weights, pool.scaled_balances(), strict=True)
        )
    if isinstance(pool, BalancerV3Stable):
        return log(invariant(pool.scaled_balances(), pool.amp))
    assert isinstance(pool, BalancerV2Stable)
    return log(invariant(pool.scaled_balances(), pool.amp))


def slack(pool: BalancerPool, direction: tuple[int, int]) -> int:
    """Return what rounding moves: a few units of both tokens, and the margin of a weighted power."""
    curve = pool.curve(*(pool.tokens[k] for k in direction))
    return 4 + int(4 * curve.start_rate) + pool.reserves[direction[1]] * 100 // WAD
