"""What goes wrong on the way to a service and back, each in one sentence that names the service and no secret."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from typing import NamedTuple

from swapcli.api.fields import plain
from swapcli.encoding.url import redact_url
from swapcli.errors import InvalidUpstreamResponse, Unreachable, UpstreamError, UpstreamRejected, UpstreamTimeout
from swapcli.remote.service_url import ServiceAddress


class Failure(NamedTuple):
    """An attempt that failed, and whether another one could fare better."""

    error: UpstreamError
    may_pass: bool


def failure_of(error: Exception, service: ServiceAddress, timeout_s: float, *, answered: bool = False) -> Failure:
    """What an error of httpx means; `answered` says that an answer had begun."""
    import httpx

    details = {"service": service.base}
    if isinstance(error, httpx.TimeoutException):
        said = "was not done with its answer" if answered else "did not answer"
        late = UpstreamTimeout(
            f"{service.shown} {said} within {timeout_s:g} seconds", hint="allow it more time", details=details
        )
        return Failure(late, may_pass=not answered)
    if isinstance(error, httpx.ConnectError):
        return _not_connected(error, service)
    if isinstance(error, httpx.RemoteProtocolError) and "disconnected" not in str(error) and not _was_cut(error):
        return Failure(
            InvalidUpstreamResponse(f"{service.shown} answered what is not HTTP", hint=_IS_IT, details=details), False
        )
    if isinstance(error, httpx.LocalProtocolError | httpx.UnsupportedProtocol | httpx.InvalidURL):
        # Their messages repeat what was to be sent, the key included.
        return Failure(Unreachable(f"the request to {service.shown} cannot be written in HTTP", details=details), False)
    when = "in the middle of its answer" if answered else "before it answered"
    return Failure(Unreachable(f"{service.shown} closed the connection {when}", details=details), may_pass=True)


def redirected(service: ServiceAddress, status: int, location: str) -> UpstreamRejected:
    """A redirect, which is never followed: a key and an order are for the one to whom they were given."""
    target = redact_url(location)
    return UpstreamRejected(
        f"{service.shown} wants the request to be sent to {target} instead, which is not done",
        hint="give that as the address of the service, if it can be trusted",
        details={"service": service.base, "status": status, "location": target},
    )


def nonsense(service: ServiceAddress, problem: str, **details: object) -> InvalidUpstreamResponse:
    """An answer that cannot be understood, or that must not be acted on."""
    return InvalidUpstreamResponse(
        f"{service.shown} {plain(problem)}", hint=_IS_IT, details={"service": service.base, **details}
    )


_IS_IT = "is this the address of a service of this interface?"


def _was_cut(error: Exception) -> bool:
    """Did the body end before its length? h11 counts what it still expected."""
    return "peer closed connection" in str(error)


def _not_connected(error: Exception, service: ServiceAddress) -> Failure:
    cause = next((each for each in _causes(error) if isinstance(each, OSError)), error)
    problem, hint, may_pass = _reason(cause, service)
    return Failure(Unreachable(problem, hint=hint, details={"service": service.base}), may_pass)


def _reason(cause: BaseException, service: ServiceAddress) -> tuple[str, str | None, bool]:
    """The sentence, what to do, and whether another attempt could fare better."""
    shown = service.shown
    if isinstance(cause, ssl.SSLCertVerificationError):
        why = plain(cause.verify_message)
        return f"the certificate of {shown} cannot be trusted: {why}", "SSL_CERT_FILE names further authorities", False
    if isinstance(cause, ssl.SSLError):
        return f"{shown} does not speak TLS as it should", "is it http:// rather than https://?", False
    if isinstance(cause, socket.gaierror):
        return f"the name of {shown} cannot be found", "check the address of the service and the network", True
    if isinstance(cause, ConnectionRefusedError):
        return f"{shown} refuses connections", "is the service running there?", True
    said = plain(getattr(cause, "strerror", None))
    return f"cannot connect to {shown}" + (f": {said}" if said else ""), None, True


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
