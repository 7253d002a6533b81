"""What each endpoint does: a request in, a JSON-ready document out. Plain functions; they run off the event loop."""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.api import requests as form
from swapcli.api.felts import render_felts
from swapcli.api.listings import VerifiedToken, render_protocols, render_token, render_tokens
from swapcli.api.network_variants import dialect_of
from swapcli.api.payload_bodies import (
    render_calldata_v1,
    render_calldata_v2,
    render_execute,
    render_own_calldata,
    render_route_and_calldata,
    render_signer_calldata,
)
from swapcli.api.requests import ExecuteBody, IntegratorWish, OrderForm, OrderQuery
from swapcli.api.route import render_result
from swapcli.api.route_result import RouteResult
from swapcli.api.router_call import render_call
from swapcli.api.slippage import Generation
from swapcli.api.starknet_batch import parse_batch, render_batch_felts, render_batch_routes
from swapcli.engine.quote import Answer, Ask, Delivery
from swapcli.engine.resolve import find_protocols
from swapcli.engine.sources.in_memory import MarketSource
from swapcli.errors import InvalidInput, InvalidRoute, Unauthorized, UnknownToken
from swapcli.model.network import Kind
from swapcli.model.order import Order
from swapcli.model.payload import Payload
from swapcli.model.terms import Integrator
from swapcli.networks.address import display_address, is_native, parse_address
from swapcli.service.balance_check import Check, Outcome
from swapcli.service.error_responses import Headers
from swapcli.service.key_file import ApiKey
from swapcli.service.market_registry import Desk
from swapcli.service.request import Asked
from swapcli.service.response_headers import answer_headers, payload_headers


def route_v1(desk: Desk, asked: Asked) -> object:
    """GET /{network}/route."""
    query = form.parse_order(asked.parameters(), asked.network, form.ROUTE_V1)
    answer = _quote(desk, asked, query, Generation.V1)
    return Outcome(render_result(answer.result, asked.network), answer_headers(desk, answer))


def route_v2(desk: Desk, asked: Asked) -> object:
    """GET /{network}/v2/route."""
    query = form.parse_order(asked.parameters(), asked.network, form.ROUTE_V2)
    answer = _quote(desk, asked, query, Generation.V2)
    return Outcome(render_result(answer.result, asked.network), answer_headers(desk, answer))


def execute(desk: Desk, asked: Asked) -> object:
    """POST /{network}/execute."""
    body = form.parse_execute_body(asked.document(), asked.network, form.EXECUTE_V1, int(desk.clock.now_s()))
    payload, headers = _build(desk, asked, body)
    outcome = Outcome(render_execute(payload, asked.network), headers)
    if not dialect_of(asked.network.name).execute_checks_balance:
        return outcome
    return outcome._replace(check=_balance_check(payload, body.result, _source(desk, asked)))


def _balance_check(payload: Payload, result: RouteResult, source: MarketSource) -> Check:
    """Does the wallet hold what is sold? The only one that a request names is the receiver's, who sells as a rule."""
    from swapcli.engine.payload_checks import Ends, Wanted, check_payload

    token_in, token_out = (source.token(each.address) for each in (result.input_token, result.output_token))
    wanted, ends = Wanted(sender=payload.call.route.destination), Ends(token_in, token_out, source.network.native)
    origin = source.origin
    return lambda node: check_payload(node, wanted, payload, origin, ends)


def calldata_v1(desk: Desk, asked: Asked) -> object:
    """POST /{network}/calldata: of an order, or of a found route."""
    body = form.parse_calldata_body(asked.document(), asked.network, int(desk.clock.now_s()))
    if isinstance(body, ExecuteBody):
        payload, headers = _build(desk, asked, body)
        return Outcome(_render_found(payload, asked), headers)
    answer, payload = _quote_and_build(desk, asked, body, Generation.V1)
    return Outcome(render_calldata_v1(answer.result, payload, asked.network), answer_headers(desk, answer))


