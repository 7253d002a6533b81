"""Stable pools against Balancer's vault and the pool contracts of five factories, to the unit. Seeds are fixed."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from swapcli.core.errors import PoolError
from swapcli.core.model.units import WAD
from swapcli.families.balancer.balancer_v2_composable import BalancerV2Composable
from swapcli.families.balancer.balancer_v2_stable import BalancerV2Stable
from swapcli.testing.evm import DEPLOYER, RevertedError
from tests.examples import fuzzed_seeds
from tests.families.balancer.balancer_v2_chain import (
    CACHE_DURATION_S,
    FACTORIES,
    RealStable,
    StableChain,
    random_parameters,
)

DAY_S = 86_400
HALF = WAD // 2
POOLS_PER_CASE = 25
SWAPS_PER_POOL = 20
SEEDS = 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", fuzzed_seeds(SEEDS, full=SEEDS))
@pytest.mark.parametrize("factory", FACTORIES)
def test_random_swaps_equal_the_contract(factory: str, seed: int) -> None:
    compare_pools(Random(f"{factory} {seed}"), StableChain(), factory, POOLS_PER_CASE)


@pytest.mark.parametrize("factory", FACTORIES)
def test_a_few_swaps_equal_the_contract(factory: str) -> None:
    compare_pools(Random(factory), StableChain(), factory, 2)


def test_the_cases_are_enough() -> None:
    swaps_a_factory = SEEDS * POOLS_PER_CASE * SWAPS_PER_POOL
    composable = sum(factory.startswith("composable") for factory in FACTORIES)
    assert min(composable, len(FACTORIES) - composable) * swaps_a_factory >= 10_000


def compare_pools(rng: Random, chain: StableChain, factory: str, count: int) -> None:
    compared = with_own = 0
    for _ in range(count):
        chain.set_protocol_fees(rng.choice((0, HALF)), rng.choice((0, WAD // 10, HALF)))
        parameters, rates, balances = random_parameters(rng, chain, factory)
        real = RealStable(chain, factory, parameters, balances)
        pool = real.model(rates)
        for _ in range(SWAPS_PER_POOL):
            if rng.random() < 0.1:
                assert real.model(rates) == pool
                rates = let_time_pass(rng, real, rates)
                pool = real.model(rates)
            direction = rng.sample(pool.tokens, 2)
            after = compare_one_swap(rng, real, pool, *direction)
            compared += after is not pool
            with_own += after is not pool and pool.address in direction
            pool = after
        assert real.model(rates) == pool
    assert compared > count * SWAPS_PER_POOL // 2
    assert bool(with_own) == factory.startswith("composable")


def let_time_pass(rng: Random, real: RealStable, rates: Sequence[int]) -> list[int]:
    """Change the rates and, over days, the amplification; return the rates of the next swap."""
    chain, (value, is_updating, _) = real.chain, real.contract.call("getAmplificationParameter")
    if rng.random() < 0.5 and not is_updating:
        end = min(5_000, value // 1_000 * 2)
        real.contract.send("startAmplificationParameterUpdate", end, chain.now + rng.randint(2, 5) * DAY_S)
    chain.set_time(chain.now + rng.randint(CACHE_DURATION_S + 1, 2 * DAY_S))
    changed = [
        int(rate * rng.uniform(0.98, 1.05)) if int(provider, 16) else rate
        for rate, provider in zip(rates, real.given.providers, strict=True)
    ]
    real.set_rates(changed)
    return changed


def compare_one_swap(
    rng: Random, real: RealStable, pool: BalancerV2Stable, token_in: str, token_out: str
) -> BalancerV2Stable:
    amount_in = random_amount(rng, traded_balance(pool, token_in))
    if token_in == pool.address:  # the protocol owns some, too
        amount_in = min(amount_in, real.contract.call("balanceOf", DEPLOYER)[0])
    try:
        amount_out, after = pool.swap(token_in, token_out, amount_in)
    except PoolError:
        with real.chain.chain.revert_after():
            assert is_refused_or_zero(real, token_in, token_out, amount_in)
        return pool
    assert real.swap(token_in, token_out, amount_in) == amount_out
    return after


def traded_balance(pool: BalancerV2Stable, token: str) -> int:
    """Return the pool's balance of a token; of its own token what it has sold, which is far less."""
    balance = pool.reserves[pool.tokens.index(token)]
    if isinstance(pool, BalancerV2Composable) and pool.pool_token and token == pool.address:
        return pool.pool_token.total_supply - balance
    return balance


def is_refused_or_zero(real: RealStable, token_in: str, token_out: str, amount_in: int) -> bool:
    try:
        return real.swap(token_in, token_out, amount_in) == 0
    except RevertedError:
        return True


def random_amount(rng: Random, reserve: int) -> int:
    """Return an input from one unit to several times the balance."""
    if rng.random() < 0.05:
        return rng.randint(1, 1000)
    part = 10 ** rng.uniform(-12, -0.3) if rng.random() < 0.9 else rng.uniform(0.5, 3)
    return max(1, int(reserve * part))
