"""An HTTP client for one service. It sends requests, retries them if allowed, and limits time and size.

Requests use HTTP/1.1, follow no redirects, and take no proxy or credentials from the environment, so that only the URL
decides where an order and a key are sent. Certificates are verified with httpx's authorities, or with those in
`SSL_CERT_FILE` or `SSL_CERT_DIR`.
"""

from __future__ import annotations

import json
import ssl
import weakref
from collections.abc import Callable, Sequence
from urllib.parse import urlencode

import httpx

from swapcli.core.encoding.http_body import ACCEPTED_ENCODINGS
from swapcli.core.errors import ConfigError
from swapcli.core.records import NamedTuple
from swapcli.interface.state_headers import STATE_HEADER, WARNINGS_HEADER
from swapcli.quoting.remote.exchange import exchange_within
from swapcli.quoting.remote.retry import RetryPolicy
from swapcli.quoting.remote.service_url import ServiceUrl
from swapcli.quoting.remote.transport_errors import FailedAttempt
from swapcli.state.connect_failure import USER_AGENT

DEFAULT_RETRIES = 2

TRANSIENT_STATUSES = frozenset({429, 502, 503, 504})
"""HTTP statuses after which another attempt may succeed."""

_KEEP_ALIVE_S = 4.0
"""How long idle connections are kept: shorter than the idle timeout of common servers (5 s and more), so that the
client closes a connection first."""

RevealKey = Callable[[], str]
"""Returns the API key. It is called only to send the key."""


class ServiceRequest(NamedTuple):
    """A request: its path segments, its query, and the value of its JSON body (None for no body)."""

    method: str
    path: Sequence[str]
    query: Sequence[tuple[str, str]] = ()
    body: object = None


class StateHeaders(NamedTuple):
    """The unparsed headers in which some services describe the state behind a quote. Each is None if it is absent."""

    state: str | None = None
    warnings: str | None = None


class ServiceResponse(NamedTuple):
    """A response with any status except redirects, and its decoded body. `retry_after_s` is from its `Retry-After`
    header."""

    status: int
    body: bytes
    retry_after_s: int | None = None
    state_headers: StateHeaders = StateHeaders()


class ServiceClient:
    """A client that sends requests to one service.

    `timeout_s` limits every exchange, from the name lookup to the last byte, and every wait between two attempts.
    `retries` is how often a failed GET is repeated. Other methods are never repeated. `transport` replaces the network
    in tests. Connections are closed when the client is garbage-collected.
    """

    def __init__(
        self,
        url: ServiceUrl,
        *,
        key: RevealKey | None = None,
        timeout_s: float,
        retries: int = DEFAULT_RETRIES,
        user_agent: str = USER_AGENT,
        retry_policy: RetryPolicy = RetryPolicy(),  # noqa: B008 - it is immutable
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url = url
        self._key = key
        self._timeout_s = timeout_s
        self._retries = retries
        self._retry_policy = retry_policy
        self._headers = {
            "User-Agent": user_agent,
            "Accept": "application/json",
            "Accept-Encoding": ACCEPTED_ENCODINGS,
        }
        self._transport = transport
        # Loading the authorities takes about 20 ms, so plain HTTP gets a context that trusts none.
        self._ssl_context = httpx.create_ssl_context() if url.is_secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._keep_alive_http = self._open_http()
        self._close = weakref.finalize(self, self._keep_alive_http.close)

    @property
    def has_key(self) -> bool:
        """Whether requests carry an API key."""
        return self._key is not None

    def __repr__(self) -> str:
        return f"ServiceClient({self.url.netloc})"

    def close(self) -> None:
        """Close the connections."""
        self._close()

    def send(self, request: ServiceRequest) -> ServiceResponse:
        """Return the response of the last attempt. Raises `UpstreamError` if there was no complete response."""
        attempts = 1 + (self._retries if request.method == "GET" else 0)
        for attempt in range(attempts):
            outcome = self._attempt(request)
            wait_s = self._wait_s(outcome, attempt) if attempt + 1 < attempts else None
            if wait_s is None:
                break
            self._retry_policy.sleep(wait_s)
        if isinstance(outcome, FailedAttempt):
            raise outcome.error
        return outcome

    def _wait_s(self, outcome: ServiceResponse | FailedAttempt, attempt: int) -> float | None:
        """Return the seconds to wait before the next attempt; None if there should be none."""
        backoff_s = min(self._retry_policy.backoff_s(attempt), self._timeout_s)
        if isinstance(outcome, FailedAttempt):
            return backoff_s if outcome.is_transient else None
        if outcome.status not in TRANSIENT_STATUSES:
            return None
        retry_after_s = outcome.retry_after_s or 0
        return max(backoff_s, retry_after_s) if retry_after_s <= self._timeout_s else None

    def _attempt(self, request: ServiceRequest) -> ServiceResponse | FailedAttempt:
        if request.method != "GET":
            # A server may close an idle connection at any moment, which leaves unclear whether it received a request. A
            # request that must not be repeated gets a separate connection.
            with self._open_http() as http:
                return self._exchange(http, request)
        if self._keep_alive_http.is_closed:
            self._keep_alive_http = self._open_http()
            self._close = weakref.finalize(self, self._keep_alive_http.close)
        return self._exchange(self._keep_alive_http, request)

    def _exchange(self, http: httpx.Client, request: ServiceRequest) -> ServiceResponse | FailedAttempt:
        """Send a request and read its response within the time-out."""
        outcome = exchange_within(self._timeout_s, http, self._build_http_request(http, request), self.url)
        if isinstance(outcome, FailedAttempt):
            return outcome
        headers = outcome.headers
        retry_after_s = self._retry_policy.retry_after_s(headers.get("Retry-After"))
        state_headers = StateHeaders(headers.get(STATE_HEADER), headers.get(WARNINGS_HEADER))
        return ServiceResponse(outcome.status, outcome.body, retry_after_s, state_headers)

    def _open_http(self) -> httpx.Client:
        return httpx.Client(
            transport=self._transport,
            verify=self._ssl_context,
            headers=self._headers,
            # An address that drops packets takes half of the time-out, which leaves the other half for a second
            # address.
            timeout=httpx.Timeout(self._timeout_s, connect=self._timeout_s / 2),
            limits=httpx.Limits(keepalive_expiry=_KEEP_ALIVE_S),
            follow_redirects=False,
            trust_env=False,
        )

    def _build_http_request(self, http: httpx.Client, request: ServiceRequest) -> httpx.Request:
        content = None if request.body is None else json.dumps(request.body, separators=(",", ":")).encode()
        headers = {} if content is None else {"Content-Type": "application/json"}
        if self._key is not None:
            headers["X-API-Key"] = _require_header_value(self._key())
        url = self.url.join(*request.path)
        target = f"{url}?{urlencode(request.query)}" if request.query else url
        return http.build_request(request.method, target, content=content, headers=headers)


def _require_header_value(key: str) -> str:
    if not key or not all("!" <= character <= "~" for character in key):
        raise ConfigError(
            "the API key is empty or has characters that are not allowed in a key",
            hint="a key is one word of ASCII characters",
        )
    return key
