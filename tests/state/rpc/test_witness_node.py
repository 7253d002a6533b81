"""Another node that reads along: it waits for the block, reads in its own thread, and remembers what it has read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from swapcli.core.errors import ChainReorganized, UpstreamError
from swapcli.core.model.network import Kind, PublicNode
from swapcli.families.reading.calls import ContractCall
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import BlockHeader
from swapcli.state.rpc.public_nodes import AnyPublicNode, PublicEndpoint, open_public_node
from swapcli.state.rpc.witness_node import BlockMissing, WitnessNode
from tests.state.rpc.fake_nodes import BLOCK_TIME_S, CHAIN_ID, FakeChain, FakeNode, fake_node, hash_of, word_at

CALL = ContractCall("0x" + "12" * 20, b"\x01")


@contextmanager
def public(*kinds: str, started_ago_s: float = 10_000.0) -> Iterator[tuple[AnyPublicNode, list[FakeNode]]]:
    chain = FakeChain(time.time() - started_ago_s)
    with ExitStack() as stack:
        nodes = [
            stack.enter_context(fake_node(chain, kind, 0.0 if number == 0 else 0.05))
            for number, kind in enumerate(kinds)
        ]
        node = open_public_node(
            [PublicEndpoint(PublicNode(each.url), each.url) for each in nodes],
            kind=Kind.EVM,
            chain_id=CHAIN_ID,
            block_time_s=BLOCK_TIME_S,
            live_timeout_s=2.0,
        )
        stack.callback(node.close)
        yield node, nodes


@contextmanager
def witness_of(node: AnyPublicNode) -> Iterator[WitnessNode]:
    witness = next(node.open_witnesses(None))
    try:
        yield witness
    finally:
        witness.close()


def host_of(node: FakeNode) -> str:
    return node.url.removeprefix("http://")


def test_a_witness_is_not_the_node_that_was_read() -> None:
    with public("good", "good", "good") as (node, nodes):
        node.read_head()
        assert node.sole_reader == host_of(nodes[0])
        found = [each.host for each in node.open_witnesses(None)]
        assert {*found} == {host_of(each) for each in nodes[1:]}


def test_nodes_that_have_shared_the_reads_may_all_confirm_them() -> None:
    with public("good", "good") as (node, _):
        head = node.read_head()
        assert node.use_spare(UpstreamError("it failed"))
        node.call(CALL.to, CALL.calldata, head.block)
        assert node.sole_reader == ""
        assert len([each.host for each in node.open_witnesses(None)]) == 2


def test_it_reads_the_block_while_the_caller_goes_on() -> None:
    with public("good", "good") as (node, nodes):
        head = node.read_head()
        with witness_of(node) as witness:
            witness.start(head.block.number)
            assert witness.head().block == head.block
            sent = nodes[1].exchanges
            assert witness.head().block == head.block
            assert nodes[1].exchanges == sent


def test_it_remembers_what_it_has_read() -> None:
    with public("good", "good") as (node, nodes):
        head = node.read_head()
        with witness_of(node) as witness:
            witness.remember([(CALL, word_at(1))], head.block)
            reader, sent = MulticallReader(witness, head.block, None), nodes[1].exchanges
            assert reader.call([CALL]) == [word_at(1)]
            assert nodes[1].exchanges == sent


def test_it_waits_for_a_block_that_is_about_to_come() -> None:
    with public("good", "good") as (node, _):
        number = node.read_head().block.number + 1
        with witness_of(node) as witness:
            witness.start(number)
            assert witness.head().block.hash == hash_of(number)


def test_a_node_that_is_up_to_date_lacks_a_made_up_block() -> None:
    with public("good", "good") as (node, _):
        number = node.read_head().block.number + 1_000
        with witness_of(node) as witness:
            witness.start(number)
            with pytest.raises(BlockMissing, match="does not have it"):
                witness.head()


def test_a_node_that_is_stuck_only_fails() -> None:
    with public("good", "stale") as (node, _):
        number = node.read_head().block.number
        with witness_of(node) as witness:
            witness.start(number)
            with pytest.raises(UpstreamError, match="is old") as caught:
                witness.head()
            assert not isinstance(caught.value, BlockMissing)


def test_a_node_with_another_block_of_that_number_fails() -> None:
    with public("good", "good") as (node, _):
        block = node.read_head().block
        other = BlockHeader(block.number, hash_of(1), block.parent_hash, block.timestamp, 1)
        with witness_of(node) as witness:
            witness.start(block.number)
            witness.head()
            with pytest.raises(ChainReorganized):
                MulticallReader(witness, other, None).call([CALL])


def test_a_node_that_fails_says_why() -> None:
    with public("good", "bad gateway") as (node, _), witness_of(node) as witness:
        block = node.read_head().block
        with ExitStack() as stack:
            (failing,) = list(node.open_witnesses(None))
            stack.callback(failing.close)
            failing.start(block.number)
            with pytest.raises(UpstreamError):
                failing.finish()
        assert not witness.is_started
