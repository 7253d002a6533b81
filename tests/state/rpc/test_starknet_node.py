"""The node of Starknet, against a server on loopback that speaks its JSON-RPC."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from swapcli.core.errors import BlockMismatch, ChainReorganized, InvalidUpstreamResponse, UpstreamRejected
from swapcli.core.model.block_tag import BlockTag
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.starknet_calls import class_hash_call, read_felts, selector, starknet_call
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import LogFilter
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint
from swapcli.state.rpc.starknet_node import StarknetNode
from swapcli.state.tokens import load_tokens
from tests.payload.starknet.fake_node import (
    CHAIN_ID,
    DATA_GAS_PRICE,
    GAS_PRICE,
    L1_LAG,
    TAGS,
    FakeChain,
    FakeNode,
    JediPair,
    TokenContract,
    running_node,
)

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
    node = StarknetNode([RpcEndpoint(fake.url, "the node")], CHAIN_ID, NodePolicy(attempts=2, pause=lambda _: None))
    with closing(node):
        yield node


@pytest.mark.parametrize(("name", "number"), SELECTORS.items())
def test_a_selector_is_the_published_one(name: str, number: int) -> None:
    assert selector(name) == number


VERSIONS = tuple(TAGS)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_head_has_number_hash_time_and_gas_price(version: str) -> None:
    chain = small_chain()
    with running_node(chain, version=version) as fake, connected(fake) as node:
        head = node.read_head(code_of=address(PAIR))
        assert (head.block.number, int(head.block.hash, 16)) == (2, chain.blocks[2].hash)
        assert int(head.block.parent_hash, 16) == chain.blocks[1].hash
        assert (head.gas_price_wei, head.tag) == (GAS_PRICE + DATA_GAS_PRICE * 2_240 // 27_522_160, BlockTag.LATEST)
        assert int.from_bytes(head.code or b"") == 0xC1A55
        assert node.read_block(3) is None
        assert node.read_block(1) is not None
        assert not [each for each in fake.failures if each.code != 24]


def test_a_watch_reads_headers_alone() -> None:
    with running_node(small_chain(), version=VERSIONS[-1]) as fake, connected(fake) as node:
        newest = node.read_newest()
        assert newest == node.read_head().block
        assert [each.number for each in node.read_headers(0, 2)] == [0, 1, 2]
        assert node.read_headers(2, 2) == [newest]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("blocks", [1, 3, 4, 700, 2_000])
def test_the_finalized_block_is_one_that_ethereum_has(version: str, blocks: int) -> None:
    chain = FakeChain()
    chain.mine(blocks)
    with running_node(chain, version=version) as fake, connected(fake) as node:
        for tag in (BlockTag.FINALIZED, BlockTag.SAFE):
            head = node.read_head(tag)
            assert (head.block.number, head.tag) == (max(blocks - 1 - L1_LAG, 0), tag)
            assert int(head.block.hash, 16) == chain.blocks[head.block.number].hash


def test_a_chain_without_accepted_blocks_has_no_finalized_one() -> None:
    def on_l2(method: str, result: Any) -> Any:
        return result | {"status": "ACCEPTED_ON_L2"} if method == "starknet_getBlockWithTxHashes" else result

    with (
        running_node(small_chain(), version="0.8", spoil=on_l2) as fake,
        connected(fake) as node,
        pytest.raises(UpstreamRejected, match="has no finalized block"),
    ):
        node.read_head(BlockTag.FINALIZED)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("max_batch", [None, 1])
def test_the_block_that_is_being_built_has_no_hash(version: str, max_batch: int | None) -> None:
    chain = small_chain()
    pair = chain.contracts[PAIR]
    assert isinstance(pair, JediPair)
    pair.reserves[1] = 6
    with running_node(chain, version=version, max_batch=max_batch) as fake, connected(fake) as node:
        for _ in range(2):
            head = node.read_head(BlockTag.PENDING)
            assert (head.block.number, head.block.is_pending, head.tag) == (3, True, BlockTag.PENDING)
            assert int(head.block.parent_hash, 16) == chain.blocks[2].hash
            reader = MulticallReader(node, head.block, None)
            (answer,) = reader.call([starknet_call(address(PAIR), "get_reserves")])
            assert read_felts(answer, 4, "")[2] == 6
            assert not reader.verify_block()
        assert sum(each.code == -32602 for each in fake.failures) == (version == "0.8")
        chain.mine()
        with pytest.raises(BlockMismatch):
            reader.call([starknet_call(address(PAIR), "token0")])


def test_a_node_without_a_block_in_building_has_its_latest_one() -> None:
    """As some answer `pre_confirmed` with the latest block, or an older one."""
    for number in (0, 2):

        def stale(method: str, result: Any, number: int = number) -> Any:
            is_built = method == "starknet_getBlockWithTxHashes" and "block_hash" not in result
            return result | {"block_number": number} if is_built else result

        with running_node(small_chain(), spoil=stale) as fake, connected(fake) as node:
            head = node.read_head(BlockTag.PENDING)
            assert (head.block.number, head.block.is_pending, head.tag) == (2, False, BlockTag.LATEST)


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
        reader = MulticallReader(node, head, None)
        (answer,) = reader.call([starknet_call(address(PAIR), "get_reserves")])
        assert read_felts(answer, 4, "")[2] == 5
        assert reader.verify_block()
        chain.reorganize(2)
        with pytest.raises(ChainReorganized):
            reader.call([starknet_call(address(PAIR), "get_reserves")])


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("refuses_large_pages", [False, True])
def test_events_come_in_pages_and_in_order(version: str, refuses_large_pages: bool) -> None:
    chain = small_chain()
    for number in range(25):
        chain.emit(PAIR if number % 2 else TOKEN, "Sync" if number % 3 else "Swap", number)
        if number % 5 == 4:
            chain.mine()
    topics = (f"0x{selector('Sync'):064x}",)
    options: dict[str, Any] = {"version": version, "page_size": 4, "refuses_large_pages": refuses_large_pages}
    with running_node(chain, **options) as fake, connected(fake) as node:
        node.read_head()
        everything = node.read_logs(LogFilter((), (), 0, 7))
        assert [int.from_bytes(log.data) for log in everything] == list(range(25))
        refusals = sum(each.code == 31 for each in fake.failures)
        assert refusals == (8 if refuses_large_pages else 0)  # 1,000 is halved to 3
        assert fake.methods.count("starknet_getEvents") - refusals == (9 if refuses_large_pages else 7)
        for others in (0, 20, 40):
            addresses = (address(PAIR), *(address(9_000 + each) for each in range(others)))
            logs = node.read_logs(LogFilter(addresses, topics, 4, 6))
            assert [int.from_bytes(log.data) for log in logs] == [
                each for each in range(5, 20) if each % 2 and each % 3
            ]
        with pytest.raises(UpstreamRejected):
            node.read_logs(LogFilter((), (), 0, 99))


@pytest.mark.parametrize("version", VERSIONS)
def test_events_of_two_contracts_take_one_request(version: str) -> None:
    chain = small_chain()
    for number in range(6):
        chain.emit((PAIR, TOKEN, LONG_TOKEN)[number % 3], "Sync" if number % 2 else "Mint", number)
    chain.mine()
    query = LogFilter(
        (address(PAIR), address(TOKEN)), tuple(f"0x{selector(name):064x}" for name in ("Sync", "Mint")), 0, 3
    )
    with running_node(chain, version=version) as fake, connected(fake) as node:
        node.read_head()
        for trials in (int(version != "0.10"), 0):
            fake.methods.clear()
            logs = node.read_logs(query)
            assert [int.from_bytes(log.data) for log in logs] == [0, 1, 3, 4]
            assert fake.methods.count("starknet_getEvents") == 1 + trials


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


def test_a_node_that_refuses_every_page_is_not_asked_for_ever() -> None:
    with (
        running_node(small_chain(), page_size=0, refuses_large_pages=True) as fake,
        connected(fake) as node,
        pytest.raises(UpstreamRejected, match="page size is too big"),
    ):
        node.read_logs(LogFilter((), (), 0, 2))
    assert fake.methods.count("starknet_getEvents") == 10  # 1,000 is halved nine times


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
        reader = MulticallReader(node, node.read_head().block, None)
        short, long = load_tokens(reader, [address(TOKEN), address(LONG_TOKEN)])
    assert (short.symbol, short.decimals) == ("ETH", 18)  # type: ignore[union-attr]
    assert (long.symbol, long.name) == ("STRK", "The token STRK, whose name is longer than a felt")  # type: ignore[union-attr]
