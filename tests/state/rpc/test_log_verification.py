"""State of another block than the requested one is always detected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

import pytest

from swapcli.core.errors import BlockMismatch, InvalidUpstreamResponse
from swapcli.families import FAMILIES
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.logs_bloom import is_selective, may_contain
from swapcli.families.reading.pool_change_events import change_topics, changed_pool, find_possible_changes
from swapcli.state.rpc.log_verification import compute_bloom, find_missing_logs, find_withheld_block
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import BlockId, LogFilter
from swapcli.state.rpc.rpc_node import RpcNode
from tests.chain import proxy as failures
from tests.chain.failure_modes import NOWHERE, connect_without_pauses
from tests.chain.proxy import Proxy, open_proxy
from tests.chain.small_chain import SmallTestChain
from tests.support.chain import restored
from tests.support.outside_ids import topic_of


class Place(NamedTuple):
    """A small chain and a connection to its node through a proxy."""

    small_chain: SmallTestChain
    proxy: Proxy
    node: RpcNode

    @property
    def multicall(self) -> str:
        assert self.small_chain.network.multicall
        return self.small_chain.network.multicall

    def calls(self) -> list[ContractCall]:
        return [ContractCall(pair.address, pair.calldata("getReserves")) for pair in self.small_chain.pairs]


@pytest.fixture(scope="module")
def used_chain(shared_small_chain: SmallTestChain) -> Iterator[SmallTestChain]:
    with restored(shared_small_chain) as small_chain:
        for seed in range(6):
            small_chain.run_random_activity(Random(seed))
        yield small_chain


@pytest.fixture
def place(used_chain: SmallTestChain) -> Iterator[Place]:
    with (
        restored(used_chain) as small_chain,
        open_proxy(small_chain.chain.node.port) as proxy,
        connect_without_pauses(proxy.url) as node,
    ):
        yield Place(small_chain, proxy, node)


@pytest.mark.parametrize("has_multicall", [True, False])
def test_results_of_the_block_are_verified(place: Place, has_multicall: bool) -> None:
    block = place.node.read_head().block
    expected = place.node.call_many(place.calls(), block)
    place.small_chain.run_random_activity(Random(7))
    view = MulticallReader(place.node, block, place.multicall if has_multicall else None)
    assert view.call(place.calls()) == expected
    assert view.verify_block()


def test_a_node_that_ignores_block_numbers_is_detected(place: Place) -> None:
    block = place.node.read_head().block
    place.proxy.always = failures.ignores_block_numbers()
    view = MulticallReader(place.node, block, place.multicall)
    assert view.call(place.calls()) == place.node.call_many(place.calls(), block)
    assert view.verify_block(), "it was the latest block all the time"
    place.small_chain.chain.node.ask("evm_mine")
    with pytest.raises(BlockMismatch) as caught:
        view.call(place.calls())
    assert caught.value.details == {"block": block.number, "answered": block.number + 1}


def test_without_a_multicall_verify_block_detects_it(place: Place) -> None:
    block = place.node.read_head().block
    place.proxy.always = failures.ignores_block_numbers()
    view = MulticallReader(place.node, block, None)
    view.call(place.calls())
    with pytest.raises(BlockMismatch):
        view.verify_block()


def test_a_multicall_with_a_wrong_block_number_proves_nothing(place: Place) -> None:
    """Like networks whose contracts see the block number of another chain."""
    block = place.node.read_head().block
    view = MulticallReader(_At(place.node, block.number), block.number + 20_000, place.multicall)
    assert view.call(place.calls()) == place.node.call_many(place.calls(), block)
    assert not view.verify_block()


class _At(RpcNode):
    """Answers every request from one block."""

    def __init__(self, node: RpcNode, number: int) -> None:
        self.__dict__.update(node.__dict__)
        self._answered = number

    def call_many(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        del at
        return super().call_many(calls, self._answered)


def test_an_empty_multicall_result_is_not_trusted(place: Place) -> None:
    block = place.node.read_head().block
    place.proxy.always = failures.empties_calls(Random(1))
    with pytest.raises(InvalidUpstreamResponse, match="although there are contracts"):
        MulticallReader(place.node, block, place.multicall).call(place.calls())
    view = MulticallReader(place.node, block, None)
    assert view.call(place.calls()) == [b""] * len(place.calls())
    assert view.contracts_without_output == {call.to for call in place.calls()}


def test_calls_go_alone_where_no_multicall_is_deployed(place: Place) -> None:
    block = place.node.read_head().block
    view = MulticallReader(place.node, block, NOWHERE)
    assert view.call(place.calls()) == place.node.call_many(place.calls(), block)
    assert view.verify_block()
    assert view.contracts_without_output == set()


def test_the_bloom_of_a_header_is_that_of_its_events(place: Place) -> None:
    head = place.node.read_head().block.number
    blooms = place.node.read_blooms(0, head)
    for number, bloom in enumerate(blooms):
        logs = place.node.read_logs(LogFilter((), (), number, number))
        assert compute_bloom(logs) == bloom
        for log in logs:
            assert may_contain(bloom, log.address, *log.topics)
            assert not may_contain(bloom, NOWHERE)
    assert any(is_selective(bloom) for bloom in blooms)
    assert not is_selective(0)


def test_a_bloom_reports_every_pool_that_has_an_event(place: Place) -> None:
    head = place.node.read_head().block.number
    pools = [(pair.address, pair.address, "constant_product") for pair in place.small_chain.pairs]
    pools += [(pool.address, pool.address, "concentrated") for pool in place.small_chain.pools]
    pools += [
        (each.pool_id, place.small_chain.world.manager.address, "concentrated") for each in place.small_chain.singletons
    ]
    hits = 0
    for number, bloom in enumerate(place.node.read_blooms(0, head)):
        changed_keys = {
            changed_pool(log) for log in place.node.read_logs(LogFilter((), change_topics(FAMILIES), number, number))
        }
        keys = set(find_possible_changes(bloom, pools))
        assert changed_keys & {key for key, *_ in pools} <= keys
        hits += len(keys)
    assert 0 < hits < head


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_node_that_withholds_events_is_detected(place: Place, share: float) -> None:
    head = place.node.read_head().block.number
    place.proxy.always = failures.withholds_logs(Random(3), share)
    assert (find_withheld_block(place.node, head) is None) is (share == 0.0)


def test_omitted_events_are_detected_by_header_blooms(place: Place) -> None:
    head = place.node.read_head().block.number
    factory = place.small_chain.factory.address
    created = topic_of("PoolCreated(address,address,uint24,int24,address)")
    query = LogFilter((factory,), (created,), 0, head)
    found_logs, blooms = place.node.read_logs(query), place.node.read_blooms(0, head)
    assert len(found_logs) > 1
    emitters = {factory: (created,)}
    assert find_missing_logs(place.node, 0, blooms, emitters, found_logs) == []
    assert find_missing_logs(place.node, 0, blooms, emitters, found_logs[1:]) == found_logs[:1]
    place.proxy.always = failures.withholds_logs(Random(3), 1.0)
    assert find_missing_logs(place.node, 0, blooms, emitters, []) is None
    assert find_missing_logs(place.node, 0, [0] * len(blooms), emitters, []) == [], "an empty bloom proves nothing"
