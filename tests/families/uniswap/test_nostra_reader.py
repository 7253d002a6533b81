"""Nostra's pairs are read with the unit of their fee, which the amounts that they quote show."""

from __future__ import annotations

from random import Random

import pytest

from swapcli.core.model.pool import Pool
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.uniswap.constant_product import ConstantProduct
from tests.families.ekubo.test_ekubo_reader import read_all
from tests.payload.starknet.fake_node import FakeChain, NostraPair, u256
from tests.payload.starknet.pools_on_chain import STRK, USDC, build_chain

PAIR = 0xA8
PROTOCOL = "NostraV2"
SOLD, BOUGHT, RESERVES = 196_270_266, 150_103_880_535_649_381_772, [319_681_249_255_237_906_815_354, 417_598_168_967]
"""A swap of USDC for STRK in the pair 0x07ae43ab... of mainnet, whose trace shows the amounts and the events."""


class EqualPair(NostraPair):
    """A pair that pays as many units as it takes."""

    def do_out_given_in(self, low: int, high: int, first_token_in: int) -> list[int]:
        del first_token_in
        return [low, high]


def read_pair(pair: NostraPair) -> tuple[Pool | None, list[SkippedItem]]:
    """Return the pool that is read from a chain with this pair, and what is skipped."""
    chain: FakeChain = build_chain()
    chain.contracts[PAIR] = pair
    chain.mine()
    pools, skipped = read_all(chain)
    return pools.get(PROTOCOL), skipped


def test_the_amount_of_a_mainnet_swap_is_that_of_the_pool() -> None:
    pool, skipped = read_pair(NostraPair((STRK, USDC), RESERVES, fee=5))
    assert isinstance(pool, ConstantProduct)
    assert (pool.fee_ppm, skipped) == (500, [])
    sold, bought = pool.tokens[::-1]
    assert pool.swap(sold, bought, SOLD)[0] == BOUGHT


@pytest.mark.parametrize("whole_fee", [1_000, 10_000, 100_000, 1_000_000])
def test_the_unit_of_the_fee_is_found(whole_fee: int) -> None:
    random = Random(whole_fee)
    fee = random.randint(0, whole_fee // 20) if whole_fee > 1_000 else 0
    pair = NostraPair((STRK, USDC), [random.randint(10**22, 10**25), random.randint(10**10, 10**13)], fee, whole_fee)
    pool, skipped = read_pair(pair)
    assert isinstance(pool, ConstantProduct)
    assert (pool.fee_ppm, skipped) == (fee * 1_000_000 // whole_fee, [])
    for first_token_in in (0, 1):
        token_in, token_out = pool.tokens if first_token_in else pool.tokens[::-1]
        amount = random.randint(10**9, 10**22)
        assert u256(pool.swap(token_in, token_out, amount)[0]) == pair.do_out_given_in(amount, 0, first_token_in)


@pytest.mark.parametrize(
    ("reserves", "whole_fee", "reason"),
    [
        ([0, 0], 10_000, "without liquidity"),
        ([10**24, 10**12], 7_000, "no unit fits"),
        ([10**3, 10**3], 10_000, "more than one unit fits"),
    ],
)
def test_a_pair_whose_amounts_do_not_show_one_unit_is_left_out(
    reserves: list[int], whole_fee: int, reason: str
) -> None:
    pool, skipped = read_pair(NostraPair((STRK, USDC), reserves, 5, whole_fee))
    assert pool is None
    assert [reason in each.reason for each in skipped] == [True]


def test_a_pair_with_another_curve_is_left_out() -> None:
    """As the factory's stable pairs are."""
    pool, skipped = read_pair(EqualPair((STRK, USDC), [10**24, 10**12], 5))
    assert pool is None
    assert ["no unit fits" in each.reason for each in skipped] == [True]
