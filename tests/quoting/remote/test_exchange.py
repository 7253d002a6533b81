"""An exchange ends when its time is up, whatever the server does, and what earlier requests took counts."""

from __future__ import annotations

import time

import httpx
import pytest

from swapcli.core.errors import UpstreamTimeout
from swapcli.quoting.remote.exchange import RawResponse, exchange_within
from swapcli.quoting.remote.service_url import ServiceUrl
from swapcli.quoting.remote.transport_errors import FailedAttempt
from tests.support.loopback_server import FakeExchange, http_response, loopback_server, respond_with


def exchange(url: str, timeout_s: float, left_s: float | None = None) -> RawResponse | FailedAttempt:
    with httpx.Client(trust_env=False) as http:
        return exchange_within(timeout_s, http, http.build_request("GET", url), ServiceUrl.parse(url), left_s)


def test_a_response_of_any_status_is_returned() -> None:
    with loopback_server(respond_with(http_response(418, b"tea"))) as server:
        found = exchange(server.url, 2.0)
    assert isinstance(found, RawResponse)
    assert (found.status, found.body) == (418, b"tea")


def drip(exchange: FakeExchange) -> None:
    exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(100):
        exchange.send(b"x")
        exchange.wait(0.05)


@pytest.mark.parametrize("left_s", [None, 0.1])
def test_a_server_that_sends_a_byte_at_a_time_is_abandoned(left_s: float | None) -> None:
    with loopback_server(drip) as server:
        started_s = time.monotonic()
        found = exchange(server.url, 0.3, left_s)
        took_s = time.monotonic() - started_s
    assert isinstance(found, FailedAttempt)
    assert isinstance(found.error, UpstreamTimeout)
    assert "within 0.3 seconds" in found.error.message
    assert (left_s or 0.3) <= took_s < (left_s or 0.3) + 1.0
