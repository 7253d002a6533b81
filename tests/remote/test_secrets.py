"""The key goes to the service and to nobody else."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from swapcli.config import Secret
from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.sources.remote import RemoteSource
from swapcli.errors import ConfigError, SwapcliError, Unauthorized
from swapcli.networks.catalogue import network
from tests.support.loopback_server import NoSleep, Responder, build_client, http_response, loopback_server, respond_with

KEY = "swk_hunter2"


def source(url: str, key: str = KEY) -> RemoteSource:
    return RemoteSource(
        url,
        network("base"),
        SYSTEM_CLOCK,
        api_key=Secret(key),
        timeout_s=0.3,
        retries=0,
        retry_policy=NoSleep().retry_policy(),
    )


def everything_about(error: BaseException) -> str:
    """All that a program could print of an error: its parts, what it holds, and its traceback."""
    held = [repr(vars(each)) for each in (error, error.__cause__, error.__context__) if each is not None]
    return "".join([str(error), repr(error), *held, *traceback.format_exception(error)])


def test_the_key_is_sent_in_its_header_and_nowhere_else() -> None:
    with loopback_server(respond_with(http_response(200, '{"status": 200, "message": "well"}'))) as running:
        source(running.url).health()
    (talk,) = running.exchanges
    assert talk.headers["x-api-key"] == KEY
    assert talk.head.count(KEY.encode()) == 1


@pytest.mark.parametrize(
    "behaviour",
    [
        respond_with(b""),
        respond_with(b"rubbish\r\n\r\n"),
        respond_with(http_response(401, '{"statusCode": 401, "message": "unknown key", "error": "Unauthorized"}')),
        respond_with(http_response(500, "<html>")),
        respond_with(http_response(200, "not JSON")),
        respond_with(http_response(302, "", "Location: https://other.example/?q")),
        lambda talk: talk.wait(0.4),
    ],
)
def test_no_failure_shows_the_key(behaviour: Responder, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with loopback_server(behaviour) as running, pytest.raises(SwapcliError) as caught:
        source(running.url).token("0x" + "ab" * 20)
    assert KEY not in everything_about(caught.value)
    assert KEY not in caplog.text


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "naïve", "", "tab\t", "nul\0"])
def test_a_key_that_no_header_carries_is_refused_before_anything_is_sent(key: str) -> None:
    with loopback_server(respond_with(http_response(200))) as running:
        with pytest.raises(ConfigError) as caught:
            source(running.url, key).token("0x" + "ab" * 20)
        assert not running.exchanges
    assert not key or key not in everything_about(caught.value)


@pytest.mark.parametrize("shown", [repr, str, lambda each: repr(vars(each)) + repr(vars(each._client))])
def test_nothing_that_holds_the_key_shows_it(shown: Callable[[Any], str]) -> None:
    assert KEY not in shown(source("http://127.0.0.1:1"))


def test_a_client_shows_where_it_asks_and_no_more() -> None:
    assert repr(build_client("http://127.0.0.1:1/path", key=lambda: KEY)) == "ServiceClient(127.0.0.1:1)"


def test_a_refused_key_is_told_with_a_way_on() -> None:
    with (
        loopback_server(respond_with(http_response(401, '{"message": "unknown key"}'))) as running,
        pytest.raises(Unauthorized) as caught,
    ):
        source(running.url).token("0x" + "ab" * 20)
    assert caught.value.message == "unknown key"
    assert "SWAPCLI_API_KEY" in str(caught.value.hint)
