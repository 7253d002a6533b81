"""Constant product pairs against Uniswap V2's and Solidly's contracts, to the unit.

A pair takes any output that its invariant allows, so a swap is exact where the contract accepts our output and refuses
one unit more. Seeds are fixed; each case chains swaps on pairs of random reserves, from one unit to the width of the
reserves.
"""

from __future__ import annotations

from random import Random

import pytest

from swapcli.core.errors import InsufficientLiquidity, SwapReverts
from swapcli.families.uniswap.constant_product import ConstantProduct
from swapcli.testing.evm import RevertedError
from tests.examples import fuzzed_seeds
from tests.families.real_pools import ContractFixture, RealPair

PAIRS_PER_CASE = 60
SWAPS_PER_PAIR = 30
SEEDS = 6
KINDS = {"uniswap_v2": (3000, False), "solidly 1 bps": (100, True), "solidly 30 bps": (3000, True)}


@pytest.mark.parametrize("seed", fuzzed_seeds(1, full=SEEDS))
@pytest.mark.parametrize("kind", KINDS)
def test_the_contract_pays_our_output_and_not_one_unit_more(kind: str, seed: int) -> None:
    rng = Random(f"{kind} {seed}")
    fee_ppm, solidly = KINDS[kind]
    real = RealPair(ContractFixture(), fee_ppm, solidly)
    for _ in range(PAIRS_PER_CASE):
        pool = real.fill(random_reserve(rng), random_reserve(rng))
        for _ in range(SWAPS_PER_PAIR):
            pool = compare_one_swap(rng, real, pool)


def test_the_cases_are_enough() -> None:
    for solidly in (False, True):
        cases = sum(is_solidly == solidly for _, is_solidly in KINDS.values()) * SEEDS
        assert cases * PAIRS_PER_CASE * SWAPS_PER_PAIR >= 10_000


def test_an_input_beyond_112_bits_is_refused_by_both() -> None:
    real = RealPair(ContractFixture())
    room = 10**30
    pool = real.fill(2**112 - 1 - room, 10**20)
    assert accepts(real, True, room, sell(pool, True, room)[0])
    with pytest.raises(SwapReverts):
        sell(pool, True, room + 1)
    assert not accepts(real, True, room + 1, 1)


def test_a_drained_pair_is_refused_by_both() -> None:
    real = RealPair(ContractFixture())
    pool = real.fill(0, 10**20)
    with pytest.raises(InsufficientLiquidity):
        sell(pool, True, 10**6)
    assert not accepts(real, False, 10**6, 1)


def test_the_two_variants_differ() -> None:
    """The reason for `variant`: the same reserves, fee and input give another output and other reserves."""
    fixture = ContractFixture()
    uniswap, solidly = RealPair(fixture).fill(10**6, 10**9), RealPair(fixture, solidly=True).fill(10**6, 10**9)
    assert sell(uniswap, True, 1_001)[0] != sell(solidly, True, 1_001)[0]
    assert sell(uniswap, True, 1_001)[1].reserves[0] != sell(solidly, True, 1_001)[1].reserves[0]


def compare_one_swap(rng: Random, real: RealPair, pool: ConstantProduct) -> ConstantProduct:
    down = rng.random() < 0.5
    amount_in = random_amount(rng, pool.reserves[0 if down else 1])
    try:
        amount_out, after = sell(pool, down, amount_in)
    except SwapReverts:
        assert not accepts(real, down, amount_in, 1)
        return pool
    assert not accepts(real, down, amount_in, amount_out + 1)
    if real.solidly:
        token_in = pool.tokens[0 if down else 1]
        assert real.contract.send("getAmountOut", amount_in, token_in) == (amount_out,)
    assert real.swap(down, amount_in, amount_out) == after.reserves
    return after


def sell(pool: ConstantProduct, down: bool, amount_in: int) -> tuple[int, ConstantProduct]:
    token_in, token_out = pool.tokens if down else pool.tokens[::-1]
    return pool.swap(token_in, token_out, amount_in)


def accepts(real: RealPair, down: bool, amount_in: int, amount_out: int) -> bool:
    try:
        with real.world.chain.revert_after():
            real.swap(down, amount_in, amount_out)
    except RevertedError:
        return False
    return True


def random_reserve(rng: Random) -> int:
    return min(int(2 ** rng.uniform(0, rng.choice((12, 60, 100, 112)))), 2**112 - 1)


def random_amount(rng: Random, reserve: int) -> int:
    most = max(rng.choice((100, reserve, 10**6 * reserve, 2**112 - 1 - reserve)), 1)
    return max(1, int(most ** rng.random()))
