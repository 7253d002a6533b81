"""Live quotes on a chain newer than the stored state: swaps pay the quoted amount to the unit."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from swapcli.core.errors import (
    BlockMismatch,
    ChainReorganized,
    InvalidRoute,
    MarketUnavailable,
    NoRoute,
    SameToken,
    SlippageExceeded,
    UpstreamRejected,
    UpstreamTimeout,
)
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.transaction import Transaction, UnsignedTransaction
from swapcli.core.model.transfer_behaviour import ORDINARY
from swapcli.core.networks.l1_fee import L1FeeParams
from swapcli.core.routing.no_route import with_unread_past_pools
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.uniswap.constant_product import ConstantProduct
from swapcli.payload.evm.unsigned_transaction import GasFees, encode_unsigned
from swapcli.quoting.amount_notation import parse_notation
from swapcli.quoting.order_amounts import BalanceOrder, read_balance
from swapcli.quoting.quote_figures import compute_figures
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.live import LiveSource
from swapcli.quoting.sources.live_search import Limits
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.state.clock import SYSTEM_CLOCK, Clock
from swapcli.state.rpc.block_view import view_past_block
from swapcli.state.rpc.delegating_node import DelegatingNode
from swapcli.state.rpc.json_rpc_client import RpcRequest
from swapcli.state.rpc.node import BlockId, ChainHead
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from tests.chain.anvil import CHAIN_ID, AnvilChain
from tests.chain.contract_fixture import DECIMALS, WETH
from tests.chain.failure_modes import connect_without_pauses
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.proxy import ignores_block_numbers, open_proxy
from tests.chain.random_routes import random_route
from tests.chain.trader import USER, Trade, Trader, random_amount
from tests.contracts.evm import compile_solidity
from tests.payload.evm.l1_oracle import ORACLE, RealOracle
from tests.support.chain import connected

LIVE_TRADES = 24
NODE_INTERFACE = "0x00000000000000000000000000000000000000c8"


@pytest.fixture
def node(trader: Trader) -> Iterator[RpcNode]:
    trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
    trader.market = trader.market._replace(network=trader.world.network)
    with connected(trader.chain) as node:
        yield node


def live(market: MarketState, node: RpcNode, limits: Limits | None = None) -> LiveSource:
    return LiveSource(InMemorySource(market, SYSTEM_CLOCK), node, SYSTEM_CLOCK, limits=limits)


def order(trader: Trader, sold: str = WETH, bought: str = "USDC", whole: int = 1) -> Order:
    tokens = trader.world.tokens
    return Order(tokens[sold], tokens[bought], whole * 10 ** DECIMALS[sold])


def move(trader: Trader, seed: str, trades: int = 5) -> None:
    """Execute trades of other users."""
    for trade in trader.trades(Random(seed), trades):
        trader.execute(trade)


def carried_out(trader: Trader, answer: LocalQuote, payload: UnsignedTransaction) -> int:
    """Execute the payload now and return the amount received."""
    return trader.execute(trader.build_trade(answer.result, payload, answer.pools, "live")).received


def test_live_quotes_pay_exactly_despite_stale_stored_state(trader: Trader, node: RpcNode) -> None:
    stored, rng = trader.market, Random("live trades")
    sources = live(stored, node), InMemorySource(stored, SYSTEM_CLOCK)
    differed = 0
    for _ in range(LIVE_TRADES):
        sold, bought = rng.sample(sorted(DECIMALS), 2)
        token_in = trader.world.network.native if sold == WETH and rng.random() < 0.5 else trader.world.tokens[sold]
        request = QuoteRequest(
            Order(token_in, trader.world.tokens[bought], random_amount(rng, token_in)), ApiVersion.V2
        )
        live_source = live(stored, node)
        try:
            answer, payload = quote_and_build(live_source, request, SwapTerms(0, USER))
        except NoRoute:
            continue
        assert answer.state_source.provenance is Provenance.LIVE
        assert answer.state_source.block == int(trader.chain.node.ask("eth_blockNumber"), 16)
        assert carried_out(trader, answer, payload) == answer.result.output_amount
        differed += answer.result.output_amount != _stored_amount(sources[1], request)
    assert differed > LIVE_TRADES // 2, "the stored state would have given another amount"


def _stored_amount(source: InMemorySource, request: QuoteRequest) -> int | None:
    try:
        return source.quote(request).result.output_amount
    except NoRoute:
        return None


def test_a_live_quote_equals_one_on_all_that_there_is(trader: Trader, node: RpcNode) -> None:
    stored = trader.market
    move(trader, "before a live quote")
    answer = live(stored, node).quote(QuoteRequest(order(trader), ApiVersion.V1))
    fresh = InMemorySource(read_market(trader.world), SYSTEM_CLOCK).quote(QuoteRequest(order(trader), ApiVersion.V1))
    assert answer.result.output_amount == fresh.result.output_amount
    assert answer.quote.gas_price_wei == node.read_head().gas_price_wei


def test_an_order_with_a_gas_price_needs_none_of_the_node(trader: Trader, node: RpcNode) -> None:
    refusal = UpstreamRejected("the node rejected eth_gasPrice")

    class WithoutGasPrice(DelegatingNode[RpcNode]):
        def read_head(self, tag: BlockTag = BlockTag.LATEST, *, code_of: str | None = None) -> ChainHead:
            return self._node.read_head(tag, code_of=code_of)._replace(gas_price=refusal)

    source = LiveSource(InMemorySource(trader.market, SYSTEM_CLOCK), WithoutGasPrice(node), SYSTEM_CLOCK)
    request = QuoteRequest(order(trader), ApiVersion.V1)
    assert source.quote(request._replace(gas_price_wei=10**9)).quote.gas_price_wei == 10**9
    with pytest.raises(UpstreamRejected, match="eth_gasPrice"):
        source.quote(request)


def tried(market: MarketState) -> MarketState:
    """The market with measured transfer behaviours."""
    return market._replace(transfers=dict.fromkeys(market.tokens, ORDINARY))


@pytest.mark.parametrize("whole", [1, 1_000])
def test_the_first_quote_takes_two_round_trips_also_for_untested_tokens(
    trader: Trader, node: RpcNode, whole: int
) -> None:
    """The block comes with the first state of its pools and the transfers, and then the ticks that this names."""
    request = QuoteRequest(order(trader, whole=whole), ApiVersion.V2)
    stored = trader.market
    move(trader, "before round trips")
    answer = live(stored, node).quote(request)
    assert node.round_trips == 2
    assert set(answer.transfers.values()) == {ORDINARY}
    assert answer.state_source.pinned
    fresh = InMemorySource(read_market(trader.world), SYSTEM_CLOCK).quote(request)
    assert answer.result.output_amount == fresh.result.output_amount


def test_a_block_that_is_replaced_while_it_is_read_is_noticed(trader: Trader, node: RpcNode) -> None:
    """A block of the same number and parent: only the latest block at the end of the exchange shows it."""
    stored, request = trader.market, QuoteRequest(order(trader), ApiVersion.V2)
    chain, send = trader.chain, node._rpc.send
    move(trader, "the parent")
    mark = chain.node.ask("evm_snapshot")
    _push(trader, "USDC", 10_000)
    replaced = False

    def turning(requests: Sequence[RpcRequest], *arguments: Any, **keywords: Any) -> list[object]:
        """Return the header of the first block, and all else from the one that replaces it."""
        nonlocal replaced
        header, closing = None, len(requests) - 1
        if not replaced:
            header = chain.node.ask("eth_getBlockByNumber", "latest", False)
            assert chain.node.ask("evm_revert", mark)
            trader.nonce = int(chain.node.ask("eth_getTransactionCount", USER, "latest"), 16)
            _push(trader, "USDC", 30_000)
            replaced = True
        results = send(requests, *arguments, **keywords)
        assert header is None or results[closing]["number"] == header["number"]  # type: ignore[index]
        return [header if header and at == 1 else each for at, each in enumerate(results)]

    node._rpc.send = turning  # type: ignore[method-assign]
    answer = live(stored, node).quote(request)
    fresh = InMemorySource(read_market(trader.world), SYSTEM_CLOCK).quote(request)
    assert answer.result.output_amount == fresh.result.output_amount


def test_a_block_that_ends_while_it_is_read_costs_one_more_round_trip(trader: Trader, node: RpcNode) -> None:
    """A node that runs a batch side by side: its calls have seen the block before the one that its headers name.

    Trials of transfers that came with it would cost another one.
    """
    stored, request = tried(trader.market), QuoteRequest(order(trader), ApiVersion.V2)
    move(trader, "the first block")
    send, sent = node._rpc.send, 0

    def side_by_side(requests: Sequence[RpcRequest], *arguments: Any, **keywords: Any) -> list[object]:
        nonlocal sent
        sent += 1
        if sent > 1:
            return [*send(requests, *arguments, **keywords)]
        early = send(requests, *arguments, **keywords)
        _push(trader, "USDC", 20_000)
        late = send(requests, *arguments, **keywords)
        is_call = [each.method == "eth_call" for each in requests]
        assert early != late
        return [before if called else after for before, after, called in zip(early, late, is_call, strict=True)]

    node._rpc.send = side_by_side  # type: ignore[method-assign]
    answer = live(stored, node).quote(request)
    fresh = InMemorySource(read_market(trader.world), SYSTEM_CLOCK).quote(request)
    assert answer.state_source.block == int(trader.chain.node.ask("eth_blockNumber"), 16)
    assert answer.result.output_amount == fresh.result.output_amount
    assert answer.state_source.pinned
    assert sent == 3, "the block, the first state of its pools, and the ticks that this names"


def test_only_candidate_pools_are_read(trader: Trader, node: RpcNode) -> None:
    answer = live(trader.market, node, Limits(first_pools=4)).quote(QuoteRequest(order(trader), ApiVersion.V2))
    assert 0 < len(answer.pools) < len(trader.market.pools)
    assert {step.pool for step in answer.quote.steps} <= answer.pools.keys()


def test_a_route_is_carried_out_on_what_its_pools_are_now(trader: Trader, node: RpcNode) -> None:
    stored = trader.market
    answer = live(stored, node).quote(QuoteRequest(order(trader), ApiVersion.V1))
    _push(trader, "USDC", 200_000)
    payload = live(stored, node).build(answer.result, SwapTerms(500_000, USER))
    assert payload.call.route.amount_out != answer.result.output_amount
    trade = trader.build_trade(answer.result, payload, read_market(trader.world).pools, "posted")
    assert trader.execute(trade).received == payload.call.route.amount_out


def test_a_reorg_between_route_and_execute_shows_in_the_replay(trader: Trader, node: RpcNode) -> None:
    stored, chain = trader.market, trader.chain
    mark = chain.node.ask("evm_snapshot")
    _push(trader, "USDC", 2_000_000)
    promised = live(stored, node).quote(QuoteRequest(order(trader), ApiVersion.V1))
    assert chain.node.ask("evm_revert", mark)
    chain.node.ask("anvil_mine", "0x3")
    trader.nonce = int(chain.node.ask("eth_getTransactionCount", USER, "latest"), 16)
    with pytest.raises(SlippageExceeded):
        live(stored, node).build(promised.result, SwapTerms(1_000, USER))


def _push(trader: Trader, sold: str, whole: int) -> None:
    """Make the other token dearer everywhere."""
    request = Order(trader.world.tokens[sold], trader.world.tokens[WETH], whole * 10 ** DECIMALS[sold])
    trader.execute(trader.quote_trade(request))


class Restless(RpcNode):
    """A node whose chain reorganises during the first few requests."""

    turns = 0

    def call_many(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        if self.turns:
            self.turns -= 1
            raise ChainReorganized("the chain was reorganized")
        return super().call_many(calls, at)


@pytest.mark.parametrize(("turns", "recovers"), [(2, True), (3, False)])
def test_a_reorg_during_a_read_is_retried_a_few_times(trader: Trader, turns: int, recovers: bool) -> None:
    chain: AnvilChain = trader.chain
    node = Restless([RpcEndpoint(f"http://127.0.0.1:{chain.node.port}", "restless")], trader.world.network.chain_id)
    node.turns = turns
    source = live(trader.market, node)
    with closing(node):
        if recovers:
            assert source.quote(QuoteRequest(order(trader), ApiVersion.V2)).result.output_amount > 0
        else:
            with pytest.raises(ChainReorganized):
                source.quote(QuoteRequest(order(trader), ApiVersion.V2))


@pytest.mark.parametrize(("torn", "recovers"), [(3, True), (40, False)])
def test_unpinned_reads_are_accepted_only_within_one_block(trader: Trader, torn: int, recovers: bool) -> None:
    """The block of a quote is correct, or there is no quote."""
    trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
    stored = trader.market._replace(network=trader.world.network)
    request = QuoteRequest(order(trader), ApiVersion.V2)
    with open_proxy(trader.chain.node.port) as proxy, connect_without_pauses(proxy.url) as node:
        tearing = ignores_block_numbers(lambda: move(trader, f"torn {proxy.methods}", 1))
        proxy.failures, proxy.always = [tearing] * torn, ignores_block_numbers()
        if not recovers:
            with pytest.raises(BlockMismatch):
                live(stored, node).quote(request)
            return
        answer = live(stored, node).quote(request)
        assert answer.state_source.pinned
        assert answer.state_source.block == node.read_head().block.number
        fresh = InMemorySource(read_market(trader.world), SYSTEM_CLOCK).quote(request)
        assert answer.result.output_amount == fresh.result.output_amount


def _at(seconds: float) -> Clock:
    return Clock(lambda: seconds, SYSTEM_CLOCK.monotonic_s)


def test_recent_state_is_reused_and_an_old_block_is_refused(trader: Trader, node: RpcNode) -> None:
    head: ChainHead = node.read_head()
    now = _at(head.block.timestamp + 30)
    stored = trader.market._replace(block=head.block.number, timestamp=head.block.timestamp)
    before = node.round_trips

    young = LiveSource(InMemorySource(stored, now), node, now, max_age_s=30)
    assert young.quote(QuoteRequest(order(trader), ApiVersion.V2)).state_source.provenance is Provenance.SYNCED
    assert young.state_source.provenance is Provenance.SYNCED
    assert node.round_trips == before

    picky = LiveSource(InMemorySource(stored, now), node, now, max_age_s=29)
    with pytest.raises(MarketUnavailable, match="30 seconds old"):
        picky.quote(QuoteRequest(order(trader), ApiVersion.V2))


def test_unreadable_pools_are_left_out_and_counted(trader: Trader, node: RpcNode) -> None:
    stored = trader.market
    nowhere = replace(_pair(stored), address="0x" + "ab" * 20, reserves=(10**30, 10**30))
    answer = live(stored._replace(pools={**stored.pools, nowhere.key: nowhere}), node).quote(
        QuoteRequest(order(trader), ApiVersion.V2)
    )
    assert nowhere.key not in answer.pools
    assert (
        answer.state_source.description
        == f"{node.redacted_url}: {len(stored.pools)} pools considered, 1 could not be read"
    )


def test_an_order_whose_pools_could_not_be_read_is_told_why(trader: Trader, node: RpcNode) -> None:
    stored = trader.market
    pair = _pair(stored)
    nowhere = [replace(pair, address="0x" + f"{number:02x}" * 20) for number in (0x11, 0x12)]
    with pytest.raises(NoRoute) as caught:
        live(stored._replace(pools={pool.key: pool for pool in nowhere}), node).quote(
            QuoteRequest(order(trader), ApiVersion.V2)
        )
    error = caught.value
    assert ": 0 pools tried; 2 pools could not be read: " in error.message
    assert error.hint == f"swapcli sync {stored.network.name} finds the pools that exist"
    assert error.details["unread_pools"] == 2


def test_pools_that_did_not_exist_at_a_past_block_are_called_that(trader: Trader, node: RpcNode) -> None:
    pairs = {key: pool for key, pool in trader.market.pools.items() if pool.family == "constant_product"}
    assert len(pairs) > 1
    market = trader.market._replace(pools=pairs)
    past = LiveSource(InMemorySource(market, SYSTEM_CLOCK), view_past_block(node, 0), SYSTEM_CLOCK, tag=None)
    with pytest.raises(NoRoute) as caught:
        past.quote(QuoteRequest(order(trader), ApiVersion.V2))
    error, count = caught.value, caught.value.details["unread_pools"]
    assert error.message.endswith(f"; {count} pools could not be read at block 0: they did not exist yet")
    assert error.hint == "choose a later block: --block N"


@pytest.mark.parametrize(
    ("reasons", "said"),
    [
        (
            ["fee(): returned 0 bytes, expected at least 32"],
            "1 pool could not be read at block 7: it did not exist yet",
        ),
        (
            ["reverted", "fee(): returned 0 bytes"],
            "2 pools could not be read at block 7: 1 of them did not exist yet",
        ),
        (["reverted", "out of gas"], "2 pools could not be read at block 7: reverted"),
    ],
)
def test_why_pools_of_a_past_block_were_not_read(reasons: list[str], said: str) -> None:
    assert with_unread_past_pools(NoRoute("no route"), reasons, 7).message == f"no route; {said}"


def _pair(market: MarketState) -> ConstantProduct:
    """A pair of the order's tokens, which a router would want."""
    return next(pool for pool in market.pools.values() if isinstance(pool, ConstantProduct) and not pool.is_solidly)


