"""What a node reports of transactions before they are signed, and what it leaves out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.order import Order
from swapcli.core.model.transaction import Transaction, UnsignedTransaction
from swapcli.core.networks.catalogue import find_network
from swapcli.payload.evm import build_approval, build_transactions
from swapcli.payload.signing.signing_fields import SigningFields, SwapGas, read_signing_plan
from swapcli.payload.signing.signing_values import GasForecast, read_transaction_forecast
from swapcli.state.rpc.fee_history import FeeHistory
from swapcli.state.rpc.json_rpc_client import RpcError, RpcRequest, RpcResult
from swapcli.state.rpc.node import StateOverride
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.transfers.token_slots import find_grants
from tests.chain.contract_fixture import DECIMALS, WETH
from tests.chain.trader import USER, Trader

ARBITRUM, BASE, MONAD, HYPEREVM = (find_network(name) for name in ("arbitrum", "base", "monad", "hyperevm"))
SENDER, ROUTER, TOKEN = ("0x" + digits * 20 for digits in ("5e", "c0", "70"))
SWAP = Transaction(ROUTER, "0x1234", 10**18)
APPROVAL = build_approval(TOKEN, ROUTER, 10**6)
FEES = {
    "baseFeePerGas": ["0x64", "0x70", "0x80"],
    "gasUsedRatio": [0.5, 0.25],
    "reward": [["0x9"], ["0x5"]],
}
LIST = [{"address": TOKEN, "storageKeys": ["0x" + "0a" * 32]}]
OWN = SwapGas(own_estimate=125_000)
UNSUPPORTED = RpcError(-32601, "the method is not supported")


class ReplyingNode:
    """A node with these results by method; it lacks all other methods."""

    def __init__(self, **results: object) -> None:
        self.results: Mapping[str, object] = results
        self.exchanges: list[Sequence[RpcRequest]] = []

    def send_optional(self, requests: Sequence[RpcRequest]) -> list[RpcResult]:
        self.exchanges.append(requests)
        return [self.results.get(each.method, UNSUPPORTED) for each in requests]


def simulated(*calls: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"calls": list(calls)}]


def succeeded(gas: int) -> dict[str, Any]:
    return {"status": "0x1", "gasUsed": hex(gas)}


def test_one_exchange_reads_nonce_gas_and_fees() -> None:
    node = ReplyingNode(
        eth_getTransactionCount="0x7",
        eth_feeHistory=FEES,
        eth_estimateGas="0xc350",
        eth_simulateV1=simulated(succeeded(40_000), succeeded(160_000)),
    )
    plan = read_signing_plan(node, SENDER, (APPROVAL, SWAP), MONAD, OWN)
    assert len(node.exchanges) == 1
    assert plan.fields == (
        SigningFields(7, 60_000, 2 * 0x80 + 5, 5),
        SigningFields(8, 160_000 * 5 // 4 * 6 // 5, 2 * 0x80 + 5, 5),
    )
    assert plan.failure == ""


def test_gas_before_refunds_is_used_if_the_node_has_it() -> None:
    call = succeeded(160_000) | {"maxUsedGas": hex(170_000)}
    node = ReplyingNode(eth_estimateGas="0x1", eth_simulateV1=simulated(succeeded(40_000), call))
    assert read_transaction_forecast(node, SENDER, (APPROVAL, SWAP), with_access_list=False).gas[1].peak == 170_000


def test_a_node_without_the_methods_leaves_only_our_estimates() -> None:
    plan = read_signing_plan(ReplyingNode(), SENDER, (APPROVAL, SWAP), MONAD, OWN)
    assert plan.fields == (SigningFields(None, 72_000, None, None), SigningFields(None, 150_000, None, None))
    assert plan.failure == UNSUPPORTED.message
    assert read_signing_plan(ReplyingNode(), SENDER, (SWAP,), MONAD, SwapGas()).fields[0].gas is None


MALFORMED: list[object] = [None, 5, "x", "0x", [], [5], [{}], [{"calls": [5]}], {}, {"baseFeePerGas": []}]
MALFORMED += [
    [{"calls": [{"status": "0x1"}]}],
    FEES | {"reward": [["x"], ["0x1"]]},
    {"accessList": 5, "gasUsed": "0x1"},
]


@pytest.mark.parametrize("malformed", MALFORMED, ids=str)
def test_malformed_results_are_unknown(malformed: object) -> None:
    methods = ("eth_getTransactionCount", "eth_feeHistory", "eth_estimateGas", "eth_simulateV1", "eth_createAccessList")
    forecast = read_transaction_forecast(
        ReplyingNode(**dict.fromkeys(methods, malformed)), SENDER, (SWAP,), with_access_list=True
    )
    assert forecast == (None, None, (GasForecast(failure=forecast.gas[0].failure),), (), None)


@pytest.mark.parametrize(
    ("rewards", "ratios", "tip_wei"),
    [
        (["0x9", "0x5", "0x1"], [0.5, 0.5, 0.5], 5),
        (["0x9", "0x0", "0x0"], [0.5, 0.0, 0.0], 9),
        (["0x0", "0x0", "0x0"], [0.0, 0.0, 0.0], 1),
        (["0x0", "0x0", "0x0"], [0.5, 0.5, 0.5], 1),
    ],
)
def test_the_priority_fee_is_that_of_used_blocks(rewards: list[str], ratios: list[float], tip_wei: int) -> None:
    history = {"baseFeePerGas": ["0x64"] * 4, "gasUsedRatio": ratios, "reward": [[each] for each in rewards]}
    (fields,) = read_signing_plan(ReplyingNode(eth_feeHistory=history), SENDER, (SWAP,), MONAD, OWN).fields
    assert (fields.max_priority_fee_wei, fields.max_fee_wei) == (tip_wei, 200 + tip_wei)


@pytest.mark.parametrize(("used_with", "is_listed"), [(149_000, True), (150_000, False), (151_000, False)])
def test_an_access_list_must_save_gas(used_with: int, is_listed: bool) -> None:
    node = ReplyingNode(
        eth_estimateGas=hex(170_000),
        eth_simulateV1=simulated(succeeded(150_000)),
        eth_createAccessList={"accessList": LIST, "gasUsed": hex(used_with)},
    )
    for network, listed in ((MONAD, is_listed), (BASE, False), (ARBITRUM, False)):
        (fields,) = read_signing_plan(node, SENDER, (SWAP,), network, SwapGas()).fields
        assert fields.access_list == (((TOKEN, ("0x" + "0a" * 32,)),) if listed else ())
        assert fields.gas == 170_000 * 6 // 5


def test_gas_is_estimated_as_if_the_approval_were_there() -> None:
    node = ReplyingNode(eth_estimateGas=hex(50_000))
    grant = StateOverride(TOKEN, slots=((7, 10**6),))
    arguments = (node, SENDER, (APPROVAL, SWAP), MONAD, OWN)
    assert read_signing_plan(*arguments, find_grants=lambda: [grant]).fields[1].gas == 60_000
    (request,) = node.exchanges[1]
    overrides = {TOKEN: {"stateDiff": {f"0x{7:064x}": f"0x{10**6:064x}"}}}
    assert (request.params[0]["data"], request.params[2]) == (SWAP.calldata, overrides)  # type: ignore[index]


def test_gas_that_nobody_knows_is_left_out() -> None:
    arguments = (ReplyingNode(eth_estimateGas=hex(50_000)), SENDER, (APPROVAL, SWAP), MONAD)
    assert [each.gas for each in read_signing_plan(*arguments, OWN).fields] == [60_000, None]
    assert read_signing_plan(*arguments, SwapGas(simulated=200_000)).fields[1].gas == 240_000


@pytest.mark.parametrize("tag", BlockTag)
def test_gas_is_estimated_on_the_block_of_the_quote(tag: BlockTag) -> None:
    node = ReplyingNode()
    read_signing_plan(node, SENDER, (SWAP,), MONAD, OWN, tag=tag)
    tags = {each.method: each.params[1] for each in node.exchanges[0]}
    estimates = ("eth_estimateGas", "eth_simulateV1", "eth_createAccessList")
    assert [tags[method] for method in estimates] == [tag] * 3
    assert (tags["eth_getTransactionCount"], tags["eth_feeHistory"]) == ("pending", "latest")


class NodeWithoutSimulation:
    """A node that cannot execute several transactions in a row."""

    def __init__(self, node: RpcNode) -> None:
        self.node = node

    def send_optional(self, requests: Sequence[RpcRequest]) -> list[RpcResult]:
        results = self.node.send_optional(requests)
        return [
            UNSUPPORTED if r.method == "eth_simulateV1" else each for r, each in zip(requests, results, strict=True)
        ]


@pytest.mark.parametrize("symbol", sorted(DECIMALS))
def test_gas_after_an_approval_is_enough(trader: Trader, node: RpcNode, symbol: str) -> None:
    bought = "USDC" if symbol != "USDC" else "DAI"
    token = trader.world.tokens[symbol]
    payload = trader.quote_trade(Order(token, trader.world.tokens[bought], 10**token.decimals)).payload
    check_gas_after_approvals(trader, node, payload)


def check_gas_after_approvals(trader: Trader, node: RpcNode, payload: UnsignedTransaction) -> None:
    transactions = build_transactions(payload)

    def grants() -> list[StateOverride] | None:
        at = node.read_head().block
        return find_grants(node, at, USER, payload.approvals, (0,) * len(payload.approvals))

    network = trader.world.network
    plan = read_signing_plan(NodeWithoutSimulation(node), USER, transactions, network, OWN, find_grants=grants)
    whole = read_signing_plan(node, USER, transactions, network, OWN)
    gas, simulated = plan.fields[-1].gas, whole.fields[-1].gas
    assert gas is not None
    assert simulated is not None
    with trader.chain.revert_after():
        receipts = [trader.send(each) for each in transactions]
    trader.nonce -= len(transactions)
    assert receipts[-1].succeeded
    assert receipts[-1].gas_used <= gas <= simulated * 1.02


def test_a_failing_simulation_names_the_reason() -> None:
    failure = {"status": "0x0", "gasUsed": "0x5208", "error": {"message": "execution reverted: too little"}}
    node = ReplyingNode(eth_estimateGas="0xc350", eth_simulateV1=simulated(succeeded(40_000), failure))
    plan = read_signing_plan(node, SENDER, (APPROVAL, SWAP), MONAD, OWN)
    assert plan.failure == "execution reverted: too little"
    assert plan.fields[1].gas == 150_000


@pytest.mark.parametrize(("estimate", "gas"), [(2_000_000, 2_400_000), (2_900_000, 3_000_000), (3_100_000, 3_100_000)])
def test_the_margin_ends_at_the_block_limit(estimate: int, gas: int) -> None:
    node = ReplyingNode(eth_estimateGas=hex(estimate))
    assert read_signing_plan(node, SENDER, (SWAP,), HYPEREVM, SwapGas()).fields[0].gas == gas


def test_a_real_node_reports_everything(trader: Trader, node: RpcNode) -> None:
    order = Order(trader.world.tokens[WETH], trader.world.tokens["USDC"], 10**18)
    payload = trader.quote_trade(order).payload
    approval = build_approval(payload.call.route.token_in, payload.to, 10**18)
    swap = Transaction(payload.to, payload.calldata, payload.value)
    before = node.round_trips
    forecast = read_transaction_forecast(node, USER, (approval, swap), with_access_list=True)
    assert node.round_trips == before + 1
    assert forecast.nonce == trader.nonce
    assert isinstance(forecast.fees, FeeHistory)
    assert all(gas.used and gas.peak and not gas.failure for gas in forecast.gas)
    alone = read_transaction_forecast(node, USER, (swap,), with_access_list=True)
    assert alone.gas[0].peak is None
    assert "revert" in alone.gas[0].failure
