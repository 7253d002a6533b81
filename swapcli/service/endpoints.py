"""What each endpoint does: a request in, a JSON-ready document out. Plain functions; they run off the event loop."""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.api import requests as form
from swapcli.api.felts import render_felts
from swapcli.api.listings import ListedToken, render_protocols, render_token, render_tokens
from swapcli.api.network_variants import network_variant
from swapcli.api.payload_bodies import (
    render_calldata_v1,
    render_calldata_v2,
    render_execute,
    render_network_calldata,
    render_route_and_calldata,
    render_signer_calldata,
)
from swapcli.api.requests import ExecuteRequest, IntegratorParameters, OrderParameters, OrderRequest
from swapcli.api.route import render_result
from swapcli.api.route_result import RouteResult
from swapcli.api.router_call import render_call
from swapcli.api.starknet_batch import parse_batch, render_batch_felts, render_batch_routes
from swapcli.engine.quote import Answer, Delivery, QuoteRequest
from swapcli.engine.resolve import find_protocols
from swapcli.engine.sources.in_memory import MarketSource
from swapcli.errors import InvalidInput, InvalidRoute, Unauthorized, UnknownToken
from swapcli.model.api_version import ApiVersion
from swapcli.model.network import Kind
from swapcli.model.order import Order
from swapcli.model.swap_terms import Integrator
from swapcli.model.transaction import UnsignedTransaction
from swapcli.networks.address import display_address, is_native, parse_address
from swapcli.service.balance_check import Check, EndpointResponse
from swapcli.service.error_responses import Headers
from swapcli.service.key_file import ApiKey
from swapcli.service.market_registry import MarketRegistry
from swapcli.service.request import EndpointRequest
from swapcli.service.response_headers import payload_headers, quote_headers


def route_v1(registry: MarketRegistry, request: EndpointRequest) -> object:
    """GET /{network}/route."""
    query = form.parse_order(request.query_pairs(), request.network, form.ROUTE_V1)
    answer = _quote(registry, request, query, ApiVersion.V1)
    return EndpointResponse(render_result(answer.result, request.network), quote_headers(registry, answer))


def route_v2(registry: MarketRegistry, request: EndpointRequest) -> object:
    """GET /{network}/v2/route."""
    query = form.parse_order(request.query_pairs(), request.network, form.ROUTE_V2)
    answer = _quote(registry, request, query, ApiVersion.V2)
    return EndpointResponse(render_result(answer.result, request.network), quote_headers(registry, answer))


def execute(registry: MarketRegistry, request: EndpointRequest) -> object:
    """POST /{network}/execute."""
    body = form.parse_execute_body(request.json_body(), request.network, form.EXECUTE_V1, int(registry.clock.now_s()))
    payload, headers = _build(registry, request, body)
    outcome = EndpointResponse(render_execute(payload, request.network), headers)
    if not network_variant(request.network.name).execute_checks_balance:
        return outcome
    return outcome._replace(check=_balance_check(payload, body.result, _source(registry, request)))


def _balance_check(payload: UnsignedTransaction, result: RouteResult, source: MarketSource) -> Check:
    """Does the wallet hold what is sold? The only one that a request names is the receiver's, who sells as a rule."""
    from swapcli.engine.payload_checks import Ends, Wanted, check_payload

    token_in, token_out = (source.token(each.address) for each in (result.input_token, result.output_token))
    wanted, ends = Wanted(sender=payload.call.route.recipient), Ends(token_in, token_out, source.network.native)
    origin = source.state_source
    return lambda node: check_payload(node, wanted, payload, origin, ends)


def calldata_v1(registry: MarketRegistry, request: EndpointRequest) -> object:
    """POST /{network}/calldata: of an order, or of a found route."""
    body = form.parse_calldata_body(request.json_body(), request.network, int(registry.clock.now_s()))
    if isinstance(body, ExecuteRequest):
        payload, headers = _build(registry, request, body)
        return EndpointResponse(_render_found(payload, request), headers)
    answer, payload = _quote_and_build(registry, request, body, ApiVersion.V1)
    return EndpointResponse(
        render_calldata_v1(answer.result, payload, request.network), quote_headers(registry, answer)
    )


