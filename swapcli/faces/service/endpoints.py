"""The handlers of the endpoint table: functions from a request to a response. They run off the event loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from swapcli.core.encoding.closest import did_you_mean
from swapcli.core.errors import InvalidOption, InvalidRoute, Unauthorized, UnknownProtocol, UnknownToken
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import INTERFACE_DIALECTS, Network
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.swap_terms import Integrator, SwapTerms
from swapcli.core.model.transaction import EncodedCall, UnsignedTransaction
from swapcli.core.networks.address import display_address, is_native, parse_address
from swapcli.faces.service.endpoint_messages import EndpointRequest, EndpointResponse, NodeCheck
from swapcli.faces.service.error_responses import Headers
from swapcli.faces.service.market_registry import MarketRegistry
from swapcli.faces.service.quote_headers import payload_headers, quote_headers
from swapcli.faces.service.transaction_verdicts import BuiltResponse, amend_with_verdict
from swapcli.interface import requests
from swapcli.interface.fields import render_felts
from swapcli.interface.integrators import require_integrator
from swapcli.interface.interface_by_network import network_variant
from swapcli.interface.listings import InterfaceToken, render_protocols, render_token, render_tokens
from swapcli.interface.quote_fields import render_quote_fields
from swapcli.interface.quote_parameters import SENT
from swapcli.interface.requests import EXTENDED, OrderParameters, OrderRequest, PostedRoute, parse_protocol_list
from swapcli.interface.route import render_result
from swapcli.interface.router_call import render_call
from swapcli.interface.starknet_batch import parse_batch, render_batch_felts, render_batch_routes
from swapcli.interface.transaction_responses import (
    render_calldata_v1,
    render_calldata_v2,
    render_dialect_calldata,
    render_dialect_calldata_v2,
    render_dialect_route_and_calldata,
    render_execute,
    render_network_calldata,
    render_route_and_calldata,
    render_signer_calldata,
)
from swapcli.payload.dialects import router_dialect
from swapcli.payload.payloads import pools_for
from swapcli.quoting.pictures.picture_width import parse_width
from swapcli.quoting.pictures.route_flow import build_route_flow
from swapcli.quoting.pictures.svg import render_svg
from swapcli.quoting.quote_figures import compute_figures
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.resolve import excluded_protocols
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.local_quotes import quote_batch

if TYPE_CHECKING:
    from swapcli.interface.json_types import DialectCalldataJson

_SERVED: Final = {each.field: each.served for each in SENT}
"""The values of quote parameters that a request leaves out; the settings have values for the command line."""
_PICTURE_POLICY: Final = ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
"""A picture that is opened as a page contains names that anyone can give a token. They are escaped; if one were not, it
could still run no script. The picture has its style inside."""


def route(order_parameters: OrderParameters, registry: MarketRegistry, request: EndpointRequest) -> EndpointResponse:
    """Handle GET /{network}/route and GET /{network}/v2/route."""
    order = requests.parse_order(request.query_pairs(), request.network, order_parameters)
    terms = _terms(registry, order)
    answer = _quote(registry, request, order, order_parameters.api_version)
    document = {**render_result(answer.result, request.network), **_details(terms, order, answer)}
    return EndpointResponse(document, quote_headers(terms, answer))


def route_picture(registry: MarketRegistry, request: EndpointRequest) -> EndpointResponse:
    """Handle GET /{network}/route.svg."""
    query = request.query_pairs()
    order = _without_proof(requests.parse_order(query, request.network, requests.ROUTE_V1))
    width = parse_width("width", requests.parse_text("width", query, request.network))
    answer = _quote(registry, request, order, ApiVersion.V1)
    headers = (_PICTURE_POLICY, *quote_headers(_terms(registry, order), answer))
    return EndpointResponse(render_svg(build_route_flow(answer), width), headers)


def execute(registry: MarketRegistry, request: EndpointRequest) -> EndpointResponse:
    """Handle POST /{network}/execute."""
    posted = requests.parse_execute_body(
        request.json_body(), request.network, requests.EXECUTE_V1, _now_s(registry, request.network)
    )
    built, headers = _build(registry, request, posted)
    document = render_execute(built.payload, request.network)
    response = _judged_response(registry, built, document, headers, details=posted.details)
    if not network_variant(request.network.name).execute_checks_balance:
        return response
    return response._replace(check=_balance_check(built.payload, posted.result, built.source))


def _balance_check(payload: UnsignedTransaction, result: RouteResult, source: InMemorySource) -> NodeCheck:
    """Return a check that the sender holds the input. The request names only the recipient, usually the sender."""
    from swapcli.payload.checks.presign_checks import CheckOptions, check_payload
    from swapcli.payload.checks.simulated_variants import TradedTokens

    token_in, token_out = (source.token(each.address) for each in (result.input_token, result.output_token))
    checks, ends = (
        CheckOptions(sender=payload.call.route.recipient),
        TradedTokens(token_in, token_out, source.network.native),
    )
    origin = source.state_source
    return lambda node: check_payload(node, checks, payload, origin, ends)


def calldata_v1(registry: MarketRegistry, request: EndpointRequest) -> EndpointResponse:
    """Handle POST /{network}/calldata: of an order, or of a posted route."""
    body = requests.parse_calldata_body(request.json_body(), request.network, _now_s(registry, request.network))
    if isinstance(body, OrderRequest):
        answer, payload = _quote_and_build(registry, request, body, ApiVersion.V1)
        document = {**render_calldata_v1(answer.result, payload, request.network), **_proof(answer)}
        ordered = BuiltResponse(
            payload, answer.result, answer.pools, answer.state_source, registry.open_source(answer.network.name)
        )
        headers = quote_headers(_terms(registry, body), answer, payload=payload)
        return _judged_response(registry, ordered, document, headers, details=body.details)
    built, headers = _build(registry, request, body)
    rendered = _render_posted_calldata(built.payload, request)
    return _judged_response(registry, built, rendered, headers, details=body.details)


def _judged_response(
    registry: MarketRegistry, built: BuiltResponse, document: Any, headers: Headers, *, details: bool
) -> EndpointResponse:
    """Return the response to a posted body, on request with the verdict of a node, if there is one for the network."""
    if not details:
        return EndpointResponse(document, headers)
    amend = amend_with_verdict(registry, built, lambda verdict: {**document, "verdict": verdict})
    return EndpointResponse(document, headers, amend=amend, add_witnesses=_with_witnesses)


def _render_posted_calldata(payload: UnsignedTransaction, request: EndpointRequest) -> object:
    """Render V1 calldata of a posted route: as V1 execute, but always with the two tokens; felts only on Starknet.

    Clients of this variant encode the call themselves.
    """
    if payload.felts:
        return render_felts(payload.felts)
    to = display_address(payload.to, request.network.kind)
    transaction = {"calldata": payload.calldata, "to": to, "value": str(payload.value)}
    return {**render_call(payload.router_call, request.network), **transaction}


def calldata_v2(registry: MarketRegistry, request: EndpointRequest) -> EndpointResponse:
    """Handle POST /{network}/v2/calldata."""
    posted = requests.parse_execute_body(
        request.json_body(), request.network, requests.CALLDATA_V2, _now_s(registry, request.network)
    )
    if posted.result.api_version is not ApiVersion.V2:
        raise InvalidRoute("route.meta is missing: V2 calldata takes the complete response of V2 route")
    built, headers = _build(registry, request, posted)
    payload, now_ms = built.payload, registry.network_time_ms(request.network.name)
    document = (
        render_dialect_calldata_v2(_dialect_calldata(payload, request), now_ms)
        if isinstance(payload.call, EncodedCall)
        else render_calldata_v2(payload, request.network, now_ms)
    )
    return _judged_response(registry, built, document, headers, details=posted.details)


def _dialect_calldata(payload: UnsignedTransaction, request: EndpointRequest) -> DialectCalldataJson:
    """Render a payload that the interface does not describe, with the approvals that it needs."""
    transactions = router_dialect(request.network).build_transactions(payload)
    return render_dialect_calldata(payload, transactions, request.network)


def network_calldata(
    order_parameters: OrderParameters, registry: MarketRegistry, request: EndpointRequest
) -> EndpointResponse:
    """Handle GET /hyperevm/calldata and GET /starknet/calldata."""
    order, answer, payload = _parse_and_build(order_parameters, registry, request)
    document = render_network_calldata(answer.result, payload, request.network)
    return _detailed_response(registry, order, answer, payload, document)


def signer_calldata(registry: MarketRegistry, request: EndpointRequest) -> EndpointResponse:
    """Handle GET /citrea/calldata."""
    posted = requests.parse_signer_body(request.json_body(), request.network)
    built, headers = _build(registry, request, posted)
    return EndpointResponse(render_signer_calldata(built.payload), headers)


def route_and_calldata(
    order_parameters: OrderParameters, registry: MarketRegistry, request: EndpointRequest
) -> EndpointResponse:
    """Handle GET /{network}/routeAndCalldata and GET /{network}/v2/routeAndCalldata."""
    order, answer, payload = _parse_and_build(order_parameters, registry, request)
    result, network = answer.result, request.network
    if isinstance(payload.call, EncodedCall):
        calldata = _dialect_calldata(payload, request)
        document = render_dialect_route_and_calldata(result, calldata, network, answer.timestamp_ms)
        return _detailed_response(registry, order, answer, payload, document)
    rendered = render_route_and_calldata(result, payload, network, answer.timestamp_ms)
    return _detailed_response(registry, order, answer, payload, rendered)


def route_batch(registry: MarketRegistry, request: EndpointRequest) -> EndpointResponse:
    """Handle GET /starknet/routeBatch.

    One transaction executes the whole batch, so each order is quoted on the pools as the previous one leaves them.
    """
    orders = list(map(_without_proof, parse_batch(request.query_pairs(), request.network, requests.ROUTE_V1)))
    source, quote_requests = _quote_requests(registry, request, orders, ApiVersion.V1)
    answers = quote_batch(source.searchable, quote_requests, request.is_cancelled)
    for answer in answers:
        _record_issued(registry, answer)
    document = render_batch_routes([answer.result for answer in answers], request.network)
    explained = [_explained(registry, answer) for answer in answers]
    return EndpointResponse(document, quote_headers(_terms(registry, orders[0]), *explained))


def execute_batch(registry: MarketRegistry, request: EndpointRequest) -> EndpointResponse:
    """Handle GET /starknet/executeBatch."""
    orders = list(map(_without_proof, parse_batch(request.query_pairs(), request.network, requests.PAYLOAD_V1)))
    source, quote_requests = _quote_requests(registry, request, orders, ApiVersion.V1)
    terms = _terms(registry, orders[0])
    registry.check_recipient(source, terms.recipient)
    answers = quote_batch(source.searchable, quote_requests, request.is_cancelled)
    document = render_batch_felts([source.build(each, terms, confirm=request.record_built) for each in answers])
    return EndpointResponse(document, quote_headers(terms, *answers))


def tokens(registry: MarketRegistry, request: EndpointRequest) -> EndpointResponse:
    """Handle GET /{network}/tokens."""
    return EndpointResponse(render_tokens(_listed_tokens(registry, request).values(), request.network))


def token(registry: MarketRegistry, request: EndpointRequest) -> EndpointResponse:
    """Handle GET /{network}/tokens/{address}."""
    address = parse_address(request.path_tail, request.network.kind)
    address = request.network.native.address if is_native(address, request.network.kind) else address
    listed = _listed_tokens(registry, request).get(address)
    if listed is None:
        raise UnknownToken(f"no such token on {request.network.name}")
    return EndpointResponse(render_token(listed, request.network))


def protocols(_registry: MarketRegistry, request: EndpointRequest) -> EndpointResponse:
    """Handle GET /{network}/protocols."""
    listed = request.network.protocols
    if parse_protocol_list(request.query_pairs(), request.network) != EXTENDED:
        listed = tuple(protocol for protocol in listed if not protocol.is_extended)
    return EndpointResponse(render_protocols(listed))


def _listed_tokens(registry: MarketRegistry, request: EndpointRequest) -> dict[str, InterfaceToken]:
    """Return the tokens of the network and of its market by address. The market's description takes precedence."""
    own = [request.network.native, *request.network.tokens]
    listed = {each.address: InterfaceToken(each, True) for each in own}
    if request.network not in registry.served_networks:
        return listed
    market_tokens = registry.open_source(request.network.name).market.tokens
    return listed | {address: InterfaceToken(each, address in listed) for address, each in market_tokens.items()}


