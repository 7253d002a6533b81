"""Translate errors of httpx into `UpstreamError`s: one sentence each that names the service and holds no secret."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

from swapcli.api.fields import plain
from swapcli.encoding.url import redact_url
from swapcli.errors import InvalidUpstreamResponse, Unreachable, UpstreamError, UpstreamRejected, UpstreamTimeout
from swapcli.records import NamedTuple
from swapcli.remote.service_url import ServiceUrl

_CHECK_URL = "is this the URL of a service with this API?"
_MORE_TIME = "allow it more time"


class FailedAttempt(NamedTuple):
    """Why an attempt failed, and whether another attempt may succeed."""

    error: UpstreamError
    is_transient: bool


def classify_error(
    error: Exception, service: ServiceUrl, timeout_s: float, *, has_answered: bool = False, is_chunked: bool = False
) -> FailedAttempt:
    """Translate an error of httpx, or the `UnicodeError` of a host name that cannot be encoded.

    `has_answered` says that the head of a response arrived, `is_chunked` that its body is sent in chunks.
    """
    import h11
    import httpx

    details = {"service": service.base_url}
    if isinstance(error, httpx.ConnectTimeout):
        late = UpstreamTimeout(f"{service.netloc} accepted no connection in time", hint=_MORE_TIME, details=details)
        return FailedAttempt(late, is_transient=True)
    if isinstance(error, httpx.TimeoutException):
        return timed_out(service, timeout_s, has_answered=has_answered)
    if isinstance(error, httpx.ConnectError | UnicodeError):
        return _classify_connect_error(error, service)
    if isinstance(error, httpx.LocalProtocolError | httpx.UnsupportedProtocol | httpx.InvalidURL):
        # Their messages repeat what was to be sent, including the key.
        return FailedAttempt(
            Unreachable(f"the request to {service.netloc} cannot be written in HTTP", details=details), False
        )
    # The parser, h11, complains about malformed bytes and about bodies that end early. A head that ends early is an
    # error of httpcore, and a body of known length cannot be malformed, so that only chunks leave both possible.
    if any(isinstance(cause, h11.RemoteProtocolError) for cause in _causes(error)) and (not has_answered or is_chunked):
        malformed = InvalidUpstreamResponse(
            f"{service.netloc} answered with malformed or incomplete HTTP", hint=_CHECK_URL, details=details
        )
        return FailedAttempt(malformed, is_transient=has_answered)
    when = "in the middle of its answer" if has_answered else "before it answered"
    return FailedAttempt(Unreachable(f"{service.netloc} closed the connection {when}", details=details), True)


def timed_out(service: ServiceUrl, timeout_s: float, *, has_answered: bool) -> FailedAttempt:
    """Return the failure of an exchange that took longer than `timeout_s`."""
    problem = "did not finish its answer" if has_answered else "did not answer"
    late = UpstreamTimeout(
        f"{service.netloc} {problem} within {timeout_s:g} seconds",
        hint=_MORE_TIME,
        details={"service": service.base_url},
    )
    return FailedAttempt(late, is_transient=not has_answered)


def redirect_error(service: ServiceUrl, status: int, location: str) -> UpstreamRejected:
    """Return the error for a redirect. None is followed: the key and the order are for the requested service only."""
    target = redact_url(location)
    return UpstreamRejected(
        f"{service.netloc} redirects to {target}; redirects are not followed",
        hint="use that URL if you trust it",
        details={"service": service.base_url, "status": status, "location": target},
    )


def invalid_response(service: ServiceUrl, problem: str, **details: object) -> InvalidUpstreamResponse:
    """Return the error for a response that cannot be parsed or must not be used."""
    return InvalidUpstreamResponse(
        f"{service.netloc} {plain(problem)}", hint=_CHECK_URL, details={"service": service.base_url, **details}
    )


def _classify_connect_error(error: Exception, service: ServiceUrl) -> FailedAttempt:
    cause = next((cause for cause in _causes(error) if isinstance(cause, OSError)), error)
    problem, hint, is_transient = _explain_connect_error(cause, service)
    return FailedAttempt(Unreachable(problem, hint=hint, details={"service": service.base_url}), is_transient)


def _explain_connect_error(cause: BaseException, service: ServiceUrl) -> tuple[str, str | None, bool]:
    """Return the message, the hint, and whether another attempt may succeed."""
    netloc = service.netloc
    if isinstance(cause, ssl.SSLCertVerificationError):
        reason = plain(cause.verify_message)
        hint = "SSL_CERT_FILE names further authorities"
        return f"the certificate of {netloc} cannot be trusted: {reason}", hint, False
    if isinstance(cause, ssl.SSLError):
        return f"the TLS handshake with {netloc} failed", "is it http:// rather than https://?", False
    if isinstance(cause, socket.gaierror | UnicodeError):
        return f"the host name of {netloc} cannot be resolved", "check the URL of the service and the network", True
    if isinstance(cause, ConnectionRefusedError):
        return f"{netloc} refuses connections", "is the service running there?", True
    reason = plain(getattr(cause, "strerror", None))
    return f"cannot connect to {netloc}" + (f": {reason}" if reason else ""), None, True


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
