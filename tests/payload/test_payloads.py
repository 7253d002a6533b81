"""Payloads of routes: every posted route is replayed, and the payload encodes the replayed amounts."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import (
    ConfigError,
    InvalidRoute,
    NoRoute,
    RouteExpired,
    SameToken,
    SlippageExceeded,
    SwapcliError,
)
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import FIBROUS, SETTLER, UNIVERSAL_ROUTER, Kind
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.quote import RATE_SCALE
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.swap_terms import Integrator, SwapTerms, after_fee, min_received
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.core.routing.replay import replay
from swapcli.interface.route import parse_result, render
from swapcli.payload import evm, starknet
from swapcli.payload.payloads import MAX_CALLDATA_BYTES, build_transaction, calldata_limit
from swapcli.quoting.open_market import open_market
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.local_quotes import quote_batch
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.state.clock import Clock
from tests.support.markets import embedded_market
from tests.support.testnet import DAI, NOW_S, USDC, WETH, build_testnet_market

V1, V2 = ApiVersion
ROUTER = "0x" + "34" * 20
RECIPIENT = {Kind.EVM: "0x" + "ab" * 20, Kind.STARKNET: "0x05" + "ab" * 31}
HALF_PERCENT = 5_000
TTL_S = 60
ACME = Integrator("0x" + "9" * 40, fee_bps=30, name="acme")


def clock(now_s: float = NOW_S) -> Clock:
    return Clock(lambda: now_s, lambda: 0.0)


@cache
def embedded(name: str) -> InMemorySource:
    return InMemorySource(open_market(name, find_network).market, clock())


def routed(market: MarketState | None = None, now_s: float = NOW_S) -> InMemorySource:
    """Return a source of the small market on a network with a router."""
    market = market or build_testnet_market()
    return InMemorySource(
        market._replace(network=market.network._replace(router=ROUTER)), clock(now_s), route_ttl_s=TTL_S
    )


def terms(source: InMemorySource, slippage_ppm: int = HALF_PERCENT) -> SwapTerms:
    return SwapTerms(slippage_ppm, RECIPIENT[source.network.kind])


def quoted(source: InMemorySource, api_version: ApiVersion = V2, integrator: Integrator | None = None) -> LocalQuote:
    order = Order(source.network.native, source.token("USDC"), 25 * 10**18)
    return source.quote(QuoteRequest(order, api_version, integrator))


def posted(answer: LocalQuote) -> RouteResult:
    """Return the result after rendering and parsing its JSON."""
    return parse_result(render(answer.result, answer.network), answer.network)


def paid_out(payload: UnsignedTransaction, market: MarketState) -> int:
    """Return the router's output for a payload: each swap spends its share of the current balance."""
    call = payload.router_call
    balances = {call.route.token_in: call.route.amount_in}
    pools = dict(market.pools)
    for swap in call.swaps:
        spent = balances[swap.token_in] * swap.rate // RATE_SCALE
        pool = pools[swap.pool_address]
        received, pools[swap.pool_address] = pool.swap(swap.token_in, swap.token_out, spent)
        balances[swap.token_in] -= spent
        balances[swap.token_out] = balances.get(swap.token_out, 0) + received
    return balances[call.route.token_out]


@given(st.data())
def test_building_later_equals_building_with_the_quote(data: st.DataObject) -> None:
    source = embedded(data.draw(st.sampled_from(network_names())))
    tokens = [source.network.native, *source.market.tokens.values()]
    sold, bought = data.draw(st.permutations(tokens))[:2]
    order = Order(sold, bought, int(10 ** data.draw(st.floats(4, 24))), max_hops=data.draw(st.integers(1, 4)))
    api_version = data.draw(st.sampled_from(ApiVersion)) if source.network.has_v2 else V1
    integrator = ACME if api_version is V2 and data.draw(st.booleans()) else None
    try:
        answer, direct = quote_and_build(source, QuoteRequest(order, api_version, integrator), terms(source))
    except (NoRoute, SameToken):
        return
    assert source.build(posted(answer), terms(source)) == direct
    route = direct.call.route
    net_output = after_fee(answer.result.output_amount, 30 if integrator else 0)
    assert (route.amount_in, route.amount_out) == (order.amount, answer.result.output_amount)
    is_wrapping = route.token_in == route.token_out
    assert route.min_received == (net_output if is_wrapping else min_received(net_output, HALF_PERCENT))
    assert direct.value == (order.amount if route.swap_type is SwapType.NATIVE_TO_TOKEN else 0)
    if source.network.kind is Kind.EVM:
        assert evm.decode_call(direct.calldata) == direct.call
    else:
        assert direct.felts == starknet.serialise_call(direct.router_call)


