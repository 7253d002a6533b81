"""Documented answers give their offer, bad ones an error, in time, and the key is in none of it."""

from __future__ import annotations

import json
import time
import traceback
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from swapcli.core.encoding.secret import Secret
from swapcli.core.errors import InvalidUpstreamResponse, SwapcliError, Unreachable, UpstreamRejected, UpstreamTimeout
from swapcli.core.model.transaction import Transaction
from swapcli.quoting.aggregators.adapter_definitions import adapter_names, find_adapter, parse_adapter
from swapcli.quoting.aggregators.ask_aggregator import (
    AggregatorOffer,
    AggregatorRequest,
    ask_aggregator,
    template_values,
)
from tests.quoting.aggregators.documented_answers import (
    AMOUNT_OUT,
    ANSWERS,
    CALLDATA,
    GAS_UNITS,
    NETWORK,
    ORDER,
    SENDER,
    SPENDER,
    TARGET,
    USDC,
    WITH_SPENDER,
    bodies,
)
from tests.support.fake_aggregators import DEAD_URL, adapter
from tests.support.loopback_server import Responder, http_response, loopback_server, respond_with

KEY = Secret("swk_hunter2")
REQUEST = AggregatorRequest(ORDER, NETWORK, SENDER, 5_000)
SELLING = AggregatorRequest(ORDER._replace(token_in=USDC, token_out=NETWORK.native), NETWORK, SENDER, 5_000)


def ask(url: str, name: str, request: AggregatorRequest = REQUEST, timeout_s: float = 2.0) -> AggregatorOffer:
    return ask_aggregator(find_adapter(name, {name: {"address": url}}), request, KEY, timeout_s)


def failure(responder: Responder, timeout_s: float = 2.0, **checks: Any) -> SwapcliError:
    """Return the error of an aggregator of one's own that answers in this way."""
    with loopback_server(responder) as server:
        definition = adapter(server.url, "mine") | checks
        definition["requests"][0]["headers"] = {"Authorization": "Bearer {key}"}
        mine = parse_adapter("mine", definition)
        with pytest.raises(SwapcliError) as caught:
            ask_aggregator(mine, REQUEST, KEY, timeout_s)
    shown = [repr(vars(caught.value)), *traceback.format_exception(caught.value)]
    assert not any(KEY.reveal() in text for text in shown)
    assert caught.value.message.isprintable()
    return caught.value


@pytest.mark.parametrize("name", adapter_names())
def test_a_documented_answer_is_an_offer(name: str) -> None:
    with loopback_server(respond_with(*(http_response(200, each) for each in bodies(name)))) as server:
        offer = ask(server.url, name)
    spender = SPENDER if name in WITH_SPENDER else TARGET
    assert offer == AggregatorOffer(AMOUNT_OUT, GAS_UNITS, Transaction(TARGET, CALLDATA, ORDER.amount), spender)
    assert len(server.exchanges) == len(ANSWERS[name])


@pytest.mark.parametrize("name", adapter_names())
def test_a_request_has_the_order_and_nothing_of_the_machine(name: str) -> None:
    with loopback_server(respond_with(*(http_response(200, each) for each in bodies(name)))) as server:
        ask(server.url, name)
    first = server.exchanges[0]
    sent = json.dumps([parse_qs(urlsplit(first.target).query), first.target]) + first.body.decode()
    assert str(ORDER.amount) in sent
    assert USDC.address in sent.lower()
    assert "{" not in first.target
    last = server.exchanges[-1]
    assert SENDER in (last.target + last.body.decode()).lower()
    allowed = {"host", "accept", "accept-encoding", "connection", "user-agent", "content-length", "content-type"}
    own = {header.lower() for each in find_adapter(name).requests for header in each.headers}
    assert all(set(each.headers) <= allowed | own for each in server.exchanges)


def test_the_second_request_has_what_the_first_answer_said() -> None:
    with loopback_server(respond_with(*(http_response(200, each) for each in bodies("kyberswap")))) as server:
        ask(server.url, "kyberswap")
    body = json.loads(server.exchanges[1].body)
    assert body["routeSummary"] == ANSWERS["kyberswap"][0]["data"]["routeSummary"]
    assert (body["slippageTolerance"], body["recipient"].lower()) == (50, SENDER)


@pytest.mark.parametrize("name", ["lifi", "0x", "odos"])
def test_a_key_goes_into_its_header_only(name: str) -> None:
    with loopback_server(respond_with(*(http_response(200, each) for each in bodies(name)))) as server:
        ask(server.url, name)
    for exchange in server.exchanges:
        assert exchange.head.count(KEY.reveal().encode()) == 1
        assert KEY.reveal() not in exchange.target


def test_without_a_key_its_header_is_left_out() -> None:
    with loopback_server(respond_with(http_response(200, bodies("lifi")[0]))) as server:
        ask_aggregator(find_adapter("lifi", {"lifi": {"address": server.url}}), REQUEST, None, 2.0)
    assert "x-lifi-api-key" not in server.exchanges[0].headers


def test_native_currency_has_the_address_of_the_aggregator() -> None:
    lifi, other = (template_values(find_adapter(name), SELLING)["token_out"] for name in ("lifi", "openocean"))
    assert (lifi, other) == ("0x" + "00" * 20, "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")
    values = template_values(find_adapter("odos"), REQUEST._replace(slippage_ppm=1, gas_price_wei=1_500_000_000))
    assert (values["amount_in_tokens"], values["gas_price_gwei"], values["slippage_bps"]) == ("1.5", "1.5", 0)


OFFER: dict[str, Any] = {"quote": {"amountOut": "5", "gas": 1}, "tx": {"to": TARGET, "data": CALLDATA, "value": "0"}}