def _parse_and_build(
    order_parameters: OrderParameters, registry: MarketRegistry, request: EndpointRequest
) -> tuple[OrderRequest, LocalQuote, UnsignedTransaction]:
    order = requests.parse_order(request.query_pairs(), request.network, order_parameters)
    return order, *_quote_and_build(registry, request, order, order_parameters.api_version)


def _detailed_response(
    registry: MarketRegistry,
    order: OrderRequest,
    answer: LocalQuote,
    payload: UnsignedTransaction,
    document: Mapping[str, Any],
) -> EndpointResponse:
    """Return the response with a transaction. On request its `route` has the figures of the quote, and the verdict of
    a node on the swap, if there is one for the network."""
    terms = _terms(registry, order)
    headers = quote_headers(terms, answer, payload=payload)
    details = _details(terms, order, answer, payload)
    detailed = {**document, "route": {**document["route"], **details}} if details else document
    if not order.details:
        return EndpointResponse(detailed, headers)
    built = BuiltResponse(
        payload, answer.result, answer.pools, answer.state_source, registry.open_source(answer.network.name)
    )
    amend = amend_with_verdict(
        registry, built, lambda verdict: {**detailed, "route": {**detailed["route"], "verdict": verdict}}
    )
    return EndpointResponse(detailed, headers, amend=amend, add_witnesses=_with_route_witnesses)