@pytest.mark.parametrize("api_version", ApiVersion)
@pytest.mark.parametrize(("name_in", "name_out"), [("ETH", "USDC"), ("USDC", "ETH"), ("WETH", "DAI"), ("DAI", "USDC")])
def test_the_router_pays_out_what_was_quoted(name_in: str, name_out: str, api_version: ApiVersion) -> None:
    source = routed()
    order = Order(source.token(name_in), source.token(name_out), 10 ** source.token(name_in).decimals * 30)
    answer, payload = quote_and_build(source, QuoteRequest(order, api_version), terms(source))
    assert paid_out(payload, source.market) == payload.call.route.amount_out == answer.result.output_amount


def test_the_native_token_is_wrapped_in_the_call() -> None:
    source = routed()
    native, usdc = source.network.native, source.token("USDC")
    for order, ends in (
        (Order(native, usdc, 10**18), (SwapType.NATIVE_TO_TOKEN, WETH, USDC, 10**18)),
        (Order(usdc, native, 10**9), (SwapType.TOKEN_TO_NATIVE, USDC, WETH, 0)),
        (Order(source.token("WETH"), usdc, 10**18), (SwapType.TOKEN_TO_TOKEN, WETH, USDC, 0)),
    ):
        payload = quote_and_build(source, QuoteRequest(order, V2), terms(source))[1]
        route = payload.call.route
        assert (route.swap_type, route.token_in, route.token_out, payload.value) == ends
        assert {swap.swap_type for swap in payload.router_call.swaps} == {route.swap_type}
        assert ZERO_ADDRESS not in {address for swap in payload.router_call.swaps for address in swap[:2]}


@pytest.mark.parametrize("api_version", ApiVersion)
def test_wrapping_is_one_swap_of_the_wrapper(api_version: ApiVersion) -> None:
    source = routed()
    for ends in ((source.network.native, source.token("WETH")), (source.token("WETH"), source.network.native)):
        answer, payload = quote_and_build(source, QuoteRequest(Order(*ends, 10**18), api_version), terms(source))
        assert source.build(posted(answer), terms(source)) == payload
        assert [(s.protocol_id, s.pool_address, s.rate) for s in payload.router_call.swaps] == [(0, WETH, RATE_SCALE)]
        assert payload.call.route.amount_out == 10**18


def test_a_fee_lowers_min_received_and_is_in_the_call() -> None:
    source = routed()
    answer = quoted(source, integrator=ACME)
    call = source.build(posted(answer), terms(source)).router_call
    assert call.route.min_received == min_received(after_fee(call.route.amount_out, 30), HALF_PERCENT)
    assert evm.decode_integrator_data(call.integrator_data) == evm.IntegratorShares(ACME.address, 30, 0)


def test_a_missing_router_error_names_the_setting() -> None:
    source = InMemorySource(build_testnet_market(), clock())
    with pytest.raises(ConfigError, match="no payload can be built on testnet: its router is unknown") as caught:
        source.build(posted(quoted(source)), terms(source))
    assert caught.value.hint == "set networks.testnet.router"


@pytest.mark.parametrize("api_version", ApiVersion)
def test_a_route_expires_to_the_millisecond(api_version: ApiVersion) -> None:
    result = posted(quoted(routed(), api_version))
    issued_ms = int(NOW_S * 1000)
    for late_s, good in ((0, True), (TTL_S, True), (TTL_S + 0.001, False), (10**6, False)):
        source = routed(now_s=NOW_S + late_s)
        if good:
            assert source.build(result, terms(source), issued_ms=issued_ms).calldata
        else:
            with pytest.raises(RouteExpired):
                source.build(result, terms(source), issued_ms=issued_ms)


