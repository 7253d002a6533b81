"""Invalid responses: not JSON, JSON of another shape, errors of the service."""

from __future__ import annotations

import json
from typing import Any

import pytest

from swapcli.core.encoding.secret import Secret
from swapcli.core.errors import (
    InvalidInput,
    InvalidRoute,
    InvalidUpstreamResponse,
    MarketUnavailable,
    NoRoute,
    Overloaded,
    RateLimited,
    RouteExpired,
    SameToken,
    SlippageExceeded,
    SwapcliError,
    Unauthorized,
    UpstreamRejected,
)
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.sources.remote import RemoteSource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.quoting.remote.cases import (
    SELL_V2,
    DocumentChange,
    mismatch_error,
    request_quote,
    set_value,
)
from tests.support.loopback_server import http_response, loopback_server, respond_with


@pytest.mark.parametrize(
    "document",
    [
        [], None, 1, "text", {}, {"success": True}, {"success": "true"}, {"route": []}, {"inputToken": 1},
    ],
)  # fmt: skip
def test_json_of_another_shape_is_reported_with_its_field(document: Any) -> None:
    with loopback_server(respond_with(http_response(200, json.dumps(document), "Content-Type: image/png"))) as running:
        source = RemoteSource(running.url, find_network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0)
        with pytest.raises(InvalidUpstreamResponse, match="sent an unreadable response") as caught:
            source.quote(SELL_V2.build_request())
    assert caught.value.details["field"]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"<html>", b"\xff\xfe{}", b'{"a": 1, "a": 2}', b"[" * 100_000, b'{"a": NaN}', b"{}{}", b'"\\ud800"',
        b'{"time": 1e999}', b"1" * 5_000,
    ],
)  # fmt: skip
def test_invalid_json_is_reported(body: bytes) -> None:
    with loopback_server(respond_with(http_response(200, body, "Content-Type: application/json"))) as running:
        source = RemoteSource(running.url, find_network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0)
        with pytest.raises(InvalidUpstreamResponse, match="sent an unreadable response: the body"):
            source.quote(SELL_V2.build_request())


@pytest.mark.parametrize(
    "change",
    [
        set_value(10000000000, "inputAmount"),
        set_value("1e10", "inputAmount"),
        set_value("-1", "outputAmount"),
        set_value(str(2**256), "outputAmount"),
        set_value("99%", "route", 0, "percent"),
        set_value([], "route"),
        set_value("0x12", "inputToken", "address"),
        set_value(True, "routeSwapType"),
        set_value("yesterday", "meta", "timestamp"),
        set_value({"fee": [1]}, "route", 0, "swaps", 0, 0, "extraData"),
    ],
)
def test_a_field_of_another_type_is_rejected(change: DocumentChange) -> None:
    assert mismatch_error(SELL_V2, change, request_quote)


@pytest.mark.parametrize(
    ("status", "document", "kind", "message"),
    [
        (200, {"success": False, "errorMessage": "no way\x1b[31m through"}, NoRoute, "no way [31m through"),
        (200, {"success": False, "error": "Invalid route", "details": "old"}, NoRoute, "old"),
        (400, {"statusCode": 400, "message": ["amount is bad", "and more"]}, InvalidInput, "amount is bad; and more"),
        (400, {"message": "Token in and token out cannot be the same"}, SameToken, "cannot be the same"),
        (400, {"success": False, "error": "Invalid route", "details": "old"}, InvalidRoute, "old"),
        (400, {"error": "Route expired", "message": "fetch again"}, RouteExpired, "fetch again"),
        (400, {"success": False, "error": "Slippage exceeded", "details": "moved"}, SlippageExceeded, "moved"),
        (404, {"message": "no such network"}, UpstreamRejected, "responded with status 404: no such network"),
        (429, {"message": "slow down"}, RateLimited, "slow down"),
        (500, {"message": "sorry " * 100_000}, UpstreamRejected, "responded with status 500: sorry"),
        (503, {"message": "no state"}, MarketUnavailable, "no state"),
    ],
)
def test_errors_of_the_service_become_our_errors(
    status: int, document: Any, kind: type[SwapcliError], message: str
) -> None:
    with loopback_server(respond_with(http_response(status, json.dumps(document)))) as running:
        source = RemoteSource(running.url, find_network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0, retries=0)
        with pytest.raises(kind) as caught:
            source.quote(SELL_V2.build_request())
    assert message in caught.value.message
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 400


def test_a_path_that_does_not_exist_has_a_hint_that_the_url_may_be_wrong() -> None:
    for document, hint in (
        ("<html>", "check that the URL belongs to a swapcli or Fibrous API service"),
        (json.dumps({"message": "no such network", "hint": "it serves base"}), "it serves base"),
    ):
        with loopback_server(respond_with(http_response(404, document))) as running:
            source = RemoteSource(running.url, find_network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0)
            with pytest.raises(UpstreamRejected) as caught:
                source.quote(SELL_V2.build_request())
        assert caught.value.hint == hint


@pytest.mark.parametrize("api_key", [None, "swk_unknown"])
def test_a_missing_key_is_set_as_the_program_takes_it(api_key: str | None) -> None:
    """The service's hint for a request without a key names a header."""
    document = {"message": "this service requires an API key", "hint": "send it in the header X-API-Key"}
    reveal = None if api_key is None else Secret(api_key)
    with loopback_server(respond_with(http_response(401, json.dumps(document)))) as running:
        source = RemoteSource(running.url, find_network("base"), SYSTEM_CLOCK, api_key=reveal, timeout_s=5.0)
        with pytest.raises(Unauthorized) as caught:
            source.quote(SELL_V2.build_request())
    ours = "set SWAPCLI_API_KEY, or give --api-key-file FILE"
    assert caught.value.hint == (ours if api_key is None else document["hint"])


def test_state_that_is_too_old_is_not_an_overload() -> None:
    """Both have status 503 and a time for a retry."""
    document = {"message": "the pool state is 61 seconds old", "hint": "retry later", "code": "MARKET_UNAVAILABLE"}
    answer = http_response(503, json.dumps(document), "Retry-After: 2")
    with loopback_server(respond_with(answer)) as running:
        source = RemoteSource(running.url, find_network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0, retries=0)
        with pytest.raises(MarketUnavailable) as caught:
            source.quote(SELL_V2.build_request())
    assert (caught.value.message, caught.value.hint) == (document["message"], document["hint"])


@pytest.mark.parametrize("status", [400, 404, 500, 502])
def test_an_error_page_is_reported_with_its_status(status: int) -> None:
    with loopback_server(respond_with(http_response(status, "<html><script>alert(1)</script>"))) as running:
        source = RemoteSource(running.url, find_network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0, retries=0)
        with pytest.raises(SwapcliError, match=f"status {status}"):
            source.quote(SELL_V2.build_request())


def test_retry_after_is_reported() -> None:
    with loopback_server(respond_with(http_response(503, "{}", "Retry-After: 77"))) as running:
        source = RemoteSource(running.url, find_network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0)
        with pytest.raises(Overloaded) as caught:
            source.quote(SELL_V2.build_request())
    assert caught.value.retry_after_s == 77