def test_made_up_addresses_are_not_asked_about(trader: Trader, node: RpcNode) -> None:
    stored = trader.market._replace(placeholder_pools=frozenset(trader.market.pools))
    with pytest.raises(NoRoute):
        live(stored, node).quote(QuoteRequest(order(trader), ApiVersion.V2))


def test_an_order_too_large_for_stored_state_is_quoted_live(trader: Trader, node: RpcNode) -> None:
    large_order = order(trader, whole=10)
    ends = {large_order.token_in.address, large_order.token_out.address}
    direct = {key: pool for key, pool in trader.market.pools.items() if set(pool.tokens) == ends}
    dry: dict[str, Pool] = {
        key: replace(pool, reserves=(1, 1)) for key, pool in direct.items() if isinstance(pool, ConstantProduct)
    }
    stored = trader.market._replace(pools=dry)
    with pytest.raises(NoRoute):
        InMemorySource(stored, SYSTEM_CLOCK).quote(QuoteRequest(large_order, ApiVersion.V2))
    assert live(stored, node).quote(QuoteRequest(large_order, ApiVersion.V2)).result.output_amount > 0


def test_wrapping_and_wrong_orders_need_no_pools(trader: Trader, node: RpcNode) -> None:
    network, source = trader.world.network, live(trader.market, node)
    assert network.wrapped_native is not None
    wrap = source.quote(QuoteRequest(Order(network.native, network.wrapped_native, 10**18), ApiVersion.V2))
    assert wrap.result.output_amount == 10**18
    assert wrap.state_source.provenance is Provenance.LIVE
    with pytest.raises(SameToken):
        source.quote(QuoteRequest(Order(network.native, network.native, 10**18), ApiVersion.V2))


