"""Responses that contain a transaction: a render and a parse function for each.

Render functions take an `UnsignedTransaction`, and a `RouteResult` if the response contains the route. Parse functions
return a `ParsedTransaction`, preceded by the `RouteResult` if the response contains the route; they raise `NoRoute` if
the response says that there is no route, and `InvalidInput` with the field if the response is malformed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import Network, encoding_package
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.transaction import RouterCall, Transaction, UnsignedTransaction, deadline_of
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.interface.fields import Fields, parse_felts, render_felts
from swapcli.interface.interface_by_network import NetworkCalldata, network_variant
from swapcli.interface.route import (
    parse_meta,
    parse_result,
    parse_short,
    raise_if_no_route,
    render_meta,
    render_no_route,
    render_short,
    render_v1,
    render_v2,
)
from swapcli.interface.router_call import (
    parse_call,
    render_call,
    render_call_route,
    render_hex,
    render_short_swap_parameters,
    render_swap_parameters,
)

if TYPE_CHECKING:
    from swapcli.interface.json_types import (
        CalldataJson,
        CalldataV1Json,
        CalldataV2Json,
        CitreaCalldataJson,
        DialectCalldataJson,
        DialectCalldataV2Json,
        DialectRouteAndCalldataV2Json,
        ExecuteJson,
        HyperevmCalldataJson,
        HyperevmNoRouteJson,
        RouteAndCalldataV1Json,
        RouteAndCalldataV2Json,
        StarknetCalldataJson,
        StarknetCalldataV1Json,
        StarknetExecuteJson,
        TransactionJson,
    )


class ParsedTransaction(NamedTuple):
    """The transaction in a response. Fields that the response lacks are None or empty.

    `calldata` is hex with 0x, `value` in wei; on Starknet `felts` are the call's arguments.
    """

    call: RouterCall | None = None
    to: str | None = None
    calldata: str | None = None
    value: int | None = None
    felts: tuple[int, ...] = ()
    timestamp_ms: int | None = None


RouteAndTransaction: TypeAlias = tuple[RouteResult, ParsedTransaction]


def render_execute(payload: UnsignedTransaction, network: Network) -> ExecuteJson | StarknetExecuteJson | CalldataJson:
    """Render V1 execute: a call and its transaction; on hyperevm only the call."""
    dialect = network_variant(network.name)
    route = render_call_route(payload.call.route, network, names_tokens=dialect.call_names_tokens)
    swaps = render_swap_parameters(payload.router_call.swaps, network)
    if not dialect.execute_has_transaction:
        return {"route": route, "swap_parameters": swaps}
    to, value = display_address(payload.to, network.kind), str(payload.value)
    if payload.felts:
        felts = render_felts(payload.felts)
        return {"route": route, "swap_parameters": swaps, "calldata": felts, "to": to, "value": value}
    return {"route": route, "swap_parameters": swaps, "calldata": payload.calldata, "to": to, "value": value}


def parse_execute(document: object, network: Network) -> ParsedTransaction:
    """Parse V1 execute. The transaction is missing if the response has only the call."""
    fields = _fields(document)
    call = parse_call(fields, network)
    return _parse_transaction(fields, network, call) if fields.has("calldata") else ParsedTransaction(call)


def render_calldata_v1(
    result: RouteResult, payload: UnsignedTransaction, network: Network
) -> CalldataV1Json | StarknetCalldataV1Json:
    """Render V1 calldata for an order: a short route and its transaction."""
    route = render_short(result, network)
    swaps = render_short_swap_parameters(payload.router_call.swaps, network)
    to, value = display_address(payload.to, network.kind), str(payload.value)
    if payload.felts:
        felts = render_felts(payload.felts)
        return {"success": True, "route": route, "swap_parameters": swaps, "calldata": felts, "to": to, "value": value}
    calldata = payload.calldata
    return {"success": True, "route": route, "swap_parameters": swaps, "calldata": calldata, "to": to, "value": value}


def parse_calldata_v1(document: object, network: Network) -> RouteAndTransaction:
    """Parse V1 calldata for an order. The response has no complete call and no gas."""
    fields = _fields(document)
    return parse_short(fields.nested("route"), network), _parse_transaction(fields, network)


def render_network_calldata(
    result: RouteResult, payload: UnsignedTransaction, network: Network
) -> HyperevmCalldataJson | StarknetCalldataJson:
    """Render `GET /{network}/calldata` for an order: a route with its call (hyperevm) or felts (starknet)."""
    route = render_v1(result, network)
    if network_variant(network.name).network_calldata is NetworkCalldata.FELTS:
        return {"route": route, "calldata": render_felts(payload.felts)}
    return {"route": route, "calldata": render_call(payload.router_call, network)}


def render_network_no_route(message: str) -> HyperevmNoRouteJson:
    """Render `GET /{network}/calldata` without a route: the failure replaces the route."""
    return {"route": render_no_route(message)}


def parse_network_calldata(document: object, network: Network) -> RouteAndTransaction:
    """Parse `GET /{network}/calldata` for an order."""
    fields = _fields(document)
    result = parse_result(fields.required("route"), network, fields.path_of("route"))
    if network_variant(network.name).network_calldata is NetworkCalldata.FELTS:
        return result, ParsedTransaction(felts=parse_felts(fields.required("calldata"), "calldata"))
    return result, ParsedTransaction(parse_call(fields.nested("calldata"), network))


def render_signer_calldata(payload: UnsignedTransaction) -> CitreaCalldataJson:
    """Render `GET /citrea/calldata`: the encoded call."""
    return {"success": True, "calldata": payload.calldata}


def render_dialect_calldata(
    payload: UnsignedTransaction, transactions: Sequence[Transaction], network: Network
) -> DialectCalldataJson:
    """Render the transactions of a swap for a router whose calls the Fibrous API does not describe."""
    to, value = display_address(payload.to, network.kind), str(payload.value)
    deadline = deadline_of(payload, network.router_dialect)
    document: DialectCalldataJson = {
        "dialect": network.router_dialect,
        "route": render_call_route(payload.call.route, network),
        "deadlineEnforcer": deadline.enforcer,
        "to": to,
        "calldata": payload.calldata,
        "value": value,
        "transactions": [_render_transaction(each, network) for each in transactions],
    }
    if deadline.end_s is not None:
        document["deadline"] = deadline.end_s
    package = encoding_package(network, payload.to)
    if package is not None:
        document["dialectPackage"] = package
    return document


def _render_transaction(transaction: Transaction, network: Network) -> TransactionJson:
    to, value = display_address(transaction.to, network.kind), str(transaction.value)
    return {"what": transaction.purpose.value, "to": to, "calldata": transaction.calldata, "value": value}


def render_dialect_calldata_v2(calldata: DialectCalldataJson, timestamp_ms: int) -> DialectCalldataV2Json:
    """Render V2 calldata for a router whose calls the Fibrous API does not describe."""
    added = {"router_address": calldata["to"], "meta": render_meta(timestamp_ms)}
    return cast("DialectCalldataV2Json", {**calldata, **added})


def render_dialect_route_and_calldata(
    result: RouteResult, calldata: DialectCalldataJson, network: Network, timestamp_ms: int
) -> DialectRouteAndCalldataV2Json:
    """Render V2 `routeAndCalldata` for a router whose calls the Fibrous API does not describe."""
    route, meta = render_v2(result, network), render_meta(timestamp_ms)
    return {"route": route, "calldata": calldata, "router_address": calldata["to"], "meta": meta}


def render_calldata_v2(payload: UnsignedTransaction, network: Network, timestamp_ms: int) -> CalldataV2Json:
    """Render V2 calldata: a call, with the integrator's data if any, and its router."""
    call = render_call(payload.router_call, network)
    added = {"router_address": display_address(payload.to, network.kind), "meta": render_meta(timestamp_ms)}
    return cast("CalldataV2Json", {**call, **added})


