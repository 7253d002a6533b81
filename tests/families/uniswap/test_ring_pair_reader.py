"""Pairs of RingSwap are read by the tokens that their wrappers name; `test_ring_pair` of the pool reads real ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import pytest
from eth_abi.abi import encode

from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.networks.catalogue import find_network
from swapcli.families.reading.call_encoding import encode_call
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.uniswap.ring_pair import RingPair
from swapcli.families.uniswap.ring_pair_reader import complete_ref, load, read_constants
from swapcli.families.uniswap.rows import RingConstants
from swapcli.state.discovery.pool_discovery import find_factories
from tests.families.uniswap.test_ring_pair import FEE_PPM, WRAPPERS, valid_pool

PROTOCOL = ProtocolInfo(32, "test", "RingSwap", "ring_pair")
FACTORY = Factory("0x" + "fa" * 20, "ring_pair", (PROTOCOL,), fee_ppm=FEE_PPM)
_T = TypeVar("_T")


def words(*values: int) -> bytes:
    return encode(["uint256"] * len(values), values)


def answer(pool: RingPair, call: ContractCall) -> ReturnData:
    """Answer as a pair, its wrappers and their tokens do."""
    answers = {
        (pool.address, encode_call("token0()")): words(int(pool.wrappers[0], 16)),
        (pool.address, encode_call("token1()")): words(int(pool.wrappers[1], 16)),
        (pool.address, encode_call("getReserves()")): words(*pool.reserves, 1_700_000_000),
    }
    for token, wrapper, deposit in zip(pool.tokens, pool.wrappers, pool.deposits, strict=True):
        answers[wrapper, encode_call("token()")] = words(int(token, 16))
        answers[token, encode_call("balanceOf(address)", wrapper)] = words(deposit)
    return answers.get((call.to, call.calldata))


def run(read: BatchRead[_T], pool: RingPair) -> tuple[_T, int]:
    """Return the result of a read, and how many rounds it took."""
    rounds = 0
    try:
        calls: Sequence[ContractCall] = next(read)
        while True:
            rounds += 1
            calls = read.send([answer(pool, call) for call in calls])
    except StopIteration as end:
        return end.value, rounds


def test_a_pair_is_found_by_its_wrappers_and_read_in_one_round() -> None:
    pool = valid_pool()
    ref, rounds = run(read_constants(FACTORY, pool.address), pool)
    assert (ref.tokens, ref.fee_ppm, ref.constants, rounds) == (pool.tokens, FEE_PPM, RingConstants(WRAPPERS), 2)
    assert run(load(ref._replace(decimals=pool.decimals)), pool) == (pool, 1)
    assert complete_ref(ref._replace(constants=None), pool) == ref


def test_a_pair_without_known_wrappers_is_left_out() -> None:
    pool = valid_pool()
    ref, _ = run(read_constants(FACTORY, pool.address), pool)
    with pytest.raises(InvalidUpstreamResponse, match="wrappers"):
        run(load(ref._replace(constants=None)), pool)


def test_hyperevm_lists_its_pairs() -> None:
    (factory,), _ = find_factories(find_network("hyperevm"), ["RingSwap"])
    assert (factory.is_enumerable, factory.fee_ppm) == (True, FEE_PPM)