def test_a_v1_route_of_unknown_age_is_checked_by_its_content() -> None:
    source = routed(now_s=NOW_S + 10**6)
    assert source.build(posted(quoted(routed(), V1)), terms(source)).calldata


def test_a_route_from_the_future_is_rejected_beyond_clock_skew() -> None:
    result = posted(quoted(routed()))
    assert routed(now_s=NOW_S - 4).build(result, terms(routed())).calldata
    with pytest.raises(InvalidRoute, match="in the future"):
        routed(now_s=NOW_S - 6).build(result, terms(routed()))


def after_sales(percent: float) -> InMemorySource:
    """Return a source of the small market after a sale of WETH in all pools of the route."""
    source = routed()
    pools = dict(source.market.pools)
    for key, pool in source.market.pools.items():
        if WETH in pool.tokens and (USDC in pool.tokens or DAI in pool.tokens):
            other = USDC if USDC in pool.tokens else DAI
            pools[key] = pool.swap(WETH, other, int(percent * 10**18))[1]
    return routed(source.market._replace(pools=pools))


@given(st.floats(0.001, 20), st.sampled_from([0, 1, 1_000, HALF_PERCENT, 490_000]), st.sampled_from(ApiVersion))
def test_after_a_market_move_the_output_is_updated_or_rejected(
    sold: float, slippage_ppm: int, api_version: ApiVersion
) -> None:
    result, source = posted(quoted(routed(), api_version)), after_sales(sold)
    now_out = replay(source.market.pools, result.route, result.input_amount).amount_out
    assume(now_out < result.output_amount)
    if now_out >= min_received(result.output_amount, slippage_ppm):
        route = source.build(result, terms(source, slippage_ppm)).call.route
        assert (route.amount_out, route.min_received) == (now_out, min_received(now_out, slippage_ppm))
    else:
        with pytest.raises(SlippageExceeded):
            source.build(result, terms(source, slippage_ppm))


@given(st.integers(1, 2**256 - 1))
def test_a_low_reported_output_never_lowers_the_payload(reported_out: int) -> None:
    source = routed()
    result = posted(quoted(source))
    fair = result.output_amount
    assume(reported_out < fair)
    assert source.build(result._replace(output_amount=reported_out), terms(source)).call.route.amount_out == fair


def changed(result: RouteResult, **fields: object) -> RouteResult:
    """Return the result with the first swap of its first hop changed."""
    first, *others = result.segments
    swap = first.hops[0][0]._replace(**fields)  # type: ignore[arg-type]
    hops = ((swap, *first.hops[0][1:]), *first.hops[1:])
    return result._replace(segments=(first._replace(hops=hops), *others))


def mismatched_results() -> dict[str, RouteResult]:
    """Return results that do not match their tokens or the market, by their error."""
    source = routed()
    result = posted(quoted(source))
    usdc, weth = source.market.tokens[USDC], source.market.tokens[WETH]
    return {
        "an integrator in v1": result._replace(api_version=V1, integrator=ACME),
        "another protocol": changed(result, protocol_id=0),
        "an unknown pool": changed(result, pool_address="0x" + "99" * 20),
        "a pool of other tokens": changed(result, pool_address="0x" + "a4" * 20, protocol_id=4),
        "another input": result._replace(input_token=usdc),
        "another output": result._replace(output_token=weth),
        "a token output marked as native": result._replace(swap_type=SwapType.TOKEN_TO_NATIVE),
        "shares beyond the whole": result._replace(segments=(*result.segments, result.segments[0])),
        "shares below the whole": result._replace(segments=(result.segments[0]._replace(share=1),)),
    }


@pytest.mark.parametrize("mismatch", sorted(mismatched_results()))
def test_a_route_must_match_its_tokens_and_the_market(mismatch: str) -> None:
    with pytest.raises(InvalidRoute):
        routed().build(mismatched_results()[mismatch], terms(routed()))


