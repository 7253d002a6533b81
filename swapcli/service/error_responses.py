"""The one table from errors to answers: status, form and the name that the interface has for them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from swapcli.api import errors as wire
from swapcli.api.network_variants import FaultShape, network_variant
from swapcli.api.payload_bodies import render_network_no_route
from swapcli.api.route import render_meta, render_no_route
from swapcli.errors import (
    InsufficientBalance,
    IntegratorError,
    InvalidAddress,
    InvalidDeadline,
    InvalidInput,
    InvalidRoute,
    InvalidSlippage,
    MarketUnavailable,
    NoRoute,
    Overloaded,
    PoolError,
    RateLimited,
    RouteExpired,
    SimulationError,
    SlippageExceeded,
    StaleError,
    SwapcliError,
    Unauthorized,
    UnknownToken,
)

Headers = tuple[tuple[str, str], ...]


class JsonResponse(NamedTuple):
    """An answer before it is encoded: `build_document` is JSON-ready."""

    status: int
    document: object
    headers: Headers = ()


class Style(StrEnum):
    """How an endpoint tells errors."""

    PLAIN = "plain"
    EXECUTE = "V1 execute"
    EXECUTE_DETAILED = "V1 execute where it tells errors in detail"
    CALLDATA_V2 = "V2 calldata"
    OWN_CALLDATA = "GET calldata of hyperevm and citrea"
    TOKEN = "one token"


Names = tuple[tuple[type[SwapcliError], str], ...]

_EXECUTE: Names = (
    (InvalidSlippage, wire.INVALID_SLIPPAGE),
    (InvalidDeadline, wire.INVALID_DEADLINE),
    (InvalidRoute, wire.INVALID_ROUTE),
    (RouteExpired, wire.ROUTE_EXPIRED),
    (PoolError, wire.INSUFFICIENT_LIQUIDITY),
    (InsufficientBalance, wire.INSUFFICIENT_BALANCE),
)
_CALLDATA: Names = (
    (InvalidSlippage, wire.INVALID_SLIPPAGE),
    (InvalidRoute, wire.INVALID_ROUTE),
    (RouteExpired, wire.INVALID_ROUTE),
    (SlippageExceeded, wire.INVALID_ROUTE),
    (PoolError, wire.INVALID_ROUTE),
)
ERROR_NAMES: Mapping[Style, Names] = {
    Style.EXECUTE: (*_EXECUTE, (SlippageExceeded, wire.ROUTE_EXPIRED)),
    Style.EXECUTE_DETAILED: (*_EXECUTE, (SlippageExceeded, wire.SLIPPAGE_EXCEEDED)),
    Style.CALLDATA_V2: _CALLDATA,
    Style.OWN_CALLDATA: _CALLDATA,
}
"""What the interface calls an error, where an endpoint has its own form for them. Whatever is not here, and is the
client's to mend, is a `Bad Request`."""

SHAPES: Mapping[Style, FaultShape] = {
    Style.PLAIN: FaultShape.STATUS,
    Style.TOKEN: FaultShape.STATUS,
    Style.EXECUTE: FaultShape.BRIEF,
    Style.EXECUTE_DETAILED: FaultShape.DETAILED,
    Style.CALLDATA_V2: FaultShape.DETAILED,
    Style.OWN_CALLDATA: FaultShape.DETAILED,
}

ERROR_STATUSES: tuple[tuple[type[SwapcliError], int], ...] = (
    (Unauthorized, 401),
    (Overloaded, 503),
    (RateLimited, 429),
    (MarketUnavailable, 503),
)
"""Errors that every endpoint tells alike; the first that fits."""

_BAD_REQUEST: Final = (InvalidInput, IntegratorError, PoolError, StaleError, SimulationError)
_RECEIVERS: Final = ("signer", "destination")


def style_on(style: Style, network: str) -> Style:
    """How an endpoint of that style tells errors on a network."""
    if style is Style.EXECUTE and network_variant(network).execute_fault is FaultShape.DETAILED:
        return Style.EXECUTE_DETAILED
    return style


def error_response(error: SwapcliError, style: Style = Style.PLAIN) -> JsonResponse | None:
    """How an endpoint answers an error; None for what is no client's to mend: a defect."""
    if style is Style.TOKEN and isinstance(error, UnknownToken):
        return status_error(404, error.message)
    if isinstance(error, NoRoute | UnknownToken):
        no_route = render_network_no_route if style is Style.OWN_CALLDATA else render_no_route
        return JsonResponse(200, no_route(error.message))
    for kind, status in ERROR_STATUSES:
        if isinstance(error, kind):
            return status_error(status, error.message, _retry_after(error))
    return JsonResponse(400, _bad_request(error, style)) if isinstance(error, _BAD_REQUEST) else None


def with_v2_meta(reply: JsonResponse, now_ms: int) -> JsonResponse:
    """The answer as the second generation gives it: with its time, but for the form that all endpoints share."""
    document = reply.document
    if isinstance(document, dict) and document.get("success") is False:
        return reply._replace(document={**document, "meta": render_meta(now_ms)})
    return reply


def status_error(status: int, message: str, headers: Headers = (), *, request_id: str | None = None) -> JsonResponse:
    """An error in the form that all endpoints share."""
    return JsonResponse(status, wire.render_status_error(status, message, request_id=request_id), headers)


def _bad_request(error: SwapcliError, style: Style) -> object:
    name = _name(error, style)
    match SHAPES[style]:
        case FaultShape.DETAILED:
            return wire.render_detailed_error(name, error.message)
        case FaultShape.BRIEF:
            return wire.render_brief_error(name, error.message)
        case FaultShape.STATUS:
            return wire.render_status_error(400, error.message)


def _name(error: SwapcliError, style: Style) -> str:
    is_receiver = isinstance(error, InvalidAddress) and error.details.get("field") in _RECEIVERS
    if is_receiver and style is Style.OWN_CALLDATA:
        return wire.INVALID_SIGNER
    named = (name for kind, name in ERROR_NAMES.get(style, ()) if isinstance(error, kind))
    return next(named, wire.REASON_PHRASES[400])


def _retry_after(error: SwapcliError) -> Headers:
    return (("Retry-After", str(error.retry_after_s)),) if isinstance(error, RateLimited) else ()