def test_the_l1_fee_is_read_in_the_same_rounds_and_reported(trader: Trader) -> None:
    oracle = RealOracle(trader.chain)
    oracle.set(L1FeeParams(7 * 10**9, 10**6, 2_269, 1_055_762))
    trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
    stored = tried(trader.market)._replace(network=trader.world.network._replace(l1_fee_oracle=ORACLE))
    with connected(trader.chain) as node:
        request = QuoteRequest(order(trader), ApiVersion.V2)
        answer, payload = quote_and_build(live(stored, node), request, SwapTerms(0, USER))
        assert node.round_trips <= 3
        plain = live(stored._replace(network=trader.world.network), node).quote(request)
        costs_wei = answer.result.gas_cost_wei, plain.result.gas_cost_wei
        assert costs_wei[0] is not None
        assert costs_wei[1] is not None
        assert costs_wei[0] - costs_wei[1] == answer.quote.l1_fee_wei > 0
        rough = live(stored, node).quote(request).quote
        assert rough is not None
        assert rough.l1_fee_wei == pytest.approx(answer.quote.l1_fee_wei, rel=0.05)
        assert l1_fee_from_oracle(oracle, payload) == pytest.approx(answer.quote.l1_fee_wei, rel=0.02)


def l1_fee_from_oracle(oracle: RealOracle, payload: UnsignedTransaction) -> int:
    """Return the fee that the network's contract computes for a similar transaction."""
    sent = Transaction(payload.to, payload.calldata, payload.value)
    return oracle.fee_wei(encode_unsigned(sent, CHAIN_ID, 7, GasFees(300_000, 10**9, 10**9)))