def parse_calldata_v2(document: object, network: Network) -> ParsedTransaction:
    """Parse V2 calldata."""
    fields = _fields(document)
    router = fields.address("router_address", network.kind)
    return ParsedTransaction(parse_call(fields, network), to=router, timestamp_ms=parse_meta(fields))


def render_route_and_calldata(
    result: RouteResult, payload: UnsignedTransaction, network: Network, timestamp_ms: int
) -> RouteAndCalldataV1Json | RouteAndCalldataV2Json:
    """Render `routeAndCalldata` in the version of the result; V1 has no `meta`."""
    call, router = render_call(payload.router_call, network), display_address(payload.to, network.kind)
    if result.api_version is ApiVersion.V1:
        return {"route": render_v1(result, network), "calldata": call, "router_address": router}
    meta = render_meta(timestamp_ms)
    return {"route": render_v2(result, network), "calldata": call, "router_address": router, "meta": meta}


def parse_route_and_calldata(document: object, network: Network) -> RouteAndTransaction:
    """Parse `routeAndCalldata` in either version."""
    fields = _fields(document)
    result = parse_result(fields.required("route"), network, fields.path_of("route"))
    return result, ParsedTransaction(
        call=parse_call(fields.nested("calldata"), network),
        to=fields.address("router_address", network.kind),
        timestamp_ms=parse_meta(fields) if fields.has("meta") else None,
    )


def _fields(document: object) -> Fields:
    fields = Fields(document)
    raise_if_no_route(fields)
    return fields


def _parse_transaction(fields: Fields, network: Network, call: RouterCall | None = None) -> ParsedTransaction:
    to, value = fields.address("to", network.kind), fields.amount("value", minimum=0)
    if network.kind.traits.has_felts:
        return ParsedTransaction(call, to, value=value, felts=parse_felts(fields.required("calldata"), "calldata"))
    return ParsedTransaction(call, to, _parse_hex(fields), value)


def _parse_hex(fields: Fields) -> str:
    fields.required("calldata")
    return render_hex(fields.hex_bytes("calldata"))
