"""The bitmap of ticks is read whole, and its liquidity has to add up."""

from __future__ import annotations

import pytest

from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.pool import Pool
from swapcli.families.reading.lockstep_reads import SkippedItem
from swapcli.families.reading.pool_readers import load_pools
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.reading.tick_bitmap import (
    PriceState,
    WordRange,
    all_words,
    close_liquidity,
    initialized_ticks,
    words_around,
)
from swapcli.families.tick_math import MAX_TICK, MIN_TICK, sqrt_ratio_at_tick
from swapcli.testing.evm import Chain, Contract
from tests.chain.node.evm_node import sources, view_of

COINS = ("0x" + "11" * 20, "0x" + "22" * 20)


def load(chain: Chain, place: PoolRef) -> Pool | SkippedItem:
    (found,) = load_pools(view_of(chain), [place])
    return found


def say(pool: Contract, signature: str, value: int) -> None:
    pool.send("say", signature, value.to_bytes(32))


@pytest.mark.parametrize("spacing", [1, 10, 60, 200, 16_383])
def test_the_words_of_a_bitmap_cover_every_tick(spacing: int) -> None:
    words = all_words(spacing)
    most = MAX_TICK // spacing * spacing
    assert words_around(most, spacing, 0).last == words.last
    assert words_around(-most, spacing, 0).first == words.first
    assert words_around(MIN_TICK, spacing, 9_999) == words
    for tick in (-most, -spacing, 0, spacing, most):
        number = tick // spacing // 256
        bitmap = {number: 1 << (tick // spacing) % 256}
        assert initialized_ticks(bitmap, spacing) == [tick]


def test_inconsistent_liquidity_over_all_ticks_is_refused() -> None:
    spacing = 200
    everything, position = all_words(spacing), PriceState(sqrt_ratio_at_tick(5), 5, 100, 500)
    assert close_liquidity({0: 100, 200: -100}, position, everything, spacing) == {0: 100, 200: -100}
    with pytest.raises(InvalidPoolState, match=r"^liquidity: differs by 1 from the sum of the ticks up to the price"):
        close_liquidity({0: 99, 200: -100}, position, everything, spacing)
    with pytest.raises(InvalidPoolState, match=r"^ticks: their net liquidity sums to 1 instead of 0"):
        close_liquidity({0: 100, 200: -99}, position, everything, spacing)
    around = WordRange(-1, 1)
    assert close_liquidity({0: 99, 200: -99}, position, around, spacing) == {-51_200: 1, 0: 99, 200: -99, 102_200: -1}


def test_a_tick_at_the_end_of_the_range_closes_the_liquidity() -> None:
    position = PriceState(sqrt_ratio_at_tick(5), 5, 100, 500)
    ladder = close_liquidity({-256: 30, 511: -40}, position, WordRange(-1, 1), 1)
    assert ladder == {-256: 100, 511: -100}


def test_the_number_of_ticks_that_are_read_is_limited() -> None:
    pool = Chain().deploy(sources()["OddToken"])
    pool.send("say", "globalState()", sqrt_ratio_at_tick(0).to_bytes(32) + bytes(3 * 32))
    for signature, value in (("liquidity()", 1), ("fee()", 100), ("tickSpacing()", 1), ("tickTreeRoot()", 1)):
        say(pool, signature, value)
    for signature in ("tickTreeSecondLayer(int16)", "tickTable(int16)"):
        say(pool, signature, 2**256 - 1)
    assert isinstance(pool.chain, Chain)
    found = load(pool.chain, PoolRef(pool.address, "algebra", "concentrated", ContractKind.ALGEBRA, COINS, (6, 18)))
    assert found == SkippedItem(pool.address, "tickTable(int16): 65536 ticks, but at most 20000 are read")
