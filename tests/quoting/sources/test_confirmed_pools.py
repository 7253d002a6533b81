"""Witnesses of a payload read the pools that its own quote has read, and none of other orders."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

import pytest

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.transfer_behaviour import ORDINARY
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.live import LiveSource
from swapcli.quoting.sources.live_search import Limits
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.rpc.witness_node import WitnessNode
from tests.chain.contract_fixture import DECIMALS
from tests.chain.failure_modes import connect_without_pauses
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.server import RpcAnswer, RpcRequest
from tests.chain.proxy import Proxy, open_proxy, rewrites
from tests.chain.trader import USER, Trader

TERMS = SwapTerms(0, USER)
FEW = Limits(first_pools=1)


class ReadNode(NamedTuple):
    """A node, and the calldata of the calls that it was sent."""

    node: RpcNode
    calldata: list[str]


class OneWitness:
    """`Witnesses` of one other node."""

    first_host, description, required = "first", "first", 2

    def __init__(self, node: RpcNode, multicall: str) -> None:
        self._node, self._multicall = node, multicall

    def candidates(self) -> Iterator[WitnessNode]:
        yield WitnessNode(self._node, "second", self._multicall, block_time_s=60.0, close_node=bool)


class Bench:
    """A trader's market, and nodes of its chain."""

    def __init__(self, trader: Trader, stack: ExitStack) -> None:
        self._trader, self._stack = trader, stack
        self.multicall = deploy_multicall(trader.chain)
        network = trader.world.network._replace(multicall=self.multicall)
        # Trials of transfers name pools too.
        transfers = dict.fromkeys(trader.market.tokens, ORDINARY)
        self.market = trader.market._replace(network=network, transfers=transfers)

    def node(self) -> ReadNode:
        calldata: list[str] = []

        def record(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
            calldata.extend(each["params"][0]["data"] for each in requests if each["method"] == "eth_call")
            return proxy.answer(requests)

        proxy = self._stack.enter_context(open_proxy(self._trader.chain.node.port))
        proxy.always = rewrites(record)
        return ReadNode(self._stack.enter_context(connect_without_pauses(proxy.url)), calldata)

    def source(self, node: ReadNode, witness: ReadNode | None = None) -> LiveSource:
        witnesses = OneWitness(witness.node, self.multicall) if witness else None
        known = InMemorySource(self.market, SYSTEM_CLOCK)
        return LiveSource(known, node.node, SYSTEM_CLOCK, limits=FEW, witnesses=witnesses)

    def request(self, sold: str, bought: str) -> QuoteRequest:
        tokens = self._trader.world.tokens
        return QuoteRequest(Order(tokens[sold], tokens[bought], 10 ** DECIMALS[sold]), ApiVersion.V2)

    def pools_in(self, calldata: list[str]) -> set[str]:
        """Return the pools whose contracts are called, except those that share a contract with others."""
        sent = "".join(calldata)
        pools = self.market.pools.values()
        addresses = [pool.address for pool in pools]
        return {each.key for each in pools if addresses.count(each.address) == 1 and each.address[2:] in sent}

    def read_alone(self, request: QuoteRequest) -> set[str]:
        """Return the pools that an order alone has its node read."""
        node = self.node()
        self.source(node).quote(request)
        return self.pools_in(node.calldata)


@pytest.fixture
def bench(trader: Trader) -> Iterator[Bench]:
    with ExitStack() as stack:
        yield Bench(trader, stack)


def test_a_witness_reads_no_pools_of_earlier_orders(bench: Bench) -> None:
    request, others = bench.request("WETH", "USDC"), [bench.request("TKN", "DAI"), bench.request("USDT", "WBTC")]
    own = bench.read_alone(request)
    assert own < set().union(own, *map(bench.read_alone, others))
    node, witness = bench.node(), bench.node()
    source = bench.source(node, witness)
    first = source.quote(request)
    for other in others:
        source.quote(other)
    assert source.build(first, TERMS).witnesses == 2
    assert bench.pools_in(witness.calldata) == own


@pytest.mark.parametrize("is_known_block", [False, True])
def test_a_witness_reads_no_pools_of_orders_that_wait(bench: Bench, is_known_block: bool) -> None:
    request, other, earlier = (bench.request(*pair) for pair in (("WETH", "USDC"), ("TKN", "DAI"), ("USDT", "WBTC")))
    own = bench.read_alone(request)
    assert not bench.read_alone(other) <= own
    node, witness = bench.node(), bench.node()
    source = bench.source(node, witness)
    if is_known_block:
        source.quote(earlier)
    joined = source.joined
    with joined.joined(lambda: other), joined.joined(lambda: request) as order, joined.turn(order):
        payload = source.quote(request, TERMS).payload
    assert payload is not None
    assert payload.witnesses == 2
    assert bench.pools_in(witness.calldata) == own


def _same(request: QuoteRequest) -> QuoteRequest:
    return request


def test_orders_that_wait_share_the_read_after_that_of_a_payload(bench: Bench) -> None:
    requests = [bench.request(*pair) for pair in (("WETH", "USDC"), ("TKN", "DAI"), ("USDT", "WBTC"))]
    amounts = [bench.source(bench.node()).quote(each).result.output_amount for each in requests]
    node, witness = bench.node(), bench.node()
    source = bench.source(node, witness)
    found = []
    with ExitStack() as stack:
        orders = [stack.enter_context(source.joined.joined(partial(_same, each))) for each in requests]
        for request, order, terms in zip(requests, orders, (TERMS, None, None), strict=True):
            with source.joined.turn(order):
                before = node.node.round_trips
                found.append(source.quote(request, terms).result.output_amount)
    assert found == amounts
    assert node.node.round_trips == before, "the second order has read for the third"
