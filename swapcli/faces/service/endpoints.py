"""The handlers in the endpoint table. Each parses a request on the event loop, and returns the work for the worker
thread.

An invalid request is therefore rejected immediately. It does not wait for orders, and no order waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from swapcli.core.errors import InvalidOption, InvalidRoute, Unauthorized, UnknownProtocol, UnknownToken
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import INTERFACE_DIALECTS, Network
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.swap_terms import Integrator, SwapTerms
from swapcli.core.model.transaction import EncodedCall, UnsignedTransaction
from swapcli.core.networks.address import display_address, is_native, parse_address
from swapcli.core.records import NamedTuple
from swapcli.faces.service.endpoint_messages import EndpointRequest, EndpointResponse, EndpointWork, NodeCheck
from swapcli.faces.service.error_responses import Headers
from swapcli.faces.service.market_registry import MarketRegistry
from swapcli.faces.service.quote_headers import payload_headers, quote_headers
from swapcli.faces.service.transaction_verdicts import BuiltResponse, amend_with_verdict
from swapcli.faces.service.worker_thread import IsCancelled
from swapcli.interface import requests
from swapcli.interface.fields import render_felts
from swapcli.interface.integrators import require_integrator
from swapcli.interface.interface_by_network import network_variant
from swapcli.interface.listings import InterfaceToken, render_protocols, render_token, render_tokens
from swapcli.interface.quote_fields import render_quote_fields
from swapcli.interface.quote_parameters import SENT
from swapcli.interface.requests import (
    EXTENDED,
    BodyParameters,
    OrderParameters,
    OrderRequest,
    PostedRoute,
    parse_protocol_list,
)
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
from swapcli.quoting.resolve import excluded_protocols, find_protocols, protocol_hint
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.local_quotes import quote_batch
from swapcli.state.tracing import span

if TYPE_CHECKING:
    from swapcli.interface.json_types import DialectCalldataJson

_SERVED: Final = {each.field: each.served for each in SENT}
"""The service's defaults for quote parameters missing from a request. The settings contain the command line's
defaults."""
_PICTURE_POLICY: Final = ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
"""The policy for a picture opened as a page. The picture contains token names, which anyone can choose. They are
escaped, and even an unescaped one could not run a script. The picture contains its own style."""


class _CheckedOrder(NamedTuple):
    """An order that the network's router and the request's API key allow, with the data found for it."""

    order: OrderRequest
    api_version: ApiVersion
    integrator: Integrator | None
    excluded: frozenset[str]


def route(order_parameters: OrderParameters, registry: MarketRegistry, request: EndpointRequest) -> EndpointWork:
    """Handle GET /{network}/route and GET /{network}/v2/route."""
    checked = _read_order(order_parameters, registry, request, is_payload=False)
    terms = _terms(registry, checked.order)

    def find(is_cancelled: IsCancelled) -> EndpointResponse:
        answer = _quote(registry, request, checked, is_cancelled)
        document = {
            **render_result(answer.result, request.network),
            **_details(registry, request, checked.order, answer),
        }
        return EndpointResponse(document, quote_headers(terms, answer))

    return EndpointWork(find, checked.order)


def route_picture(registry: MarketRegistry, request: EndpointRequest) -> EndpointWork:
    """Handle GET /{network}/route.svg."""
    checked = _without_proof(_read_order(requests.ROUTE_V1, registry, request, is_payload=False))
    width = parse_width("width", requests.parse_text("width", request.query_pairs(), request.network))

    def draw(is_cancelled: IsCancelled) -> EndpointResponse:
        answer = _quote(registry, request, checked, is_cancelled)
        headers = (_PICTURE_POLICY, *quote_headers(_terms(registry, checked.order), answer))
        return EndpointResponse(render_svg(build_route_flow(answer), width), headers)

    return EndpointWork(draw, checked.order)


def execute(registry: MarketRegistry, request: EndpointRequest) -> EndpointWork:
    """Handle POST /{network}/execute."""
    posted = _read_route(registry, request, requests.EXECUTE_V1)
    checks_balance = network_variant(request.network.name).execute_checks_balance
    return _build_route(registry, request, posted, partial(render_execute, network=request.network), checks_balance)


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


def calldata_v1(registry: MarketRegistry, request: EndpointRequest) -> EndpointWork:
    """Handle POST /{network}/calldata, for an order or a posted route."""
    body = requests.parse_calldata_body(request.json_body(), request.network, _now_s(registry, request.network))
    if not isinstance(body, OrderRequest):
        return _build_route(registry, request, _check_route(body, request), partial(_render_posted_calldata, request))
    checked = _check_order(body, ApiVersion.V1, registry, request, is_payload=True)

    def find_and_build(is_cancelled: IsCancelled) -> EndpointResponse:
        answer, payload = _quote_and_build(registry, request, checked, is_cancelled)
        document = {**render_calldata_v1(answer.result, payload, request.network), **_proof(answer)}
        headers = quote_headers(_terms(registry, body), answer, payload=payload)
        ordered = _built_response(registry, answer, payload)
        return _judged_response(registry, ordered, document, headers, details=body.details)

    return EndpointWork(find_and_build, body)


def _judged_response(
    registry: MarketRegistry, built: BuiltResponse, document: Any, headers: Headers, *, details: bool
) -> EndpointResponse:
    """Return the response to a posted body; on request with a node's verdict, if there is one for the network."""
    if not details:
        return EndpointResponse(document, headers)
    amend = amend_with_verdict(registry, built, lambda verdict: {**document, "verdict": verdict})
    return EndpointResponse(document, headers, amend=amend, add_witnesses=_with_witnesses)