def _render_found(payload: Payload, asked: Asked) -> object:
    """As V1 execute, but always with the names of the two tokens: such clients encode the call themselves. Starknet's
    want the felts alone."""
    if asked.network.kind is Kind.STARKNET:
        return render_felts(payload.felts)
    to = display_address(payload.to, asked.network.kind)
    transaction = {"calldata": payload.calldata, "to": to, "value": str(payload.value)}
    return {**render_call(payload.call, asked.network), **transaction}


def calldata_v2(desk: Desk, asked: Asked) -> object:
    """POST /{network}/v2/calldata."""
    body = form.parse_execute_body(asked.document(), asked.network, form.CALLDATA_V2, int(desk.clock.now_s()))
    if body.result.generation is not Generation.V2:
        raise InvalidRoute("route.meta is missing: V2 calldata takes the complete response of V2 route")
    payload, headers = _build(desk, asked, body)
    return Outcome(render_calldata_v2(payload, asked.network, desk.now_ms()), headers)


def order_calldata(desk: Desk, asked: Asked) -> object:
    """GET /hyperevm/calldata and GET /starknet/calldata."""
    is_starknet = asked.network.kind is Kind.STARKNET
    answer, payload = _parse_and_build(desk, asked, form.PAYLOAD_V1 if is_starknet else form.PAYLOAD_OWN)
    return Outcome(render_own_calldata(answer.result, payload, asked.network), answer_headers(desk, answer))


def signer_calldata(desk: Desk, asked: Asked) -> object:
    """GET /citrea/calldata."""
    body = form.parse_signer_body(asked.document(), asked.network)
    payload, headers = _build(desk, asked, ExecuteBody(body.result, body.slippage_ppm, body.signer))
    return Outcome(render_signer_calldata(payload), headers)


def route_and_calldata_v1(desk: Desk, asked: Asked) -> object:
    """GET /{network}/routeAndCalldata."""
    answer, payload = _parse_and_build(desk, asked, form.PAYLOAD_V1)
    document = render_route_and_calldata(answer.result, payload, asked.network, answer.timestamp_ms)
    return Outcome(document, answer_headers(desk, answer))


def route_and_calldata_v2(desk: Desk, asked: Asked) -> object:
    """GET /{network}/v2/routeAndCalldata."""
    answer, payload = _parse_and_build(desk, asked, form.PAYLOAD_V2)
    document = render_route_and_calldata(answer.result, payload, asked.network, answer.timestamp_ms)
    return Outcome(document, answer_headers(desk, answer))


def route_batch(desk: Desk, asked: Asked) -> object:
    """GET /starknet/routeBatch: each order on the pools as the one before leaves them, since one transaction carries
    them all."""
    orders = parse_batch(asked.parameters(), asked.network, needs_terms=False)
    answers = _source(desk, asked).quote_batch(_asks(desk, asked, orders), asked.is_cancelled)
    for answer in answers:
        _note(desk, answer)
    document = render_batch_routes([answer.result for answer in answers], asked.network)
    return Outcome(document, answer_headers(desk, *answers))


def execute_batch(desk: Desk, asked: Asked) -> object:
    """GET /starknet/executeBatch."""
    orders = parse_batch(asked.parameters(), asked.network, needs_terms=True)
    asks, delivery = _asks(desk, asked, orders), _delivery(orders[0])
    built = _source(desk, asked).quote_and_build_batch(asks, delivery, asked.is_cancelled)
    document = render_batch_felts([payload for _, payload in built])
    return Outcome(document, answer_headers(desk, *(answer for answer, _ in built)))


def _asks(desk: Desk, asked: Asked, orders: Sequence[OrderQuery]) -> list[Ask]:
    return [_ask(desk, asked, order, Generation.V1) for order in orders]


def tokens(desk: Desk, asked: Asked) -> object:
    """GET /{network}/tokens."""
    return render_tokens(_tokens(desk, asked).values(), asked.network)


