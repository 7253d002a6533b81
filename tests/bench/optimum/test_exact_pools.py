"""The judge's pools against the bytecode of the real contracts, to the unit."""

from __future__ import annotations

from random import Random

import pytest

from bench.optimum.exact_pools import Concentrated, ConstantProduct, PoolExhausted
from tests.families.real_pools import ContractFixture, RealPair, UniswapV3, add_random_positions, random_sqrt_price
from tests.families.uniswap.test_constant_product_differential import accepts

SWAPS = 60


@pytest.mark.parametrize(("fee_ppm", "spacing"), [(100, 1), (500, 10), (3_000, 60), (10_000, 200)])
def test_a_concentrated_pool_pays_and_ends_as_the_contract(fee_ppm: int, spacing: int) -> None:
    rng = Random(f"judge {fee_ppm}")
    fixture = ContractFixture()
    real = UniswapV3(fixture, fee_ppm, spacing, random_sqrt_price(rng))
    read = real.read(add_random_positions(rng, real))
    document = {"tokens": list(read.tokens), "fee_ppm": fee_ppm, **read.state()}
    pool, exhausted = Concentrated(document), 0
    for _ in range(SWAPS):
        is_down = rng.random() < 0.5
        capacity = read.curve(*(read.tokens if is_down else read.tokens[::-1])).capacity
        amount = int(max(2.0, capacity) ** rng.uniform(0.0, 1.02))
        before = vars(pool).copy()
        try:
            paid = pool.swap(pool.tokens[0 if is_down else 1], amount)
        except PoolExhausted:
            exhausted += 1
            vars(pool).update(before)
            with fixture.chain.revert_after():
                assert real.swap(is_down, amount).paid < amount
            continue
        if paid == 0:  # the router that swaps here refuses it
            vars(pool).update(before)
            continue
        outcome = real.swap(is_down, amount)
        assert (outcome.paid, outcome.got) == (amount, paid)
        assert (outcome.sqrt_price_x96, outcome.tick, outcome.liquidity) == (
            pool.sqrt_price,
            pool.tick,
            pool.liquidity,
        )
    assert exhausted < SWAPS / 2


def test_a_pair_accepts_what_the_judge_says_and_not_one_unit_more() -> None:
    rng, real = Random("judge of pairs"), RealPair(ContractFixture())
    for _ in range(SWAPS):
        reserves = [int(10 ** rng.uniform(4, 28)) for _ in range(2)]
        tokens = list(real.fill(*reserves).tokens)
        pool = ConstantProduct({"tokens": tokens, "reserves": reserves, "fee_ppm": 3_000})
        is_down = rng.random() < 0.5
        amount = int(10 ** rng.uniform(2, 26))
        paid = pool.swap(tokens[0 if is_down else 1], amount)
        assert not accepts(real, is_down, amount, paid + 1)
        assert not paid or accepts(real, is_down, amount, paid)
