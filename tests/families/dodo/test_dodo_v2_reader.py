"""Pools of DODO V2 are read and announced. No registry has their bytecode, so a function answers in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import pytest
from eth_abi.abi import encode

from swapcli.core.errors import InvalidPoolState, InvalidUpstreamResponse
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.networks.catalogue import find_network
from swapcli.families.dodo.dodo_v2 import DodoState, DodoV2
from swapcli.families.dodo.dodo_v2_reader import load, read_constants, read_created
from swapcli.families.reading.call_encoding import SELECTORS
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.contract_kinds import KINDS
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.state.discovery.pool_discovery import find_factories
from swapcli.state.mined.swap_events import find_swaps
from swapcli.testing.strategies import ADDRESS, TOKENS
from tests.families.dodo.test_dodo_v2 import POOLS
from tests.support.outside_ids import topic_of

NAMES = {bytes.fromhex(selector): name for name, selector in SELECTORS.items()}
FACTORY = Factory("0x" + "fa" * 20, "dodo_v2", (ProtocolInfo(42, "dodoDVM", "DVM", "dodo_v2"),))
Answer = Callable[[str], ReturnData]
_T = TypeVar("_T")


def contract_of(pool: DodoV2, **changes: ReturnData) -> Answer:
    """Return the function that answers as a contract in the state of `pool` does."""
    state = pool.price, pool.slippage, *pool.reserves, *pool._current_targets(), list(DodoState).index(pool.r_state)
    minima = pool.min_amounts if any(pool.min_amounts) else None
    answers = {
        "getPMMStateForCall()": words(*state),
        "getUserFeeRate(address)": words(pool.lp_fee, pool.maintainer_fee),
        "_BASE_TARGET_()": None if pool.derives_targets else words(pool.targets[0]),
        "_MIN_BASE_SWAP_AMOUNT_()": words(minima[0]) if minima else None,
        "_MIN_QUOTE_SWAP_AMOUNT_()": words(minima[1]) if minima else None,
        "_BASE_TOKEN_()": words(int(pool.tokens[0], 16)),
        "_QUOTE_TOKEN_()": words(int(pool.tokens[1], 16)),
    }
    return {**answers, **changes}.__getitem__


def words(*values: int) -> bytes:
    return encode(["uint256"] * len(values), values)


def run(read: BatchRead[_T], answer: Answer) -> tuple[_T, int]:
    """Return the result of a read, and how many rounds it took."""
    rounds = 0
    try:
        calls: Sequence[ContractCall] = next(read)
        while True:
            rounds += 1
            calls = read.send([answer(NAMES[call.calldata[:4]]) for call in calls])
    except StopIteration as end:
        return end.value, rounds


def ref_of(pool: DodoV2) -> PoolRef:
    return PoolRef(pool.address, "test", "dodo_v2", "dodo_v2", pool.tokens, pool.decimals)


def test_pools_of_each_kind_are_read_in_one_round() -> None:
    some = {(pool.derives_targets, pool.r_state): pool for pool in POOLS}
    assert len(some) == 4
    for pool in some.values():
        read, rounds = run(load(ref_of(pool)), contract_of(pool))
        assert (read, rounds) == (replace(pool, targets=pool._current_targets()), 1)
        limited = replace(pool, min_amounts=(5, 7))
        assert run(load(ref_of(pool)), contract_of(limited))[0] == replace(limited, targets=pool._current_targets())


def test_impossible_answers_leave_a_pool_out() -> None:
    pool = next(pool for pool in POOLS if not pool.derives_targets)
    state = pool.price, pool.slippage, *pool.reserves, *pool._current_targets()
    with pytest.raises(InvalidUpstreamResponse, match="not a price state"):
        run(load(ref_of(pool)), contract_of(pool, **{"getPMMStateForCall()": words(*state, 3)}))
    with pytest.raises(InvalidUpstreamResponse):
        run(load(ref_of(pool)), contract_of(pool, **{"getUserFeeRate(address)": None}))
    for fees in ((10**18, 0), (2**64, 0)):
        with pytest.raises(InvalidPoolState):
            run(load(ref_of(pool)), contract_of(pool, **{"getUserFeeRate(address)": words(*fees)}))


def test_tokens_are_base_and_quote() -> None:
    pool = replace(POOLS[0], tokens=POOLS[0].tokens[::-1])
    ref, rounds = run(read_constants(FACTORY, ADDRESS), contract_of(pool))
    assert (ref.tokens, ref.protocol, ref.address, rounds) == (pool.tokens, "dodoDVM", ADDRESS, 1)


@pytest.mark.parametrize("indexed", [0, 2])
def test_events_announce_pools(indexed: int) -> None:
    values = [f"0x{int(each, 16):064x}" for each in (TOKENS[1], TOKENS[0], "0x" + "cc" * 20, ADDRESS)]
    topics = (topic_of("NewDVM(address,address,address,address)"), *values[:indexed])
    log = Log(FACTORY.address, topics, bytes.fromhex("".join(each[2:] for each in values[indexed:])), 1, 0)
    ref, rounds = run(read_created(FACTORY, log, None), contract_of(POOLS[0]))
    assert (ref.tokens, ref.address, rounds) == ((TOKENS[1], TOKENS[0]), ADDRESS, 0)


def test_the_event_of_stable_pools_is_that_of_the_bindings() -> None:
    created = KINDS["dodo_v2"].created
    topic = "0xbc1083a2c1c5ef31e13fb436953d22b47880cf7db279c2c5666b16083afd6b9d"
    assert topic in {topic_of(signature) for signature in created}


def test_base_has_a_factory_of_each_kind() -> None:
    factories, _ = find_factories(find_network("base"), ["dodoDPP", "dodoDSP", "dodoDVM"])
    assert len({factory.address for factory in factories}) == 3
    assert {factory.kind for factory in factories} == {"dodo_v2"}


def test_the_event_of_a_swap_says_its_amounts() -> None:
    topic = topic_of("DODOSwap(address,address,uint256,uint256,address,address)")
    data = words(int(TOKENS[1], 16), int(TOKENS[0], 16), 30, 70, 1, 2)
    (swap,) = find_swaps([Log(ADDRESS, (topic,), data, 1, 0)])
    assert (swap.key, swap.amounts[:4]) == (ADDRESS, (TOKENS[1], TOKENS[0], 30, 70))
