"""The verdict on a swap: what a token does after it was bought is seen before anyone signs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import permutations

import pytest

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.finding import FindingCode, Level
from swapcli.core.model.market import Provenance
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.token import Token
from swapcli.payload.checks.simulated_variants import TradedTokens
from swapcli.payload.verdict.swap_rehearsal import JudgedSwap, judge_swap
from swapcli.payload.verdict.verdict import Verdict
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from tests.chain.market_reader import read_market
from tests.chain.odd_tokens import STETH_POT, UNIT, add_token, open_pair
from tests.chain.trader import USER, Trader
from tests.support.chain import restored

POOR = "0x" + "90" * 20
BOB = "0x" + "b0" * 20


@pytest.fixture(scope="module")
def odd_trader(shared_trader: Trader) -> Iterator[Trader]:
    with restored(shared_trader) as trader:
        yield trader


@pytest.fixture
def trader(odd_trader: Trader) -> Iterator[Trader]:
    with restored(odd_trader) as trader:
        yield trader


def judge(
    trader: Trader,
    node: RpcNode,
    sold: Token,
    bought: Token,
    amount: int,
    *,
    recipient: str = BOB,
    sender: str | None = None,
    change: Callable[[], object] = lambda: None,
    origin: StateSource | None = None,
) -> Verdict:
    """The verdict on an order that was quoted on the chain's state, which `change` alters before the rehearsal."""
    source = InMemorySource(trader.market, SYSTEM_CLOCK)
    request = QuoteRequest(Order(sold, bought, amount), ApiVersion.V2)
    answer, payload = quote_and_build(source, request, SwapTerms(5_000, recipient))
    change()
    origin = origin or StateSource(Provenance.LIVE, "the node", node.read_head().block.number)
    tokens = TradedTokens(sold, bought, trader.world.network.native)
    swap = JudgedSwap(payload, answer.result, answer.pools, answer.network, tokens, origin)
    return judge_swap(node, swap, sender)


def buy_odd(trader: Trader, node: RpcNode, kind: str, *arguments: object, **options: object) -> Verdict:
    """The verdict on buying a new token of a kind, which knows its pair if it can."""
    contract = add_token(trader.world, kind, *arguments)
    place = open_pair(trader.world, "ODD")
    if any(entry.get("name") == "setPool" for entry in contract.abi):
        contract.send("setPool", place.contract.address)
    trader.market = read_market(trader.world)
    tokens = trader.world.tokens
    return judge(trader, node, tokens["DAI"], tokens["ODD"], 100 * UNIT, **options)  # type: ignore[arg-type]


def codes(verdict: Verdict) -> list[str]:
    return [reason.code for reason in verdict.findings]


def test_plain_tokens_are_ok_and_are_sold_at_the_expected_price(trader: Trader, node: RpcNode) -> None:
    tokens = [*trader.world.tokens.values(), trader.world.network.native]
    for sold, bought in permutations(tokens, 2):
        for sender, recipient in ((None, BOB), (USER, USER), (POOR, BOB)):
            verdict = judge(trader, node, sold, bought, 7 * 10**sold.decimals, sender=sender, recipient=recipient)
            assert verdict.level is Level.INFO, (sold, bought, verdict)
            assert verdict.facts.received
            for sale in verdict.facts.sales:
                assert sale.received
                assert sale.expected in (sale.received, None)
            is_pooled = bought.address != ZERO_ADDRESS and {sold.symbol, bought.symbol} != {"ETH", "WETH"}
            assert bool(verdict.facts.sales) == is_pooled, (sold, bought)


@pytest.mark.parametrize(
    ("kind", "arguments", "expected"),
    [
        ("TrapCoin", (), [FindingCode.CANNOT_BE_SOLD]),
        ("FeeCoin", (0, 30_000, 0), [FindingCode.TAXED_ON_SALE]),
        ("FeeCoin", (0, 1_000, 0), [FindingCode.TAXED_ON_SALE]),
        ("FeeCoin", (0, 1_000_000, 0), [FindingCode.CANNOT_BE_SOLD]),
        ("FeeCoin", (20_000, 0, 0), [FindingCode.SWAP_REVERTS]),
        ("FeeCoin", (0, 0, 20_000), [FindingCode.SWAP_REVERTS]),
        ("FalseCoin", (), [FindingCode.SWAP_REVERTS]),
        ("GasCoin", (), [FindingCode.SWAP_REVERTS]),
        ("LimitedCoin", (10**18,), [FindingCode.SWAP_REVERTS]),
        ("GenerousCoin", (), [FindingCode.CANNOT_BE_SOLD, FindingCode.BALANCE_IRREGULAR]),
        ("ShareCoin", (STETH_POT,), []),
    ],
)
def test_a_token_is_judged_by_what_it_does(
    trader: Trader, node: RpcNode, kind: str, arguments: tuple[object, ...], expected: list[FindingCode]
) -> None:
    verdict = buy_odd(trader, node, kind, *arguments)
    assert codes(verdict) == expected, verdict
    assert (verdict.level is Level.INFO) == (not expected)


def test_a_swap_that_reverts_now_blocks(trader: Trader, node: RpcNode) -> None:
    tokens = trader.world.tokens
    trade = trader.quote_trade(Order(tokens["USDC"], tokens["DAI"], 10**13))
    verdict = judge(trader, node, tokens["USDC"], tokens["DAI"], 10**9, change=lambda: trader.execute(trade))
    assert verdict.level is Level.BLOCK
    assert codes(verdict) == [FindingCode.SWAP_REVERTS]
    assert "ReceivedTooLittle" in verdict.findings[0].message
    assert (verdict.facts.received, verdict.facts.sales) == (None, ())


def test_a_quote_of_unknown_state_is_ok_if_it_pays_its_minimum(trader: Trader, node: RpcNode) -> None:
    tokens = trader.world.tokens
    origin = StateSource(Provenance.MODELLED, "a table")
    verdict = judge(trader, node, tokens["USDC"], tokens["DAI"], 10**9, origin=origin)
    assert verdict.level is Level.INFO
    assert [sale.expected for sale in verdict.facts.sales] == [None] * len(verdict.facts.sales)


def test_a_node_that_cannot_simulate_leaves_a_warning(trader: Trader) -> None:
    tokens = trader.world.tokens
    dead = RpcNode([RpcEndpoint("http://127.0.0.1:9", "a dead node")], 1, NodePolicy(pause=lambda _: None))
    origin = StateSource(Provenance.LIVE, "the node", 1)
    with closing(dead):
        verdict = judge(trader, dead, tokens["USDC"], tokens["DAI"], 10**9, origin=origin)
    assert (verdict.level, codes(verdict)) == (Level.WARN, [FindingCode.NOT_SIMULATED])
    assert verdict.facts.block is None


@pytest.mark.parametrize(("sold", "trips"), [("ETH", 2), ("USDC", 2)])
def test_a_rehearsal_takes_two_round_trips(trader: Trader, node: RpcNode, sold: str, trips: int) -> None:
    tokens = trader.world.tokens | {"ETH": trader.world.network.native}
    origin = StateSource(Provenance.LIVE, "the node", node.read_head().block.number)
    before = node.round_trips
    verdict = judge(trader, node, tokens[sold], tokens["DAI"], 10 ** tokens[sold].decimals, origin=origin)
    assert verdict.level is Level.INFO
    assert node.round_trips - before == trips