def token(desk: Desk, asked: Asked) -> object:
    """GET /{network}/tokens/{address}."""
    address = parse_address(asked.rest, asked.network.kind)
    address = asked.network.native.address if is_native(address, asked.network.kind) else address
    listed = _tokens(desk, asked).get(address)
    if listed is None:
        raise UnknownToken(f"no such token on {asked.network.name}")
    return render_token(listed, asked.network)


def protocols(_desk: Desk, asked: Asked) -> object:
    """GET /{network}/protocols."""
    return render_protocols(asked.network.protocols)


def _tokens(desk: Desk, asked: Asked) -> dict[str, VerifiedToken]:
    """The native token, the network's own and those of the market, by address; the market's description wins."""
    own = [asked.network.native, *asked.network.tokens]
    listed = {each.address: VerifiedToken(each, True) for each in own}
    if asked.network not in desk.served:
        return listed
    held = desk.open(asked.network.name).market.tokens
    return listed | {address: VerifiedToken(each, address in listed) for address, each in held.items()}


def _parse_and_build(desk: Desk, asked: Asked, wanted: OrderForm) -> tuple[Answer, Payload]:
    query = form.parse_order(asked.parameters(), asked.network, wanted)
    return _quote_and_build(desk, asked, query, wanted.generation)


def _quote(desk: Desk, asked: Asked, query: OrderQuery, generation: Generation) -> Answer:
    answer = _source(desk, asked).quote(_ask(desk, asked, query, generation), asked.is_cancelled)
    _note(desk, answer)
    return answer


def _quote_and_build(desk: Desk, asked: Asked, query: OrderQuery, generation: Generation) -> tuple[Answer, Payload]:
    ask = _ask(desk, asked, query, generation)
    answer, payload = _source(desk, asked).quote_and_build(ask, _delivery(query), asked.is_cancelled)
    _note(desk, answer)
    return answer, payload


def _delivery(query: OrderQuery) -> Delivery:
    assert query.destination is not None
    return Delivery(query.slippage_ppm, query.destination)


def _source(desk: Desk, asked: Asked) -> MarketSource:
    return desk.source(asked.network.name)


def _ask(desk: Desk, asked: Asked, query: OrderQuery, generation: Generation) -> Ask:
    integrator = _integrator(query.integrator, asked.key)
    excluded = find_protocols(query.excluded, asked.network)
    source = _source(desk, asked)
    order = Order(
        token_in=source.token(query.token_in),
        token_out=source.token(query.token_out),
        amount=query.amount,
        reverse=query.reverse,
        direct=query.direct,
        excluded_protocols=excluded,
        max_hops=desk.max_hops,
    )
    return Ask(order, generation, integrator, desk.gas_price_wei, solve_time_s=desk.solve_time_s)


def _integrator(wish: IntegratorWish | None, key: ApiKey | None) -> Integrator | None:
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


def _build(desk: Desk, asked: Asked, body: ExecuteBody) -> tuple[Payload, Headers]:
    """The payload of a posted route, and where it comes from. Its integrator needs a key, as when the route was asked
    for."""
    result = _earned(body.result, asked)
    issued_ms = desk.issued.issued_ms(asked.network.name, result)
    source = _source(desk, asked)
    payload = source.build(result, Delivery(body.slippage_ppm, body.destination), issued_ms=issued_ms)
    return payload, payload_headers(desk, source, result, payload)


def _earned(result: RouteResult, asked: Asked) -> RouteResult:
    integrator = result.integrator
    if integrator is None or not (integrator.fee_bps or integrator.surplus_bps):
        return result._replace(integrator=None)
    _check_key(asked.key)
    if asked.network.kind is Kind.STARKNET:
        raise InvalidRoute("the router on starknet pays no integrator")
    return result


def _note(desk: Desk, answer: Answer) -> None:
    if answer.result.generation is Generation.V1:
        desk.issued.note(answer.network.name, answer.result, answer.timestamp_ms)
