"""Stable pools against Balancer's vault and the pool contracts of five factories, to the unit. Seeds are fixed."""

from __future__ import annotations

from random import Random

import pytest

from swapcli.errors import PoolError
from swapcli.pools.balancer_v2_stable import BalancerV2Stable
from tests.contracts.evm import RevertedError
from tests.examples import fuzzed_seeds
from tests.pools.balancer_v2_chain import FACTORIES, RealStable, StableChain, random_parameters

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
    compared = 0
    for _ in range(count):
        parameters, rates, balances = random_parameters(rng, chain, factory)
        real = RealStable(chain, factory, parameters, balances)
        pool = real.model(rates)
        for _ in range(SWAPS_PER_POOL):
            after = compare_one_swap(rng, chain, real, pool)
            compared += after is not pool
            pool = after
        assert real.reserves() == pool.reserves
    assert compared > count * SWAPS_PER_POOL // 2


def compare_one_swap(rng: Random, chain: StableChain, real: RealStable, pool: BalancerV2Stable) -> BalancerV2Stable:
    token_in, token_out = rng.sample(pool.tokens, 2)
    amount_in = random_amount(rng, pool.reserves[pool.tokens.index(token_in)])
    try:
        amount_out, after = pool.swap(token_in, token_out, amount_in)
    except PoolError:
        with chain.chain.revert_after():
            assert is_refused_or_zero(real, token_in, token_out, amount_in)
        return pool
    assert real.swap(token_in, token_out, amount_in) == amount_out
    return after


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
