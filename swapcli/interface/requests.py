"""Requests of the interface: parsed from a query or a body, and rendered for another service.

What arrives is read in four steps, each in one place: `faces/service/request_io.py` has the bytes of HTTP,
`EndpointRequest` decodes them to pairs or JSON, `RequestParameters` reads one parameter by its name, and the functions
here know which parameters a request has. Each body is read once. What a request may ask for on a network, with which
key, is decided by the endpoint.

Queries are decoded pairs. Unknown parameters are ignored. Errors are `InvalidInput` with the interface's name of the
parameter in `details["field"]`; fee and surplus together are an `IntegratorError`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from swapcli.core.errors import InvalidInput, InvalidOption, InvalidRoute, NoRoute, SameToken
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import DIALECTS, Network
from swapcli.core.model.quote_request import SharePrecision
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.swap_terms import DEFAULT_DEADLINE_S, DEFAULT_SLIPPAGE_PPM, SwapTerms
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.interface.integrators import ADDRESS, FEE, SURPLUS, check_integrator_shares
from swapcli.interface.interface_by_network import network_variant
from swapcli.interface.request_parameters import RequestParameters, parse_address_parameter
from swapcli.interface.route import parse_posted_result, render_result
from swapcli.interface.slippage import SIGNER_SLIPPAGE, V1_SLIPPAGE, V2_SLIPPAGE, SlippageRange, format_percent

if TYPE_CHECKING:
    from swapcli.interface.json_types import CalldataRequestJson, ExecuteRequestJson, PostedRouteJson


LISTED, EXTENDED = PROTOCOL_LISTS = "listed", "extended"
"""Which protocols a route may use: those of the interface's list, or also others."""
_SHARES = tuple(each.value for each in SharePrecision)

Query = Sequence[tuple[str, str]]


class OrderRequest(NamedTuple):
    """An order as a request states it.

    Addresses are canonical, the native token is the zero address. `amount` is in base units: of `token_out` if
    `reverse`. `excluded` are ids or names of protocols as the request spells them. The integrator's address and shares
    may each be absent; the API key decides whether they are allowed. Extensions of the interface are `shares`, which
    has whole percents only; `details`, which adds the figures of the quote to its route; `extended`, which adds
    protocols that the interface does not list; and in V2 `dialect`, the router dialect that the client expects.
    """

    amount: int
    token_in: str
    token_out: str
    reverse: bool = False
    direct: bool = False
    excluded: tuple[str, ...] = ()
    slippage_ppm: int = DEFAULT_SLIPPAGE_PPM
    recipient: str | None = None
    integrator_address: str | None = None
    fee_bps: int = 0
    surplus_bps: int = 0
    shares: SharePrecision = SharePrecision.WHOLE
    dialect: str | None = None
    details: bool = False
    extended: bool = False

    @property
    def has_integrator(self) -> bool:
        """Whether the request has any integrator parameter."""
        return bool(self.integrator_address or self.fee_bps or self.surplus_bps)


class PostedRoute(NamedTuple):
    """A found route that a request sends back, and the terms of the call to build from it, which have a recipient.

    `dialect` and `details` as in an order.
    """

    result: RouteResult
    terms: SwapTerms
    dialect: str | None = None
    details: bool = False


class OrderParameters(NamedTuple):
    """The parameters that an endpoint accepts with an order.

    `slippage` None: neither slippage nor recipient; with `needs_terms` both are required.
    """

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
    """The parameters that an endpoint accepts with a route."""

    slippage: SlippageRange
    has_deadline: bool = False
    has_dialect: bool = False


EXECUTE_V1 = BodyParameters(V1_SLIPPAGE, has_deadline=True)
CALLDATA_V1 = BodyParameters(V1_SLIPPAGE)
CALLDATA_V2 = BodyParameters(V2_SLIPPAGE, has_dialect=True)


def parse_order(query: Query, network: Network, parameters: OrderParameters) -> OrderRequest:
    """Parse the order of a query."""
    return _read_order(RequestParameters.from_query(query, network.kind), network, parameters)


def parse_text(name: str, query: Query, network: Network) -> str | None:
    """Parse a parameter of a query that an endpoint has besides its order; None if it is missing."""
    return RequestParameters.from_query(query, network.kind).text(name)


def parse_protocol_list(query: Query, network: Network) -> str:
    """Parse which protocols a query is about, one of `PROTOCOL_LISTS`. Raises `InvalidOption`."""
    return _read_protocol_list(RequestParameters.from_query(query, network.kind))


