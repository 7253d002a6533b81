"""Send HTTP POST requests to one URL over a persistent connection, each with a deadline.

This uses the standard library's client because a live quote may take only about 150 ms longer than an offline one.
Importing web3 takes about a second, httpx over 100 ms, and this client about 25 ms.
"""

from __future__ import annotations

import json
import socket
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.client import BadStatusLine, HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from threading import Timer
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote
from weakref import finalize

from swapcli.core.encoding.http_body import ACCEPTED_ENCODINGS, InvalidBody, OversizedBody, read_body
from swapcli.core.encoding.retry_after import parse_retry_after
from swapcli.core.encoding.url import origin_of, split_url
from swapcli.core.errors import ConfigError, InvalidUpstreamResponse, Unreachable, UpstreamTimeout
from swapcli.core.records import NamedTuple
from swapcli.state.connect_failure import USER_AGENT, explain_connect_failure
from swapcli.state.rpc.refusals import Refusal
from swapcli.state.rpc.rpc_connection import MAX_RESPONSE_BYTES, RpcResponse, find_secrets, hide_secrets, redact
from swapcli.state.tracing import current_trace, span

if TYPE_CHECKING:
    from swapcli.state.rpc.run_budget import RunBudget

_CHUNK_BYTES = 2**18  # bytes read at a time; chosen
_PROXY_PORT = 80  # of HTTP
_SCHEMES = ("http", "https")
_INTERIM = range(100, 200)
_REDIRECTS = range(300, 400)
_READ_BYTES = 4_096
"""Bytes of a non-JSON body to read for its error message."""
_TLS_ALERT = "\x15\x03"
"""The first bytes of a TLS alert (RFC 8446, 5.1): a TLS server's response to plain HTTP."""
_HINT = "check the node's URL, and that it is running"


class HttpResponse(NamedTuple):
    """A response to a request. `retry_after_s` is the value of its Retry-After header, 0 if there is none. `location`
    is the target of a redirect, without secrets. `date` is its Date header, empty if there is none or if a cache stored
    the response."""

    status: int
    body: bytes
    retry_after_s: int
    location: str = ""
    date: str = ""