def test_the_gas_for_l1_data_is_asked_from_outside_and_part_of_every_figure(trader: Trader) -> None:
    model = trader.chain.place(NODE_INTERFACE, compile_solidity("l1_gas.sol")["NodeInterface"])
    model.send("set", 3 * 10**8, 10**7)
    trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
    stored = tried(trader.market)._replace(network=trader.world.network._replace(l1_gas_oracle=NODE_INTERFACE))
    with connected(trader.chain) as node:
        request = QuoteRequest(order(trader), ApiVersion.V2)
        answer, payload = quote_and_build(live(stored, node), request, SwapTerms(0, USER))
        size = len(bytes.fromhex(payload.calldata[2:]))
        units = (16 * size + 256) * 10_100 // 10_000
        expected = 3 * 10**8 * units * 11_000 // 10_000 // 10**7
        assert answer.quote.l1_gas_units == expected
        plain, plain_payload = quote_and_build(
            live(stored._replace(network=trader.world.network), node), request, SwapTerms(0, USER)
        )
        assert answer.quote.gas_units - plain.quote.gas_units == expected
        assert payload.gas_units is not None
        assert payload.gas_units == (plain_payload.gas_units or 0) + expected
        figures = compute_figures(answer, SwapTerms(0, USER), payload)
        assert figures.l1_fee_wei == expected * answer.quote.gas_price_wei
        assert answer.result.gas_cost_wei == answer.quote.gas_units * answer.quote.gas_price_wei
        rough = live(stored, node).quote(request).quote
        assert rough is not None
        assert rough.l1_gas_units == pytest.approx(expected, rel=0.05)
        again = live(stored, node)
        rebuilt = again.build(answer.result, SwapTerms(0, USER))
        assert rebuilt.gas_units is not None
        assert rebuilt.gas_units - expected == pytest.approx(plain.quote.gas_units, rel=0.2)


