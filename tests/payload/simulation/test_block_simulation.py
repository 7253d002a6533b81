"""Transactions are simulated with the fees, balances and code that they will have."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.families.reading.calls import ReturnData
from swapcli.payload.evm.simulation import SimulatedCall, SimulationStatus
from swapcli.payload.simulation.block_simulation import (
    BlockSwap,
    TransactionContext,
    read_context,
)
from swapcli.payload.simulation.simulated_reads import run_simulated, simulated
from swapcli.state.rpc.node import BlockId, BlockOutcome, HypotheticalCall, SimulatedBlock
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from tests.chain.proxy import Proxy, open_proxy, without
from tests.chain.test_disguised_tokens import BASE_FEE_WEI, MINER, start_fees
from tests.chain.trader import USER, Trader
from tests.support.old_node import OldNode

POOR = "0x" + "90" * 20


class FreeNode(OldNode):
    """A node that simulates blocks, but without fees."""

    def simulate_blocks(
        self, blocks: Sequence[SimulatedBlock], calls: Sequence[HypotheticalCall], at: BlockId
    ) -> tuple[list[BlockOutcome], list[ReturnData]]:
        free = [each._replace(base_fee_wei=0, gas_price_wei=0) for each in blocks]
        return self._node.simulate_blocks(free, calls, at)


def context_on(node: RpcNode | OldNode, *owners: str, gas_price_wei: int = 0) -> TransactionContext:
    context = run_simulated(node, node.read_head().block, read_context(owners, gas_price_wei))
    assert context is not None
    return context


def test_the_context_is_that_of_the_block(trader: Trader, node: RpcNode) -> None:
    start_fees(trader)
    head = node.read_head().block
    context = context_on(node, USER, POOR, gas_price_wei=5)
    assert context.can_simulate_blocks
    assert (context.timestamp, context.base_fee_wei) == (head.timestamp, head.base_fee_wei)
    assert context.fee_recipient == int(MINER, 16)
    assert context.gas_price_wei == head.base_fee_wei + head.base_fee_wei // 10
    assert context.balances_wei == {USER: 10**19, POOR: 0}
    assert context_on(node, USER, gas_price_wei=7 * BASE_FEE_WEI).gas_price_wei == 7 * BASE_FEE_WEI
    trader.chain.node.ask("anvil_setCoinbase", ZERO_ADDRESS)


def test_a_node_that_ignores_fees_is_not_believed(node: RpcNode) -> None:
    assert context_on(node, USER).can_simulate_blocks
    assert not context_on(FreeNode(node), USER).can_simulate_blocks
    assert not context_on(OldNode(node), USER).can_simulate_blocks


def test_a_node_without_the_method_costs_no_more_round_trips(trader: Trader) -> None:
    with open_proxy(trader.chain.node.port) as proxy:
        proxy.always = without("eth_simulateV1")
        check_one_round_trip(proxy)


def check_one_round_trip(proxy: Proxy) -> None:
    node = RpcNode(
        [RpcEndpoint(f"http://127.0.0.1:{proxy.server_port}", "old")], 31_337, NodePolicy(pause=lambda _: None)
    )
    at, before = node.read_head().block, node.round_trips
    context = run_simulated(node, at, read_context([USER], 0))
    assert context is not None
    assert (context.can_simulate_blocks, node.round_trips - before) == (False, 1)
    node.close()


@pytest.mark.parametrize(("sold", "bought"), [("USDC", "ETH"), ("ETH", "USDC")])
def test_what_is_received_does_not_count_gas(trader: Trader, node: RpcNode, sold: str, bought: str) -> None:
    tokens = {**trader.world.tokens, "ETH": trader.world.network.native}
    trade = trader.quote_trade(Order(tokens[sold], tokens[bought], 10 ** tokens[sold].decimals), recipient=USER)
    start_fees(trader)
    planned = BlockSwap(SimulatedCall.from_payload(trade.payload), USER, (0,), (), context_on(node, USER))
    if sold == "ETH":
        planned = planned._replace(allowances=())
    (outcome,) = run_simulated(node, node.read_head().block, simulated([planned.block()]))
    result = planned.read(outcome)
    assert result is not None
    assert (result[0].status, result[0].received) == (SimulationStatus.DONE, trade.amount_due)


def test_only_senders_without_code_are_validated(trader: Trader, node: RpcNode) -> None:
    trade = trader.quote_trade(Order(trader.world.network.native, trader.world.tokens["USDC"], 10**18), recipient=USER)
    planned = BlockSwap(SimulatedCall.from_payload(trade.payload), USER, (), (), context_on(node, USER))
    assert planned.block().is_validated
    assert not planned._replace(with_code=frozenset([USER])).block().is_validated
