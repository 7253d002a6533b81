"""Quotes on the pending, safe or finalized block of a node."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from swapcli.core.errors import BlockMismatch, MarketUnavailable, SimulationError, UpstreamRejected
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.payload.checks.presign_checks import CheckOptions, PayloadCheck, check_payload
from swapcli.payload.checks.simulated_variants import TradedTokens
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.live import LiveSource
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.quoting.sources.stored import StoreSource
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.rpc_node import RpcNode
from tests.chain.contract_fixture import DECIMALS, WETH
from tests.chain.failure_modes import connect_without_pauses
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.server import Failure, RpcAnswer, RpcRequest, refusal
from tests.chain.proxy import Proxy, open_proxy, rewrites
from tests.chain.trader import USER, Trader
from tests.examples import few
from tests.state.store.build import create
from tests.support.chain import connected

SAFE_BLOCKS, FINALIZED_BLOCKS = 32, 64
"""How far anvil's safe and finalized blocks are behind the latest one."""
AGREED = {BlockTag.SAFE: SAFE_BLOCKS, BlockTag.FINALIZED: FINALIZED_BLOCKS}
_BLOCK = "eth_getBlockByNumber"


@pytest.fixture(params=few([True, False], 1), ids=["multicall", "no multicall"])
def node(trader: Trader, request: pytest.FixtureRequest) -> Iterator[RpcNode]:
    multicall = deploy_multicall(trader.chain) if request.param else None
    trader.world.network = trader.world.network._replace(multicall=multicall)
    trader.market = trader.market._replace(network=trader.world.network)
    with connected(trader.chain) as node:
        yield node


@pytest.fixture
def proxy(trader: Trader) -> Iterator[Proxy]:
    with open_proxy(trader.chain.node.port) as proxy:
        yield proxy


def source(trader: Trader, node: RpcNode, tag: BlockTag, **more: Any) -> LiveSource:
    return LiveSource(InMemorySource(trader.market, SYSTEM_CLOCK), node, SYSTEM_CLOCK, tag=tag, **more)


def request(trader: Trader) -> QuoteRequest:
    tokens = trader.world.tokens
    return QuoteRequest(Order(tokens[WETH], tokens["USDC"], 10 ** DECIMALS[WETH]), ApiVersion.V2)


def amount_now(trader: Trader) -> int:
    """The output of the order on the state after the latest block."""
    fresh = InMemorySource(read_market(trader.world), SYSTEM_CLOCK)
    return fresh.quote(request(trader)).result.output_amount


def sell(trader: Trader) -> None:
    """Have another order change the prices."""
    order = Order(trader.world.network.native, trader.world.tokens["USDC"], 20 * 10**18)
    trader.execute(trader.quote_trade(order))


@contextmanager
def pending_trade(trader: Trader) -> Iterator[None]:
    """Leave a trade that changes the prices in the pending block; mine it afterwards."""
    order = Order(trader.world.network.native, trader.world.tokens["USDC"], 20 * 10**18)
    payload = trader.quote_trade(order).payload
    ask = trader.chain.node.ask
    ask("evm_setAutomine", False)
    fields = {"from": USER, "to": payload.to, "data": payload.calldata, "value": hex(payload.value)}
    ask("anvil_impersonateAccount", USER)
    ask("eth_sendTransaction", fields | {"gas": hex(12_000_000)})
    try:
        yield
    finally:
        ask("evm_mine")
        ask("evm_setAutomine", True)


@pytest.mark.parametrize("tag", AGREED)
def test_a_quote_is_on_the_block_that_the_tag_names(trader: Trader, node: RpcNode, tag: BlockTag) -> None:
    agreed, block = amount_now(trader), node.read_head().block
    sell(trader)
    newer = int(trader.chain.node.ask("eth_blockNumber"), 16) - block.number
    trader.chain.node.ask("anvil_mine", hex(AGREED[tag] - newer))
    assert amount_now(trader) != agreed
    answer = source(trader, node, tag).quote(request(trader))
    assert answer.result.output_amount == agreed
    state = answer.state_source
    assert (state.tag, state.block, state.timestamp, state.pinned) == (tag, block.number, block.timestamp, True)


def test_a_pending_quote_is_what_the_next_block_pays(trader: Trader, node: RpcNode) -> None:
    latest = amount_now(trader)
    with pending_trade(trader):
        answer = source(trader, node, BlockTag.PENDING).quote(request(trader))
        assert source(trader, node, BlockTag.LATEST).quote(request(trader)).result.output_amount == latest
    assert answer.result.output_amount == amount_now(trader) != latest
    state, head = answer.state_source, node.read_head().block
    assert (state.tag, state.block, state.pinned) == (BlockTag.PENDING, head.number, False)


def test_monads_agreed_blocks_are_not_called_proposed(trader: Trader, node: RpcNode) -> None:
    trader.market = trader.market._replace(network=trader.world.network._replace(head_is_proposed=True))
    trader.chain.node.ask("anvil_mine", hex(FINALIZED_BLOCKS))
    found = {tag: source(trader, node, tag).quote(request(trader)).state_source.is_proposed for tag in BlockTag}
    assert found == {tag: tag is BlockTag.LATEST for tag in BlockTag}


