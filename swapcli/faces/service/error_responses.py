"""The mapping from errors to HTTP responses: status, body format and the API's error name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from swapcli.core.errors import (
    ConfigError,
    Forbidden,
    InsufficientBalance,
    IntegratorError,
    InvalidAddress,
    InvalidDeadline,
    InvalidInput,
    InvalidRoute,
    InvalidSlippage,
    MarketUnavailable,
    NodesDisagree,
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
from swapcli.core.records import NamedTuple
from swapcli.interface import errors as api_errors
from swapcli.interface.errors import ErrorFormat
from swapcli.interface.route import render_meta, render_no_route
from swapcli.interface.transaction_responses import render_network_no_route

Headers = tuple[tuple[str, str], ...]
ErrorNames = tuple[tuple[type[SwapcliError], str], ...]


class JsonResponse(NamedTuple):
    """A response that is not encoded yet. `document` is JSON-ready."""

    status: int
    document: object
    headers: Headers = ()


_EXECUTE_NAMES: ErrorNames = (
    (InvalidSlippage, api_errors.INVALID_SLIPPAGE),
    (InvalidDeadline, api_errors.INVALID_DEADLINE),
    (InvalidRoute, api_errors.INVALID_ROUTE),
    (RouteExpired, api_errors.ROUTE_EXPIRED),
    (PoolError, api_errors.INSUFFICIENT_LIQUIDITY),
    (InsufficientBalance, api_errors.INSUFFICIENT_BALANCE),
)
_CALLDATA_NAMES: ErrorNames = (
    (InvalidSlippage, api_errors.INVALID_SLIPPAGE),
    (InvalidRoute, api_errors.INVALID_ROUTE),
    (RouteExpired, api_errors.INVALID_ROUTE),
    (SlippageExceeded, api_errors.INVALID_ROUTE),
    (PoolError, api_errors.INVALID_ROUTE),
)
ERROR_NAMES: Mapping[ErrorFormat, ErrorNames] = {
    ErrorFormat.EXECUTE: (*_EXECUTE_NAMES, (SlippageExceeded, api_errors.ROUTE_EXPIRED)),
    ErrorFormat.EXECUTE_DETAILED: (*_EXECUTE_NAMES, (SlippageExceeded, api_errors.SLIPPAGE_EXCEEDED)),
    ErrorFormat.CALLDATA_V2: _CALLDATA_NAMES,
    ErrorFormat.NETWORK_CALLDATA: _CALLDATA_NAMES,
}
"""The API's names for errors, by format. Client errors without a name here are `Bad Request`."""

ERROR_STATUSES: tuple[tuple[type[SwapcliError], int], ...] = (
    (Forbidden, 403),
    (Unauthorized, 401),
    (Overloaded, 503),
    (RateLimited, 429),
    (MarketUnavailable, 503),
    (NodesDisagree, 503),
)
"""Errors that get the same response on every endpoint. The first matching class applies."""

NEW_STATE_S: Final = 2
"""Seconds after which a client that got no quote may retry: about the time between two blocks."""

MAX_SHOWN_NETWORKS: Final = 20

_BAD_REQUEST: Final = (InvalidInput, IntegratorError, PoolError, StaleError, SimulationError)
_HINTED: Final = (StaleError, Unauthorized, RateLimited)
_RECIPIENT_FIELDS: Final = ("signer", "destination")


def error_response(error: SwapcliError, error_format: ErrorFormat = ErrorFormat.STATUS) -> JsonResponse | None:
    """Return the response for an error, or None if it is a defect of the service that the client cannot fix."""
    if error_format is ErrorFormat.RESOURCE and isinstance(error, UnknownToken):
        return status_error(404, error.message)
    if isinstance(error, NoRoute | UnknownToken):
        is_nested = error_format is ErrorFormat.NETWORK_CALLDATA
        return JsonResponse(200, (render_network_no_route if is_nested else render_no_route)(error.message))
    for error_class, status in ERROR_STATUSES:
        if isinstance(error, error_class):
            code = error.code if isinstance(error, MarketUnavailable) else None
            return status_error(status, error.message, _retry_after(error), hint=_published_hint(error), code=code)
    return JsonResponse(400, _bad_request(error, error_format)) if isinstance(error, _BAD_REQUEST) else None


def with_v2_meta(response: JsonResponse, now_ms: int) -> JsonResponse:
    """Return a V2 response with `meta`, which is added if missing."""
    document = response.document
    if isinstance(document, dict) and "meta" not in document:
        return response._replace(document={**document, "meta": render_meta(now_ms)})
    return response


def status_error(
    status: int,
    message: str,
    headers: Headers = (),
    *,
    hint: str | None = None,
    code: str | None = None,
    request_id: str | None = None,
) -> JsonResponse:
    """Return an error in the format `{statusCode, message, error}`."""
    document = api_errors.render_status_error(status, message, hint=hint, code=code, request_id=request_id)
    return JsonResponse(status, document, headers)


def method_error(methods: Collection[str]) -> JsonResponse:
    """Return the error for a path that accepts only `methods`, plus HEAD if they include GET."""
    allowed = {*methods, "HEAD"} if "GET" in methods else methods
    message = f"this path does not accept that method: use {' or '.join(sorted(methods))}"
    return status_error(405, message, (("Allow", ", ".join(sorted(allowed))),))


def network_error(names: Collection[str]) -> JsonResponse:
    """Return the error for a path below a network that is not in `names`."""
    shown = sorted(names)[:MAX_SHOWN_NETWORKS]
    others = "" if len(shown) == len(names) else f" and {len(names) - len(shown)} others: GET /supported-chains"
    hint = f"it serves {', '.join(shown)}{others}" if shown else None
    return status_error(404, "no such network on this service", hint=hint)


def _bad_request(error: SwapcliError, error_format: ErrorFormat) -> object:
    hint = _published_hint(error)
    match error_format:
        case ErrorFormat.STATUS | ErrorFormat.RESOURCE:
            return api_errors.render_status_error(400, error.message, hint=hint)
        case ErrorFormat.EXECUTE:
            return api_errors.render_brief_error(_error_name(error, error_format), error.message, hint)
        case _:
            return api_errors.render_detailed_error(_error_name(error, error_format), error.message, hint)


def _published_hint(error: SwapcliError) -> str | None:
    """Return the hint of an error on which a client can act: a rejected value in its request, a route that is too old,
    or a limit.

    Other hints are for the user of the command line, or for the operator of the service, whose log has them.
    """
    if isinstance(error, MarketUnavailable):
        return "retry later"
    if isinstance(error, ConfigError):
        return "the operator of the service must change its settings"
    return error.hint if "field" in error.details or isinstance(error, _HINTED) else None


def _error_name(error: SwapcliError, error_format: ErrorFormat) -> str:
    is_recipient = isinstance(error, InvalidAddress) and error.details.get("field") in _RECIPIENT_FIELDS
    if is_recipient and error_format is ErrorFormat.NETWORK_CALLDATA:
        return api_errors.INVALID_SIGNER
    names = (name for error_class, name in ERROR_NAMES[error_format] if isinstance(error, error_class))
    return next(names, api_errors.reason_phrase(400))


def _retry_after(error: SwapcliError) -> Headers:
    """Return when to retry: after a limit has passed, or when there may be a new block."""
    if isinstance(error, MarketUnavailable):
        return (("Retry-After", str(NEW_STATE_S)),)
    return (("Retry-After", str(error.retry_after_s)),) if isinstance(error, RateLimited) else ()