def answer(**parts: Any) -> Responder:
    return respond_with(http_response(200, json.dumps(OFFER | parts)))


@pytest.mark.parametrize(
    ("responder", "kind", "words"),
    [
        (
            answer(quote={"amountOut": "2345.67"}),
            InvalidUpstreamResponse,
            '"2345.67", which is not an amount in base units',
        ),
        (answer(quote={"amountOut": 2345.67}), InvalidUpstreamResponse, "2345.67, which is not an amount"),
        (answer(quote={"amountOut": "-5"}), InvalidUpstreamResponse, '"-5", which is not an amount'),
        (answer(quote={"amountOut": str(2**256)}), InvalidUpstreamResponse, "which is not an amount"),
        (answer(quote={"amountOut": True}), InvalidUpstreamResponse, "which is not an amount"),
        (answer(quote={}), UpstreamRejected, "made no offer"),
        (answer(quote=None, message="no route, swk_hunter2"), UpstreamRejected, "made no offer: no route, …"),
        (answer(tx={"to": "0x12", "data": CALLDATA}), InvalidUpstreamResponse, "unreadable transaction"),
        (answer(tx={"to": TARGET, "data": "0x1"}), InvalidUpstreamResponse, "unreadable transaction"),
        (
            answer(tx={"to": TARGET, "data": CALLDATA, "value": "1.5"}),
            InvalidUpstreamResponse,
            "unreadable transaction",
        ),
        (respond_with(http_response(200, "<html>")), InvalidUpstreamResponse, "unreadable response"),
        (respond_with(http_response(200, "[]")), UpstreamRejected, "made no offer"),
        (
            respond_with(http_response(429, '{"message": "too many\\u001b[31m"}')),
            UpstreamRejected,
            "429: too many [31m",
        ),
        (respond_with(http_response(500, "oops")), UpstreamRejected, "responded with status 500"),
        (respond_with(http_response(401, '{"message": "bad swk_hunter2"}')), UpstreamRejected, "401: bad …"),
        (respond_with(http_response(302, "", "Location: https://x.example")), UpstreamRejected, "redirects"),
        (respond_with(b"rubbish\r\n\r\n"), InvalidUpstreamResponse, "HTTP"),
        (respond_with(b""), Unreachable, "closed the connection"),
    ],
)
def test_what_is_no_offer_has_an_error(responder: Responder, kind: type[SwapcliError], words: str) -> None:
    error = failure(responder)
    assert type(error) is kind
    assert words in error.message


def test_an_answer_to_another_order_is_refused() -> None:
    checks = {"tx.chainId": "{chain_id}", "quote.amountIn": "{amount_in}", "absent": "{amount_in}"}
    error = failure(answer(quote={"amountOut": "5", "amountIn": "7"}), checks=checks)
    assert error.message.endswith(f' responded with a different quote.amountIn: "7", not {ORDER.amount}')


@pytest.mark.parametrize(
    ("gas", "units"), [(5, 5), ("5", 5), ("0x5", 5), (5.5, 5), ("many", None), (None, None), (-1, None)]
)
def test_gas_that_cannot_be_read_is_unknown(gas: object, units: int | None) -> None:
    with loopback_server(answer(quote={"amountOut": "5", "gas": gas})) as server:
        offer = ask_aggregator(parse_adapter("mine", adapter(server.url, "mine")), REQUEST, None, 2.0)
    assert offer.gas_units == units


def test_an_offer_may_have_no_transaction() -> None:
    with loopback_server(answer(tx={})) as server:
        offer = ask_aggregator(parse_adapter("mine", adapter(server.url, "mine")), REQUEST, None, 2.0)
    assert offer == AggregatorOffer(5, 1)


def test_a_dead_one_is_unreachable() -> None:
    with pytest.raises(Unreachable):
        ask_aggregator(parse_adapter("mine", adapter(DEAD_URL, "mine")), REQUEST, None, 2.0)


@pytest.mark.parametrize("waits", [(5.0,), (0.2, 5.0)])
def test_the_time_out_holds_for_all_requests_together(waits: tuple[float, ...]) -> None:
    answers = bodies("odos")

    def respond(exchange: Any) -> None:
        exchange.wait(waits[min(exchange.index, len(waits) - 1)])
        exchange.send(http_response(200, answers[exchange.index]))

    with loopback_server(respond) as server:
        started_s = time.monotonic()
        with pytest.raises(UpstreamTimeout, match=r"within 0\.4 seconds"):
            ask(server.url, "odos", timeout_s=0.4)
        assert 0.35 < time.monotonic() - started_s < 1.5


def test_a_hostile_first_answer_changes_no_path() -> None:
    definition = adapter("", "mine")
    definition["requests"] = [
        {"method": "GET", "path": "/first"},
        {"method": "GET", "path": "/second/{first.id}", "query": {"id": "{first.id}"}},
    ]
    first = http_response(200, json.dumps({"id": "../x?a=1#b&c /ü"}))
    with loopback_server(respond_with(first, http_response(200, json.dumps(OFFER)))) as server:
        definition["address"] = server.url
        assert ask_aggregator(parse_adapter("mine", definition), REQUEST, None, 2.0).amount_out == 5
    parts = urlsplit(server.exchanges[1].target)
    assert parts.path == "/second/..%2Fx%3Fa%3D1%23b%26c%20%2F%C3%BC"
    assert parse_qs(parts.query) == {"id": ["../x?a=1#b&c /ü"]}


def test_a_first_answer_without_the_field_is_named() -> None:
    lacking = respond_with(http_response(200, '{"outAmounts": ["1"]}'))
    with loopback_server(lacking) as server, pytest.raises(InvalidUpstreamResponse, match=r"without first\.pathId"):
        ask(server.url, "odos")
