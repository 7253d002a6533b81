"""One deadline for all that an exchange needs, the looking-up of the name included."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import pytest

from swapcli.remote.transport import DeadlineTransport, Resolve, resolve_name
from tests.support.loopback_server import LoopbackServer, http_response, loopback_server, respond_with

NOBODY = "127.0.0.2"
"""Of this machine, and nothing listens there."""


@pytest.fixture
def running() -> Iterator[LoopbackServer]:
    with loopback_server(respond_with(http_response(200, "{}"))) as server:
        yield server


def status(running: LoopbackServer, resolve: Resolve, timeout_s: float = 1.0) -> int:
    url = httpx.URL(running.url).copy_with(host="service.example")
    with httpx.Client(transport=DeadlineTransport(time.monotonic, resolve=resolve), timeout=timeout_s) as asking:
        return asking.get(url).status_code


def test_a_name_is_asked_for_once_and_with_its_port(running: LoopbackServer) -> None:
    asked: list[tuple[str, int]] = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return ["127.0.0.1"]

    assert status(running, resolve) == 200
    assert asked == [("service.example", httpx.URL(running.url).port)]
    assert running.exchanges[0].headers["host"].startswith("service.example:")


def test_an_address_that_refuses_leaves_the_next_one_to_try(running: LoopbackServer) -> None:
    assert status(running, lambda *_: [NOBODY, "127.0.0.1"]) == 200


def test_when_no_address_answers_the_last_failure_is_told(running: LoopbackServer) -> None:
    with pytest.raises(httpx.ConnectError) as caught:
        status(running, lambda *_: [NOBODY])
    assert "refused" in str(caught.value)


def test_a_name_without_addresses_is_a_failure_to_connect(running: LoopbackServer) -> None:
    with pytest.raises(httpx.ConnectError):
        status(running, lambda *_: [])


def test_a_resolver_that_takes_too_long_is_left_behind(running: LoopbackServer) -> None:
    def slow(*_: object) -> list[str]:
        time.sleep(3)
        return ["127.0.0.1"]

    started_s = time.monotonic()
    with pytest.raises(httpx.ConnectTimeout):
        status(running, slow, timeout_s=0.1)
    assert time.monotonic() - started_s < 2


@pytest.mark.parametrize("failure", [OSError("no such name"), UnicodeError("label too long")])
def test_a_resolver_that_fails_is_a_failure_to_connect(running: LoopbackServer, failure: Exception) -> None:
    def fail(*_: object) -> list[str]:
        raise failure

    with pytest.raises(httpx.ConnectError):
        status(running, fail)


def test_a_clock_that_has_run_out_sends_nothing(running: LoopbackServer) -> None:
    moments = iter([0.0, 2.0])
    with (
        httpx.Client(transport=DeadlineTransport(lambda: next(moments, 3.0)), timeout=1.0) as asking,
        pytest.raises(httpx.TimeoutException),
    ):
        asking.get(running.url)
    assert not running.exchanges


def test_the_system_knows_this_machine() -> None:
    assert resolve_name("127.0.0.1", 80) == ["127.0.0.1"]
