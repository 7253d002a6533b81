"""What a node says of final blocks is asked for once, and is the same from the cache."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.live import LiveSource
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.read_cache.cache_file import CacheFile
from swapcli.state.read_cache.cached_node import CachedArchiveNode
from swapcli.state.rpc.block_view import view_past_block
from swapcli.state.rpc.node import LogFilter
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from tests.chain.anvil import CHAIN_ID
from tests.chain.contract_fixture import WETH
from tests.chain.failure_modes import connect_without_pauses
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.server import Failure, RpcAnswer, RpcRequest
from tests.chain.proxy import Proxy, open_proxy, rewrites
from tests.chain.test_block_tags import FINALIZED_BLOCKS, answers_tag
from tests.chain.trader import Trader
from tests.examples import few


@pytest.fixture(params=few([True, False], 1), ids=["multicall", "no multicall"])
def network(trader: Trader, request: pytest.FixtureRequest) -> None:
    multicall = deploy_multicall(trader.chain) if request.param else None
    trader.world.network = trader.world.network._replace(multicall=multicall)
    trader.market = trader.market._replace(network=trader.world.network)


@pytest.fixture
def proxy(trader: Trader) -> Iterator[Proxy]:
    with open_proxy(trader.chain.node.port) as proxy:
        yield proxy


def quote(
    trader: Trader, proxy: Proxy, path: Path, block: int | str, *, gas_price_wei: int | None = None
) -> LocalQuote:
    tokens = trader.world.tokens
    order = Order(tokens[WETH], tokens["USDC"], 10**18)
    request = QuoteRequest(order, ApiVersion.V2, gas_price_wei=gas_price_wei)
    with connect_without_pauses(proxy.url) as node, closing(CacheFile(path)) as cache:
        view = view_past_block(CachedArchiveNode(node, cache, CHAIN_ID), block)
        return LiveSource(InMemorySource(trader.market, SYSTEM_CLOCK), view, SYSTEM_CLOCK, tag=None).quote(request)


def mine(trader: Trader, blocks: int) -> None:
    trader.chain.node.ask("anvil_mine", hex(blocks))


def same(first: LocalQuote, second: LocalQuote) -> bool:
    return (first.result.output_amount, first.pools, first.state_source.block, first.state_source.pinned) == (
        second.result.output_amount,
        second.pools,
        second.state_source.block,
        second.state_source.pinned,
    )


@pytest.mark.usefixtures("network")
def test_a_second_quote_on_a_final_block_asks_nothing(trader: Trader, proxy: Proxy, tmp_path: Path) -> None:
    block = proxy.head()
    mine(trader, FINALIZED_BLOCKS)
    first = quote(trader, proxy, tmp_path / "cache", block)
    assert proxy.methods
    proxy.methods.clear()
    second = quote(trader, proxy, tmp_path / "cache", block)
    assert proxy.methods == []
    assert same(first, second)


@pytest.mark.usefixtures("network")
def test_what_is_not_final_is_asked_for_each_time(trader: Trader, proxy: Proxy, tmp_path: Path) -> None:
    block = proxy.head()
    mine(trader, FINALIZED_BLOCKS - 1)
    first = quote(trader, proxy, tmp_path / "cache", block)
    asked = [*proxy.methods]
    proxy.methods.clear()
    assert same(first, quote(trader, proxy, tmp_path / "cache", block))
    assert sorted(proxy.methods) == sorted(asked)


@pytest.mark.slow
def test_without_a_finalized_block_a_day_makes_it_final(trader: Trader, proxy: Proxy, tmp_path: Path) -> None:
    proxy.always = answers_tag(BlockTag.FINALIZED, None)
    block = proxy.head()
    header = trader.chain.node.ask("eth_getBlockByNumber", hex(block), False)
    trader.chain.node.ask("evm_setNextBlockTimestamp", hex(int(header["timestamp"], 16) + 86_400))
    mine(trader, 1)
    quote(trader, proxy, tmp_path / "cache", block)
    quote(trader, proxy, tmp_path / "cache", block + 1)
    proxy.methods.clear()
    quote(trader, proxy, tmp_path / "cache", block)
    assert proxy.methods == []
    quote(trader, proxy, tmp_path / "cache", block + 1)
    assert proxy.methods


def test_receipts_events_and_blocks_are_the_same_from_the_cache(trader: Trader, proxy: Proxy, tmp_path: Path) -> None:
    tokens = trader.world.tokens
    trader.execute(trader.quote_trade(Order(tokens["USDC"], tokens[WETH], 10**10)))
    number = proxy.head()
    (transaction,) = trader.chain.node.ask("eth_getBlockByNumber", hex(number), False)["transactions"]
    mine(trader, FINALIZED_BLOCKS)
    query = LogFilter((), (), number, number)

    def read() -> tuple[object, ...]:
        with connect_without_pauses(proxy.url) as node, closing(CacheFile(tmp_path / "cache")) as cache:
            cached = CachedArchiveNode(node, cache, CHAIN_ID)
            receipt, logs = cached.read_receipt(transaction), cached.read_logs(query)
            assert receipt is not None
            return receipt, logs, cached.read_block(number), cached.read_past_head(number)

    first = read()
    receipt, logs, *_ = first
    assert receipt
    assert logs
    with connect_without_pauses(proxy.url) as node:
        assert first[:3] == (node.read_receipt(transaction), node.read_logs(query), node.read_block(number))
    proxy.methods.clear()
    assert read() == first
    assert proxy.methods == []
    missing = "0x" + "12" * 32
    with connect_without_pauses(proxy.url) as node, closing(CacheFile(tmp_path / "cache")) as cache:
        assert CachedArchiveNode(node, cache, CHAIN_ID).read_receipt(missing) is None
        assert CachedArchiveNode(node, cache, CHAIN_ID).read_block(number + 10**6) is None


def test_a_node_of_another_chain_is_refused_before_it_is_asked(proxy: Proxy, tmp_path: Path) -> None:
    node = RpcNode([RpcEndpoint(proxy.url, "the node")], CHAIN_ID + 1, NodePolicy(pause=bool))
    with closing(node), closing(CacheFile(tmp_path / "cache")) as cache:
        cached = CachedArchiveNode(node, cache, CHAIN_ID + 1)
        with pytest.raises(InvalidUpstreamResponse, match="is a node of chain"):
            cached.read_receipt("0x" + "12" * 32)


def prices_nothing(*unknown: str) -> Failure:
    """Answer without base fees, and reject these methods."""

    def change(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        answers = proxy.answer(requests)
        for request, answer in zip(requests, answers, strict=True):
            if request["method"] in unknown:
                answer.pop("result", None)
                answer["error"] = {"code": -32_601, "message": "the method does not exist"}
            elif request["method"] == "eth_getBlockByNumber" and answer.get("result"):
                answer["result"].pop("baseFeePerGas", None)
        return answers

    return rewrites(change)


def test_a_past_block_without_any_gas_price_is_quoted_at_the_price_of_the_order(
    trader: Trader, proxy: Proxy, tmp_path: Path
) -> None:
    block = proxy.head()
    mine(trader, FINALIZED_BLOCKS)
    proxy.always = prices_nothing("eth_gasPrice", "eth_feeHistory")
    first = quote(trader, proxy, tmp_path / "cache", block, gas_price_wei=10**9)
    assert first.quote.gas_price_wei == 10**9
    assert same(first, quote(trader, proxy, tmp_path / "cache", block, gas_price_wei=10**9))


def test_the_present_gas_price_is_not_kept_as_that_of_a_past_block(
    trader: Trader, proxy: Proxy, tmp_path: Path
) -> None:
    """It stands in for the price of a block that has none; `--gas-price` may have set it for one command."""
    block = proxy.head()
    mine(trader, FINALIZED_BLOCKS)
    proxy.always = prices_nothing("eth_feeHistory")
    found = []
    for gas_price_wei in (50 * 10**9, None):
        with connect_without_pauses(proxy.url) as node, closing(CacheFile(tmp_path / "cache")) as cache:
            node.gas_price_wei = gas_price_wei
            found.append(CachedArchiveNode(node, cache, CHAIN_ID).read_past_head(block).gas_price_wei)
    assert found == [50 * 10**9, int(trader.chain.node.ask("eth_gasPrice"), 16)]