def _render_found(payload: UnsignedTransaction, request: EndpointRequest) -> object:
    """As V1 execute, but always with the names of the two tokens: such clients encode the call themselves. Starknet's
    want the felts alone."""
    if request.network.kind is Kind.STARKNET:
        return render_felts(payload.felts)
    to = display_address(payload.to, request.network.kind)
    transaction = {"calldata": payload.calldata, "to": to, "value": str(payload.value)}
    return {**render_call(payload.call, request.network), **transaction}


def calldata_v2(registry: MarketRegistry, request: EndpointRequest) -> object:
    """POST /{network}/v2/calldata."""
    body = form.parse_execute_body(request.json_body(), request.network, form.CALLDATA_V2, int(registry.clock.now_s()))
    if body.result.api_version is not ApiVersion.V2:
        raise InvalidRoute("route.meta is missing: V2 calldata takes the complete response of V2 route")
    payload, headers = _build(registry, request, body)
    return EndpointResponse(render_calldata_v2(payload, request.network, registry.now_ms()), headers)


def order_calldata(registry: MarketRegistry, request: EndpointRequest) -> object:
    """GET /hyperevm/calldata and GET /starknet/calldata."""
    is_starknet = request.network.kind is Kind.STARKNET
    answer, payload = _parse_and_build(registry, request, form.PAYLOAD_V1 if is_starknet else form.PAYLOAD_HYPEREVM)
    return EndpointResponse(
        render_network_calldata(answer.result, payload, request.network), quote_headers(registry, answer)
    )


def signer_calldata(registry: MarketRegistry, request: EndpointRequest) -> object:
    """GET /citrea/calldata."""
    body = form.parse_signer_body(request.json_body(), request.network)
    payload, headers = _build(registry, request, ExecuteRequest(body.result, body.slippage_ppm, body.signer))
    return EndpointResponse(render_signer_calldata(payload), headers)


def route_and_calldata_v1(registry: MarketRegistry, request: EndpointRequest) -> object:
    """GET /{network}/routeAndCalldata."""
    answer, payload = _parse_and_build(registry, request, form.PAYLOAD_V1)
    document = render_route_and_calldata(answer.result, payload, request.network, answer.timestamp_ms)
    return EndpointResponse(document, quote_headers(registry, answer))


def route_and_calldata_v2(registry: MarketRegistry, request: EndpointRequest) -> object:
    """GET /{network}/v2/routeAndCalldata."""
    answer, payload = _parse_and_build(registry, request, form.PAYLOAD_V2)
    document = render_route_and_calldata(answer.result, payload, request.network, answer.timestamp_ms)
    return EndpointResponse(document, quote_headers(registry, answer))


def route_batch(registry: MarketRegistry, request: EndpointRequest) -> object:
    """GET /starknet/routeBatch: each order on the pools as the one before leaves them, since one transaction carries
    them all."""
    orders = parse_batch(request.query_pairs(), request.network, needs_terms=False)
    answers = _source(registry, request).quote_batch(_asks(registry, request, orders), request.is_cancelled)
    for answer in answers:
        _note(registry, answer)
    document = render_batch_routes([answer.result for answer in answers], request.network)
    return EndpointResponse(document, quote_headers(registry, *answers))


def execute_batch(registry: MarketRegistry, request: EndpointRequest) -> object:
    """GET /starknet/executeBatch."""
    orders = parse_batch(request.query_pairs(), request.network, needs_terms=True)
    asks, delivery = _asks(registry, request, orders), _delivery(orders[0])
    built = _source(registry, request).quote_and_build_batch(asks, delivery, request.is_cancelled)
    document = render_batch_felts([payload for _, payload in built])
    return EndpointResponse(document, quote_headers(registry, *(answer for answer, _ in built)))


def _asks(registry: MarketRegistry, request: EndpointRequest, orders: Sequence[OrderRequest]) -> list[QuoteRequest]:
    return [_ask(registry, request, order, ApiVersion.V1) for order in orders]


def tokens(registry: MarketRegistry, request: EndpointRequest) -> object:
    """GET /{network}/tokens."""
    return render_tokens(_tokens(registry, request).values(), request.network)


def token(registry: MarketRegistry, request: EndpointRequest) -> object:
    """GET /{network}/tokens/{address}."""
    address = parse_address(request.path_tail, request.network.kind)
    address = request.network.native.address if is_native(address, request.network.kind) else address
    listed = _tokens(registry, request).get(address)
    if listed is None:
        raise UnknownToken(f"no such token on {request.network.name}")
    return render_token(listed, request.network)


