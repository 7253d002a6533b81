"""Explain to users why an HTTP connection failed, with the same wording for nodes and services."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

from swapcli.core.encoding.text import single_line, truncate
from swapcli.core.encoding.url import redact_url
from swapcli.core.records import NamedTuple
from swapcli.core.version import __version__

USER_AGENT = f"swapcli/{__version__}"
"""Sent with every request, to nodes and to services: some reject requests without a user agent."""

_MAX_REASON_CHARACTERS = 299  # characters of an operating system's message; chosen


class ConnectFailure(NamedTuple):
    """An explanation in one sentence, an optional hint, and whether another attempt may succeed."""

    problem: str
    hint: str | None
    is_transient: bool


def explain_connect_failure(error: BaseException, peer: str, kind: str) -> ConnectFailure:
    """Explain why no connection was made, from the first `OSError` or `UnicodeError` among the causes of `error`.

    `peer` names the other side without credentials; `kind` is "node" or "service". The sentences distinguish an
    untrusted certificate, TLS against plain HTTP, an unknown host name and a rejected connection.
    """
    cause = next((each for each in error_causes(error) if isinstance(each, OSError | UnicodeError)), error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        reason = _plain(cause.verify_message)
        hint = "add a certificate authority with SSL_CERT_FILE"
        return ConnectFailure(f"the certificate of {peer} is not trusted: {reason}", hint, False)
    if isinstance(cause, ssl.SSLError):
        return ConnectFailure(f"the TLS handshake with {peer} failed", "try http:// instead of https://", False)
    if isinstance(cause, socket.gaierror | UnicodeError):
        hint = f"check the URL of the {kind} and the network"
        return ConnectFailure(f"the host name of {peer} cannot be resolved", hint, True)
    if isinstance(cause, ConnectionRefusedError):
        return ConnectFailure(f"{peer} refuses connections", f"check that the {kind} is running", True)
    reason = _plain(getattr(cause, "strerror", None))
    return ConnectFailure(f"cannot connect to {peer}" + (f": {reason}" if reason else ""), None, True)


def explain_redirect(peer: str, location: str) -> tuple[str, str, str]:
    """Return the sentence that reports a redirect, its hint, and the redirect's target without credentials.

    Redirects are never followed, because the user named only the requested address.
    """
    target = redact_url(location)
    return f"{peer} redirects to {target}; redirects are not followed", "use that URL if you trust it", target


def error_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, its cause, the cause of that cause, and so on."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _plain(text: object) -> str:
    if not isinstance(text, str):
        return ""
    return truncate(single_line(text[: 4 * _MAX_REASON_CHARACTERS]), _MAX_REASON_CHARACTERS)