def _with_witnesses(document: Any, witnesses: int) -> object:
    """Return a document with the number of nodes that agree on its state; a list of felts has no place for it."""
    return {**document, "witnesses": witnesses} if isinstance(document, Mapping) else document


def _with_route_witnesses(document: Mapping[str, Any], witnesses: int) -> Mapping[str, Any]:
    return {**document, "route": {**document["route"], "witnesses": witnesses}}


def _details(
    terms: SwapTerms, order: OrderRequest, answer: LocalQuote, payload: UnsignedTransaction | None = None
) -> Mapping[str, Any]:
    """Return the figures of a quote, and of its payload if there is one, if the order requests them; else nothing.

    An order that requests a proof gets both.
    """
    proof = _proof(answer)
    if not order.details and not proof:
        return {}
    quoted = terms._replace(recipient=None, integrator=answer.result.integrator)
    return {**render_quote_fields(compute_figures(answer, quoted, payload), answer.network), **proof}


def _proof(answer: LocalQuote) -> Mapping[str, Any]:
    """Return the proof of a quote in its field, if the order requested one; else nothing."""
    if answer.quote.witness is None:
        return {}
    from swapcli.quoting.proof import prove

    return {"proof": prove(answer).document()}


def _without_proof(order: OrderRequest) -> OrderRequest:
    """Return an order for a response that has no place for a proof."""
    return order._replace(values=tuple(each for each in order.values if each[0] != "proof"))