@given(st.data())
def test_any_posted_route_is_built_exactly_or_rejected(data: st.DataObject) -> None:
    source = routed()
    result = posted(quoted(source, data.draw(st.sampled_from(ApiVersion))))
    pools = sorted(source.market.pools)
    tokens = [ZERO_ADDRESS, WETH, USDC, DAI]
    swap = {
        "pool_address": data.draw(st.sampled_from(pools)),
        "protocol_id": data.draw(st.sampled_from([0, 4, 5])),
        "token_in": data.draw(st.sampled_from(tokens)),
        "token_out": data.draw(st.sampled_from(tokens)),
        "share": data.draw(st.integers(0, 10_000)),
    }
    names = data.draw(st.sets(st.sampled_from(sorted(swap))))
    altered = changed(result, **{name: swap[name] for name in names})._replace(
        input_amount=data.draw(st.just(result.input_amount) | st.integers(1, 2**256 - 1)),
        output_amount=data.draw(st.just(result.output_amount) | st.integers(1, 2**256 - 1)),
        swap_type=data.draw(st.sampled_from(SwapType)),
    )
    try:
        payload = source.build(altered, terms(source))
    except SwapcliError:
        return
    assert paid_out(payload, source.market) == payload.call.route.amount_out
    assert payload.call.route.min_received <= payload.call.route.amount_out


def test_an_api_version_the_network_lacks_is_invalid() -> None:
    source = embedded("starknet")
    order = Order(source.network.native, source.token("USDC"), 10**18)
    result = source.quote(QuoteRequest(order, V1)).result
    with pytest.raises(InvalidRoute, match="has no v2"):
        source.build(result._replace(api_version=V2, timestamp_ms=int(NOW_S * 1000)), terms(source))


def test_a_batch_quotes_each_order_on_the_state_after_the_last() -> None:
    source = routed()
    order = Order(source.network.native, source.token("USDC"), 20 * 10**18)
    answers = quote_batch(source.searchable, [QuoteRequest(order, V1)] * 2)
    first, second = ((answer, source.build(answer, terms(source))) for answer in answers)
    assert first[0].result.output_amount == source.quote(QuoteRequest(order, V1)).result.output_amount
    assert second[0].result.output_amount < first[0].result.output_amount
    for answer, payload in (first, second):
        assert payload.call.route.amount_out == answer.result.output_amount
    pools_after = replay(source.market.pools, first[0].result.route, order.amount).pools_after
    after = routed(source.market._replace(pools={**source.market.pools, **pools_after}))
    assert paid_out(second[1], after.market) == second[0].result.output_amount


def test_a_route_that_does_not_fit_a_block_is_refused() -> None:
    source = routed()
    result = posted(quoted(source))
    gas_units = source.build(result, terms(source)).gas_units
    assert gas_units is not None
    limit = gas_units * 3 // 2
    for block_gas_limit, fits in ((limit + 1, True), (limit - 1, False)):
        network = source.network._replace(block_gas_limit=block_gas_limit)
        limited = routed(source.market._replace(network=network))
        if fits:
            assert limited.build(result, terms(source)).gas_units == gas_units
        else:
            with pytest.raises(InvalidRoute, match=r"more than the .* that a testnet block allows") as caught:
                limited.build(result, terms(source))
            assert "networks.testnet.block_gas_limit" in (caught.value.hint or "")


@pytest.mark.parametrize("dialect", [FIBROUS, SETTLER, UNIVERSAL_ROUTER])
def test_calldata_beyond_the_limit_of_nodes_is_refused(dialect: str) -> None:
    market = embedded_market("base")
    network = market.network.for_dialect(dialect)._replace(router=ROUTER)
    source = InMemorySource(market._replace(network=network), clock())
    answer = quoted(source)
    steps = answer.quote.steps * (MAX_CALLDATA_BYTES // 300 // len(answer.quote.steps))
    size = len(build_transaction(answer.result, answer.quote.steps, 1, answer.pools, network, terms(source)).calldata)
    limit = calldata_limit(network)
    assert limit is not None
    for count, fits in ((1, True), (len(steps), False)):
        assert limit(steps[:count], answer.pools) == fits
    assert size // 2 < MAX_CALLDATA_BYTES
    with pytest.raises(InvalidRoute, match=f"for the router {dialect} has [12][0-9]{{2}},[0-9]{{3}} bytes, but nodes"):
        build_transaction(answer.result, steps, 1, answer.pools, network, terms(source))