def test_a_node_that_cannot_say_the_gas_for_l1_data_is_quoted_without_it(trader: Trader) -> None:
    stored = tried(trader.market)._replace(network=trader.world.network._replace(l1_gas_oracle=NODE_INTERFACE))
    with connected(trader.chain) as node:
        request = QuoteRequest(order(trader), ApiVersion.V2)
        assert live(stored, node).quote(request).quote.l1_gas_units == 0
        model = trader.chain.place(NODE_INTERFACE, compile_solidity("l1_gas.sol")["NodeInterface"])
        model.send("set", 10**8, 0)  # it divides by zero, and reverts
        assert live(stored, node).quote(request).quote.l1_gas_units == 0


def test_orders_close_in_time_share_a_block_and_its_reads(trader: Trader, node: RpcNode) -> None:
    source = live(trader.market, node)
    first = source.quote(QuoteRequest(order(trader), ApiVersion.V2))
    trips = node.round_trips
    second = source.quote(QuoteRequest(order(trader, "USDC", "DAI", 500), ApiVersion.V2))
    assert first.state_source.block == second.state_source.block
    assert node.round_trips == trips


def test_health_is_that_of_a_live_quote(trader: Trader, node: RpcNode) -> None:
    health = live(trader.market, node).health()
    assert health.is_healthy
    assert health.state_source is not None
    assert health.state_source.provenance is Provenance.LIVE
    assert "live" in health.message

    silent = RpcNode([RpcEndpoint("http://127.0.0.1:9", "silent")], 1, NodePolicy(timeout_s=0.2, attempts=1))
    ill = live(trader.market, silent).health()
    assert not ill.is_healthy
    assert "silent" in ill.message


