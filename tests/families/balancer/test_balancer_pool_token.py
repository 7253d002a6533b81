"""What must hold of every swap of a composable pool with its own token."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InsufficientLiquidity, InvalidPoolState
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.units import WAD
from swapcli.families.balancer.balancer_stable_math import invariant
from swapcli.families.balancer.balancer_v2_composable import BalancerV2Composable
from swapcli.testing.pool_laws import check_state_round_trip, swap_or_skip, swap_there_and_back
from swapcli.testing.strategies import parts
from tests.families.balancer.test_balancer_v2_stable import build_composable, recorded_steps
from tests.families.random_pools import pools_with_their_token

pools = pools_with_their_token()
ROUNDING = 10
"""Units of 10^-18 of the pool, by which the contract rounds."""


def others(pool: BalancerV2Composable) -> list[str]:
    return [token for token in pool.tokens if token != pool.address]


def supply(pool: BalancerV2Composable) -> int:
    """Return the pool tokens that the vault does not have."""
    assert pool.pool_token is not None
    return pool.pool_token.total_supply - pool.reserves[pool.pool_token.position]


def pool_invariant(pool: BalancerV2Composable) -> int:
    assert pool.pool_token is not None
    balances = pool.scaled_balances()
    del balances[pool.pool_token.position]
    return invariant(balances, pool.amp)


def swap_own(pool: BalancerV2Composable, *, buys: bool, part: float) -> tuple[int, BalancerV2Composable]:
    """Return the output and the pool after a swap of a part of what there is; skip one that is refused."""
    other = others(pool)[0]
    sold, bought = (other, pool.address) if buys else (pool.address, other)
    amount = supply(pool) if not buys else pool.reserves[pool.tokens.index(other)]
    return swap_or_skip(pool, (sold, bought), max(1, int(amount * part)))


@given(pools)
def test_state_survives_a_round_trip(pool: BalancerV2Composable) -> None:
    check_state_round_trip(pool)


@given(pools, st.booleans(), parts)
def test_a_pool_token_never_loses_value(pool: BalancerV2Composable, buys: bool, part: float) -> None:
    assert pool.pool_token is not None
    before = pool.join_or_exit(pool.pool_token)
    _, after = swap_own(pool, buys=buys, part=part)
    value = pool_invariant(after) * before.supply
    assert value >= before.invariant * supply(after) * (WAD - ROUNDING) // WAD - ROUNDING * before.supply


@given(pools, st.booleans(), parts)
def test_the_supply_grows_by_what_is_bought_and_minted(pool: BalancerV2Composable, buys: bool, part: float) -> None:
    assert pool.pool_token is not None
    amount_out, after = swap_own(pool, buys=buys, part=part)
    assert after.pool_token is not None
    minted = after.pool_token.total_supply - pool.pool_token.total_supply
    assert minted >= pool.join_or_exit(pool.pool_token).minted
    exchanged = (
        amount_out if buys else pool.reserves[pool.pool_token.position] - after.reserves[pool.pool_token.position]
    )
    assert supply(after) == supply(pool) + exchanged + minted
    # The contract does not count what is lost when amounts are rounded to the token's decimals.
    assert after.pool_token.last_invariant <= pool_invariant(after) + 1


@given(pools, parts)
def test_there_and_back_never_pays(pool: BalancerV2Composable, part: float) -> None:
    other = others(pool)[0]
    k = pool.tokens.index(other)
    amount_in = max(1, int(pool.reserves[k] * part))
    returned = swap_there_and_back(pool, other, pool.address, amount_in)
    assert returned <= amount_in * (WAD + ROUNDING) // WAD + ROUNDING


def test_swaps_with_the_pool_token_cost_more_gas() -> None:
    pool = build_composable(next(recorded_steps("balancer_v2_composable"))[0])
    sold, bought = others(pool)[:2]
    amount_in = pool.reserves[pool.tokens.index(sold)] // 100
    _, after = pool.swap(sold, pool.address, amount_in)
    gas_units = pool.gas_units(after)
    assert gas_units == pool.gas_units_to(sold, pool.address, 1.0) > pool.pool_token_gas
    _, after = pool.swap(sold, bought, amount_in)
    assert pool.gas_units(after) == pool.gas_units_to(sold, bought, 1.0) < gas_units


def test_the_pool_token_has_no_rate() -> None:
    pool = build_composable(next(recorded_steps("balancer_v2_composable"))[0])
    assert pool.pool_token is not None
    rates = [*pool.rates]
    rates[pool.pool_token.position] = 2 * WAD
    identity = PoolIdentity(pool.address, pool.protocol, pool.tokens, pool.decimals, pool.fee_ppm)
    with pytest.raises(InvalidPoolState) as refused:
        BalancerV2Composable.from_state(identity, pool.state() | {"rates": rates})
    assert refused.value.message == "rates: expected 10^18 for the pool token, not 2000000000000000000"


@given(pools, st.integers(0, 10**30))
def test_more_than_the_supply_is_refused(pool: BalancerV2Composable, more: int) -> None:
    assert pool.pool_token is not None
    whole = pool.join_or_exit(pool.pool_token).supply
    with pytest.raises(InsufficientLiquidity):
        pool.swap(pool.address, others(pool)[0], whole + 1 + more)
