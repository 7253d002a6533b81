"""Translate httpx errors into `UpstreamError`s. Each message is one sentence that names the service and contains no
secret."""

from __future__ import annotations

from swapcli.core.errors import InvalidUpstreamResponse, Unreachable, UpstreamError, UpstreamRejected, UpstreamTimeout
from swapcli.core.records import NamedTuple
from swapcli.interface.fields import plain
from swapcli.quoting.remote.service_url import ServiceUrl
from swapcli.state.connect_failure import error_causes, explain_connect_failure, explain_redirect

CHECK_URL = "check that the URL belongs to a swapcli or Fibrous API service"
_MORE_TIME = "try again, or allow more time with --timeout"


class FailedAttempt(NamedTuple):
    """The reason why an attempt failed, and whether another attempt may succeed."""

    error: UpstreamError
    is_transient: bool


def classify_error(
    error: Exception, service: ServiceUrl, timeout_s: float, *, has_answered: bool = False, is_chunked: bool = False
) -> FailedAttempt:
    """Translate an httpx error, or the `UnicodeError` of a host name that cannot be encoded.

    `has_answered` is true if a response's head arrived, and `is_chunked` if its body is sent in chunks.
    """
    import h11
    import httpx

    details = {"service": service.base_url}
    if isinstance(error, httpx.ConnectTimeout):
        late = UpstreamTimeout(
            f"{service.netloc} did not accept a connection in time", hint=_MORE_TIME, details=details
        )
        return FailedAttempt(late, is_transient=True)
    if isinstance(error, httpx.TimeoutException):
        return timed_out(service, timeout_s, has_answered=has_answered)
    if isinstance(error, httpx.ConnectError | UnicodeError):
        return _classify_connect_error(error, service)
    if isinstance(error, httpx.LocalProtocolError | httpx.UnsupportedProtocol | httpx.InvalidURL):
        # These messages repeat the data to send, including the key.
        return FailedAttempt(
            Unreachable(f"the request to {service.netloc} would not be valid HTTP", details=details), False
        )
    # The parser, h11, complains about malformed bytes and about bodies that end early. A head that ends early is an
    # error of httpcore, and a body of known length cannot be malformed, so that only chunks leave both possible.
    if any(isinstance(cause, h11.RemoteProtocolError) for cause in error_causes(error)) and (
        not has_answered or is_chunked
    ):
        malformed = InvalidUpstreamResponse(
            f"{service.netloc} sent malformed or incomplete HTTP", hint=CHECK_URL, details=details
        )
        return FailedAttempt(malformed, is_transient=has_answered)
    when = "in the middle of its response" if has_answered else "before it responded"
    return FailedAttempt(Unreachable(f"{service.netloc} closed the connection {when}", details=details), True)


def timed_out(service: ServiceUrl, timeout_s: float, *, has_answered: bool) -> FailedAttempt:
    """Return the failure of an exchange that took longer than `timeout_s`."""
    problem = "did not finish its response" if has_answered else "did not respond"
    late = UpstreamTimeout(
        f"{service.netloc} {problem} within {timeout_s:g} seconds",
        hint=_MORE_TIME,
        details={"service": service.base_url},
    )
    return FailedAttempt(late, is_transient=not has_answered)


def redirect_error(service: ServiceUrl, status: int, location: str) -> UpstreamRejected:
    """Return the error for a redirect. Redirects are not followed, because the key and the order are for the named
    service only."""
    problem, hint, target = explain_redirect(service.netloc, location)
    return UpstreamRejected(
        problem, hint=hint, details={"service": service.base_url, "status": status, "location": target}
    )


def invalid_response(service: ServiceUrl, problem: str, **details: object) -> InvalidUpstreamResponse:
    """Return the error for a response that cannot be parsed or must not be used."""
    return InvalidUpstreamResponse(
        f"{service.netloc} {plain(problem)}", hint=CHECK_URL, details={"service": service.base_url, **details}
    )


def _classify_connect_error(error: Exception, service: ServiceUrl) -> FailedAttempt:
    problem, hint, is_transient = explain_connect_failure(error, service.netloc, "service")
    return FailedAttempt(Unreachable(problem, hint=hint, details={"service": service.base_url}), is_transient)
