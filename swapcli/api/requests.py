"""What a request asks for, read from its query or its body, and written for a service to read.

Queries are given decoded, as pairs. What a request holds beyond its parameters is ignored. Every fault is an
`InvalidInput` whose details name the `field` as the wire does; fee and surplus together are an `IntegratorError`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from swapcli.api.network_variants import network_variant
from swapcli.api.request_parameters import RequestParameters, parse_address_parameter
from swapcli.api.route import parse_result, render_result
from swapcli.api.route_result import RouteResult
from swapcli.api.slippage import SIGNER_SLIPPAGE, V1_SLIPPAGE, V2_SLIPPAGE, SlippageRange, format_percent
from swapcli.errors import IntegratorError, InvalidInput, InvalidOption, InvalidRoute, NoRoute, SameToken
from swapcli.model.api_version import ApiVersion
from swapcli.model.network import Network
from swapcli.model.swap_terms import DEFAULT_SLIPPAGE_PPM, check_shares
from swapcli.networks.address import display_address

if TYPE_CHECKING:
    from swapcli.api.schemas import CalldataRequestJson, ExecuteRequestJson, PostedRouteJson, SignerRequestJson

DEFAULT_DEADLINE_S = 20 * 60

Query = Sequence[tuple[str, str]]


class IntegratorParameters(NamedTuple):
    """Who asks to earn on a route, as the request says it: whether a key allows it is another matter."""

    address: str | None = None
    fee_bps: int = 0
    surplus_bps: int = 0


class OrderRequest(NamedTuple):
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
    recipient: str | None = None
    integrator: IntegratorParameters | None = None


class ExecuteRequest(NamedTuple):
    """A found route to be made into a call. `deadline_s` (Unix) belongs to V1 execute."""

    result: RouteResult
    slippage_ppm: int
    recipient: str
    deadline_s: int | None = None


class SignerBody(NamedTuple):
    """A found route to be made into a call of its signer, who is also its receiver."""

    result: RouteResult
    slippage_ppm: int
    signer: str


class OrderParameters(NamedTuple):
    """Which parameters an endpoint takes with an order. Without a `slippage_schema` range it takes no terms at all."""

    api_version: ApiVersion
    slippage: SlippageRange | None
    needs_terms: bool


ROUTE_V1 = OrderParameters(ApiVersion.V1, V1_SLIPPAGE, needs_terms=False)
ROUTE_V2 = OrderParameters(ApiVersion.V2, None, needs_terms=False)
PAYLOAD_V1 = OrderParameters(ApiVersion.V1, V1_SLIPPAGE, needs_terms=True)
"""V1 calldata, `routeAndCalldata` without a version, and GET /starknet/calldata."""
PAYLOAD_V2 = OrderParameters(ApiVersion.V2, V2_SLIPPAGE, needs_terms=True)
PAYLOAD_HYPEREVM = OrderParameters(ApiVersion.V1, SIGNER_SLIPPAGE, needs_terms=True)
"""GET /hyperevm/calldata."""


class BodyParameters(NamedTuple):
    """What an endpoint takes with a found route."""

    slippage: SlippageRange
    has_deadline: bool = False


EXECUTE_V1 = BodyParameters(V1_SLIPPAGE, has_deadline=True)
CALLDATA_V1 = BodyParameters(V1_SLIPPAGE)
CALLDATA_V2 = BodyParameters(V2_SLIPPAGE)


def parse_order(query: Query, network: Network, parameters: OrderParameters) -> OrderRequest:
    """The order that a query gives."""
    return _read_order(RequestParameters.from_query(query, network.kind), network, parameters)


def render_order(order: OrderRequest, network: Network, parameters: OrderParameters) -> list[tuple[str, str]]:
    """The query that gives an order: `parse_order` reads it back."""
    query = [
        ("amount", str(order.amount)),
        ("tokenInAddress", display_address(order.token_in, network.kind)),
        ("tokenOutAddress", display_address(order.token_out, network.kind)),
    ]
    query += [(name, "true") for name in ("reverse", "direct") if getattr(order, name)]
    if order.excluded:
        query.append(("excludeProtocols", ",".join(order.excluded)))
    if parameters.slippage:
        query += render_terms(order, network)
    if order.integrator and parameters.api_version is ApiVersion.V2:
        query += _render_integrator(order.integrator, network)
    return query


def parse_calldata_body(document: object, network: Network, now_s: int) -> OrderRequest | ExecuteRequest:
    """The body of V1 calldata: an order, or, where it has the field `route`, a found route."""
    parameters = RequestParameters.from_body(document, network.kind)
    if parameters.has("route"):
        return _read_execute(parameters, network, CALLDATA_V1, now_s)
    return _read_order(parameters, network, PAYLOAD_V1)


def render_calldata_body(order: OrderRequest, network: Network) -> CalldataRequestJson:
    """The body of V1 calldata that gives an order. Raises `InvalidAddress` where the order has no receiver."""
    body: CalldataRequestJson = {
        "amount": str(order.amount),
        "tokenInAddress": display_address(order.token_in, network.kind),
        "tokenOutAddress": display_address(order.token_out, network.kind),
        "slippage": float(format_percent(order.slippage_ppm)),
        "destination": display_address(
            parse_address_parameter("destination", order.recipient, network.kind), network.kind
        ),
    }
    if order.excluded:
        body["excludeProtocols"] = list(order.excluded)
    if order.direct:
        body["direct"] = True
    return body


def parse_execute_body(document: object, network: Network, form: BodyParameters, now_s: int) -> ExecuteRequest:
    """The body of V1 execute or V2 calldata; a deadline that is not given is 20 minutes away."""
    return _read_execute(RequestParameters.from_body(document, network.kind), network, form, now_s)


def render_execute_body(
    body: ExecuteRequest, network: Network, document: Mapping[str, object] | None = None
) -> ExecuteRequestJson:
    """The body that gives a found route; `build_document` is the route as it was received, where the caller has it."""
    request: ExecuteRequestJson = {
        "route": _route(body.result, network, document),
        "slippage": float(format_percent(body.slippage_ppm)),
        "destination": display_address(body.recipient, network.kind),
    }
    if body.deadline_s is not None:
        request["deadline"] = body.deadline_s
    return request


def parse_signer_body(document: object, network: Network) -> SignerBody:
    """The body of GET /citrea/calldata. A fault of the signer is an `InvalidAddress` of the field `signer`."""
    parameters = RequestParameters.from_body(document, network.kind)
    return SignerBody(
        slippage_ppm=parameters.slippage_ppm("slippage", SIGNER_SLIPPAGE, required=True),
        signer=parameters.recipient("signer"),
        result=_read_route(parameters, "route_response", network),
    )


def render_signer_body(
    body: SignerBody, network: Network, document: Mapping[str, object] | None = None
) -> SignerRequestJson:
    """The body that gives a found route and its signer; `build_document` as in `render_execute_body`."""
    return {
        "route_response": _route(body.result, network, document),
        "slippage": float(format_percent(body.slippage_ppm)),
        "signer": display_address(body.signer, network.kind),
    }


def _read_order(parameters: RequestParameters, network: Network, form: OrderParameters) -> OrderRequest:
    amount = parameters.amount("amount")
    token_in, token_out = parameters.token("tokenInAddress"), parameters.token("tokenOutAddress")
    check_distinct(token_in, token_out, "tokenOutAddress")
    shared = read_batch_terms(parameters, network, form)
    return shared._replace(amount=amount, token_in=token_in, token_out=token_out)


def read_batch_terms(parameters: RequestParameters, network: Network, form: OrderParameters) -> OrderRequest:
    """What an order has beside its amount and tokens, which are left empty."""
    v2 = form.api_version is ApiVersion.V2
    reads_receiver = form.needs_terms or (form.slippage and parameters.has("destination"))
    return OrderRequest(
        amount=0,
        token_in="",
        token_out="",
        reverse=_read_reverse(parameters, network, form),
        direct=parameters.flag("direct"),
        excluded=parameters.string_list("excludeProtocols", may_repeat=not v2),
        slippage_ppm=_read_slippage(parameters, form),
        recipient=_read_recipient(parameters, form) if reads_receiver else None,
        integrator=_read_integrator(parameters) if v2 else None,
    )


def _read_slippage(parameters: RequestParameters, form: OrderParameters) -> int:
    if form.slippage is None:
        return DEFAULT_SLIPPAGE_PPM
    return parameters.slippage_ppm("slippage", form.slippage, required=form.needs_terms)


def _read_recipient(parameters: RequestParameters, form: OrderParameters) -> str:
    return parameters.recipient("destination") if form.needs_terms else parameters.address("destination")


def _read_reverse(parameters: RequestParameters, network: Network, form: OrderParameters) -> bool:
    """Refused where it has no effect: an answer to another order would be worse than none."""
    reverse = parameters.flag("reverse")
    if reverse and form.api_version is ApiVersion.V2:
        raise InvalidOption("reverse is reserved and not supported", details={"field": "reverse"})
    if reverse and not network_variant(network.name).reverse:
        raise InvalidOption(f"reverse is not supported on {network.name}", details={"field": "reverse"})
    return reverse


def _read_integrator(parameters: RequestParameters) -> IntegratorParameters | None:
    fee_bps = parameters.bps("integratorFeePercentageBps")
    surplus_bps = parameters.bps("integratorSurplusPercentageBps")
    try:
        check_shares(fee_bps, surplus_bps)
    except (IntegratorError, InvalidOption) as error:
        error.details["field"] = "integratorFeePercentageBps" if fee_bps else "integratorSurplusPercentageBps"
        raise
    address = parameters.recipient("integratorAddress") if parameters.values.get("integratorAddress") else None
    return IntegratorParameters(address, fee_bps, surplus_bps) if address or fee_bps or surplus_bps else None


def _read_execute(parameters: RequestParameters, network: Network, form: BodyParameters, now_s: int) -> ExecuteRequest:
    deadline_s = parameters.deadline_s("deadline", now_s, DEFAULT_DEADLINE_S) if form.has_deadline else None
    return ExecuteRequest(
        slippage_ppm=parameters.slippage_ppm("slippage", form.slippage, required=True),
        recipient=parameters.recipient("destination"),
        deadline_s=deadline_s,
        result=_read_route(parameters, "route", network),
    )


def _read_route(parameters: RequestParameters, name: str, network: Network) -> RouteResult:
    try:
        return parse_result(parameters.values.get(name), network, path=name)
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


def render_terms(order: OrderRequest, network: Network) -> list[tuple[str, str]]:
    """Slippage and receiver as they stand in a query."""
    terms = [("slippage", format_percent(order.slippage_ppm))]
    if order.recipient:
        terms.append(("destination", display_address(order.recipient, network.kind)))
    return terms


def _render_integrator(wish: IntegratorParameters, network: Network) -> list[tuple[str, str]]:
    query = [("integratorAddress", display_address(wish.address, network.kind))] if wish.address else []
    bps = (("integratorFeePercentageBps", wish.fee_bps), ("integratorSurplusPercentageBps", wish.surplus_bps))
    return query + [(name, str(number)) for name, number in bps if number]


def _route(result: RouteResult, network: Network, document: Mapping[str, object] | None) -> PostedRouteJson:
    return cast("PostedRouteJson", render_result(result, network) if document is None else document)
