"""Concentrated pools against the real contracts: the same swaps, the same amounts, the same state, to the unit.

Seeds are fixed; each case opens random positions in a fresh pool and chains random swaps in both directions, from one
unit to beyond exhaustion.
"""

from __future__ import annotations

from math import log2
from random import Random

import pytest

from swapcli.core.errors import InsufficientLiquidity, SwapReverts
from swapcli.families.tick_math import Q96
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.testing.evm import RevertedError
from tests.examples import examples, few_rows, fuzzed_seeds
from tests.families.real_pools import (
    AlgebraIntegral,
    ContractFixture,
    PancakeV3,
    RealConcentrated,
    Slipstream,
    UniswapV3,
    UniswapV4,
    add_random_positions,
    random_sqrt_price,
)

POOLS_PER_CASE = 5
SWAPS_PER_POOL = 60
SEEDS = 3
TIERS = {
    UniswapV3: ((100, 1), (500, 10), (3000, 60), (10_000, 200)),
    PancakeV3: ((100, 1), (500, 10), (2500, 50), (10_000, 200)),
    Slipstream: ((100, 1), (437, 100)),
    AlgebraIntegral: ((100, 1), (500, 60), (3000, 60), (65_000, 5)),
    UniswapV4: ((0, 1), (100, 1), (3000, 60), (12_345, 77), (999_999, 10)),
}
CASES = [(kind, fee, spacing) for kind, tiers in TIERS.items() for fee, spacing in tiers]


@pytest.mark.parametrize("seed", fuzzed_seeds(1, full=SEEDS))
@pytest.mark.parametrize(
    ("kind", "fee_ppm", "tick_spacing"), few_rows(CASES, 8), ids=lambda v: v.__name__ if isinstance(v, type) else str(v)
)
def test_random_swaps_equal_the_contract_in_amounts_and_state(
    kind: type[UniswapV3 | UniswapV4], fee_ppm: int, tick_spacing: int, seed: int
) -> None:
    rng = Random(f"{kind.__name__} {fee_ppm} {tick_spacing} {seed}")
    fixture = ContractFixture()
    for _ in range(examples(2, full=POOLS_PER_CASE)):
        real = kind(fixture, fee_ppm, tick_spacing, random_sqrt_price(rng))
        ticks = add_random_positions(rng, real)
        pool = real.read(ticks)
        for _ in range(SWAPS_PER_POOL):
            pool = compare_one_swap(rng, fixture, real, pool)
        assert pool == real.read(ticks)


def test_the_cases_are_enough() -> None:
    assert len(CASES) * SEEDS * POOLS_PER_CASE * SWAPS_PER_POOL >= 15_000


def test_uniswap_v4_reverts_above_a_signed_128_bit_amount() -> None:
    real = UniswapV4(ContractFixture(), 0, 60, Q96)
    real.mint(-887_220, 887_220, 2**112)
    pool = real.read({-887_220, 887_220})
    most = 2**127 - 1
    with real.world.chain.revert_after():
        assert real.swap(True, most).got == pool.swap(pool.tokens[0], pool.tokens[1], most)[0]
    with pytest.raises(SwapReverts):
        pool.swap(pool.tokens[0], pool.tokens[1], most + 1)
    with pytest.raises(RevertedError):
        real.swap(True, most + 1)


def compare_one_swap(rng: Random, fixture: ContractFixture, real: RealConcentrated, pool: Concentrated) -> Concentrated:
    down = random_direction(rng, pool)
    token_in, token_out = pool.tokens if down else pool.tokens[::-1]
    amount_in = random_amount(rng, pool, token_in, token_out)
    try:
        amount_out, after = pool.swap(token_in, token_out, amount_in)
    except InsufficientLiquidity:
        with fixture.chain.revert_after():
            assert real.swap(down, amount_in).paid < amount_in
        return pool
    except SwapReverts:
        with fixture.chain.revert_after():
            assert pays_nothing(real, down, amount_in)
        return pool
    outcome = real.swap(down, amount_in)
    assert (outcome.paid, outcome.got) == (amount_in, amount_out)
    assert (outcome.sqrt_price_x96, outcome.tick, outcome.liquidity) == (
        after.sqrt_price_x96,
        after.tick,
        after.liquidity,
    )
    return after


def pays_nothing(real: RealConcentrated, down: bool, amount_in: int) -> bool:
    """Whether a swap reverts, pays nothing, or takes both tokens, as a hook may; that is a negative output."""
    try:
        return not 0 < real.swap(down, amount_in).got < 1 << 255
    except RevertedError:
        return True


def random_direction(rng: Random, pool: Concentrated) -> bool:
    """Either, but seldom one that has nothing to sell: the contract walks thousands of empty words there."""
    down = rng.random() < 0.5
    token_in, token_out = pool.tokens if down else pool.tokens[::-1]
    return down if pool.curve(token_in, token_out).capacity >= 2 or rng.random() < 0.05 else not down


def random_amount(rng: Random, pool: Concentrated, token_in: str, token_out: str) -> int:
    highest = 1 << pool.tick_list.amount_bits - 8
    capacity = min(pool.curve(token_in, token_out).capacity, float(highest))
    if capacity < 2 or rng.random() < (0.01 if pool.tick_list.tick_spacing == 1 else 0.04):
        return max(1, int(capacity * rng.choice((1, 1, 1 + 1e-9, 2)) + rng.randint(-2, 2)))
    if rng.random() < 0.15:
        return min(least_amount_beyond(rng, pool, token_in, token_out), highest)
    return int(2 ** rng.uniform(0, max(log2(capacity) - rng.choice((0, 1, 3, 10)), 1)))


def least_amount_beyond(rng: Random, pool: Concentrated, token_in: str, token_out: str) -> int:
    """The least input, or one unit to either side of it, that leaves the current tick: it stops on a boundary."""

    def leaves(amount: int) -> bool:
        try:
            return pool.swap(token_in, token_out, amount)[1].tick != pool.tick
        except SwapReverts:
            return False
        except InsufficientLiquidity:
            return True

    low, high = 0, 1
    while not leaves(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if leaves(middle) else (middle, high)
    return max(1, high + rng.choice((-1, 0, 0, 0, 1)))
