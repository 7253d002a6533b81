"""Requests that may be repeated are retried after a wait; others are not."""

from __future__ import annotations

import pytest

from swapcli.quoting.remote.client import ServiceRequest, ServiceResponse
from tests.quoting.remote.test_client import GET, KEEP_ALIVE, OK, POST, error_of_request, send_head_only
from tests.support.loopback_server import (
    FakeExchange,
    LoopbackServer,
    NoSleep,
    build_client,
    http_response,
    loopback_server,
    respond_with,
)


def send_with_retries(
    running: LoopbackServer, no_sleep: NoSleep, service_request: ServiceRequest = GET, retries: int = 2
) -> ServiceResponse:
    return build_client(running.url, retries=retries, no_sleep=no_sleep).send(service_request)


class TestRetries:
    """Retries of GETs."""

    @pytest.mark.parametrize("status", [429, 502, 503, 504])
    def test_a_transient_status_is_retried(self, status: int) -> None:
        no_sleep = NoSleep()
        with loopback_server(respond_with(http_response(status), http_response(status), OK)) as running:
            assert send_with_retries(running, no_sleep) == ServiceResponse(200, b"{}")
        assert no_sleep.slept_s == [0.25, 0.5]

    @pytest.mark.parametrize("status", [429, 503])
    def test_the_last_response_is_returned_after_all_attempts(self, status: int) -> None:
        with loopback_server(respond_with(http_response(status, "busy"))) as running:
            assert send_with_retries(running, NoSleep()) == ServiceResponse(status, b"busy")
            assert len(running.exchanges) == 3

    @pytest.mark.parametrize("status", [400, 401, 404, 413, 500, 501])
    def test_a_permanent_status_is_not_retried(self, status: int) -> None:
        with loopback_server(respond_with(http_response(status), OK)) as running:
            assert send_with_retries(running, NoSleep()).status == status

    def test_a_closed_connection_is_retried(self) -> None:
        with loopback_server(respond_with(b"", OK[:-1], OK)) as running:
            assert send_with_retries(running, NoSleep()).status == 200

    def test_a_timeout_is_retried(self) -> None:
        def respond_late(exchange: FakeExchange) -> None:
            if exchange.index:
                exchange.send(OK)
            else:
                exchange.wait(0.3)

        with loopback_server(respond_late) as running:
            assert build_client(running.url, timeout_s=0.2, retries=1).send(GET).status == 200

    def test_a_slow_body_is_not_retried(self) -> None:
        with loopback_server(send_head_only) as running:
            error_of_request(running.url, timeout_s=0.1, retries=2)
            assert len(running.exchanges) == 1

    @pytest.mark.parametrize("bad", [b"", http_response(503), http_response(429, "", "Retry-After: 0")])
    def test_a_post_is_never_retried(self, bad: bytes) -> None:
        with loopback_server(respond_with(bad, OK)) as running:
            if bad:
                assert send_with_retries(running, NoSleep(), POST).status in (429, 503)
            else:
                error_of_request(running.url, POST, retries=2)
            assert len(running.exchanges) == 1

    def test_a_post_uses_a_new_connection(self) -> None:
        """The server closes every connection after a response, although it offers to keep it open."""
        with loopback_server(respond_with(KEEP_ALIVE)) as running:
            client = build_client(running.url, retries=2)
            assert {
                client.send(service_request).status for service_request in (GET, POST, POST, POST) for _ in range(5)
            } == {200}

    def test_gets_share_a_connection(self) -> None:
        def keep(exchange: FakeExchange) -> None:
            for _ in range(3):
                exchange.send(KEEP_ALIVE)
                exchange.connection.recv(65_536)

        with loopback_server(keep) as running:
            client = build_client(running.url)
            assert {client.send(GET).status for _ in range(3)} == {200}
            assert len(running.exchanges) == 1
            client.close()

    @pytest.mark.parametrize(("header", "waited_s"), [("1", 1), ("2", 2), ("0", 0.25), ("soon", 0.25), ("-5", 0.25)])
    def test_retry_after_is_respected(self, header: str, waited_s: float) -> None:
        no_sleep = NoSleep()
        with loopback_server(respond_with(http_response(429, "", f"Retry-After: {header}"), OK)) as running:
            assert send_with_retries(running, no_sleep).status == 200
        assert no_sleep.slept_s == [waited_s]

    def test_retry_after_as_a_date_is_respected(self) -> None:
        no_sleep = NoSleep(now_s=1_769_291_199.5)  # half a second before
        with loopback_server(
            respond_with(http_response(503, "", "Retry-After: Sat, 24 Jan 2026 21:46:40 GMT"), OK)
        ) as running:
            assert send_with_retries(running, no_sleep).status == 200
        assert no_sleep.slept_s == [1]

    @pytest.mark.parametrize("header", ["3", "86400", "999999999"])
    def test_no_wait_exceeds_the_timeout(self, header: str) -> None:
        no_sleep = NoSleep()
        with loopback_server(respond_with(http_response(429, "busy", f"Retry-After: {header}"), OK)) as running:
            assert send_with_retries(running, no_sleep) == ServiceResponse(429, b"busy", int(header))
        assert no_sleep.slept_s == []

    def test_zero_retries_mean_one_attempt(self) -> None:
        with loopback_server(respond_with(http_response(503), OK)) as running:
            assert send_with_retries(running, NoSleep(), retries=0).status == 503