def _render_posted_calldata(request: EndpointRequest, payload: UnsignedTransaction) -> object:
    """Render V1 calldata for a posted route: like V1 execute, but always with the two tokens; only felts on Starknet.

    Clients of this variant encode the call themselves.
    """
    if payload.felts:
        return render_felts(payload.felts)
    to = display_address(payload.to, request.network.kind)
    transaction = {"calldata": payload.calldata, "to": to, "value": str(payload.value)}
    return {**render_call(payload.router_call, request.network), **transaction}


def calldata_v2(registry: MarketRegistry, request: EndpointRequest) -> EndpointWork:
    """Handle POST /{network}/v2/calldata."""
    posted = _read_route(registry, request, requests.CALLDATA_V2)
    if posted.result.api_version is not ApiVersion.V2:
        raise InvalidRoute("route.meta is missing: V2 calldata takes the complete V2 route response")

    def render(payload: UnsignedTransaction) -> object:
        now_ms = registry.network_time_ms(request.network.name)
        if isinstance(payload.call, EncodedCall):
            return render_dialect_calldata_v2(_dialect_calldata(payload, request), now_ms)
        return render_calldata_v2(payload, request.network, now_ms)

    return _build_route(registry, request, posted, render)


def _dialect_calldata(payload: UnsignedTransaction, request: EndpointRequest) -> DialectCalldataJson:
    """Render a payload outside the API, with the required approvals."""
    transactions = router_dialect(request.network).build_transactions(payload)
    return render_dialect_calldata(payload, transactions, request.network)


def network_calldata(
    order_parameters: OrderParameters, registry: MarketRegistry, request: EndpointRequest
) -> EndpointWork:
    """Handle GET /hyperevm/calldata and GET /starknet/calldata."""

    def render(answer: LocalQuote, payload: UnsignedTransaction) -> Mapping[str, Any]:
        return render_network_calldata(answer.result, payload, request.network)

    return _order_and_build(order_parameters, registry, request, render)


def signer_calldata(registry: MarketRegistry, request: EndpointRequest) -> EndpointWork:
    """Handle GET /citrea/calldata."""
    posted = _check_route(requests.parse_signer_body(request.json_body(), request.network), request)
    return _build_route(registry, request, posted, render_signer_calldata)


def route_and_calldata(
    order_parameters: OrderParameters, registry: MarketRegistry, request: EndpointRequest
) -> EndpointWork:
    """Handle GET /{network}/routeAndCalldata and GET /{network}/v2/routeAndCalldata."""

    def render(answer: LocalQuote, payload: UnsignedTransaction) -> Mapping[str, Any]:
        result, network = answer.result, request.network
        if isinstance(payload.call, EncodedCall):
            calldata = _dialect_calldata(payload, request)
            return render_dialect_route_and_calldata(result, calldata, network, answer.timestamp_ms)
        return render_route_and_calldata(result, payload, network, answer.timestamp_ms)

    return _order_and_build(order_parameters, registry, request, render)


