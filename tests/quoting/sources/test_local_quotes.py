"""A market in memory quotes orders, wrapping among them."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import (
    NoRoute,
    SameToken,
)
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import Provenance
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.quote import Quote
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.router_execution import OWN_ROUTER_GAS
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.token import Token
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.core.routing.replay import replay
from swapcli.quoting.open_market import open_market
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.resolve import find_protocols
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.quote_source import QuoteSource
from swapcli.state.clock import Clock
from tests.support.testnet import (
    NOW_S,
    WETH,
    build_testnet_market,
)

MARKET = build_testnet_market()

TESTNET, TOKENS = MARKET.network, MARKET.tokens


class SteppingTimer:
    """A timer that advances by a quarter of a second at every call."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        self.seconds += 0.25
        return self.seconds


def source() -> InMemorySource:
    return InMemorySource(MARKET, Clock(lambda: NOW_S, SteppingTimer()))


def quote_order(
    quotes: InMemorySource, requested: Order, *, gas_price_wei: int | None = None, certify: bool = False
) -> LocalQuote:
    return quotes.quote(QuoteRequest(requested, ApiVersion.V2, gas_price_wei=gas_price_wei, certify=certify))


def exact(answer: LocalQuote) -> Quote:
    """Return the core's quote, which a market always provides."""
    return answer.quote


def order(name_in: str, name_out: str, amount: int = 10**18) -> Order:
    return Order(source().token(name_in), source().token(name_out), amount)


def test_a_market_source_is_a_quote_source() -> None:
    quotes: QuoteSource = source()
    assert quotes.network is TESTNET


def test_the_duration_is_the_cores_and_the_timestamp_the_clocks() -> None:
    answer = quote_order(source(), order("ETH", "USDC"))
    assert exact(answer).time_s == 0.25
    assert answer.timestamp_ms == int(NOW_S * 1000)


def test_the_quote_keeps_native_tokens_and_routes_wrapped_ones() -> None:
    answer = quote_order(source(), order("ETH", "USDC"))
    assert answer.order.token_in.address == ZERO_ADDRESS
    assert exact(answer).order.token_in.address == WETH


@pytest.mark.parametrize(("name_in", "name_out"), [("ETH", "ETH"), ("USDC", "USDC"), ("eth", ZERO_ADDRESS)])
def test_the_same_token_twice_is_refused(name_in: str, name_out: str) -> None:
    with pytest.raises(SameToken):
        quote_order(source(), order(name_in, name_out))


@given(st.integers(1, 2**256 - 1), st.booleans(), st.booleans())
def test_wrapping_gives_back_the_same_amount(amount: int, unwrap: bool, reverse: bool) -> None:
    native, wrapped = TESTNET.native, TOKENS[WETH]
    requested = Order(wrapped, native, amount, reverse) if unwrap else Order(native, wrapped, amount, reverse)
    answer = quote_order(source(), requested, gas_price_wei=7, certify=True)
    certificate = exact(answer).certificate
    assert certificate is not None
    assert certificate.bound >= amount
    assert exact(answer).amount_in == exact(answer).amount_out == amount
    assert exact(answer).steps[0].amount_out == amount
    assert exact(answer).gas_price_wei == 7
    assert answer.result.swap_type == int(unwrap)


def test_wrapping_costs_the_gas_of_a_plain_transaction() -> None:
    base = embedded("base")
    native, wrapped = base.token("ETH"), base.token("WETH")
    wrap, unwrap = (exact(quote_order(base, Order(*ends, 10**18))) for ends in ((native, wrapped), (wrapped, native)))
    assert (wrap.gas_units, unwrap.gas_units) == (69_300, 78_300)
    assert wrap.wei_usd == pytest.approx((wrap.price_in_usd or 0) / 10**18)
    assert wrap.gas_usd == pytest.approx(wrap.gas_units * wrap.gas_price_wei * (wrap.wei_usd or 0)) != 0


