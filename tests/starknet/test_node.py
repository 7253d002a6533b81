"""The node of Starknet, against a server on loopback that speaks its JSON-RPC."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from swapcli.chain.multicall import BlockReader
from swapcli.chain.starknet_calls import class_hash_call, read_felts, selector, starknet_call
from swapcli.chain.tokens import load_tokens
from swapcli.errors import ChainReorganized, InvalidUpstreamResponse, UpstreamRejected
from swapcli.model.block_tag import BlockTag
from swapcli.state.rpc.node import ContractCall, LogFilter
from swapcli.state.rpc.starknet_node import StarknetNode
from tests.starknet.fake_node import CHAIN_ID, GAS_PRICE, FakeChain, FakeNode, JediPair, TokenContract, running_node

SELECTORS = {
    "get_pool_price": 0x63ECB4395E589622A41A66715A0EAC930ABC9F0B92C0B1DCDA630ADFB2BF2D,
    "next_initialized_tick": 0x22E41CB0C558B90E9E0F97E635B647EA27DBA0A52BFA036591F47FCE50D9BDC,
    "get_reserves": 0x3CB0E1486E633FBE3E2FAFE8AEDF12B70CA1860E7467DDB75A17858CDE39312,
    "Swapped": 0x157717768ACA88DA4AC4279765F09F4D0151823D573537FBBEB950CDBD9A870,
    "PoolInitialized": 0x25CCF80EE62B2CA9B97C76CCEA317C7F450FD6EFB6ED6EA56DA21D7BB9DA5F1,
}
PAIR, TOKEN, LONG_TOKEN = 0xAA, 0xBB, 0xCC


def address(number: int) -> str:
    return f"0x{number:064x}"


def small_chain() -> FakeChain:
    chain = FakeChain()
    chain.contracts = {
        PAIR: JediPair((1, 2), [10**40, 5]),
        TOKEN: TokenContract("ETH", 18),
        LONG_TOKEN: TokenContract("STRK", 6, is_long=True),
    }
    chain.mine(3)
    return chain


@contextmanager
def connected(fake: FakeNode) -> Iterator[StarknetNode]:
    node = StarknetNode(fake.url, redacted_url="the node", chain_id=CHAIN_ID, attempts=2, pause=lambda _: None)
    with closing(node):
        yield node


@pytest.mark.parametrize(("name", "number"), SELECTORS.items())
def test_a_selector_is_the_published_one(name: str, number: int) -> None:
    assert selector(name) == number


def test_the_head_has_number_hash_time_and_gas_price() -> None:
    chain = small_chain()
    with running_node(chain) as fake, connected(fake) as node:
        head = node.read_head()
        assert (head.block.number, int(head.block.hash, 16)) == (2, chain.blocks[2].hash)
        assert int(head.block.parent_hash, 16) == chain.blocks[1].hash
        assert (head.gas_price_wei, head.tag) == (GAS_PRICE, BlockTag.LATEST)
        assert node.read_head(BlockTag.FINALIZED).block.number == 0
        assert node.read_head(BlockTag.PENDING).tag is BlockTag.LATEST
        assert node.read_block(3) is None
        assert node.read_block(1) is not None


def test_a_node_of_another_chain_is_refused() -> None:
    with (
        running_node(small_chain(), chain_id=5) as fake,
        connected(fake) as node,
        pytest.raises(InvalidUpstreamResponse, match="a node of chain 5"),
    ):
        node.read_head()


@pytest.mark.parametrize("max_batch", [None, 2, 1])
def test_calls_are_answered_with_and_without_batches(max_batch: int | None) -> None:
    with running_node(small_chain(), max_batch=max_batch) as fake, connected(fake) as node:
        block = node.read_head().block if max_batch is None else None
        calls = [
            starknet_call(address(PAIR), "get_reserves"),
            starknet_call(address(PAIR), "no_such_function"),
            starknet_call(address(0x404), "get_reserves"),
            class_hash_call(address(PAIR)),
            starknet_call(address(PAIR), "get_reserves"),
        ]
        answers = node.call_many(calls, block or 2)
        assert read_felts(answers[0], 4, "get_reserves") == (10**40 % 2**128, 10**40 >> 128, 5, 0)
        assert answers[1] is answers[2] is None
        assert read_felts(answers[3], 1, "class") == (0xC1A55,)
        assert answers[4] == answers[0]
        assert fake.methods.count("starknet_call") == 3


def test_state_is_read_by_the_hash_of_the_block() -> None:
    chain = small_chain()
    with running_node(chain) as fake, connected(fake) as node:
        head = node.read_head().block
        pair = chain.contracts[PAIR]
        assert isinstance(pair, JediPair)
        pair.reserves[1] = 6
        chain.mine()
        reader = BlockReader(node, head, None)
        (answer,) = reader.call([starknet_call(address(PAIR), "get_reserves")])
        assert read_felts(answer, 4, "")[2] == 5
        assert reader.verify_block()
        chain.reorganize(2)
        with pytest.raises(ChainReorganized):
            reader.call([starknet_call(address(PAIR), "get_reserves")])


def test_events_come_in_pages_and_in_order() -> None:
    chain = small_chain()
    for number in range(25):
        chain.emit(PAIR if number % 2 else TOKEN, "Sync" if number % 3 else "Swap", number)
        if number % 5 == 4:
            chain.mine()
    topics = (f"0x{selector('Sync'):064x}",)
    with running_node(chain, page_size=4) as fake, connected(fake) as node:
        node.read_head()
        everything = node.read_logs(LogFilter((), (), 0, 7))
        assert [int.from_bytes(log.data) for log in everything] == list(range(25))
        assert fake.methods.count("starknet_getEvents") == 7
        for others in (0, 20):
            addresses = (address(PAIR), *(address(9_000 + each) for each in range(others)))
            logs = node.read_logs(LogFilter(addresses, topics, 4, 6))
            assert [int.from_bytes(log.data) for log in logs] == [
                each for each in range(5, 20) if each % 2 and each % 3
            ]
        with pytest.raises(UpstreamRejected):
            node.read_logs(LogFilter((), (), 0, 99))


def test_too_many_events_are_refused_so_that_the_range_shrinks() -> None:
    chain = small_chain()
    for number in range(101):
        chain.emit(PAIR, "Sync", number)
    chain.mine()
    with (
        running_node(chain, page_size=1) as fake,
        connected(fake) as node,
        pytest.raises(UpstreamRejected, match="events in these blocks"),
    ):
        node.read_logs(LogFilter((), (), 0, 3))


@pytest.mark.parametrize("result", [None, "0x1", ["0xzz"], [1], [hex(2**252)], {"felts": []}])
def test_an_invalid_result_of_a_call_is_refused(result: Any) -> None:
    with (
        running_node(small_chain(), spoil=lambda *_: result) as fake,
        connected(fake) as node,
        pytest.raises(InvalidUpstreamResponse),
    ):
        node.call_many([starknet_call(address(PAIR), "get_reserves")], 2)


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"events": [1]},
        {"events": [{"keys": [], "data": [], "block_number": 99, "from_address": "0x1"}]},
        {"events": [], "continuation_token": 7},
    ],
)
def test_invalid_events_are_refused(result: Any) -> None:
    with (
        running_node(small_chain(), spoil=lambda *_: result) as fake,
        connected(fake) as node,
        pytest.raises(InvalidUpstreamResponse),
    ):
        node.read_logs(LogFilter((), (), 0, 2))


def test_code_cannot_run_on_a_node_of_starknet() -> None:
    with running_node(small_chain()) as fake, connected(fake) as node, pytest.raises(UpstreamRejected):
        node.call_many([ContractCall("", b"\x43")], 2)


def test_tokens_have_short_or_long_texts() -> None:
    with running_node(small_chain()) as fake, connected(fake) as node:
        reader = BlockReader(node, node.read_head().block, None)
        short, long = load_tokens(reader, [address(TOKEN), address(LONG_TOKEN)])
    assert (short.symbol, short.decimals) == ("ETH", 18)  # type: ignore[union-attr]
    assert (long.symbol, long.name) == ("STRK", "The token STRK, whose name is longer than a felt")  # type: ignore[union-attr]