def route_batch(registry: MarketRegistry, request: EndpointRequest) -> EndpointWork:
    """Handle GET /starknet/routeBatch.

    One transaction executes the whole batch, so each order is quoted on the pools as they are after the previous
    orders.
    """
    orders = _read_batch(requests.ROUTE_V1, registry, request)

    def find(is_cancelled: IsCancelled) -> EndpointResponse:
        source, quote_requests = _quote_requests(registry, request, orders)
        answers = quote_batch(source.searchable, quote_requests, is_cancelled)
        for answer in answers:
            _record_issued(registry, answer)
        document = render_batch_routes([answer.result for answer in answers], request.network)
        explained = [_explained(registry, answer) for answer in answers]
        return EndpointResponse(document, quote_headers(_terms(registry, orders[0].order), *explained))

    return EndpointWork(find)


def execute_batch(registry: MarketRegistry, request: EndpointRequest) -> EndpointWork:
    """Handle GET /starknet/executeBatch."""
    orders = _read_batch(requests.PAYLOAD_V1, registry, request)

    def build(is_cancelled: IsCancelled) -> EndpointResponse:
        source, quote_requests = _quote_requests(registry, request, orders)
        terms = _terms(registry, orders[0].order)
        registry.check_recipient(source, terms.recipient)
        answers = quote_batch(source.searchable, quote_requests, is_cancelled)
        document = render_batch_felts([source.build(each, terms, confirm=request.record_built) for each in answers])
        return EndpointResponse(document, quote_headers(terms, *answers))

    return EndpointWork(build)


def decode(
    parse_body: Callable[[object, Network], requests.DecodeRequest], registry: MarketRegistry, request: EndpointRequest
) -> EndpointWork:
    """Handle POST /{network}/decode."""
    given = parse_body(request.json_body(), request.network)

    def review(is_cancelled: IsCancelled) -> EndpointResponse:
        from swapcli.faces.service.payload_decoding import decode_request

        def open_source(tokens: Iterable[str]) -> InMemorySource:
            return _source(registry, request, [request.network.to_wrapped(token) for token in tokens])

        return EndpointResponse(decode_request(given, request.network, registry, open_source, is_cancelled))

    return EndpointWork(review)


def tokens(registry: MarketRegistry, request: EndpointRequest) -> EndpointWork:
    """Handle GET /{network}/tokens."""
    return EndpointWork(
        lambda _: EndpointResponse(render_tokens(_listed_tokens(registry, request).values(), request.network))
    )


def token(registry: MarketRegistry, request: EndpointRequest) -> EndpointWork:
    """Handle GET /{network}/tokens/{address}."""
    address = parse_address(request.path_tail, request.network.kind)
    address = request.network.native.address if is_native(address, request.network.kind) else address

    def find(_: IsCancelled) -> EndpointResponse:
        listed = _listed_tokens(registry, request).get(address)
        if listed is None:
            raise UnknownToken(f"no such token on {request.network.name}")
        return EndpointResponse(render_token(listed, request.network))

    return EndpointWork(find)


def protocols(_registry: MarketRegistry, request: EndpointRequest) -> EndpointWork:
    """Handle GET /{network}/protocols."""
    listed = request.network.protocols
    if parse_protocol_list(request.query_pairs(), request.network) != EXTENDED:
        listed = tuple(protocol for protocol in listed if not protocol.is_extended)
    return EndpointWork(lambda _: EndpointResponse(render_protocols(listed)))


def _listed_tokens(registry: MarketRegistry, request: EndpointRequest) -> dict[str, InterfaceToken]:
    """Return the tokens of the network and its market by address. The market's description takes precedence."""
    own = [request.network.native, *request.network.tokens]
    listed = {each.address: InterfaceToken(each, True) for each in own}
    if request.network not in registry.served_networks:
        return listed
    market_tokens = registry.open_source(request.network.name).market.tokens
    return listed | {address: InterfaceToken(each, address in listed) for address, each in market_tokens.items()}


