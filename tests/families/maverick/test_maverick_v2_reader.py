"""Pools of Maverick V2 are read. No registry has their bytecode, so a function answers in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import pytest
from eth_abi.abi import decode, encode

from swapcli.core.errors import InvalidPoolState, InvalidUpstreamResponse
from swapcli.core.networks.catalogue import find_network
from swapcli.families.maverick.maverick_v2 import MaverickV2
from swapcli.families.maverick.maverick_v2_reader import MAX_TICKS, load, read_constants, read_list
from swapcli.families.maverick.rows import MaverickConstants
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_change_events import changed_pool
from swapcli.families.reading.pool_readers import ref_of_pool
from swapcli.families.reading.pool_ref import LastTicks, PoolRef
from swapcli.families.reading.pool_ref_text import format_pool_ref, parse_pool_ref
from swapcli.state.discovery.pool_discovery import find_factories
from swapcli.state.mined.swap_events import find_swaps
from tests.families.maverick.test_maverick_v2 import build
from tests.support.outside_ids import keccak256, topic_of

BASE = find_network("base")
SIGNATURES = (
    "getState()",
    "fee(bool)",
    "tokenAScale()",
    "tokenBScale()",
    "getTick(int32)",
    "tokenA()",
    "tokenB()",
    "tickSpacing()",
    "kinds()",
    "poolCount()",
    "lookup(uint256,uint256)",
)
NAMES = {keccak256(name.encode())[:4]: name for name in SIGNATURES}
POOL = replace(build((6, 18)), protocol="maverickV2")
Answer = Callable[[str, ContractCall], ReturnData]
_T = TypeVar("_T")


def words(*values: int) -> bytes:
    return encode(["int256" if value < 0 else "uint256" for value in values], values)


def contract_of(pool: MaverickV2, **other: ReturnData) -> Answer:
    """Return the function that answers as a pool with the state of `pool`; `other` are other answers, by function."""
    ticks = {each.tick: each for each in pool.ticks}

    def answer(name: str, call: ContractCall) -> ReturnData:
        assert call.to == pool.address
        short = name.partition("(")[0]
        if short in other:
            return other[short]
        arguments = call.calldata[4:]
        if name == "getTick(int32)":
            (number,) = decode(["int32"], arguments)
            found = ticks.get(number)
            return words(*(found[1:] if found else (0, 0)), 10**8, 5, 0, 0, 0)
        return {
            "getState()": words(1, 2, 3, -4, 5, pool.active_tick, 0, 7, pool.protocol_fee_per_mille),
            "fee(bool)": words(pool.fees[not any(arguments)]),
            "tokenAScale()": words(10 ** (18 - pool.decimals[0])),
            "tokenBScale()": words(10 ** (18 - pool.decimals[1])),
            "tokenA()": words(int(pool.tokens[0], 16)),
            "tokenB()": words(int(pool.tokens[1], 16)),
            "tickSpacing()": words(pool.tick_spacing),
            "kinds()": words(pool.kinds),
        }[name]

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


def factory_of_base() -> Factory:
    (factory,) = find_factories(BASE, ["maverickV2"])[0]
    return factory


def ref() -> PoolRef:
    found, rounds = run(read_constants(factory_of_base(), POOL.address), contract_of(POOL))
    assert rounds == 1
    return found._replace(decimals=POOL.decimals)


def test_a_pool_is_read_in_two_rounds_and_then_in_one() -> None:
    assert run(load(ref()), contract_of(POOL)) == (POOL, 2)
    again = ref_of_pool(POOL, BASE)
    assert again == ref()._replace(last_read=LastTicks(POOL.active_tick))
    assert run(load(again), contract_of(POOL)) == (POOL, 1)
    moved = replace(POOL, active_tick=1)
    assert run(load(again), contract_of(moved)) == (moved, 2)
    assert parse_pool_ref(format_pool_ref(ref())) == ref()


def test_ticks_are_read_as_far_as_the_limit() -> None:
    fine = build(tick_spacing=1, ticks=[[-MAX_TICKS - 1, 5, 0], [-MAX_TICKS, 7, 0], [MAX_TICKS, 0, 9]])
    constants = MaverickConstants(1, fine.kinds)
    pool, _ = run(load(ref()._replace(decimals=fine.decimals, constants=constants)), contract_of(fine))
    assert isinstance(pool, MaverickV2)
    assert [each.tick for each in pool.ticks] == [-MAX_TICKS, MAX_TICKS]


def test_the_factory_lists_its_pools() -> None:
    factory, asked = factory_of_base(), []
    assert factory.is_enumerable

    def answer(name: str, call: ContractCall) -> ReturnData:
        if name == "poolCount()":
            return words(700)
        start, end = decode(["uint256", "uint256"], call.calldata[4:])
        asked.append((start, end))
        return encode(["address[]"], [[f"0x{number + 1:040x}" for number in range(start, end)]])

    pools, rounds = run(read_list(factory), answer)
    assert (len(pools), pools[-1], rounds) == (700, f"0x{700:040x}", 2)
    assert asked == [(0, 500), (500, 700)]


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"getState": words(1, 2, 3, 4, 5, 0, 1, 7, 0)}, "locked"),
        ({"getState": words(1)}, "getState"),
        ({"getTick": None}, "getTick"),
        ({"fee": words(95 * 10**16)}, "fees"),
        ({"tokenAScale": words(1)}, "decimals"),
        ({"getState": words(1, 2, 3, 4, 5, 0, 0, 7, 255)}, "protocol_fee"),
    ],
)
def test_answers_that_do_not_fit_are_refused(other: dict[str, ReturnData], reason: str) -> None:
    with pytest.raises((InvalidUpstreamResponse, InvalidPoolState), match=reason):
        run(load(ref()), contract_of(POOL, **other))


def test_without_its_tick_spacing_a_pool_is_refused() -> None:
    with pytest.raises(InvalidUpstreamResponse, match="spacing"):
        run(load(ref()._replace(constants=None)), contract_of(POOL))


@pytest.mark.parametrize("sells_a", [True, False])
@pytest.mark.parametrize("is_exact_output", [True, False])
def test_the_event_of_a_swap_says_its_amounts(sells_a: bool, is_exact_output: bool) -> None:
    signature = "PoolSwap(address,address,(uint256,bool,bool,int32),uint256,uint256)"
    data = words(1, 2, 70, int(sells_a), int(is_exact_output), -5, 70, 30)
    log = Log(POOL.address, (topic_of(signature),), data, 1, 0)
    (swap,) = find_swaps([log])
    sold = 0 if sells_a else 1
    assert (swap.key, swap.kinds) == (POOL.address, ("maverick_v2",))
    assert swap.amounts[:4] == (sold, 1 - sold, 70, 30)
    assert bool(swap.amounts.problem) == is_exact_output
    assert changed_pool(log) == POOL.address