class HttpConnection:
    """A connection to `url`. Errors never show `url`; their messages contain `redacted_url` instead. Not thread-safe.

    Each request carries `headers`, whose values errors never show either. `proxy` is the address of an HTTP proxy.
    Exchanges count towards the `run_budget`, if there is one. Closed automatically when garbage-collected.
    """

    def __init__(
        self,
        url: str,
        redacted_url: str,
        headers: Mapping[str, str] | None = None,
        proxy: str | None = None,
        run_budget: RunBudget | None = None,
    ) -> None:
        """Prepare the connection without opening it. Raises `ConfigError` for an invalid node or proxy URL."""
        self._run_budget = run_budget
        self.redacted_url = redacted_url
        self._address = _Address.of(url, redacted_url, headers or {})
        self._proxy = _Proxy.of(proxy) if proxy else None
        self._connection: HTTPConnection | None = None
        self._finalizer: finalize[[], HttpConnection] | None = None
        self._is_late = False

    def post(self, body: bytes, timeout_s: float) -> HttpResponse:
        """Send a POST request and return the response.

        The request must be idempotent, because it is sent a second time if the server has closed the idle connection.
        Raises `Unreachable`, `UpstreamTimeout`, or `InvalidUpstreamResponse` for a response that is incomplete or never
        ends.
        """
        is_reused = self._connection is not None
        with span("node"):
            try:
                return self._exchange(body, timeout_s)
            except Unreachable:
                if not is_reused:
                    raise
                return self._exchange(body, timeout_s)

    def exchange(self, body: bytes, timeout_s: float) -> RpcResponse:
        """Same as `RpcConnection.exchange`. Raises `RequestBudgetSpent`."""
        if self._run_budget is not None:
            timeout_s = min(timeout_s, self._run_budget.spend(self.redacted_url))
        response = self.post(body, timeout_s)
        text = ""
        try:
            content: object = json.loads(response.body)
        except (ValueError, RecursionError):
            content, text = None, response.body[:_READ_BYTES].decode(errors="replace")
        return RpcResponse(response.status, content, response.retry_after_s, text, response.location, response.date)

    def redact(self, words: str) -> str:
        """Same as `RpcConnection.redact`."""
        return redact(words, self._address.secrets)

    def close(self) -> None:
        """Close the connection. The next request opens another."""
        self._connection = None
        if self._finalizer:
            self._finalizer()

    def abort(self) -> None:
        """Abort the exchange in progress, which then fails. Any thread may call it. The connection cannot be used
        afterwards."""
        connection = self._connection
        if connection is not None:
            self._abort(connection)

    def _exchange(self, body: bytes, timeout_s: float) -> HttpResponse:
        connection = self._connection or self._open_connection(timeout_s)
        is_connected = False
        try:
            with self._with_deadline(connection, timeout_s):
                if connection.sock is None:
                    connection.connect()
                is_connected = True
                connection.sock.settimeout(timeout_s)
                connection.request("POST", self._target(), body, self._headers())
                response = connection.getresponse()
                if (response.length or 0) > MAX_RESPONSE_BYTES:
                    raise OversizedBody(MAX_RESPONSE_BYTES)
                encoding = response.getheader("Content-Encoding", "")
                content = read_body(self._chunks(response), encoding, max_bytes=MAX_RESPONSE_BYTES)
        except (OSError, HTTPException) as error:
            self.close()
            raise self._failure(error, is_connected) from None
        except InvalidBody as error:
            self.close()
            failure = InvalidUpstreamResponse(f"{self.redacted_url} {error}")
            if isinstance(error, OversizedBody):
                failure.refusal = Refusal.TOO_LARGE.value
            raise failure from None
        except BaseException:
            self.close()  # an interrupted response must not be mistaken for the next one
            raise
        retry_after_s = parse_retry_after(response.getheader("Retry-After"), time.time())
        location = response.getheader("Location", "") if response.status in _REDIRECTS else ""
        location = hide_secrets(location, self._address.secrets)
        date = "" if response.getheader("Age") else response.getheader("Date", "")
        return HttpResponse(response.status, content, retry_after_s or 0, location, date)

    def _chunks(self, response: HTTPResponse) -> Iterator[bytes]:
        """Yield the body as it arrives. Raises `IncompleteRead` if it ends early."""
        while chunk := response.read(_CHUNK_BYTES):
            yield chunk
        if self._is_late or response.length:
            raise IncompleteRead(b"")

    def _target(self) -> str:
        """Return the request target: the whole URL for a proxy without a tunnel."""
        address = self._address
        return address.target if self._proxy is None or address.is_secure else f"{address.origin}{address.target}"

    def _headers(self) -> dict[str, str]:
        trace, headers = current_trace.get(), self._address.headers
        if trace is not None:
            headers = headers | {"traceparent": trace.traceparent}
        return headers if self._proxy is None or self._address.is_secure else headers | self._proxy.headers

    @contextmanager
    def _with_deadline(self, connection: HTTPConnection, timeout_s: float) -> Iterator[None]:
        """Bound the whole exchange; a socket's own timeout bounds only each wait for data."""
        self._is_late = False
        timer = Timer(timeout_s, self._abort, (connection,))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _abort(self, connection: HTTPConnection) -> None:
        self._is_late = True
        if connection.sock is not None:
            try:
                connection.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                return  # it is closed already

    def _failure(self, error: Exception, is_connected: bool) -> Unreachable | UpstreamTimeout | InvalidUpstreamResponse:
        if self._is_late or isinstance(error, TimeoutError):
            return UpstreamTimeout(
                f"{self.redacted_url} did not respond in time", hint="try again, or set a different node"
            )
        if isinstance(error, BadStatusLine) and str(error).startswith(_TLS_ALERT):
            return _for_good(
                Unreachable(
                    f"{self.redacted_url} uses TLS, not plain HTTP",
                    hint="try https:// instead of http://",
                )
            )
        if isinstance(error, HTTPException) and not isinstance(error, OSError):
            return InvalidUpstreamResponse(f"{self.redacted_url} sent malformed or incomplete HTTP")
        if is_connected:
            return Unreachable(f"{self.redacted_url} closed the connection before it responded", hint=_HINT)
        if self._proxy:
            through = f"no connection to {self.redacted_url} through the proxy {self._proxy.redacted_url}"
            return Unreachable(through, hint="check the node's URL, the proxy and NO_PROXY")
        problem, hint, is_transient = explain_connect_failure(error, self.redacted_url, "node")
        failure = Unreachable(problem, hint=hint or _HINT)
        return failure if is_transient else _for_good(failure)

    def _open_connection(self, timeout_s: float) -> HTTPConnection:
        host, port, proxy = self._address.host, self._address.port, self._proxy
        connection_class = _TlsConnection if self._address.is_secure else _PlainConnection
        if proxy is None:
            connection = connection_class(host, port, timeout=timeout_s)
        else:
            connection = connection_class(proxy.host, proxy.port, timeout=timeout_s)
            if self._address.is_secure:
                connection.set_tunnel(host, port, proxy.headers)
        self._connection = connection
        self._finalizer = finalize(self, connection.close)
        return connection