def protocols(_registry: MarketRegistry, request: EndpointRequest) -> object:
    """GET /{network}/protocols."""
    return render_protocols(request.network.protocols)


def _tokens(registry: MarketRegistry, request: EndpointRequest) -> dict[str, ListedToken]:
    """The native token, the network's own and those of the market, by address; the market's description wins."""
    own = [request.network.native, *request.network.tokens]
    listed = {each.address: ListedToken(each, True) for each in own}
    if request.network not in registry.served_networks:
        return listed
    held = registry.open_source(request.network.name).market.tokens
    return listed | {address: ListedToken(each, address in listed) for address, each in held.items()}


def _parse_and_build(
    registry: MarketRegistry, request: EndpointRequest, wanted: OrderParameters
) -> tuple[Answer, UnsignedTransaction]:
    query = form.parse_order(request.query_pairs(), request.network, wanted)
    return _quote_and_build(registry, request, query, wanted.api_version)


def _quote(registry: MarketRegistry, request: EndpointRequest, query: OrderRequest, api_version: ApiVersion) -> Answer:
    answer = _source(registry, request).quote(_ask(registry, request, query, api_version), request.is_cancelled)
    _note(registry, answer)
    return answer


def _quote_and_build(
    registry: MarketRegistry, request: EndpointRequest, query: OrderRequest, api_version: ApiVersion
) -> tuple[Answer, UnsignedTransaction]:
    ask = _ask(registry, request, query, api_version)
    answer, payload = _source(registry, request).quote_and_build(ask, _delivery(query), request.is_cancelled)
    _note(registry, answer)
    return answer, payload


def _delivery(query: OrderRequest) -> Delivery:
    assert query.recipient is not None
    return Delivery(query.slippage_ppm, query.recipient)


def _source(registry: MarketRegistry, request: EndpointRequest) -> MarketSource:
    return registry.fresh_source(request.network.name)


def _ask(
    registry: MarketRegistry, request: EndpointRequest, query: OrderRequest, api_version: ApiVersion
) -> QuoteRequest:
    integrator = _integrator(query.integrator, request.api_key)
    excluded = find_protocols(query.excluded, request.network)
    source = _source(registry, request)
    order = Order(
        token_in=source.token(query.token_in),
        token_out=source.token(query.token_out),
        amount=query.amount,
        reverse=query.reverse,
        direct=query.direct,
        excluded_protocols=excluded,
        max_hops=registry.max_hops,
    )
    return QuoteRequest(order, api_version, integrator, registry.gas_price_wei, solve_time_s=registry.solve_time_s)


def _integrator(wish: IntegratorParameters | None, key: ApiKey | None) -> Integrator | None:
    """Who earns on an answer. Raises `Unauthorized` without a key: whoever would earn nothing must hear it."""
    if wish is None:
        return None
    _check_key(key)
    if not (wish.fee_bps or wish.surplus_bps):
        return None
    if wish.address is None:
        raise InvalidInput("integratorAddress should not be null or undefined", details={"field": "integratorAddress"})
    return Integrator(wish.address, wish.fee_bps, wish.surplus_bps, key.name if key else None)


def _check_key(key: ApiKey | None) -> None:
    if key is None:
        raise Unauthorized("integrator parameters need an API key in the header X-API-Key")


def _build(
    registry: MarketRegistry, request: EndpointRequest, body: ExecuteRequest
) -> tuple[UnsignedTransaction, Headers]:
    """The payload of a posted route, and where it comes from. Its integrator needs a key, as when the route was asked
    for."""
    result = _earned(body.result, request)
    issued_ms = registry.issued_routes.issue_time_ms(request.network.name, result)
    source = _source(registry, request)
    payload = source.build(result, Delivery(body.slippage_ppm, body.recipient), issued_ms=issued_ms)
    return payload, payload_headers(registry, source, result, payload)


def _earned(result: RouteResult, request: EndpointRequest) -> RouteResult:
    integrator = result.integrator
    if integrator is None or not (integrator.fee_bps or integrator.surplus_bps):
        return result._replace(integrator=None)
    _check_key(request.api_key)
    if request.network.kind is Kind.STARKNET:
        raise InvalidRoute("the router on starknet pays no integrator")
    return result


def _note(registry: MarketRegistry, answer: Answer) -> None:
    if answer.result.api_version is ApiVersion.V1:
        registry.issued_routes.record(answer.network.name, answer.result, answer.timestamp_ms)