def _quote(
    registry: MarketRegistry, request: EndpointRequest, order: OrderRequest, api_version: ApiVersion
) -> LocalQuote:
    _check_dialect(request.network, order.dialect, is_payload=False)
    source, (quote_request,) = _quote_requests(registry, request, [order], api_version)
    answer = source.quote(quote_request, is_cancelled=request.is_cancelled)
    _record_issued(registry, answer)
    return _explained(registry, answer)


def _explained(registry: MarketRegistry, answer: LocalQuote) -> LocalQuote:
    return answer._replace(state_source=registry.explained(answer.state_source, answer.network.name))


def _quote_and_build(
    registry: MarketRegistry, request: EndpointRequest, order: OrderRequest, api_version: ApiVersion
) -> tuple[LocalQuote, UnsignedTransaction]:
    _check_dialect(request.network, order.dialect, is_payload=True)
    source, (quote_request,) = _quote_requests(registry, request, [order], api_version)
    registry.check_recipient(source, order.recipient)
    answer = source.quote(quote_request, is_cancelled=request.is_cancelled)
    payload = source.build(answer, _terms(registry, order), confirm=request.record_built)
    _record_issued(registry, answer)
    return answer, payload


def _terms(registry: MarketRegistry, requested: OrderRequest | SwapTerms) -> SwapTerms:
    """Return the slippage and the recipient of a request with the limits above which its headers warn."""
    return registry.rules.terms._replace(slippage_ppm=requested.slippage_ppm, recipient=requested.recipient)


def _source(
    registry: MarketRegistry, request: EndpointRequest, tokens: Iterable[str] = (), keys: Iterable[str] = ()
) -> InMemorySource:
    return registry.fresh_source(request.network.name, request.use, tokens, keys)


