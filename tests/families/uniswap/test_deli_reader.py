"""Pools of Deli, with a hook by its rule in a local EVM."""

from __future__ import annotations

from random import Random

import pytest

from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.sampled.sampled import Sampled
from swapcli.families.tick_math import Q96
from swapcli.families.uniswap.hook_fees import DirectionFees, HookFees
from tests.families.uniswap.hooked_pools import compare_one_hooked_swap
from tests.families.uniswap.test_fee_in_token import FREE, DeliPool

RULE = {"rule": "deli", "gas": 9}


def opened(*, token_is_first: bool) -> DeliPool:
    real = DeliPool(Random("deli"), 3_000, token_is_first=token_is_first, price=Q96 // 5)
    tick = real.position()[1] // 60 * 60
    real.mint(tick - 6_000, tick + 6_000, 10**22)
    return real


@pytest.mark.parametrize("token_is_first", [True, False])
def test_the_fee_and_its_token_are_read_and_confirmed(token_is_first: bool) -> None:
    real = opened(token_is_first=token_is_first)
    pool = real.load_hooked(real.ref(RULE))
    assert (pool.fees, pool.fee_in_token, pool.hook_gas, pool.fee_ppm) == (FREE, real.fee, 9, 3_000)
    rng = Random("deli swaps")
    for _ in range(10):
        pool = compare_one_hooked_swap(rng, real, pool)
    assert pool == real.load_hooked(real.ref(RULE))


@pytest.mark.parametrize("token_is_first", [True, False])
def test_the_quoter_decides_which_reading_of_the_fee_is_the_hooks(token_is_first: bool) -> None:
    real = opened(token_is_first=token_is_first)
    real.hook.send("takeTwice", True)
    pool = real.load_hooked(real.ref(RULE))
    sold, bought = DirectionFees(3_000, 3 * 10**15), DirectionFees(3_000, 0, 3 * 10**15)
    fees = HookFees(sold, bought) if token_is_first else HookFees(bought, sold)
    assert (pool.fees, pool.fee_in_token) == (fees, None)
    rng = Random("deli, twice")
    for _ in range(10):
        pool = compare_one_hooked_swap(rng, real, pool)


def test_a_pool_whose_fee_the_quoter_does_not_confirm_is_sampled() -> None:
    real = opened(token_is_first=True)
    pool = real.load(real.ref(RULE, is_quoted=True, has_quoter=False))
    assert isinstance(pool, Sampled)
    assert pool.pool_id == real.pool_id


def test_a_hook_of_another_token_is_refused() -> None:
    real = opened(token_is_first=True)
    real.hook.send("set", real.manager.address, real.key, real.manager.address, 3_000)
    skipped = real.load(real.ref(RULE))
    assert isinstance(skipped, SkippedItem)
    assert "is not one of the pool's tokens" in skipped.reason