@pytest.mark.parametrize("api_version", ApiVersion)
@pytest.mark.parametrize(
    ("name_in", "name_out", "more"),
    [("ETH", "USDC", OWN_ROUTER_GAS.native_in), ("USDC", "ETH", OWN_ROUTER_GAS.native_out)],
)
def test_native_tokens_change_the_gas_and_its_cost(
    name_in: str, name_out: str, more: int, api_version: ApiVersion
) -> None:
    base, names = embedded("base"), (name_in, name_out)
    native, wrapped = (
        base.quote(QuoteRequest(Order(base.token(sold), base.token(bought), 10**9), api_version))
        for sold, bought in (names, (name.replace("ETH", "WETH") for name in names))
    )
    assert exact(native).steps == exact(wrapped).steps
    assert exact(native).gas_units == exact(wrapped).gas_units + more
    if api_version is ApiVersion.V2:
        cost_wei = exact(wrapped).gas_wei + more * exact(native).gas_price_wei
        assert (native.result.gas_units, native.result.gas_cost_wei) == (None, cost_wei)
    else:
        assert (native.result.gas_units, native.result.gas_cost_wei) == (exact(wrapped).gas_units + more, None)
    assert native.result.gas_usd == exact(native).gas_usd != wrapped.result.gas_usd


@pytest.mark.parametrize("name", [name for name in network_names() if find_network(name).wrapped_native])
def test_wrapping_without_the_wrapper_has_no_route(name: str) -> None:
    known = find_network(name)
    assert known.wrapped_native is not None
    excluded = find_protocols(["0"], known)
    with pytest.raises(NoRoute, match=r"without [wW]rapper"):
        quote_order(embedded(name), Order(known.native, known.wrapped_native, 1, excluded_protocols=excluded))


def test_a_token_outside_the_market_has_no_route() -> None:
    gone = Token("0x" + "77" * 20, "GONE", "Only in a catalogue", 18)
    with pytest.raises(NoRoute, match="the testnet market has no pool with GONE") as caught:
        quote_order(source(), Order(TESTNET.native, gone, 10**18))
    assert caught.value.hint == "swapcli tokens testnet lists its tokens"


@pytest.mark.parametrize("provenance", [Provenance.SYNCED, Provenance.LIVE])
def test_a_sync_adds_the_pools_of_a_token_outside_the_market(provenance: Provenance) -> None:
    """The store may have been synced for other tokens. A symbol that only the market knows may be another token's."""
    gone = Token("0x" + "77" * 20, "GONE", "Not in a catalogue", 18)
    synced = InMemorySource(source().market._replace(provenance=provenance), Clock(lambda: NOW_S, lambda: 0.0))
    with pytest.raises(NoRoute, match="the testnet market has no pool with GONE") as caught:
        quote_order(synced, Order(TESTNET.native, gone, 10**18))
    assert caught.value.hint == f"swapcli sync testnet --tokens ETH,{gone.address} adds its pools"


@pytest.mark.parametrize("name", network_names())
def test_every_network_can_be_quoted_from_its_embedded_market(name: str) -> None:
    quotes = InMemorySource(open_market(name, find_network).market, Clock(lambda: NOW_S, lambda: 0.0))
    dollar = next(quotes.market.tokens[a] for a in quotes.network.stablecoins if a in quotes.market.tokens)
    answer = quote_order(quotes, Order(quotes.network.native, dollar, 10**18))
    assert exact(answer).amount_out > 0
    assert answer.state_source.provenance is Provenance.MODELLED
    assert not answer.state_source.is_live


@cache
def embedded(name: str) -> InMemorySource:
    return InMemorySource(open_market(name, find_network).market, Clock(lambda: NOW_S, lambda: 0.0))


@given(st.sampled_from(network_names()), st.data())
def test_any_order_on_embedded_markets_is_quoted_or_rejected(name: str, data: st.DataObject) -> None:
    quotes = embedded(name)
    tokens = [quotes.network.native, *quotes.market.tokens.values()]
    sold, bought = data.draw(st.permutations(tokens), label="tokens")[:2]
    amount = int(10 ** data.draw(st.floats(3, 26) | st.floats(0, 77), label="digits"))
    reverse, direct = data.draw(st.booleans(), label="reverse"), data.draw(st.booleans(), label="direct")
    gas_price_wei = data.draw(st.sampled_from([None, 0, 10**9, 2**128 - 1]), label="gas price")
    try:
        answer = quote_order(
            quotes, Order(sold, bought, amount, reverse, direct), gas_price_wei=gas_price_wei, certify=True
        )
    except (NoRoute, SameToken):
        return
    quote = exact(answer)
    assert quote.amount_out >= amount if reverse else quote.amount_in == amount
    assert replay(answer.pools, quote.route, quote.amount_in).amount_out == quote.amount_out


@given(st.integers(0, 2**40), st.integers(0, 2**40))
def test_the_age_of_a_state_is_never_negative(timestamp: int, now_s: int) -> None:
    state_source = StateSource.of(build_testnet_market(timestamp=timestamp), now_s)
    assert state_source.age_s == max(0, now_s - timestamp)
