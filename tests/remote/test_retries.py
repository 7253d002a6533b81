"""What may be repeated is, after a wait; what may not is not."""

from __future__ import annotations

import pytest

from swapcli.remote.client import ServiceRequest, ServiceResponse
from tests.remote.test_client import GET, KEPT, OK, POST, failure, in_two
from tests.support.loopback_server import (
    FakeExchange,
    LoopbackServer,
    NoSleep,
    build_client,
    http_response,
    loopback_server,
    respond_with,
)


def asked_until_done(
    running: LoopbackServer, naps: NoSleep, question: ServiceRequest = GET, retries: int = 2
) -> ServiceResponse:
    return build_client(running.url, retries=retries, no_sleep=naps).send(question)


class TestRetries:
    """What may be repeated is, after a wait."""

    @pytest.mark.parametrize("status", [429, 502, 503, 504])
    def test_a_status_that_may_pass_is_waited_out(self, status: int) -> None:
        naps = NoSleep()
        with loopback_server(respond_with(http_response(status), http_response(status), OK)) as running:
            assert asked_until_done(running, naps) == ServiceResponse(200, b"{}")
        assert naps.slept_s == [0.25, 0.5]

    @pytest.mark.parametrize("status", [429, 503])
    def test_the_last_answer_stands_when_the_attempts_are_used_up(self, status: int) -> None:
        with loopback_server(respond_with(http_response(status, "busy"))) as running:
            assert asked_until_done(running, NoSleep()) == ServiceResponse(status, b"busy")
            assert len(running.exchanges) == 3

    @pytest.mark.parametrize("status", [400, 401, 404, 413, 500, 501])
    def test_a_status_that_will_not_pass_is_final(self, status: int) -> None:
        with loopback_server(respond_with(http_response(status), OK)) as running:
            assert asked_until_done(running, NoSleep()).status == status

    def test_a_closed_connection_is_opened_again(self) -> None:
        with loopback_server(respond_with(b"", OK[:-1], OK)) as running:
            assert asked_until_done(running, NoSleep()).status == 200

    def test_silence_is_asked_again(self) -> None:
        def second_thought(talk: FakeExchange) -> None:
            if talk.index:
                talk.send(OK)
            else:
                talk.wait(0.3)

        with loopback_server(second_thought) as running:
            assert build_client(running.url, timeout_s=0.2, retries=1).send(GET).status == 200

    def test_an_answer_that_began_and_took_too_long_is_not_asked_for_again(self) -> None:
        with loopback_server(in_two) as running:
            failure(running.url, timeout_s=0.1, retries=2)
            assert len(running.exchanges) == 1

    @pytest.mark.parametrize("bad", [b"", http_response(503), http_response(429, "", "Retry-After: 0")])
    def test_a_post_is_never_repeated(self, bad: bytes) -> None:
        with loopback_server(respond_with(bad, OK)) as running:
            if bad:
                assert asked_until_done(running, NoSleep(), POST).status in (429, 503)
            else:
                failure(running.url, POST, retries=2)
            assert len(running.exchanges) == 1

    def test_a_post_takes_no_connection_that_may_be_closing(self) -> None:
        """A server that closes every connection after an answer, and says that it keeps them."""
        with loopback_server(respond_with(KEPT)) as running:
            asking = build_client(running.url, retries=2)
            assert {asking.send(question).status for question in (GET, POST, POST, POST) for _ in range(5)} == {200}

    def test_a_kept_connection_serves_many_gets(self) -> None:
        def keep(talk: FakeExchange) -> None:
            for _ in range(3):
                talk.send(KEPT)
                talk.connection.recv(65_536)

        with loopback_server(keep) as running:
            asking = build_client(running.url)
            assert {asking.send(GET).status for _ in range(3)} == {200}
            assert len(running.exchanges) == 1
            asking.close()

    @pytest.mark.parametrize(("header", "waited_s"), [("1", 1), ("2", 2), ("0", 0.25), ("soon", 0.25), ("-5", 0.25)])
    def test_a_server_that_says_when_to_come_back_is_heeded(self, header: str, waited_s: float) -> None:
        naps = NoSleep()
        with loopback_server(respond_with(http_response(429, "", f"Retry-After: {header}"), OK)) as running:
            assert asked_until_done(running, naps).status == 200
        assert naps.slept_s == [waited_s]

    def test_a_date_to_come_back_is_heeded(self) -> None:
        naps = NoSleep(now_s=1_769_291_199.5)  # half a second before
        with loopback_server(
            respond_with(http_response(503, "", "Retry-After: Sat, 24 Jan 2026 21:46:40 GMT"), OK)
        ) as running:
            assert asked_until_done(running, naps).status == 200
        assert naps.slept_s == [1]

    @pytest.mark.parametrize("header", ["3", "86400", "999999999"])
    def test_nobody_is_made_to_wait_longer_than_they_wanted_to(self, header: str) -> None:
        naps = NoSleep()
        with loopback_server(respond_with(http_response(429, "busy", f"Retry-After: {header}"), OK)) as running:
            assert asked_until_done(running, naps) == ServiceResponse(429, b"busy", int(header))
        assert naps.slept_s == []

    def test_no_retries_are_none(self) -> None:
        with loopback_server(respond_with(http_response(503), OK)) as running:
            assert asked_until_done(running, NoSleep(), retries=0).status == 503