def _now_s(registry: MarketRegistry, network: Network) -> int:
    return int(registry.network_time_s(network.name))


def _quote_requests(
    registry: MarketRegistry, request: EndpointRequest, orders: Sequence[OrderRequest], api_version: ApiVersion
) -> tuple[InMemorySource, list[QuoteRequest]]:
    """Return the requests for quotes on orders, and the source that has their tokens."""
    network = request.network
    checked = [
        (
            _integrator(each.integrator_address, each.fee_bps, each.surplus_bps, request),
            _find_excluded(each, network),
        )
        for each in orders
    ]
    sold_and_bought = [token for each in orders for token in (each.token_in, each.token_out)]
    source = _source(registry, request, [network.to_wrapped(token) for token in sold_and_bought])
    quote_requests = []
    for each, (integrator, excluded) in zip(orders, checked, strict=True):
        values = {**registry.rules.values, **_SERVED, **dict(each.values), "reverse": each.reverse}
        tokens = source.token(each.token_in), source.token(each.token_out)
        order = Order.from_values(*tokens, each.amount, excluded, values)
        quote_requests.append(QuoteRequest.from_values(order, api_version, integrator, values))
    return source, quote_requests


def _find_excluded(order: OrderRequest, network: Network) -> frozenset[str]:
    """Return the names of the excluded protocols. Raises `UnknownProtocol` with the name of the parameter."""
    try:
        return excluded_protocols(order.excluded, network, extended=order.extended)
    except UnknownProtocol as error:
        error.details["field"] = "excludeProtocols"
        error.hint = did_you_mean(error.closest) or f"GET /{network.name}/protocols lists them"
        raise


def _integrator(address: str | None, fee_bps: int, surplus_bps: int, request: EndpointRequest) -> Integrator | None:
    """Return the integrator who earns on an order or a posted route, whose address was checked; None without one.

    Raises `Unauthorized` without an API key, `InvalidRoute` if the router cannot pay an integrator, `InvalidInput`.
    """
    if not (address or fee_bps or surplus_bps):
        return None
    if request.api_key is None:
        raise Unauthorized("integrator parameters need an API key in the header X-API-Key")
    if not (fee_bps or surplus_bps):
        return None
    integrator = Integrator(require_integrator(address), fee_bps, surplus_bps, request.api_key.name)
    if not router_dialect(request.network).pays_integrators:
        raise InvalidRoute(f"the router on {request.network.name} cannot pay an integrator")
    return integrator


def _build(registry: MarketRegistry, request: EndpointRequest, posted: PostedRoute) -> tuple[BuiltResponse, Headers]:
    """Build the transaction of a posted route, and its headers. An integrator in the route needs a key here, too."""
    _check_dialect(request.network, posted.dialect, is_payload=True)
    terms, named = posted.terms, posted.result.integrator
    integrator = _integrator(named.address, named.fee_bps, named.surplus_bps, request) if named else None
    result = posted.result._replace(integrator=integrator)
    issued_ms = registry.issued_routes.issue_time_ms(request.network.name, result)
    source = _source(registry, request, keys=result.pool_keys)
    registry.check_recipient(source, terms.recipient)
    payload = source.build(result, terms, issued_ms=issued_ms, confirm=request.record_built)
    built = BuiltResponse(payload, result, pools_for(result, source.market), source.state_source, source)
    return built, payload_headers(source, result, _terms(registry, terms), payload)


def _check_dialect(network: Network, expected: str | None, *, is_payload: bool) -> None:
    """Raise `InvalidOption` if the client expects another dialect than that of the network's router.

    By default, clients expect payloads that the interface describes. Routes have the same form for all routers.
    """
    dialect = network.router_dialect
    if expected is None and is_payload and dialect not in INTERFACE_DIALECTS:
        raise InvalidOption(
            f"transactions on {network.name} are for the router {dialect}, whose calls have no swap parameters: "
            f"request them from the second generation with dialect={dialect}",
            details={"field": "dialect"},
        )
    if expected not in (None, dialect):
        raise InvalidOption(
            f"transactions on {network.name} are for the router {dialect}, not {expected}", details={"field": "dialect"}
        )


def _record_issued(registry: MarketRegistry, answer: LocalQuote) -> None:
    if answer.result.api_version is ApiVersion.V1:
        registry.issued_routes.record(answer.network.name, answer.result, answer.timestamp_ms)
