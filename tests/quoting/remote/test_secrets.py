"""The key goes to the service only."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from swapcli.core.errors import ConfigError, SwapcliError, Unauthorized
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.config import Secret
from swapcli.quoting.sources.remote import RemoteSource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.support.loopback_server import NoSleep, Responder, build_client, http_response, loopback_server, respond_with

KEY = "swk_hunter2"


def source(url: str, key: str = KEY) -> RemoteSource:
    return RemoteSource(
        url,
        find_network("base"),
        SYSTEM_CLOCK,
        api_key=Secret(key),
        timeout_s=0.3,
        retries=0,
        retry_policy=NoSleep().retry_policy(),
    )


def printable_parts(error: BaseException) -> str:
    """Return everything that a program could print of an error: its parts, its attributes and its traceback."""
    stored = [repr(vars(each)) for each in (error, error.__cause__, error.__context__) if each is not None]
    return "".join([str(error), repr(error), *stored, *traceback.format_exception(error)])


def test_the_key_is_sent_in_its_header_only() -> None:
    with loopback_server(respond_with(http_response(200, '{"status": 200, "message": "well"}'))) as running:
        source(running.url).health()
    (exchange,) = running.exchanges
    assert exchange.headers["x-api-key"] == KEY
    assert exchange.head.count(KEY.encode()) == 1


@pytest.mark.parametrize(
    "responder",
    [
        respond_with(b""),
        respond_with(b"rubbish\r\n\r\n"),
        respond_with(http_response(401, '{"statusCode": 401, "message": "unknown key", "error": "Unauthorized"}')),
        respond_with(http_response(500, "<html>")),
        respond_with(http_response(200, "not JSON")),
        respond_with(http_response(302, "", "Location: https://other.example/?q")),
        lambda exchange: exchange.wait(0.4),
    ],
)
def test_no_error_contains_the_key(responder: Responder, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with loopback_server(responder) as running, pytest.raises(SwapcliError) as caught:
        source(running.url).token("0x" + "ab" * 20)
    assert KEY not in printable_parts(caught.value)
    assert KEY not in caplog.text


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "naïve", "", "tab\t", "nul\0"])
def test_an_unsendable_key_is_rejected_before_any_request(key: str) -> None:
    with loopback_server(respond_with(http_response(200))) as running:
        with pytest.raises(ConfigError) as caught:
            source(running.url, key).token("0x" + "ab" * 20)
        assert not running.exchanges
    assert not key or key not in printable_parts(caught.value)


@pytest.mark.parametrize("shown", [repr, str, lambda each: repr(vars(each)) + repr(vars(each._client))])
def test_objects_with_the_key_do_not_show_it(shown: Callable[[Any], str]) -> None:
    assert KEY not in shown(source("http://127.0.0.1:1"))


def test_the_repr_of_a_client_is_its_host() -> None:
    assert repr(build_client("http://127.0.0.1:1/path", key=lambda: KEY)) == "ServiceClient(127.0.0.1:1)"


def test_a_rejected_key_is_reported_with_a_hint() -> None:
    with (
        loopback_server(respond_with(http_response(401, '{"message": "unknown key"}'))) as running,
        pytest.raises(Unauthorized) as caught,
    ):
        source(running.url).token("0x" + "ab" * 20)
    assert caught.value.message == "unknown key"
    assert "SWAPCLI_API_KEY" in str(caught.value.hint)