def test_a_node_that_does_not_answer_is_told_of(trader: Trader) -> None:
    with socket.socket() as unresponsive:
        unresponsive.bind(("127.0.0.1", 0))
        unresponsive.listen()
        url = f"http://127.0.0.1:{unresponsive.getsockname()[1]}"
        node = RpcNode([RpcEndpoint(url, "mute")], trader.world.network.chain_id, NodePolicy(timeout_s=0.2, attempts=1))
        with pytest.raises(UpstreamTimeout, match="mute"):
            live(trader.market, node).quote(QuoteRequest(order(trader), ApiVersion.V2))


def test_a_posted_route_over_pools_that_nobody_knows_is_no_route(trader: Trader, node: RpcNode) -> None:
    result = live(trader.market, node).quote(QuoteRequest(order(trader), ApiVersion.V1)).result
    few = trader.market._replace(pools={})
    with pytest.raises(InvalidRoute):
        live(few, node).build(result, SwapTerms(1_000, USER))


def test_random_posted_routes_are_carried_out_live(trader: Trader, node: RpcNode) -> None:
    stored, rng = trader.market, Random("posted live")
    move(trader, "before posted ones")
    for _ in range(6):
        large_order = order(trader, whole=rng.randint(1, 20))
        route = random_route(rng, stored.pools, large_order.token_in.address, large_order.token_out.address)
        trade: Trade = trader._build_trade_of_route(route, large_order, None, USER)
        payload = live(stored, node).build(trade.result, SwapTerms(0, USER))
        assert payload == trade.payload._replace(witnesses=1)
        assert trader.execute(trade).received == payload.call.route.amount_out
        assert ZERO_ADDRESS not in (payload.call.route.token_in, payload.call.route.token_out)


def test_a_part_of_a_balance_is_that_of_the_quotes_block(trader: Trader, node: RpcNode) -> None:
    source, sender = live(trader.market, node), "0x" + "98" * 20
    trader.world.give("USDC", sender, 1_000 * 10**6)
    half = BalanceOrder(parse_notation("50%"), order(trader, "USDC", WETH), sender, node)
    trader.world.give("USDC", sender, 500 * 10**6)  # the balance grows between its first reading and the quote
    assert half.order.amount == 500 * 10**6
    assert not half.settle(source.quote(QuoteRequest(half.order, ApiVersion.V1)))
    assert half.order.amount == 750 * 10**6
    answer, part = source.quote(QuoteRequest(half.order, ApiVersion.V1)), half.part
    assert half.settle(answer)
    assert (part.amount, part.balance, part.gas_wei) == (750 * 10**6, 1_500 * 10**6, 0)
    assert answer.state_source.block == part.block
    assert read_balance(node, part.block, sender, answer.order.token_in) == part.balance
