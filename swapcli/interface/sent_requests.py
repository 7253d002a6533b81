"""Render requests to a remote service: the inverse of the module `requests`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import Network
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.networks.address import display_address
from swapcli.interface.integrators import ADDRESS, FEE, SURPLUS
from swapcli.interface.quote_parameters import SENT, QuoteParameter
from swapcli.interface.requests import EXTENDED, OrderParameters, OrderRequest, parse_address_parameter
from swapcli.interface.route import render_result
from swapcli.interface.slippage import format_percent

if TYPE_CHECKING:
    from swapcli.interface.json_types import CalldataRequestJson, ExecuteRequestJson, PostedRouteJson


def _sent_values(order: OrderRequest) -> Iterator[tuple[QuoteParameter, Any]]:
    """Yield the quote parameters in an order, with their values."""
    values = dict(order.values)
    for each in SENT:
        if each.field in values:
            yield each, values[each.field]


def render_order(order: OrderRequest, network: Network, parameters: OrderParameters) -> list[tuple[str, str]]:
    """Render an order as a query; the inverse of `parse_order`."""
    query = [
        ("amount", str(order.amount)),
        ("tokenInAddress", display_address(order.token_in, network.kind)),
        ("tokenOutAddress", display_address(order.token_out, network.kind)),
    ]
    query += [("reverse", "true")] if order.reverse else []
    query += [(each.query, each.value_type.format(value)) for each, value in _sent_values(order)]
    if order.excluded:
        query.append(("excludeProtocols", ",".join(order.excluded)))
    if order.details:
        query.append(("details", "true"))
    if order.advice:
        query.append(("advice", "true"))
    if order.extended:
        query.append(("protocols", EXTENDED))
    if parameters.slippage:
        query += _render_terms(order, network)
    if parameters.api_version is ApiVersion.V2:
        query += _render_integrator(order, network)
        query += [("dialect", order.dialect)] if order.dialect else []
    return query


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
    more = {each.query: each.value_type.to_json(value) for each, value in _sent_values(order)}
    if order.details:
        body["details"] = True
    if order.extended:
        body["protocols"] = EXTENDED
    return cast("CalldataRequestJson", body | more)


def render_execute_body(
    result: RouteResult, terms: SwapTerms, network: Network, document: Mapping[str, object] | None = None
) -> ExecuteRequestJson:
    """Render the body of V1 execute or V2 calldata. `document` is the route as received, if available."""
    route = render_result(result, network) if document is None else document
    request: ExecuteRequestJson = {
        "route": cast("PostedRouteJson", route),
        "slippage": float(format_percent(terms.slippage_ppm)),
        "destination": display_address(terms.required_recipient, network.kind),
    }
    if terms.deadline_s is not None:
        request["deadline"] = terms.deadline_s
    return request


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
