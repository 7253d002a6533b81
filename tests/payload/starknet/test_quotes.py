"""Calls of quotes on the embedded market: the model router pays exactly the quoted output."""

from __future__ import annotations

import json
from functools import cache

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from swapcli.core.errors import NoRoute
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.quote import Quote
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms, min_received
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import RouterRouteParam
from swapcli.core.networks.catalogue import find_network
from swapcli.core.routing.router import Router
from swapcli.payload.starknet import (
    build_call,
    build_transaction,
    deserialise_call,
    serialise_call,
)
from swapcli.payload.starknet.felts import from_felt_text, to_felt_text
from swapcli.quoting.open_market import open_market
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.state.clock import Clock
from tests.examples import examples
from tests.payload.starknet.router import Paid, run

STARKNET = find_network("starknet")
ROUTER = STARKNET.router or ""
RECIPIENT = "0x" + "0" * 60 + "abcd"
SLIPPAGES = st.integers(0, 1_000_000)
SYMBOLS = ("ETH", "STRK", "USDC", "USDT", "WBTC", "DAI", "wstETH", "LORDS")


@cache
def market() -> MarketState:
    return open_market("starknet", find_network).market


@cache
def router() -> Router:
    return Router(market())


def build_order(name_in: str, name_out: str, amount: float) -> Order:
    """Sell `amount` whole tokens."""
    by_symbol = {token.symbol: token for token in market().tokens.values()}
    token_in = by_symbol[name_in]
    return Order(token_in, by_symbol[name_out], max(1, int(amount * 10**token_in.decimals)))


def find_quote(order: Order) -> Quote:
    try:
        return router().quote(order)
    except NoRoute:
        assume(False)
        raise


def route_of(quote: Quote, slippage_ppm: int) -> RouterRouteParam:
    return RouterRouteParam(
        token_in=quote.order.token_in.address,
        token_out=quote.order.token_out.address,
        amount_in=quote.amount_in,
        amount_out=quote.amount_out,
        min_received=min_received(quote.amount_out, slippage_ppm),
        recipient=RECIPIENT,
        swap_type=SwapType.TOKEN_TO_TOKEN,
    )


def execute(felts: tuple[int, ...]) -> Paid:
    return run(felts, market().pools, {protocol.amm_name: protocol.id for protocol in STARKNET.protocols})


@settings(max_examples=examples(6, full=60))
@given(
    st.lists(st.sampled_from(SYMBOLS), min_size=2, max_size=2, unique=True),
    st.floats(-6, 6).map(lambda power: 10.0**power),
    SLIPPAGES,
)
@example(["ETH", "USDC"], 250.0, 5_000)
@example(["LORDS", "DAI"], 40_000.0, 0)
def test_the_router_pays_the_quote_to_the_unit_and_keeps_nothing(
    names: list[str], amount: float, slippage_ppm: int
) -> None:
    quote = find_quote(build_order(names[0], names[1], amount))
    call = build_call(route_of(quote, slippage_ppm), quote.steps, market().pools, STARKNET)
    paid = execute(serialise_call(call))
    assert paid.amount_out == quote.amount_out
    assert paid.recipient == RECIPIENT
    assert not any(paid.left_behind.values())


@settings(max_examples=examples(4, full=30))
@given(st.lists(st.sampled_from(SYMBOLS), min_size=2, max_size=2, unique=True), st.floats(-3, 5), SLIPPAGES)
def test_a_payload_survives_json_in_which_felts_are_text(names: list[str], power: float, slippage_ppm: int) -> None:
    quote = find_quote(build_order(names[0], names[1], 10.0**power))
    call = build_call(route_of(quote, slippage_ppm), quote.steps, market().pools, STARKNET)
    sent = json.dumps([to_felt_text(felt) for felt in build_transaction(call, STARKNET, ROUTER).felts])
    received = tuple(map(from_felt_text, json.loads(sent)))
    assert deserialise_call(received, amount_out=quote.amount_out) == call


def test_a_source_builds_the_same_call_from_order_and_route() -> None:
    source = InMemorySource(market(), Clock(lambda: 1_700_000_000.0, lambda: 0.0))
    terms = SwapTerms(5_000, RECIPIENT)
    answer, payload = quote_and_build(source, QuoteRequest(build_order("ETH", "USDC", 250.0), ApiVersion.V1), terms)
    again = source.build(answer.result, terms)
    assert (payload.to, payload.value, payload.calldata) == (ROUTER, 0, "")
    assert payload.felts == again.felts
    assert execute(payload.felts).amount_out == answer.result.output_amount


def test_a_large_order_is_split_over_several_protocols() -> None:
    quote = find_quote(build_order("ETH", "USDC", 250.0))
    call = build_call(route_of(quote, 5_000), quote.steps, market().pools, STARKNET)
    assert len({swap.protocol_id for swap in call.swaps}) > 1
    assert {len(swap.extra_felts) for swap in call.swaps} == {0, 1, 4}
    pools = market().pools
    expected = [(pools[step.pool].address, step.rate) for step in quote.steps]
    assert [(swap.pool_address, swap.rate) for swap in call.swaps] == expected


def test_each_call_of_a_batch_pays_its_quote() -> None:
    orders = [build_order(name, "USDC", amount) for name, amount in (("ETH", 3.0), ("STRK", 5_000.0), ("WBTC", 0.2))]
    quotes = [find_quote(order) for order in orders]
    batch = [build_call(route_of(quote, 5_000), quote.steps, market().pools, STARKNET) for quote in quotes]
    paid = [execute(serialise_call(call)).amount_out for call in batch]
    assert paid == [quote.amount_out for quote in quotes]


@pytest.mark.parametrize("shortfall", [0, 1])
def test_the_model_router_enforces_the_minimum_output(shortfall: int) -> None:
    quote = find_quote(build_order("ETH", "STRK", 1.0))
    route = route_of(quote, 0)._replace(min_received=quote.amount_out + shortfall)
    felts = serialise_call(build_call(route, quote.steps, market().pools, STARKNET))
    if shortfall:
        with pytest.raises(AssertionError):
            execute(felts)
    else:
        assert execute(felts).amount_out == quote.amount_out