def _order_and_build(
    order_parameters: OrderParameters,
    registry: MarketRegistry,
    request: EndpointRequest,
    render: Callable[[LocalQuote, UnsignedTransaction], Mapping[str, Any]],
) -> EndpointWork:
    """Return the work of an endpoint that quotes an order and builds its transaction."""
    checked = _read_order(order_parameters, registry, request, is_payload=True)

    def find_and_build(is_cancelled: IsCancelled) -> EndpointResponse:
        answer, payload = _quote_and_build(registry, request, checked, is_cancelled)
        return _detailed_response(registry, request, checked.order, answer, payload, render(answer, payload))

    return EndpointWork(find_and_build, checked.order)


def _detailed_response(
    registry: MarketRegistry,
    request: EndpointRequest,
    order: OrderRequest,
    answer: LocalQuote,
    payload: UnsignedTransaction,
    document: Mapping[str, Any],
) -> EndpointResponse:
    """Return the response with a transaction. On request, its `route` has the quote's figures, and a node's verdict on
    the swap, if there is one for the network."""
    terms = _terms(registry, order)
    headers = quote_headers(terms, answer, payload=payload)
    details = _details(registry, request, order, answer, payload)
    detailed = {**document, "route": {**document["route"], **details}} if details else document
    if not order.details:
        return EndpointResponse(detailed, headers)
    amend = amend_with_verdict(
        registry,
        _built_response(registry, answer, payload),
        lambda verdict: {**detailed, "route": {**detailed["route"], "verdict": verdict}},
    )
    return EndpointResponse(detailed, headers, amend=amend, add_witnesses=_with_route_witnesses)


def _built_response(registry: MarketRegistry, answer: LocalQuote, payload: UnsignedTransaction) -> BuiltResponse:
    source = registry.open_source(answer.network.name)
    return BuiltResponse(payload, answer.result, answer.pools, answer.state_source, source)


def _with_witnesses(document: Any, witnesses: int) -> object:
    """Return a document with the number of nodes that agree on its state; a list of felts has no room for it."""
    return {**document, "witnesses": witnesses} if isinstance(document, Mapping) else document


def _with_route_witnesses(document: Mapping[str, Any], witnesses: int) -> Mapping[str, Any]:
    return {**document, "route": {**document["route"], "witnesses": witnesses}}


def _details(
    registry: MarketRegistry,
    request: EndpointRequest,
    order: OrderRequest,
    answer: LocalQuote,
    payload: UnsignedTransaction | None = None,
) -> Mapping[str, Any]:
    """Return the figures of a quote, and of its payload if there is one, if the order requests them; otherwise empty.

    An order that requests a proof gets both.
    """
    proof = _proof(answer)
    if not order.details and not proof:
        return {}
    quoted = _terms(registry, order)._replace(recipient=None, integrator=answer.result.integrator)
    figures = compute_figures(answer, quoted, payload)
    figures = figures._replace(warnings=(*figures.warnings, *(each.finding for each in request.unknown)))
    fields = {**render_quote_fields(figures, answer.network), **proof}
    return {**fields, **_advice(answer, registry)} if order.advice else fields


def _advice(answer: LocalQuote, registry: MarketRegistry) -> Mapping[str, Any]:
    """Return the advised slippage in its field; empty on state that is not real, and for wrapping."""
    if not answer.state_source.is_live:
        return {}
    from swapcli.quoting.prepared_payload import render_advice
    from swapcli.quoting.slippage_advice import advise_on

    advice = advise_on(answer, registry.open_source(answer.network.name), registry.rules.terms.ttl_s)
    return {} if advice is None else {"advisedSlippage": render_advice(advice)}


def _proof(answer: LocalQuote) -> Mapping[str, Any]:
    """Return a quote's proof in its field, if the order requested one; otherwise empty."""
    if answer.quote.witness is None:
        return {}
    from swapcli.quoting.proof import prove

    return {"proof": prove(answer).document()}


def _without_proof(checked: _CheckedOrder) -> _CheckedOrder:
    """Return an order for a response that has no room for a proof."""
    order = checked.order
    values = tuple(each for each in order.values if each[0] != "proof")
    return checked._replace(order=order._replace(values=values))