def test_a_pending_block_that_is_finished_meanwhile_is_read_anew(trader: Trader, node: RpcNode, proxy: Proxy) -> None:
    with connect_without_pauses(proxy.url) as watched:
        head = watched.read_head(BlockTag.PENDING).block
        trader.chain.node.ask("evm_mine")
        with pytest.raises(BlockMismatch):
            watched.call(trader.world.address("USDC"), b"", head)
        mined = iter([False, True, True])

        def mine(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
            if next(mined, False):
                trader.chain.node.ask("evm_mine")
            return proxy.answer(requests)

        proxy.always = rewrites(mine)
        state = source(trader, watched, BlockTag.PENDING).quote(request(trader)).state_source
    assert (state.tag, state.block) == (BlockTag.PENDING, node.read_head().block.number + 1)


def answers_tag(tag: BlockTag, answer: RpcAnswer | str | None) -> Failure:
    """Answer requests for a tagged block with an error, with another tag's block, or with nothing."""

    def change(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        answers = []
        for each in requests:
            if each["params"] and each["params"][-1] == tag and isinstance(answer, str):
                each["params"][-1] = answer
            is_tagged = each["method"] == _BLOCK and each["params"][0] == tag
            if is_tagged and isinstance(answer, str):
                each["params"][0] = answer
            if is_tagged and not isinstance(answer, str):
                answers.append(refusal(each, -39_001, "Unknown block") if answer else _null(each))
            else:
                answers += proxy.answer([each])
        return answers

    return rewrites(change)


def _null(request: RpcRequest) -> RpcAnswer:
    return {"jsonrpc": "2.0", "id": request["id"], "result": None}


@pytest.mark.parametrize("tag", [BlockTag.PENDING, BlockTag.SAFE, BlockTag.FINALIZED])
@pytest.mark.parametrize("answer", [None, {"error": True}], ids=["null", "error"])
def test_a_node_without_the_tag_is_refused_with_what_is_left(
    trader: Trader, proxy: Proxy, tag: BlockTag, answer: RpcAnswer | None
) -> None:
    proxy.always = answers_tag(tag, answer)
    with connect_without_pauses(proxy.url) as node:
        with pytest.raises(UpstreamRejected, match=f"has no {tag} block") as caught:
            source(trader, node, tag).quote(request(trader))
        others = [str(each) for each in BlockTag if each is not tag]
        assert caught.value.hint
        assert all(each in caught.value.hint for each in others)
        assert tag not in caught.value.hint
        assert node.round_trips == 1


def test_without_pending_state_the_latest_block_is_named(trader: Trader, proxy: Proxy) -> None:
    proxy.always = answers_tag(BlockTag.PENDING, "latest")
    with connect_without_pauses(proxy.url) as node:
        state = source(trader, node, BlockTag.PENDING).quote(request(trader)).state_source
        assert (state.tag, state.block) == (BlockTag.LATEST, node.read_head().block.number)
    assert state.description.endswith("no pending state")


def test_a_pending_block_without_a_hash_is_read(trader: Trader, proxy: Proxy) -> None:
    """As geth returns it."""

    def change(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        answers = proxy.answer(requests)
        for each, answer in zip(requests, answers, strict=True):
            if each["method"] == _BLOCK and each["params"][0] == "pending":
                answer["result"] |= {"hash": None, "nonce": None, "miner": None}
        return answers

    proxy.always = rewrites(change)
    with connect_without_pauses(proxy.url) as node:
        assert source(trader, node, BlockTag.PENDING).quote(request(trader)).state_source.tag is BlockTag.PENDING


@pytest.mark.parametrize("tag", few([BlockTag.PENDING, BlockTag.SAFE, BlockTag.FINALIZED], 1))
def test_stored_state_never_answers_for_another_block(trader: Trader, node: RpcNode, tag: BlockTag) -> None:
    trader.chain.node.ask("anvil_mine", hex(FINALIZED_BLOCKS))
    head = node.read_head().block
    trader.market = trader.market._replace(block=head.number, timestamp=head.timestamp)
    state = source(trader, node, tag, max_age_s=10**9).quote(request(trader)).state_source
    assert state.tag is tag
    assert state.block != head.number


def test_an_agreed_block_that_is_too_old_is_refused(trader: Trader, node: RpcNode) -> None:
    trader.chain.node.ask("anvil_mine", hex(FINALIZED_BLOCKS), hex(60))
    with pytest.raises(MarketUnavailable, match="seconds old") as caught:
        source(trader, node, BlockTag.FINALIZED, max_age_s=30).quote(request(trader))
    assert caught.value.hint
    assert "instead of finalized" in caught.value.hint


def test_what_is_pending_is_not_stored(trader: Trader, node: RpcNode, tmp_path: Path) -> None:
    with create(tmp_path / "store", trader.world.network) as store:
        store.write_market(trader.market)
        before = store.read_market()
        live = LiveSource(StoreSource(store, SYSTEM_CLOCK), node, SYSTEM_CLOCK, tag=BlockTag.PENDING)
        with pending_trade(trader):
            assert live.quote(request(trader)).transfers, "transfers are tried out nevertheless"
        assert store.read_market() == before


def check(trader: Trader, node: RpcNode, answer: LocalQuote, payload: UnsignedTransaction) -> PayloadCheck:
    tokens = TradedTokens(answer.order.token_in, answer.order.token_out, trader.world.network.native)
    with closing(node):
        return check_payload(node, CheckOptions(simulate=True), payload, answer.state_source, tokens)


def test_a_pending_quote_is_simulated_on_pending_state(trader: Trader, node: RpcNode) -> None:
    with pending_trade(trader):
        answer, payload = quote_and_build(source(trader, node, BlockTag.PENDING), request(trader), SwapTerms(0, USER))
        found = check(trader, node, answer, payload).simulation
        assert found is not None
        assert found.matches
        assert found.block == node.read_head().block.number + 1
        origin = answer.state_source._replace(tag=BlockTag.LATEST, block=found.block - 1)
        with pytest.raises(SimulationError):
            check(trader, node, answer._replace(state_source=origin), payload)
