"""What a request asks for, read from its query or its body, and written for a service to read.

Queries are given decoded, as pairs. What a request holds beyond its parameters is ignored. Every fault is an
`InvalidInput` whose details name the `field` as the wire does; fee and surplus together are an `IntegratorError`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from swapcli.api.network_variants import dialect_of
from swapcli.api.request_parameters import Parameters, checked_address
from swapcli.api.route import parse, render_result
from swapcli.api.route_result import RouteResult
from swapcli.api.slippage import SIGNER_SLIPPAGE, V1_SLIPPAGE, V2_SLIPPAGE, Generation, SlippageRange, percent
from swapcli.errors import IntegratorError, InvalidInput, InvalidOption, InvalidRoute, NoRoute, SameToken
from swapcli.model.network import Network
from swapcli.model.terms import DEFAULT_SLIPPAGE_PPM, check_shares
from swapcli.networks.address import display_address

if TYPE_CHECKING:
    from swapcli.api.schemas import CalldataRequest, ExecuteRequest, PostedRoute, SignerRequest

DEFAULT_DEADLINE_S = 20 * 60

Query = Sequence[tuple[str, str]]


class IntegratorWish(NamedTuple):
    """Who asks to earn on a route, as the request says it: whether a key allows it is another matter."""

    address: str | None = None
    fee_bps: int = 0
    surplus_bps: int = 0


class OrderQuery(NamedTuple):
    """An order. Addresses are canonical, the native token's is the zero address; `excluded` are ids or names as given.

    `amount` is in base units: of `token_out` where `reverse`.
    """

    amount: int
    token_in: str
    token_out: str
    reverse: bool = False
    direct: bool = False
    excluded: tuple[str, ...] = ()
    slippage_ppm: int = DEFAULT_SLIPPAGE_PPM
    destination: str | None = None
    integrator: IntegratorWish | None = None


class ExecuteBody(NamedTuple):
    """A found route to be made into a call. `deadline_s` (Unix) belongs to V1 execute."""

    result: RouteResult
    slippage_ppm: int
    destination: str
    deadline_s: int | None = None


class SignerBody(NamedTuple):
    """A found route to be made into a call of its signer, who is also its receiver."""

    result: RouteResult
    slippage_ppm: int
    signer: str


class OrderForm(NamedTuple):
    """Which parameters an endpoint takes with an order. Without a `slippage` range it takes no terms at all."""

    generation: Generation
    slippage: SlippageRange | None
    needs_terms: bool


ROUTE_V1 = OrderForm(Generation.V1, V1_SLIPPAGE, needs_terms=False)
ROUTE_V2 = OrderForm(Generation.V2, None, needs_terms=False)
PAYLOAD_V1 = OrderForm(Generation.V1, V1_SLIPPAGE, needs_terms=True)
"""V1 calldata, `routeAndCalldata` without a version, and GET /starknet/calldata."""
PAYLOAD_V2 = OrderForm(Generation.V2, V2_SLIPPAGE, needs_terms=True)
PAYLOAD_OWN = OrderForm(Generation.V1, SIGNER_SLIPPAGE, needs_terms=True)
"""GET /hyperevm/calldata."""


class BodyForm(NamedTuple):
    """What an endpoint takes with a found route."""

    slippage: SlippageRange
    has_deadline: bool = False


EXECUTE_V1 = BodyForm(V1_SLIPPAGE, has_deadline=True)
CALLDATA_V1 = BodyForm(V1_SLIPPAGE)
CALLDATA_V2 = BodyForm(V2_SLIPPAGE)


def parse_order(query: Query, network: Network, form: OrderForm) -> OrderQuery:
    """The order that a query gives."""
    return _read_order(Parameters.of_query(query, network.kind), network, form)


def render_order(order: OrderQuery, network: Network, form: OrderForm) -> list[tuple[str, str]]:
    """The query that gives an order: `parse_order` reads it back."""
    query = [
        ("amount", str(order.amount)),
        ("tokenInAddress", display_address(order.token_in, network.kind)),
        ("tokenOutAddress", display_address(order.token_out, network.kind)),
    ]
    query += [(name, "true") for name in ("reverse", "direct") if getattr(order, name)]
    if order.excluded:
        query.append(("excludeProtocols", ",".join(order.excluded)))
    if form.slippage:
        query += render_terms(order, network)
    if order.integrator and form.generation is Generation.V2:
        query += _wish(order.integrator, network)
    return query


def parse_calldata_body(document: object, network: Network, now_s: int) -> OrderQuery | ExecuteBody:
    """The body of V1 calldata: an order, or, where it has the field `route`, a found route."""
    parameters = Parameters.of_body(document, network.kind)
    if parameters.has("route"):
        return _read_execute(parameters, network, CALLDATA_V1, now_s)
    return _read_order(parameters, network, PAYLOAD_V1)


def render_calldata_body(order: OrderQuery, network: Network) -> CalldataRequest:
    """The body of V1 calldata that gives an order. Raises `InvalidAddress` where the order has no receiver."""
    body: CalldataRequest = {
        "amount": str(order.amount),
        "tokenInAddress": display_address(order.token_in, network.kind),
        "tokenOutAddress": display_address(order.token_out, network.kind),
        "slippage": float(percent(order.slippage_ppm)),
        "destination": display_address(checked_address("destination", order.destination, network.kind), network.kind),
    }
    if order.excluded:
        body["excludeProtocols"] = list(order.excluded)
    if order.direct:
        body["direct"] = True
    return body


def parse_execute_body(document: object, network: Network, form: BodyForm, now_s: int) -> ExecuteBody:
    """The body of V1 execute or V2 calldata; a deadline that is not given is 20 minutes away."""
    return _read_execute(Parameters.of_body(document, network.kind), network, form, now_s)


def render_execute_body(
    body: ExecuteBody, network: Network, document: Mapping[str, object] | None = None
) -> ExecuteRequest:
    """The body that gives a found route; `document` is the route as it was received, where the caller has it."""
    request: ExecuteRequest = {
        "route": _route(body.result, network, document),
        "slippage": float(percent(body.slippage_ppm)),
        "destination": display_address(body.destination, network.kind),
    }
    if body.deadline_s is not None:
        request["deadline"] = body.deadline_s
    return request


def parse_signer_body(document: object, network: Network) -> SignerBody:
    """The body of GET /citrea/calldata. A fault of the signer is an `InvalidAddress` of the field `signer`."""
    parameters = Parameters.of_body(document, network.kind)
    return SignerBody(
        slippage_ppm=parameters.slippage_ppm("slippage", SIGNER_SLIPPAGE, required=True),
        signer=parameters.receiver("signer"),
        result=_read_route(parameters, "route_response", network),
    )


def render_signer_body(
    body: SignerBody, network: Network, document: Mapping[str, object] | None = None
) -> SignerRequest:
    """The body that gives a found route and its signer; `document` as in `render_execute_body`."""
    return {
        "route_response": _route(body.result, network, document),
        "slippage": float(percent(body.slippage_ppm)),
        "signer": display_address(body.signer, network.kind),
    }


def _read_order(parameters: Parameters, network: Network, form: OrderForm) -> OrderQuery:
    amount = parameters.amount("amount")
    token_in, token_out = parameters.token("tokenInAddress"), parameters.token("tokenOutAddress")
    check_distinct(token_in, token_out, "tokenOutAddress")
    shared = read_shared(parameters, network, form)
    return shared._replace(amount=amount, token_in=token_in, token_out=token_out)


def read_shared(parameters: Parameters, network: Network, form: OrderForm) -> OrderQuery:
    """What an order has beside its amount and tokens, which are left empty."""
    v2 = form.generation is Generation.V2
    reads_receiver = form.needs_terms or (form.slippage and parameters.has("destination"))
    return OrderQuery(
        amount=0,
        token_in="",
        token_out="",
        reverse=_read_reverse(parameters, network, form),
        direct=parameters.flag("direct"),
        excluded=parameters.listed("excludeProtocols", repeated=not v2),
        slippage_ppm=_read_slippage(parameters, form),
        destination=_read_destination(parameters, form) if reads_receiver else None,
        integrator=_read_wish(parameters) if v2 else None,
    )


def _read_slippage(parameters: Parameters, form: OrderForm) -> int:
    if form.slippage is None:
        return DEFAULT_SLIPPAGE_PPM
    return parameters.slippage_ppm("slippage", form.slippage, required=form.needs_terms)


def _read_destination(parameters: Parameters, form: OrderForm) -> str:
    return parameters.receiver("destination") if form.needs_terms else parameters.address("destination")


def _read_reverse(parameters: Parameters, network: Network, form: OrderForm) -> bool:
    """Refused where it has no effect: an answer to another order would be worse than none."""
    reverse = parameters.flag("reverse")
    if reverse and form.generation is Generation.V2:
        raise InvalidOption("reverse is reserved and not supported", details={"field": "reverse"})
    if reverse and not dialect_of(network.name).reverse:
        raise InvalidOption(f"reverse is not supported on {network.name}", details={"field": "reverse"})
    return reverse


def _read_wish(parameters: Parameters) -> IntegratorWish | None:
    fee_bps = parameters.bps("integratorFeePercentageBps")
    surplus_bps = parameters.bps("integratorSurplusPercentageBps")
    try:
        check_shares(fee_bps, surplus_bps)
    except (IntegratorError, InvalidOption) as error:
        error.details["field"] = "integratorFeePercentageBps" if fee_bps else "integratorSurplusPercentageBps"
        raise
    address = parameters.receiver("integratorAddress") if parameters.values.get("integratorAddress") else None
    return IntegratorWish(address, fee_bps, surplus_bps) if address or fee_bps or surplus_bps else None


def _read_execute(parameters: Parameters, network: Network, form: BodyForm, now_s: int) -> ExecuteBody:
    deadline_s = parameters.deadline_s("deadline", now_s, DEFAULT_DEADLINE_S) if form.has_deadline else None
    return ExecuteBody(
        slippage_ppm=parameters.slippage_ppm("slippage", form.slippage, required=True),
        destination=parameters.receiver("destination"),
        deadline_s=deadline_s,
        result=_read_route(parameters, "route", network),
    )


def _read_route(parameters: Parameters, name: str, network: Network) -> RouteResult:
    try:
        return parse(parameters.values.get(name), network, path=name)
    except InvalidInput as error:
        raise InvalidRoute(error.message, details={"field": name} | error.details) from None
    except NoRoute:
        raise InvalidRoute(f"{name} must be a route that was found", details={"field": name}) from None


def check_distinct(token_in: str, token_out: str, name: str) -> None:
    """Raises `SameToken`, naming the field, where the two are one."""
    if token_in == token_out:
        error = SameToken()
        error.details["field"] = name
        raise error


def render_terms(order: OrderQuery, network: Network) -> list[tuple[str, str]]:
    """Slippage and receiver as they stand in a query."""
    terms = [("slippage", percent(order.slippage_ppm))]
    if order.destination:
        terms.append(("destination", display_address(order.destination, network.kind)))
    return terms


def _wish(wish: IntegratorWish, network: Network) -> list[tuple[str, str]]:
    query = [("integratorAddress", display_address(wish.address, network.kind))] if wish.address else []
    bps = (("integratorFeePercentageBps", wish.fee_bps), ("integratorSurplusPercentageBps", wish.surplus_bps))
    return query + [(name, str(number)) for name, number in bps if number]


def _route(result: RouteResult, network: Network, document: Mapping[str, object] | None) -> PostedRoute:
    return cast("PostedRoute", render_result(result, network) if document is None else document)