class _FinalResponse(HTTPResponse):
    """The final response to a request: interim ones before it are skipped (RFC 9110, 15.2).

    The standard library skips only 100; it treats 102 and 103 as responses without a body.
    """

    def begin(self) -> None:
        super().begin()
        while self.status in _INTERIM and self.status != HTTPStatus.SWITCHING_PROTOCOLS:
            self.headers = None  # type: ignore[assignment]  # else the next call would read nothing
            super().begin()


class _PlainConnection(HTTPConnection):
    response_class = _FinalResponse


class _TlsConnection(HTTPSConnection):
    response_class = _FinalResponse


class _Address(NamedTuple):
    """A parsed URL. `secrets` are its parts that could be keys, longest first."""

    host: str
    port: int | None
    is_secure: bool
    origin: str
    target: str
    headers: dict[str, str]
    secrets: tuple[str, ...]

    @classmethod
    def of(cls, url: str, redacted_url: str, extra_headers: Mapping[str, str]) -> _Address:
        try:
            parts = split_url(url)
            if parts.scheme not in _SCHEMES or not url.isascii():
                raise ValueError
        except ValueError:
            raise ConfigError(
                f"{redacted_url} is not a node URL: it must begin with http:// or https:// and a host",
                details={"key": "rpc_url"},
            ) from None
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        default_headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": USER_AGENT,
            "Accept-Encoding": ACCEPTED_ENCODINGS,
            **_basic("Authorization", parts),
        }
        replaced_names = {name.lower() for name in extra_headers}
        headers = {name: value for name, value in default_headers.items() if name.lower() not in replaced_names} | dict(
            extra_headers
        )
        return cls(
            parts.hostname or "",
            parts.port,
            parts.scheme == "https",
            origin_of(parts),
            target,
            headers,
            find_secrets(parts, [*extra_headers.values(), *_basic("Authorization", parts).values()]),
        )


class _Proxy(NamedTuple):
    """An HTTP proxy; `headers` authenticate the client."""

    host: str
    port: int
    headers: dict[str, str]

    @property
    def redacted_url(self) -> str:
        """The host and port, for messages."""
        return f"{self.host}:{self.port}"

    @classmethod
    def of(cls, url: str) -> _Proxy:
        try:
            parts = split_url(url if "://" in url else f"http://{url}")
            if parts.scheme != "http" or not url.isascii():
                raise ValueError
        except ValueError:
            raise ConfigError(
                "the proxy in the environment is not the URL of an HTTP proxy, such as http://host:3128",
                hint="check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY; NO_PROXY lists hosts that need no proxy",
            ) from None
        return cls(parts.hostname or "", parts.port or _PROXY_PORT, _basic("Proxy-Authorization", parts))


def _for_good(failure: Unreachable) -> Unreachable:
    """Mark a failure that would recur on another attempt."""
    failure.refusal = Refusal.NOT_SERVED.value
    return failure


def _basic(name: str, parts: SplitResult) -> dict[str, str]:
    """Return the header `name` with the user and password of a URL; empty if it has none."""
    if parts.username is None:
        return {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {name: f"Basic {b64encode(pair.encode()).decode()}"}
