"""Send one HTTP request and read its response, within limits on total time and response size."""

from __future__ import annotations

from queue import Empty, SimpleQueue
from threading import Thread

import httpx

from swapcli.core.encoding.http_body import MAX_BODY_BYTES, InvalidBody, read_body
from swapcli.core.records import NamedTuple
from swapcli.quoting.remote.service_url import ServiceUrl
from swapcli.quoting.remote.transport_errors import (
    FailedAttempt,
    classify_error,
    invalid_response,
    redirect_error,
    timed_out,
)


class RawResponse(NamedTuple):
    """A response with any status except redirects, and its decoded body."""

    status: int
    headers: httpx.Headers
    body: bytes


def exchange_within(
    timeout_s: float, http: httpx.Client, request: httpx.Request, url: ServiceUrl, left_s: float | None = None
) -> RawResponse | FailedAttempt:
    """Send a request and read its response in a thread, and abandon both when the time is up.

    httpx limits each read and write, but neither the name lookup nor the total time, which a server can extend by
    sending one byte at a time. The client is closed when the time is up. `left_s` is the time left after earlier
    requests.
    """
    exchange = _Exchange(http, request, url, timeout_s)
    Thread(target=exchange.run, daemon=True).start()
    try:
        outcome = exchange.outcome.get(timeout=timeout_s if left_s is None else left_s)
    except Empty:
        outcome = timed_out(url, timeout_s, has_answered=exchange.has_answered)
        http.close()  # the thread fails at its next read or write
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


class _Exchange:
    """A request and the reading of its response. `outcome` receives one item: the response, or the reason why there is
    none."""

    def __init__(self, http: httpx.Client, request: httpx.Request, url: ServiceUrl, timeout_s: float) -> None:
        self._http, self._request, self._url, self._timeout_s = http, request, url, timeout_s
        self.has_answered = False
        self.outcome: SimpleQueue[RawResponse | FailedAttempt | Exception] = SimpleQueue()

    def run(self) -> None:
        try:
            self.outcome.put(self._run())
        except Exception as error:
            self.outcome.put(error)  # raised in the thread that waits, if one still does

    def _run(self) -> RawResponse | FailedAttempt:
        """Return the response. httpx errors stop here, because they contain the request and with it the key."""
        try:
            response = self._http.send(self._request, stream=True)
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            return classify_error(error, self._url, self._timeout_s)
        self.has_answered = True
        try:
            if 300 <= response.status_code < 400:
                location = response.headers.get("Location", "")
                return FailedAttempt(redirect_error(self._url, response.status_code, location), is_transient=False)
            return RawResponse(response.status_code, response.headers, _read_body(response))
        except httpx.HTTPError as error:
            is_chunked = "Transfer-Encoding" in response.headers
            return classify_error(error, self._url, self._timeout_s, has_answered=True, is_chunked=is_chunked)
        except InvalidBody as error:
            problem = invalid_response(self._url, str(error), status=response.status_code)
            return FailedAttempt(problem, is_transient=False)
        finally:
            response.close()


def _read_body(response: httpx.Response) -> bytes:
    length = response.headers.get("Content-Length", "")
    # 18 digits fit into any integer type and are far above the limit.
    if length.isdecimal() and int(length[:18]) > MAX_BODY_BYTES:
        raise InvalidBody(f"sent more than {MAX_BODY_BYTES // 2**20} MiB, the limit for a response")
    return read_body(response.iter_raw(), response.headers.get("Content-Encoding", ""))