def _read_protocol_list(parameters: RequestParameters) -> str:
    return parameters.choice("protocols", PROTOCOL_LISTS, default=LISTED)


def render_order(order: OrderRequest, network: Network, parameters: OrderParameters) -> list[tuple[str, str]]:
    """Render an order as a query; the inverse of `parse_order`."""
    query = [
        ("amount", str(order.amount)),
        ("tokenInAddress", display_address(order.token_in, network.kind)),
        ("tokenOutAddress", display_address(order.token_out, network.kind)),
    ]
    query += [(name, "true") for name in ("reverse", "direct") if getattr(order, name)]
    if order.excluded:
        query.append(("excludeProtocols", ",".join(order.excluded)))
    if order.shares is not SharePrecision.WHOLE:
        query.append(("shares", order.shares.value))
    if order.details:
        query.append(("details", "true"))
    if order.extended:
        query.append(("protocols", EXTENDED))
    if parameters.slippage:
        query += _render_terms(order, network)
    if parameters.api_version is ApiVersion.V2:
        query += _render_integrator(order, network)
        query += [("dialect", order.dialect)] if order.dialect else []
    return query


def parse_calldata_body(document: object, network: Network, now_s: int) -> OrderRequest | PostedRoute:
    """Parse the body of V1 calldata: an order, or a route if it has the field `route`."""
    parameters = RequestParameters.from_body(document, network.kind)
    if parameters.has("route"):
        return _read_execute(parameters, network, CALLDATA_V1, now_s)
    return _read_order(parameters, network, PAYLOAD_V1)


def render_calldata_body(order: OrderRequest, network: Network) -> CalldataRequestJson:
    """Render an order as the body of V1 calldata. Raises `InvalidAddress` if the order has no recipient."""
    recipient = parse_address_parameter("destination", order.recipient, network.kind)
    body: CalldataRequestJson = {
        "amount": str(order.amount),
        "tokenInAddress": display_address(order.token_in, network.kind),
        "tokenOutAddress": display_address(order.token_out, network.kind),
        "slippage": float(format_percent(order.slippage_ppm)),
        "destination": display_address(recipient, network.kind),
    }
    if order.excluded:
        body["excludeProtocols"] = list(order.excluded)
    if order.direct:
        body["direct"] = True
    if order.shares is not SharePrecision.WHOLE:
        body["shares"] = order.shares.value
    if order.details:
        body["details"] = True
    if order.extended:
        body["protocols"] = EXTENDED
    return body


def parse_execute_body(document: object, network: Network, accepted: BodyParameters, now_s: int) -> PostedRoute:
    """Parse the body of V1 execute or V2 calldata. The default deadline is in 20 minutes."""
    return _read_execute(RequestParameters.from_body(document, network.kind), network, accepted, now_s)


def render_execute_body(
    result: RouteResult, terms: SwapTerms, network: Network, document: Mapping[str, object] | None = None
) -> ExecuteRequestJson:
    """Render the body of V1 execute or V2 calldata. `document` is the route as received, if the caller has it."""
    route = render_result(result, network) if document is None else document
    request: ExecuteRequestJson = {
        "route": cast("PostedRouteJson", route),
        "slippage": float(format_percent(terms.slippage_ppm)),
        "destination": display_address(terms.required_recipient, network.kind),
    }
    if terms.deadline_s is not None:
        request["deadline"] = terms.deadline_s
    return request


def parse_signer_body(document: object, network: Network) -> PostedRoute:
    """Parse the body of GET /citrea/calldata, whose signer is also the recipient.

    Raises `InvalidAddress` with the field `signer` for an invalid signer.
    """
    parameters = RequestParameters.from_body(document, network.kind)
    terms = SwapTerms(
        slippage_ppm=parameters.slippage_ppm("slippage", SIGNER_SLIPPAGE, required=True),
        recipient=parameters.recipient("signer"),
    )
    return PostedRoute(_read_route(parameters, "route_response", network), terms)


def _read_order(parameters: RequestParameters, network: Network, accepted: OrderParameters) -> OrderRequest:
    amount = parameters.amount("amount")
    token_in, token_out = parameters.token("tokenInAddress"), parameters.token("tokenOutAddress")
    check_distinct(token_in, token_out, "tokenOutAddress")
    options = read_order_options(parameters, network, accepted)
    return options._replace(amount=amount, token_in=token_in, token_out=token_out)


