"""Pairs of Liquidity Book are read. No registry has their bytecode, so a function answers in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import pytest
from eth_abi.abi import encode

from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.core.model.network import ProtocolInfo
from swapcli.families.bins.liquidity_book import LiquidityBook
from swapcli.families.bins.liquidity_book_reader import REACH, complete_ref, load, read_constants
from swapcli.families.reading.call_encoding import SELECTORS
from swapcli.families.reading.calls import MULTICALL3, ContractCall, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from tests.families.bins.test_liquidity_book import POOL

NAMES = {bytes.fromhex(selector): name for name, selector in SELECTORS.items()}
BOOK = ProtocolInfo(26, "book", "Book", "liquidity_book")
Answer = Callable[[str, ContractCall], ReturnData]
_T = TypeVar("_T")


def pair_of(pool: LiquidityBook, hooks: int = 0, time: ReturnData = b"") -> Answer:
    """Return the function that answers as a pair in the state of `pool` does."""

    def answer(name: str, call: ContractCall) -> ReturnData:
        if name == "getBin(uint24)":
            i = pool.bins.position(int.from_bytes(call.calldata[4:]))
            amounts = (0, 0) if i is None else (pool.bins.amounts_x[i], pool.bins.amounts_y[i])
            return encode(["uint128"] * 2, amounts)
        if name == "getCurrentBlockTimestamp()":
            assert call.to == MULTICALL3
            return time or encode(["uint256"], [pool.timestamp])
        words = {
            "getActiveId()": (pool.active_id,),
            "getBinStep()": (pool.bin_step,),
            "getStaticFeeParameters()": pool.fee_parameters,
            "getVariableFeeParameters()": pool.volatility,
            "getLBHooksParameters()": (hooks,),
            "getTokenX()": (int(pool.tokens[0], 16),),
            "getTokenY()": (int(pool.tokens[1], 16),),
        }[name]
        return encode(["uint256"] * len(words), words)

    return answer


def run(read: BatchRead[_T], answer: Answer) -> tuple[_T, int]:
    """Return the result of a read, and how many rounds it took."""
    rounds = 0
    try:
        calls: Sequence[ContractCall] = next(read)
        while True:
            rounds += 1
            calls = read.send([answer(NAMES[call.calldata[:4]], call) for call in calls])
    except StopIteration as end:
        return end.value, rounds


REF = PoolRef(POOL.address, "test", "liquidity_book", "liquidity_book", POOL.tokens, POOL.decimals)


def test_a_pair_is_read_in_two_rounds_and_again_in_one() -> None:
    assert run(load(REF), pair_of(POOL)) == (POOL, 2)
    assert run(load(complete_ref(REF, POOL)), pair_of(POOL)) == (POOL, 1)
    moved = POOL.swap(POOL.tokens[0], POOL.tokens[1], 900_000)[1]
    assert moved.active_id != POOL.active_id
    assert run(load(complete_ref(REF, POOL)), pair_of(moved)) == (moved, 2)


def test_bins_out_of_reach_are_left_out() -> None:
    far = POOL.bins.ids[0] - REACH - 1
    bins = type(POOL.bins)((far, *POOL.bins.ids), (0, *POOL.bins.amounts_x), (7, *POOL.bins.amounts_y))
    read, _ = run(load(REF), pair_of(replace(POOL, bins=bins)))
    assert read == POOL


def test_tokens_are_in_the_order_of_the_pair() -> None:
    swapped = replace(POOL, tokens=POOL.tokens[::-1])
    factory = Factory("0x" + "fa" * 20, "liquidity_book", (BOOK,))
    ref, rounds = run(read_constants(factory, POOL.address), pair_of(swapped))
    assert (ref.tokens, ref.protocol, ref.address, rounds) == (swapped.tokens, "book", POOL.address, 1)


@pytest.mark.parametrize("flag", [160, 161])
def test_a_pair_whose_hook_sees_swaps_is_skipped(flag: int) -> None:
    with pytest.raises(InvalidUpstreamResponse, match="hook"):
        run(load(REF), pair_of(POOL, hooks=1 << flag | 0x42))
    assert run(load(REF), pair_of(POOL, hooks=0b11111111 << 162 | 0x42))[0] == POOL


def test_without_the_time_of_the_block_a_pair_is_skipped() -> None:
    answer = pair_of(POOL)
    with pytest.raises(InvalidUpstreamResponse, match="time"):
        run(load(REF), lambda name, call: None if call.to == MULTICALL3 else answer(name, call))
