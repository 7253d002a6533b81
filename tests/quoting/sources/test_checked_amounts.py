"""A protocol that quotes by itself confirms what was computed for its pools; one that disagrees is no longer used.

The pairs of Solidly on the chain quote by `getAmountOut`, and are computed.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from swapcli.core.errors import NoRoute
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.finding import FindingCode
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.transfer_behaviour import ORDINARY
from swapcli.quoting.quote_figures import compute_figures
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.live import LiveSource
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.rpc_node import RpcNode
from tests.chain.contract_fixture import DECIMALS, WETH
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.trader import USER, Trader

PROTOCOL = "solidlyVolatile"
HONEST = ["$amount", "$token_in"]
WRONG = ["$amount", "$token_out"]
"""It quotes the sale of as much of the other token."""


def definition(arguments: list[str]) -> dict[str, object]:
    quote = {"contract": "$pool", "call": "getAmountOut(uint256,address)", "arguments": arguments}
    return {"protocols": [PROTOCOL], "quote": quote, "check": True}


def market_with(trader: Trader, quoter: Mapping[str, object] | None, *, only_checked: bool = False) -> MarketState:
    quoters = (quoter,) if quoter else ()
    network = trader.world.network._replace(multicall=deploy_multicall(trader.chain), quoters=quoters)
    market = trader.market._replace(network=network, transfers=dict.fromkeys(trader.market.tokens, ORDINARY))
    if not only_checked:
        return market
    return market._replace(pools={key: pool for key, pool in market.pools.items() if pool.protocol == PROTOCOL})


def request(trader: Trader, whole: int) -> QuoteRequest:
    tokens = trader.world.tokens
    return QuoteRequest(Order(tokens[WETH], tokens["USDC"], whole * 10 ** DECIMALS[WETH]), ApiVersion.V2)


def protocols_of(answer: LocalQuote) -> set[str]:
    return {answer.pools[step.pool].protocol for step in answer.quote.steps}


def warned(answer: LocalQuote) -> list[str]:
    figures = compute_figures(answer, SwapTerms(0, USER))
    return [each.message for each in figures.warnings if each.code == FindingCode.POOL_LEFT_OUT]


def live(market: MarketState, node: RpcNode) -> LiveSource:
    return LiveSource(InMemorySource(market, SYSTEM_CLOCK), node, SYSTEM_CLOCK)


def test_a_protocol_that_agrees_costs_one_request(trader: Trader, node: RpcNode) -> None:
    trips = [node.round_trips]
    unchecked = live(market_with(trader, None), node).quote(request(trader, 1_000))
    trips.append(node.round_trips)
    answer = live(market_with(trader, definition(HONEST)), node).quote(request(trader, 1_000))
    assert PROTOCOL in protocols_of(answer)
    assert answer.result.output_amount == unchecked.result.output_amount
    assert answer.contradictions == ()
    assert not warned(answer)
    assert trips[1] - trips[0] < node.round_trips - trips[1] <= trips[1] - trips[0] + 1


def test_a_protocol_that_disagrees_is_left_out_with_a_warning(trader: Trader, node: RpcNode) -> None:
    source = live(market_with(trader, definition(WRONG)), node)
    for whole in (1_000, 900):  # and stays left out
        answer = source.quote(request(trader, whole))
        assert PROTOCOL not in protocols_of(answer)
        assert answer.quote.steps
        (contradiction,) = answer.contradictions
        assert contradiction.protocol == PROTOCOL
        assert contradiction.quoted != contradiction.computed
        (message,) = warned(answer)
        assert str(contradiction.quoted) in message
        assert str(contradiction.computed) in message
    assert source.known().for_order(request(trader, 1).order).market.pools  # known as before


def test_a_contract_that_refuses_is_left_out_for_the_order(trader: Trader, node: RpcNode) -> None:
    quoter = definition(HONEST)
    quoter["quote"] = {"contract": "$pool", "call": "quoteNobodyHas(uint256)", "arguments": ["$amount"]}
    source = live(market_with(trader, quoter), node)
    answer = source.quote(request(trader, 1_000))
    refusing = {each.pool for each in answer.contradictions}
    assert refusing
    assert refusing.isdisjoint(step.pool for step in answer.quote.steps)
    assert all("quotes nothing" in message for message in warned(answer))
    again = source.quote(request(trader, 900))
    assert {each.amount_in for each in again.contradictions}.isdisjoint(
        each.amount_in for each in answer.contradictions
    )  # asked again


def test_without_another_pool_there_is_no_route(trader: Trader, node: RpcNode) -> None:
    assert live(market_with(trader, definition(HONEST), only_checked=True), node).quote(request(trader, 1)).quote.steps
    with pytest.raises(NoRoute):
        live(market_with(trader, definition(WRONG), only_checked=True), node).quote(request(trader, 1))