def _quote(
    registry: MarketRegistry, request: EndpointRequest, checked: _CheckedOrder, is_cancelled: IsCancelled
) -> LocalQuote:
    source, (quote_request,) = _quote_requests(registry, request, [checked])
    answer = source.quote(quote_request, is_cancelled=is_cancelled)
    _record_issued(registry, answer)
    return _explained(registry, answer)


def _explained(registry: MarketRegistry, answer: LocalQuote) -> LocalQuote:
    return answer._replace(state_source=registry.explained(answer.state_source, answer.network.name))


def _quote_and_build(
    registry: MarketRegistry, request: EndpointRequest, checked: _CheckedOrder, is_cancelled: IsCancelled
) -> tuple[LocalQuote, UnsignedTransaction]:
    source, (quote_request,) = _quote_requests(registry, request, [checked])
    registry.check_recipient(source, checked.order.recipient)
    answer = source.quote(quote_request, is_cancelled=is_cancelled)
    payload = source.build(answer, _terms(registry, checked.order), confirm=request.record_built)
    _record_issued(registry, answer)
    return answer, payload


def _terms(registry: MarketRegistry, requested: OrderRequest | SwapTerms) -> SwapTerms:
    """Return a request's slippage and recipient, with the limits above which its headers warn."""
    return registry.rules.terms._replace(slippage_ppm=requested.slippage_ppm, recipient=requested.recipient)


def _source(
    registry: MarketRegistry, request: EndpointRequest, tokens: Iterable[str] = (), keys: Iterable[str] = ()
) -> InMemorySource:
    return registry.fresh_source(request.network.name, request.use, tokens, keys)


def _now_s(registry: MarketRegistry, network: Network) -> int:
    return int(registry.network_time_s(network.name))


def _read_order(
    order_parameters: OrderParameters, registry: MarketRegistry, request: EndpointRequest, *, is_payload: bool
) -> _CheckedOrder:
    """Read the order in a query."""
    order = requests.parse_order(request.query_pairs(), request.network, order_parameters)
    return _check_order(order, order_parameters.api_version, registry, request, is_payload=is_payload)


def _read_batch(
    order_parameters: OrderParameters, registry: MarketRegistry, request: EndpointRequest
) -> list[_CheckedOrder]:
    orders = parse_batch(request.query_pairs(), request.network, order_parameters)
    return [_without_proof(_check_order(each, ApiVersion.V1, registry, request, is_payload=False)) for each in orders]


def _check_order(
    order: OrderRequest,
    api_version: ApiVersion,
    registry: MarketRegistry,
    request: EndpointRequest,
    *,
    is_payload: bool,
) -> _CheckedOrder:
    _check_dialect(request.network, order.dialect, is_payload=is_payload)
    integrator = _integrator(order.integrator_address, order.fee_bps, order.surplus_bps, request)
    unavailable = registry.rules.unavailable_protocols(request.network)
    excluded = _find_excluded(order, request.network, unavailable)
    return _CheckedOrder(order, api_version, integrator, excluded)


def _read_route(registry: MarketRegistry, request: EndpointRequest, accepted: BodyParameters) -> PostedRoute:
    """Read the posted route in a body."""
    now_s = _now_s(registry, request.network)
    return _check_route(requests.parse_execute_body(request.json_body(), request.network, accepted, now_s), request)


def _check_route(posted: PostedRoute, request: EndpointRequest) -> PostedRoute:
    """Return a posted route with its integrator, for which an API key is required here, too."""
    _check_dialect(request.network, posted.dialect, is_payload=True)
    named = posted.result.integrator
    integrator = _integrator(named.address, named.fee_bps, named.surplus_bps, request) if named else None
    return posted._replace(result=posted.result._replace(integrator=integrator))


def _quote_requests(
    registry: MarketRegistry, request: EndpointRequest, orders: Sequence[_CheckedOrder]
) -> tuple[InMemorySource, list[QuoteRequest]]:
    """Return the quote requests for orders, and the source that has their tokens."""
    sold_and_bought = [token for each in orders for token in (each.order.token_in, each.order.token_out)]
    source = _source(registry, request, [request.network.to_wrapped(token) for token in sold_and_bought])
    if request.searches_afresh:
        source = source.without_memory()
    quote_requests = []
    for each, api_version, integrator, excluded in orders:
        values = {
            **registry.rules.values,
            **_SERVED,
            **dict(each.values),
            "reverse": each.reverse,
            "allows_only": bool(each.only),
        }
        tokens = source.token(each.token_in), source.token(each.token_out)
        order = Order.from_values(*tokens, each.amount, excluded, values)
        quote_requests.append(QuoteRequest.from_values(order, api_version, integrator, values))
    return source, quote_requests