def read_order_options(parameters: RequestParameters, network: Network, accepted: OrderParameters) -> OrderRequest:
    """Read the parameters of an order besides its amount and tokens, which are left empty."""
    is_v2 = accepted.api_version is ApiVersion.V2
    reads_recipient = accepted.needs_terms or (accepted.slippage and parameters.has("destination"))
    options = OrderRequest(
        amount=0,
        token_in="",
        token_out="",
        reverse=_read_reverse(parameters, network, accepted),
        direct=parameters.flag("direct"),
        excluded=parameters.string_list("excludeProtocols", may_repeat=not is_v2),
        slippage_ppm=_read_slippage(parameters, accepted),
        recipient=_read_recipient(parameters, accepted) if reads_recipient else None,
        shares=SharePrecision(parameters.choice("shares", _SHARES, default=SharePrecision.WHOLE)),
        details=parameters.flag("details"),
        extended=_read_protocol_list(parameters) == EXTENDED,
    )
    return _read_integrator(parameters, options)._replace(dialect=_read_dialect(parameters)) if is_v2 else options


def _read_dialect(parameters: RequestParameters) -> str | None:
    return parameters.choice("dialect", DIALECTS, default="") or None


def _read_slippage(parameters: RequestParameters, accepted: OrderParameters) -> int:
    if accepted.slippage is None:
        return DEFAULT_SLIPPAGE_PPM
    return parameters.slippage_ppm("slippage", accepted.slippage, required=accepted.needs_terms)


def _read_recipient(parameters: RequestParameters, accepted: OrderParameters) -> str:
    return parameters.recipient("destination") if accepted.needs_terms else parameters.address("destination")


def _read_reverse(parameters: RequestParameters, network: Network, accepted: OrderParameters) -> bool:
    """Read `reverse`. Raises `InvalidOption` where it is not supported, since ignoring it would quote another order."""
    reverse = parameters.flag("reverse")
    if reverse and accepted.api_version is ApiVersion.V2:
        raise InvalidOption("reverse is reserved and not supported", details={"field": "reverse"})
    if reverse and not network_variant(network.name).reverse:
        raise InvalidOption(f"reverse is not supported on {network.name}", details={"field": "reverse"})
    return reverse


def _read_integrator(parameters: RequestParameters, order: OrderRequest) -> OrderRequest:
    fee_bps, surplus_bps = parameters.bps(FEE), parameters.bps(SURPLUS)
    check_integrator_shares(fee_bps, surplus_bps)
    address = parameters.recipient(ADDRESS) if parameters.values.get(ADDRESS) else None
    return order._replace(integrator_address=address, fee_bps=fee_bps, surplus_bps=surplus_bps)


def _read_execute(parameters: RequestParameters, network: Network, accepted: BodyParameters, now_s: int) -> PostedRoute:
    deadline_s = parameters.deadline_s("deadline", now_s, DEFAULT_DEADLINE_S) if accepted.has_deadline else None
    terms = SwapTerms(
        slippage_ppm=parameters.slippage_ppm("slippage", accepted.slippage, required=True),
        recipient=parameters.recipient("destination"),
        deadline_s=deadline_s,
    )
    return PostedRoute(
        _read_route(parameters, "route", network),
        terms,
        dialect=_read_dialect(parameters) if accepted.has_dialect else None,
        details=parameters.flag("details"),
    )


def _read_route(parameters: RequestParameters, name: str, network: Network) -> RouteResult:
    try:
        return parse_posted_result(parameters.values.get(name), network, path=name)
    except InvalidInput as error:
        raise InvalidRoute(error.message, hint=error.hint, details={"field": name} | error.details) from None
    except NoRoute:
        raise InvalidRoute(f"{name} must be a route that was found", details={"field": name}) from None


def check_distinct(token_in: str, token_out: str, name: str) -> None:
    """Raise `SameToken` with the field `name` if the two tokens are the same."""
    if token_in == token_out:
        error = SameToken()
        error.details["field"] = name
        raise error


def _render_terms(order: OrderRequest, network: Network) -> list[tuple[str, str]]:
    terms = [("slippage", format_percent(order.slippage_ppm))]
    if order.recipient:
        terms.append(("destination", display_address(order.recipient, network.kind)))
    return terms


def _render_integrator(order: OrderRequest, network: Network) -> list[tuple[str, str]]:
    address = order.integrator_address
    query = [(ADDRESS, display_address(address, network.kind))] if address else []
    bps = ((FEE, order.fee_bps), (SURPLUS, order.surplus_bps))
    return query + [(name, str(number)) for name, number in bps if number]
