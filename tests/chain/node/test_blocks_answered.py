"""Whichever block a node answers from, we know it: what is of another block is never taken for what was asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

import pytest

from swapcli.chain.discovery import POOL_CREATED
from swapcli.chain.log_verification import bloom_of, missing_events, withheld_block
from swapcli.chain.logs_bloom import is_telling, may_hold
from swapcli.chain.multicall import View
from swapcli.chain.node import Answer, At, Call, LogQuery
from swapcli.chain.pool_events import changed_pool, hinted, topics_of
from swapcli.chain.rpc import RpcNode
from swapcli.errors import BlockMismatch, UpstreamNonsense
from swapcli.pools import FAMILIES
from tests.chain import proxy as faults
from tests.chain.anvil import running_anvil
from tests.chain.living import Village
from tests.chain.modes import NOWHERE, asking
from tests.chain.proxy import Proxy, proxying


class Place(NamedTuple):
    """A village, and a node of it behind a proxy."""

    village: Village
    proxy: Proxy
    node: RpcNode

    @property
    def multicall(self) -> str:
        assert self.village.network.multicall
        return self.village.network.multicall

    def calls(self) -> list[Call]:
        return [Call(pair.address, pair.calldata("getReserves")) for pair in self.village.pairs]


@pytest.fixture(scope="module")
def whole_place() -> Iterator[tuple[Village, Proxy]]:
    with running_anvil() as chain, proxying(chain.node.port) as proxy:
        village = Village(chain)
        for seed in range(6):
            village.happen(Random(seed))
        yield village, proxy


@pytest.fixture
def place(whole_place: tuple[Village, Proxy]) -> Iterator[Place]:
    village, proxy = whole_place
    proxy.always = None
    with asking(proxy.url) as node:
        yield Place(village, proxy, node)
    proxy.always = None


@pytest.mark.parametrize("has_multicall", [True, False])
def test_answers_of_the_block_are_known_to_be_of_it(place: Place, has_multicall: bool) -> None:
    block = place.node.head().block
    expected = place.node.batch(place.calls(), block)
    place.village.happen(Random(7))
    view = View(place.node, block, place.multicall if has_multicall else None)
    assert view.ask(place.calls()) == expected
    assert view.check_pinned()


def test_a_node_that_ignores_block_numbers_is_noticed_in_each_bundle(place: Place) -> None:
    block = place.node.head().block
    place.proxy.always = faults.ignores_block_numbers()
    view = View(place.node, block, place.multicall)
    assert view.ask(place.calls()) == place.node.batch(place.calls(), block)
    assert view.check_pinned(), "it was the newest block all the time"
    place.village.chain.node.ask("evm_mine")
    with pytest.raises(BlockMismatch) as caught:
        view.ask(place.calls())
    assert caught.value.details == {"block": block.number, "answered": block.number + 1}


def test_without_a_multicall_it_is_noticed_in_the_end(place: Place) -> None:
    block = place.node.head().block
    place.proxy.always = faults.ignores_block_numbers()
    view = View(place.node, block, None)
    view.ask(place.calls())
    with pytest.raises(BlockMismatch):
        view.check_pinned()


def test_a_contract_that_tells_another_number_altogether_proves_nothing(place: Place) -> None:
    """As on networks whose contracts are told the number of another chain's block."""
    block = place.node.head().block
    view = View(_At(place.node, block.number), block.number + 20_000, place.multicall)
    assert view.ask(place.calls()) == place.node.batch(place.calls(), block)
    assert not view.check_pinned()


class _At(RpcNode):
    """Answers from one block, whatever it is asked about."""

    def __init__(self, node: RpcNode, number: int) -> None:
        self.__dict__.update(node.__dict__)
        self._answered = number

    def batch(self, calls: Sequence[Call], at: At) -> list[Answer]:
        del at
        return super().batch(calls, self._answered)


def test_nothing_for_an_answer_is_not_believed_where_there_is_a_contract(place: Place) -> None:
    block = place.node.head().block
    place.proxy.always = faults.empties_calls(Random(1))
    with pytest.raises(UpstreamNonsense, match="though there are contracts"):
        View(place.node, block, place.multicall).ask(place.calls())
    view = View(place.node, block, None)
    assert view.ask(place.calls()) == [b""] * len(place.calls())
    assert view.silent == {call.to for call in place.calls()}


def test_where_no_multicall_is_deployed_the_calls_go_as_they_are(place: Place) -> None:
    block = place.node.head().block
    view = View(place.node, block, NOWHERE)
    assert view.ask(place.calls()) == place.node.batch(place.calls(), block)
    assert view.check_pinned()
    assert view.silent == set()


def test_the_filter_of_a_header_is_that_of_its_events(place: Place) -> None:
    head = place.node.head().block.number
    blooms = place.node.blooms(0, head)
    for number, bloom in enumerate(blooms):
        logs = place.node.logs(LogQuery((), (), number, number))
        assert bloom_of(logs) == bloom
        for log in logs:
            assert may_hold(bloom, log.address, *log.topics)
            assert not may_hold(bloom, NOWHERE)
    assert any(is_telling(bloom) for bloom in blooms)
    assert not is_telling(0)


def test_a_header_hints_at_every_pool_that_an_event_tells_of(place: Place) -> None:
    head = place.node.head().block.number
    pools = [(pair.address, pair.address, "constant_product") for pair in place.village.pairs]
    pools += [(pool.address, pool.address, "concentrated") for pool in place.village.pools]
    pools += [(each.pool_id, place.village.world.manager.address, "concentrated") for each in place.village.singletons]
    hits = 0
    for number, bloom in enumerate(place.node.blooms(0, head)):
        told = {changed_pool(log) for log in place.node.logs(LogQuery((), topics_of(FAMILIES), number, number))}
        keys = set(hinted(bloom, pools))
        assert told & {key for key, *_ in pools} <= keys
        hits += len(keys)
    assert 0 < hits < head


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_node_that_leaves_events_out_is_found_out(place: Place, share: float) -> None:
    head = place.node.head().block.number
    place.proxy.always = faults.withholds_logs(Random(3), share)
    assert (withheld_block(place.node, head) is None) is (share == 0.0)


def test_events_that_were_left_out_are_found_where_headers_tell_of_them(place: Place) -> None:
    head = place.node.head().block.number
    factory = place.village.factory.address
    query = LogQuery((factory,), (POOL_CREATED,), 0, head)
    told, blooms = place.node.logs(query), place.node.blooms(0, head)
    assert len(told) > 1
    emitters = {factory: (POOL_CREATED,)}
    assert missing_events(place.node, 0, blooms, emitters, told) == []
    assert missing_events(place.node, 0, blooms, emitters, told[1:]) == told[:1]
    place.proxy.always = faults.withholds_logs(Random(3), 1.0)
    assert missing_events(place.node, 0, blooms, emitters, []) is None
    assert missing_events(place.node, 0, [0] * len(blooms), emitters, []) == [], "a filter of 0 tells nothing"