def _find_excluded(order: OrderRequest, network: Network, unavailable: frozenset[str]) -> frozenset[str]:
    """Return the names of the excluded protocols: the order's own and the `unavailable` ones.

    Raises `InvalidInput` with the name of the parameter, also if the order names an unavailable one to use.
    """
    for field, names in (("excludeProtocols", order.excluded), ("onlyProtocols", order.only)):
        try:
            find_protocols(names, network)
        except UnknownProtocol as error:
            error.details["field"] = field
            error.hint = protocol_hint(error.closest, f"GET /{network.name}/protocols")
            raise
    if asked := find_protocols(order.only, network) & unavailable:
        raise InvalidOption(_unused(asked), hint="allow others", details={"field": "onlyProtocols"})
    try:
        return unavailable | excluded_protocols(order.excluded, network, extended=order.extended, only=order.only)
    except InvalidOption as error:
        error.details["field"] = "onlyProtocols"
        raise


def _unused(protocols: Iterable[str]) -> str:
    return f"this service does not use {', '.join(sorted(protocols))}"


def _check_protocols(registry: MarketRegistry, result: RouteResult, source: InMemorySource) -> None:
    """Raise `InvalidRoute` for a posted route with a pool of a protocol that no order may use."""
    pools = source.market.pools
    used = {pools[key].protocol for key in result.pool_keys if key in pools}
    if unavailable := used & registry.rules.unavailable_protocols(source.network):
        raise InvalidRoute(_unused(unavailable), hint="request a new route")


def _integrator(address: str | None, fee_bps: int, surplus_bps: int, request: EndpointRequest) -> Integrator | None:
    """Return the integrator that earns a fee on an order or a posted route, with a checked address; None if there is
    none.

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


def _build_route(
    registry: MarketRegistry,
    request: EndpointRequest,
    posted: PostedRoute,
    render: Callable[[UnsignedTransaction], object],
    checks_balance: bool = False,
) -> EndpointWork:
    """Return the work of an endpoint that builds the transaction of a posted route."""

    def build(_: IsCancelled) -> EndpointResponse:
        terms, result = posted.terms, posted.result
        issued_ms = registry.issued_routes.issue_time_ms(request.network.name, result)
        source = _source(registry, request, keys=result.pool_keys)
        registry.check_recipient(source, terms.recipient)
        _check_protocols(registry, result, source)
        with span("replay"):
            payload = source.build(result, terms, issued_ms=issued_ms, confirm=request.record_built)
        headers = payload_headers(source, result, _terms(registry, terms), payload)
        built = BuiltResponse(payload, result, pools_for(result, source.market), source.state_source, source)
        response = _judged_response(registry, built, render(payload), headers, details=posted.details)
        return response._replace(check=_balance_check(payload, result, source) if checks_balance else None)

    return EndpointWork(build)


def _check_dialect(network: Network, expected: str | None, *, is_payload: bool) -> None:
    """Raise `InvalidOption` if the client expects a dialect other than that of the network's router.

    By default, clients expect payloads of the published API. Routes have the same format for all routers.
    """
    dialect = network.router_dialect
    if expected is None and is_payload and dialect not in INTERFACE_DIALECTS:
        raise InvalidOption(
            f"transactions on {network.name} are for the router {dialect}, whose calls have no swap parameters: "
            f"request them from V2 with dialect={dialect}",
            details={"field": "dialect"},
        )
    if expected not in (None, dialect):
        raise InvalidOption(
            f"transactions on {network.name} are for the router {dialect}, not {expected}", details={"field": "dialect"}
        )


def _record_issued(registry: MarketRegistry, answer: LocalQuote) -> None:
    if answer.result.api_version is ApiVersion.V1:
        registry.issued_routes.record(answer.network.name, answer.result, answer.timestamp_ms)
