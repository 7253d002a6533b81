"""Error bodies of the API: render them in its formats, and parse them into errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from http import HTTPStatus
from typing import TYPE_CHECKING

from swapcli.core.errors import (
    InsufficientBalance,
    InsufficientLiquidity,
    IntegratorError,
    InvalidAddress,
    InvalidDeadline,
    InvalidInput,
    InvalidRoute,
    InvalidSlippage,
    MarketUnavailable,
    NoRoute,
    Overloaded,
    RateLimited,
    RouteExpired,
    SameToken,
    SlippageExceeded,
    SwapcliError,
    Unauthorized,
    UpstreamRejected,
)
from swapcli.core.model.swap_terms import BOTH_FEE_AND_SURPLUS
from swapcli.interface.fields import plain

if TYPE_CHECKING:
    from swapcli.interface.json_types import BriefErrorJson, DetailedErrorJson, StatusErrorJson


class ErrorFormat(StrEnum):
    """How an endpoint reports errors with status 400."""

    STATUS = "status"
    """`{statusCode, message, error}`"""
    RESOURCE = "resource"
    """Same as `STATUS`; a resource that does not exist has status 404."""
    EXECUTE = "V1 execute"
    """`{error, message}` with the error names of V1 execute."""
    EXECUTE_DETAILED = "detailed V1 execute"
    """`{success: false, error, details}` with the error names of V1 execute on hyperevm."""
    CALLDATA_V2 = "V2 calldata"
    """`{success: false, error, details}` with the error names of V2 calldata."""
    NETWORK_CALLDATA = "GET calldata of hyperevm and citrea"
    """Same as `CALLDATA_V2`, with a different name for an invalid signer; `route` contains the failure if there is no
    route."""


INVALID_ROUTE = "Invalid route"
INVALID_SLIPPAGE = "Invalid slippage"
INVALID_SIGNER = "Invalid signer"
INVALID_DEADLINE = "Invalid deadline"
ROUTE_EXPIRED = "Route expired"
INSUFFICIENT_LIQUIDITY = "Insufficient liquidity"
SLIPPAGE_EXCEEDED = "Slippage exceeded"
INSUFFICIENT_BALANCE = "Insufficient balance"

DEFAULT_RETRY_AFTER_S = 1  # if the response does not give a time


def reason_phrase(status: int) -> str:
    """Return the reason phrase of an HTTP status, as in the status line; empty for statuses unknown to HTTP."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def render_detailed_error(error: str, details: str, hint: str | None = None) -> DetailedErrorJson:
    """Render an error of V2 calldata, hyperevm execute, or hyperevm and citrea calldata."""
    body: DetailedErrorJson = {"success": False, "error": error, "details": details}
    if hint is not None:
        body["hint"] = hint
    return body


def render_brief_error(error: str, message: str, hint: str | None = None) -> BriefErrorJson:
    """Render an error of V1 execute."""
    body: BriefErrorJson = {"error": error, "message": message}
    if hint is not None:
        body["hint"] = hint
    return body


def render_status_error(
    status: int,
    message: str | Sequence[str],
    *,
    hint: str | None = None,
    code: str | None = None,
    request_id: str | None = None,
) -> StatusErrorJson:
    """Render an error of any other endpoint; `request_id` identifies a defect in the log."""
    body: StatusErrorJson = {
        "statusCode": status,
        "message": message if isinstance(message, str) else list(message),
        "error": reason_phrase(status) or "Error",
    }
    if hint is not None:
        body["hint"] = hint
    if code is not None:
        body["code"] = code
    if request_id is not None:
        body["requestId"] = request_id
    return body


def parse_error(status: int, document: object, retry_after_s: int | None = None) -> SwapcliError:
    """Return the error in a response, reported by an error status or by `success: false`.

    `document` is the response's JSON, None if it has none. The message and the hint are printable, on one line and
    bounded in length.
    """
    if status == 503 and isinstance(document, dict) and document.get("code") == MarketUnavailable.code:
        retry_after_s = None  # not an overloaded service, although it gives a time
    error = _classify(status, *_read_texts(status, document), retry_after_s)
    error.hint = plain(document.get("hint")) or error.hint if isinstance(document, dict) else error.hint
    return error


def _classify(status: int, name: str, message: str, retry_after_s: int | None) -> SwapcliError:
    if status < 300:
        return NoRoute(message)
    if status in (401, 403):
        return Unauthorized(message)
    if status == 429:
        return RateLimited(message, retry_after_s=retry_after_s or DEFAULT_RETRY_AFTER_S)
    if status == 503:
        return MarketUnavailable(message) if retry_after_s is None else Overloaded(message, retry_after_s=retry_after_s)
    if 400 <= status < 500 and name.capitalize() in _ERRORS_BY_NAME:
        return _ERRORS_BY_NAME[name.capitalize()](message)
    if status == 400:
        return _parse_bad_request(message)
    return UpstreamRejected(message, details={"status": status})


_ERRORS_BY_NAME: dict[str, Callable[[str], SwapcliError]] = {
    INVALID_ROUTE: InvalidRoute,
    INVALID_SLIPPAGE: InvalidSlippage,
    INVALID_SIGNER: InvalidAddress,
    INVALID_DEADLINE: InvalidDeadline,
    ROUTE_EXPIRED: RouteExpired,
    INSUFFICIENT_LIQUIDITY: InsufficientLiquidity,
    SLIPPAGE_EXCEEDED: SlippageExceeded,
    INSUFFICIENT_BALANCE: InsufficientBalance,
}
"""Errors by their names in the Fibrous API."""


_ERRORS_BY_MESSAGE: dict[str, Callable[[str], SwapcliError]] = {
    SameToken().message: lambda _message: SameToken(),
    BOTH_FEE_AND_SURPLUS: IntegratorError,
}
"""Errors that the Fibrous API distinguishes only by a published message."""


def _parse_bad_request(message: str) -> SwapcliError:
    return _ERRORS_BY_MESSAGE.get(message, InvalidInput)(message)


def _read_texts(status: int, document: object) -> tuple[str, str]:
    """Return the error's name and the most specific message that its format has."""
    members = document if isinstance(document, dict) else {}
    name = plain(members.get("error"))
    messages = (plain(members.get(key)) for key in ("details", "message", "errorMessage"))
    reason = f"the service responded with status {status} {reason_phrase(status)}".rstrip()
    return name, next(filter(None, messages), name or reason)
