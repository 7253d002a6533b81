"""Asks a service: sends a request, repeats what may be repeated, and hands back an answer that is whole and bounded.

What is decided here: HTTP/1.1, no redirects, no proxies and no credentials from the environment (where an order and a
key go is said by the address alone); certificates are checked against the authorities that come with httpx, or those
that `SSL_CERT_FILE` or `SSL_CERT_DIR` names. Only GET is repeated.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

import httpx

from swapcli import __version__
from swapcli.api.state_headers import STATE_HEADER, WARNINGS_HEADER
from swapcli.encoding.http_body import ACCEPTED_ENCODINGS, MAX_BODY_BYTES, InvalidBody, read_body
from swapcli.errors import ConfigError
from swapcli.remote.errors import Failure, failure_of, nonsense, redirected
from swapcli.remote.retry import Pacing
from swapcli.remote.service_url import ServiceAddress
from swapcli.remote.transport import DeadlineTransport

DEFAULT_RETRIES = 2
USER_AGENT = f"swapcli/{__version__}"

BUSY = frozenset({429, 502, 503, 504})
"""Statuses that may be gone at the next attempt."""

Key = Callable[[], str]
"""Reveals the key at the moment of sending it."""


class Question(NamedTuple):
    """A request: the segments of its path, its query, and the value of its JSON body, if it has one."""

    method: str
    path: Sequence[str]
    query: Sequence[tuple[str, str]] = ()
    body: object = None


class Stated(NamedTuple):
    """The headers in which some services say where an answer comes from, as they were sent; None where they are not."""

    state: str | None = None
    warnings: str | None = None


class Reply(NamedTuple):
    """An answer of the service itself, whatever its status. `retry_after_s` is when it wants to be asked again."""

    status: int
    body: bytes
    retry_after_s: int | None = None
    stated: Stated = Stated()


class Client:
    """Asks one service.

    `timeout_s` bounds every exchange from the looking-up of the name to the last byte, and every wait between two;
    `retries` is how often an attempt at a GET is repeated. Closes its connections when it is let go of.
    """

    def __init__(
        self,
        address: ServiceAddress,
        *,
        key: Key | None = None,
        timeout_s: float,
        retries: int = DEFAULT_RETRIES,
        user_agent: str = USER_AGENT,
        pacing: Pacing = Pacing(),  # noqa: B008 - it is immutable
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.address = address
        self._key = key
        self._timeout_s = timeout_s
        self._retries = retries
        self._pacing = pacing
        self._http = httpx.Client(
            transport=transport or _transport(address, pacing),
            headers={"User-Agent": user_agent, "Accept": "application/json", "Accept-Encoding": ACCEPTED_ENCODINGS},
            timeout=timeout_s,
            follow_redirects=False,
            trust_env=False,
        )
        self._close = weakref.finalize(self, self._http.close)

    def __repr__(self) -> str:
        return f"Client({self.address.shown})"

    def close(self) -> None:
        """Closes the connections."""
        self._close()

    def ask(self, question: Question) -> Reply:
        """The answer to a question. Raises `UpstreamError` where there is none that is whole.

        An answer that may be gone at the next attempt is the last of all attempts.
        """
        attempts = 1 + (self._retries if question.method == "GET" else 0)
        for attempt in range(attempts):
            outcome = self._attempt(question)
            wait_s = self._wait_s(outcome, attempt) if attempt + 1 < attempts else None
            if wait_s is None:
                break
            self._pacing.sleep(wait_s)
        if isinstance(outcome, Failure):
            raise outcome.error
        return outcome

    def _wait_s(self, outcome: Reply | Failure, attempt: int) -> float | None:
        """How long to wait before another attempt; None where there should be none."""
        backoff_s = min(self._pacing.backoff_s(attempt), self._timeout_s)
        if isinstance(outcome, Failure):
            return backoff_s if outcome.may_pass else None
        if outcome.status not in BUSY:
            return None
        asked_s = outcome.retry_after_s or 0
        return max(backoff_s, asked_s) if asked_s <= self._timeout_s else None

    def _attempt(self, question: Question) -> Reply | Failure:
        """One exchange. Errors of httpx end here: they carry the request, and with it the key."""
        try:
            response = self._http.send(self._request(question), stream=True)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return failure_of(error, self.address, self._timeout_s)
        try:
            if 300 <= response.status_code < 400:
                location = response.headers.get("Location", "")
                return Failure(redirected(self.address, response.status_code, location), may_pass=False)
            body = _read(response)
        except httpx.HTTPError as error:
            return failure_of(error, self.address, self._timeout_s, answered=True)
        except InvalidBody as error:
            return Failure(nonsense(self.address, str(error), status=response.status_code), may_pass=False)
        finally:
            response.close()
        headers = response.headers
        retry_after_s = self._pacing.retry_after_s(headers.get("Retry-After"))
        stated = Stated(headers.get(STATE_HEADER), headers.get(WARNINGS_HEADER))
        return Reply(response.status_code, body, retry_after_s, stated)

    def _request(self, question: Question) -> httpx.Request:
        content = None if question.body is None else json.dumps(question.body, separators=(",", ":")).encode()
        headers = {} if content is None else {"Content-Type": "application/json"}
        if self._key is not None:
            headers["X-API-Key"] = _sendable(self._key())
        url = self.address.url(*question.path)
        target = f"{url}?{urlencode(question.query)}" if question.query else url
        return self._http.build_request(question.method, target, content=content, headers=headers)


def _transport(address: ServiceAddress, pacing: Pacing) -> DeadlineTransport:
    # Reading the authorities takes a while: only where they are needed.
    return DeadlineTransport(pacing.timer_s, httpx.create_ssl_context() if address.is_secure else None)


def _sendable(key: str) -> str:
    if not key or not all("!" <= letter <= "~" for letter in key):
        raise ConfigError("the API key has characters that no key has", hint="it is one word of plain letters")
    return key


def _read(response: httpx.Response) -> bytes:
    length = response.headers.get("Content-Length", "")
    if length.isdecimal() and int(length[:18]) > MAX_BODY_BYTES:
        raise InvalidBody(f"sent more than {MAX_BODY_BYTES // 2**20} MiB, which no answer needs")
    return read_body(response.iter_raw(), response.headers.get("Content-Encoding", ""))
