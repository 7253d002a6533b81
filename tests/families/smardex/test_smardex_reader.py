"""Pairs of SmarDex are read. No registry has their bytecode, so a function answers in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import pytest
from eth_abi.abi import encode

from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.catalogue import find_network
from swapcli.families.reading.call_encoding import SELECTORS
from swapcli.families.reading.calls import MULTICALL3, ContractCall, Log, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.row import FactoryConstants
from swapcli.families.smardex.smardex import SmarDex
from swapcli.families.smardex.smardex_reader import load, read_constants
from swapcli.state.discovery.pool_discovery import find_factories
from swapcli.state.mined.swap_events import find_swaps
from swapcli.testing.strategies import ADDRESS
from tests.families.smardex.test_smardex import POOLS
from tests.support.outside_ids import topic_of

NAMES = {bytes.fromhex(selector): name for name, selector in SELECTORS.items()}
OWN_FACTORY = "0x" + "fa" * 20
PROTOCOL = ProtocolInfo(13, "smarDexV2", "SmarDex", "smardex")
Answer = Callable[[str, ContractCall], ReturnData]
_T = TypeVar("_T")


def words(*values: int) -> bytes:
    return encode(["int256" if value < 0 else "uint256" for value in values], values)


def contract_of(pool: SmarDex, time: ReturnData = b"") -> Answer:
    """Return the function that answers as a pair in the state of `pool` does, and its factory."""

    def answer(name: str, call: ContractCall) -> ReturnData:
        if name == "getCurrentBlockTimestamp()":
            assert call.to == MULTICALL3
            return words(pool.timestamp) if time == b"" else time
        if name == "feeTo()":
            return words(0 if pool.keeps_protocol_fee else 7) if call.to == OWN_FACTORY else None
        return {
            "getReserves()": words(*pool.reserves),
            "getFictiveReserves()": words(*pool.fictive_reserves),
            "getPriceAverage()": words(*pool.average),
            "getPairFees()": words(pool.lp_fee_ppm, pool.fee_ppm - pool.lp_fee_ppm),
            "factory()": words(int(OWN_FACTORY, 16)),
            "token0()": words(int(pool.tokens[0], 16)),
            "token1()": words(int(pool.tokens[1], 16)),
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


def ref_of(pool: SmarDex, factory: str = "") -> PoolRef:
    constants = FactoryConstants(likely_factory=factory)
    return PoolRef(pool.address, "test", "smardex", ContractKind.SMARDEX, pool.tokens, pool.decimals, 0, constants)


@pytest.mark.parametrize("keeps_fee", [False, True])
def test_pairs_are_read_in_one_round_if_the_factory_is_known(keeps_fee: bool) -> None:
    for recorded in POOLS[::40]:
        pool = replace(recorded, protocol="test", keeps_protocol_fee=keeps_fee)
        assert run(load(ref_of(pool, OWN_FACTORY)), contract_of(pool)) == (pool, 1)
        assert run(load(ref_of(pool)), contract_of(pool)) == (pool, 2)
        assert run(load(ref_of(pool, ZERO_ADDRESS)), contract_of(pool)) == (pool, 2)


def test_without_the_time_of_the_block_a_pair_is_skipped() -> None:
    with pytest.raises(InvalidUpstreamResponse, match="time"):
        run(load(ref_of(POOLS[0])), contract_of(POOLS[0], time=None))


def test_tokens_are_read_and_base_lists_the_pairs() -> None:
    pool = POOLS[0]
    factory = Factory(OWN_FACTORY, ContractKind.SMARDEX, (PROTOCOL,))
    ref, rounds = run(read_constants(factory, ADDRESS), contract_of(pool))
    assert (ref.tokens, ref.address, ref.protocol, rounds) == (pool.tokens, ADDRESS, "smarDexV2", 1)
    (of_base,) = find_factories(find_network("base"), ["smarDexV2"])[0]
    assert of_base.is_enumerable


def test_the_event_of_a_swap_says_its_amounts() -> None:
    topics = topic_of("Swap(address,address,int256,int256)"), f"0x{1:064x}", f"0x{2:064x}"
    (swap,) = find_swaps([Log(ADDRESS, topics, words(-70, 30), 1, 0)])
    assert (swap.key, swap.amounts[:4], swap.amounts.problem) == (ADDRESS, (1, 0, 30, 70), "")
