"""A service asked over HTTP gives what the core gives, or is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.engine.answer import Ask, Delivery
from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.remote_source import RemoteSource
from swapcli.engine.sources import QuoteSource
from swapcli.errors import (
    AmbiguousToken,
    ConfigError,
    InvalidInput,
    InvalidOption,
    InvalidRoute,
    InvalidSlippage,
    MarketUnavailable,
    NoRoute,
    Overloaded,
    RateLimited,
    RouteExpired,
    SameToken,
    SlippageExceeded,
    SwapcliError,
    UnknownToken,
    Unreachable,
    UpstreamNonsense,
    UpstreamRefused,
)
from swapcli.evm import decode_call, encode_call
from swapcli.model.network import Network
from swapcli.model.order import Order
from swapcli.model.payload import Payload
from swapcli.model.terms import Integrator
from swapcli.model.token import Token
from swapcli.networks.catalogue import network
from swapcli.remote.agreement import Wanted, agreed_result
from swapcli.wire.result import RouteResult
from swapcli.wire.route import render_result
from swapcli.wire.terms import Generation
from tests.remote.honest import asked, embedded
from tests.remote.loopback import http, loopback, saying

V1, V2 = Generation.V1, Generation.V2
RECEIVER = "0x" + "ab" * 20
FELT_RECEIVER = "0x" + "0" * 24 + "ab" * 20


class Case(NamedTuple):
    """An order in words, in base units of the token that is sold."""

    network: str
    token_in: str
    token_out: str
    amount: int
    generation: Generation
    reverse: bool = False

    def __str__(self) -> str:
        way = "reverse" if self.reverse else self.generation
        return f"{self.network}-{self.token_in}-{self.token_out}-{way}"

    def ask(self) -> Ask:
        source = embedded(self.network)
        order = Order(source.token(self.token_in), source.token(self.token_out), self.amount, self.reverse)
        return Ask(order, self.generation)

    def delivery(self) -> Delivery:
        return Delivery(5_000, FELT_RECEIVER if self.network == "starknet" else RECEIVER)


CASES = (
    *(Case("base", "ETH", "USDC", 10**19, generation) for generation in Generation),
    *(Case("base", "USDC", "ETH", 10**10, generation) for generation in Generation),
    *(Case("base", "WETH", "USDC", 10**18, generation) for generation in Generation),
    *(Case("base", "ETH", "WETH", 10**18, generation) for generation in Generation),
    *(Case("hyperevm", "HYPE", "USDC", 10**19, generation) for generation in Generation),
    Case("hyperevm", "HYPE", "USDC", 10**8, V1, reverse=True),
    *(Case("citrea", "cBTC", "ctUSD", 10**16, generation) for generation in Generation),
    *(Case("monad", "MON", "USDC", 10**20, generation) for generation in Generation),
    Case("starknet", "STRK", "USDC", 10**19, V1),
)

WRAPPING_IN_V1 = Case("base", "ETH", "WETH", 10**18, V1)
POSTABLE = tuple(case for case in CASES if case != WRAPPING_IN_V1)
"""V1 execute on the first network names no tokens, and a swap of a token for itself tells nothing of them."""


def timeless(result: RouteResult) -> RouteResult:
    """A result without its times, which no two quotes share."""
    return result._replace(time_s=0.0, timestamp_ms=0)


def gasless(result: RouteResult) -> RouteResult:
    """What V1 calldata tells of a route."""
    return timeless(result)._replace(gas=0, gas_usd=None)


@cache
def core(case: Case) -> tuple[RouteResult, Payload]:
    answer, payload = embedded(case.network).quote_and_build(case.ask(), case.delivery())
    return timeless(answer.result), payload


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_route_from_a_service_is_the_cores(case: Case) -> None:
    with asked(case.network) as (source, _):
        answer = source.quote(case.ask())
    assert timeless(answer.result) == core(case)[0]
    assert answer.origin.service
    assert answer.origin.provenance is None
    assert {swap.token_out for s in answer.result.segments for hop in s.hops for swap in hop} <= answer.tokens.keys()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_payload_in_one_call_with_its_route_is_the_cores(case: Case) -> None:
    with asked(case.network) as (source, running):
        answer, payload = source.quote_and_build(case.ask(), case.delivery())
    result, expected = core(case)
    assert payload == expected
    assert gasless(answer.result) == gasless(result)
    assert len(running.talks) == 1


@pytest.mark.parametrize("case", POSTABLE, ids=str)
def test_a_payload_of_a_route_that_was_found_before_is_the_cores(case: Case) -> None:
    with asked(case.network) as (source, running):
        result = source.quote(case.ask()).result
        assert source.build(result, case.delivery()) == core(case)[1]
    assert len(running.talks) == 2


def test_a_remote_source_is_a_quote_source() -> None:
    with asked("base") as (source, _):
        quotes: QuoteSource = source
        assert quotes.network is network("base")


Twisted = Callable[[Any], None]
STRANGER = "0x" + "66" * 20


def put(value: object, *path: str | int) -> Twisted:
    """Puts another value where the path leads in a document."""

    def twist(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = value

    return twist


def refused(case: Case, twist: Twisted, build: Callable[[RemoteSource, Case], object]) -> UpstreamNonsense:
    """The error of an answer that a service has twisted."""

    def twisted(_: str, document: Any) -> Any:
        twist(document)
        return document

    with asked(case.network, twisted) as (source, _), pytest.raises(UpstreamNonsense) as caught:
        build(source, case)
    assert caught.value.message.startswith("127.0.0.1:")
    assert caught.value.message.isprintable()
    return caught.value


def quote(source: RemoteSource, case: Case) -> object:
    return source.quote(case.ask())


def at_once(source: RemoteSource, case: Case) -> object:
    return source.quote_and_build(case.ask(), case.delivery())


def posted(source: RemoteSource, case: Case) -> object:
    return source.build(embedded(case.network).quote(case.ask()).result, case.delivery())


SELL_V1, SELL_V2 = Case("monad", "MON", "USDC", 10**20, V1), Case("base", "USDC", "AERO", 10**10, V2)
HYPE, STRK = Case("hyperevm", "HYPE", "USDC", 10**19, V1), Case("starknet", "STRK", "USDC", 10**19, V1)


@pytest.mark.parametrize(
    ("twist", "said"),
    [
        (put(STRANGER, "inputToken", "address"), "as the input token"),
        (put(STRANGER, "outputToken", "address"), "as the output token"),
        (put(18, "inputToken", "decimals"), "18 decimals of the input token, not 6"),
        (put("9999999999", "inputAmount"), "an input of 9999999999, not 10000000000"),
        (put(0, "routeSwapType"), "a route of type 0, not 2"),
        (lambda route: route.pop("meta"), "a route of v1, not of v2"),
        (lambda route: route.update(integratorAddress=STRANGER, integratorFeePercentageBps=500), "500 bps fee"),
        (lambda route: _lead(route, 0, "fromTokenAddress"), "hops that do not lead"),
        (lambda route: _lead(route, -1, "toTokenAddress"), "hops that do not lead"),
    ],
)
def test_a_route_that_was_not_asked_for_is_refused(twist: Twisted, said: str) -> None:
    assert said in refused(SELL_V2, twist, quote).message


def _lead(route: Any, hop: int, end: str) -> None:
    """Makes all swaps of a hop begin or end at another token."""
    for segment in route["route"]:
        for swap in segment["swaps"][hop]:
            swap[end] = STRANGER


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ({"direct": True}, "only a direct one was wanted"),
        ({"excluded_protocols": frozenset(p.amm_name for p in network("base").protocols)}, "which was excluded"),
    ],
)
def test_a_route_that_breaks_a_limit_of_its_order_is_refused(order: dict[str, Any], said: str) -> None:
    unlimited = embedded("base").quote(SELL_V2.ask())
    body = json.dumps(render_result(unlimited.result, network("base")))
    assert max(len(segment.hops) for segment in unlimited.result.segments) > 1
    with loopback(saying(http(200, body))) as running:
        source = RemoteSource(running.url, network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0)
        with pytest.raises(UpstreamNonsense, match=said):
            source.quote(SELL_V2.ask()._replace(order=replace(SELL_V2.ask().order, **order)))


REVERSE = Case("hyperevm", "HYPE", "USDC", 10**8, V1, reverse=True)


def test_a_wanted_output_that_is_not_reached_is_refused() -> None:
    assert "less than the 100000000" in refused(REVERSE, put("99999999", "outputAmount"), quote).message


def test_a_wanted_output_that_is_far_exceeded_is_refused() -> None:
    """Nobody sells more than it takes."""
    assert "far more than the 100000000" in refused(REVERSE, put("101000100", "outputAmount"), quote).message


@settings(max_examples=50)
@given(st.integers(1, 10**10), st.booleans())
def test_the_least_input_for_any_output_is_taken(amount: int, swapped: bool) -> None:
    """Also where a unit of the one token buys many of the other."""
    ends = ("HYPE", "USDC") if swapped else ("USDC", "HYPE")
    case = REVERSE._replace(token_in=ends[0], token_out=ends[1], amount=amount)
    result = embedded("hyperevm").quote(case.ask()).result
    assert agreed_result(result, Wanted(case.ask().order, V1, None, network("hyperevm"))) == result


@pytest.mark.parametrize("generation", Generation)
def test_a_native_token_is_never_answered_for_its_wrapped_form(generation: Generation) -> None:
    case = Case("base", "WETH", "USDC", 10**18, generation)

    def native(route: Any) -> None:
        route["routeSwapType"] = 0
        route["inputToken"]["address"] = "0x" + "0" * 40

    assert refused(case, native, quote)


def test_a_v1_service_may_write_the_wrapped_native_token_for_the_native_one() -> None:
    case = Case("base", "ETH", "USDC", 10**19, V1)

    def wrapped(_: str, route: Any) -> Any:
        route["inputToken"]["address"] = "0x4200000000000000000000000000000000000006"
        return route

    with asked("base", wrapped) as (source, _):
        assert timeless(source.quote(case.ask()).result) == core(case)[0]


CALL = ("calldata",)


@pytest.mark.parametrize(
    ("case", "inside", "build"),
    [(SELL_V2, CALL, at_once), (SELL_V2, (), posted), (HYPE, CALL, at_once), (HYPE, (), posted)],
    ids=["V2 at once", "V2 posted", "hyperevm at once", "hyperevm posted"],
)
@pytest.mark.parametrize(
    ("twist", "said"),
    [
        ((STRANGER, "route", "destination"), "a call that pays 0x6666"),
        (("1", "route", "min_received"), "a call that guarantees 1, less than"),
        (("0", "route", "min_received"), "a call that guarantees 0, less than"),
        (("1", "route", "amount_in"), "a call that sells 1, not"),
        (("1", "route", "amount_out"), "a call whose output is 1"),
        ((STRANGER, "route", "token_in"), "other tokens"),
        ((STRANGER, "route", "token_out"), "other tokens"),
        ((1, "route", "swap_type"), "a call of type 1"),
        ((STRANGER, "swap_parameters", 0, "pool_address"), "other pools than its route"),
        (("77", "swap_parameters", 0, "protocol_id"), "other pools than its route"),
        (("0x" + "ab" * 96, "integrator_data"), "pays an integrator otherwise"),
    ],
    ids=lambda each: ".".join(str(step) for step in each[1:]) if isinstance(each, tuple) else "",
)
def test_a_call_that_was_not_asked_for_is_refused(
    case: Case, inside: tuple[str, ...], build: Any, twist: tuple[Any, ...], said: str
) -> None:
    value, *path = twist
    assert said in refused(case, put(value, *inside, *path), build).message


@pytest.mark.parametrize("build", [at_once, posted])
def test_no_less_is_guaranteed_than_the_slippage_allows_and_more_may_be(build: Any) -> None:
    inside = CALL if build is at_once else ()
    least = core(SELL_V2)[1].call.route.min_received
    assert "less than" in refused(SELL_V2, put(str(least - 1), *inside, "route", "min_received"), build).message

    def generous(_: str, document: Any) -> Any:
        if "swap_parameters" in document or "calldata" in document:
            put(str(least + 1), *inside, "route", "min_received")(document)
        return document

    with asked("base", generous) as (source, _):
        payload = source.quote_and_build(SELL_V2.ask(), SELL_V2.delivery())[1] if inside else posted(source, SELL_V2)
    assert isinstance(payload, Payload)
    assert decode_call(payload.calldata).route.min_received == least + 1


@pytest.mark.parametrize("more", [-1, 1])
def test_a_route_and_its_call_promise_the_same(more: int) -> None:
    out = str(core(SELL_V2)[0].output_amount + more)
    assert (
        "for a route whose output is" in refused(SELL_V2, put(out, "calldata", "route", "amount_out"), at_once).message
    )


@pytest.mark.parametrize("path", [("swap_parameters", 0, "rate"), ("route", "amount_out"), ("route", "min_received")])
def test_calldata_says_the_same_as_what_stands_beside_it(path: tuple[str | int, ...]) -> None:
    error = refused(SELL_V1, put("999999", *path), posted)
    assert "does not say the same as the route and the swap_parameters" in error.message


def test_an_output_below_what_the_slippage_allows_of_the_route_is_refused() -> None:
    """A service cannot lower what is guaranteed by telling of a lower output."""
    out = core(SELL_V2)[0].output_amount * 99 // 100

    def lower(answer: Any) -> None:
        answer["route"]["amount_out"] = answer["route"]["min_received"] = str(out)

    assert "less than the" in refused(SELL_V2, lower, posted).message


@pytest.mark.parametrize("path", ["router_address"])
@pytest.mark.parametrize("build", [at_once, posted])
def test_a_router_that_is_not_known_here_is_refused_and_the_setting_named(path: str, build: Any) -> None:
    error = refused(SELL_V2, put(STRANGER, path), build)
    assert "a payload for the router 0x6666" in error.message
    assert "networks.base.router" in str(error.hint)


def test_where_no_router_is_known_the_services_own_is_taken() -> None:
    unknown = replace(network("base"), router=None)
    with asked("base", served=unknown) as (source, _):
        payload = source.quote_and_build(SELL_V2.ask(), SELL_V2.delivery())[1]
    assert payload.to == network("base").router


def test_where_nobody_knows_the_router_it_is_asked_for() -> None:
    unknown = replace(network("hyperevm"), router=None)
    with asked("hyperevm", served=unknown) as (source, _), pytest.raises(ConfigError, match="router of hyperevm"):
        source.quote_and_build(HYPE.ask(), HYPE.delivery())


def recode(change: Callable[[Any], Any]) -> Twisted:
    """Encodes another call than the one that the answer says."""

    def twist(answer: Any) -> None:
        answer["calldata"] = encode_call(change(decode_call(answer["calldata"])))

    return twist


def with_route(**changes: Any) -> Callable[[Any], Any]:
    return lambda call: call._replace(route=call.route._replace(**changes))


@pytest.mark.parametrize("build", [at_once, posted])
@pytest.mark.parametrize(
    "change",
    [
        with_route(destination=STRANGER),
        with_route(min_received=1),
        with_route(amount_in=1),
        with_route(amount_out=1),
        with_route(token_out=STRANGER),
        lambda call: call._replace(swaps=(call.swaps[0]._replace(pool_address=STRANGER), *call.swaps[1:])),
        lambda call: call._replace(integrator_data=bytes(96)),
    ],
)
def test_calldata_that_does_something_else_is_refused(build: Any, change: Any) -> None:
    assert refused(SELL_V1, recode(change), build)


@pytest.mark.parametrize("build", [at_once, posted])
@pytest.mark.parametrize(
    ("twist", "said"),
    [
        (put("0x", "calldata"), "selector"),
        (put("0xdeadbeef", "calldata"), "cannot be understood"),
        (put("rubbish", "calldata"), "calldata"),
        (put(STRANGER, "to"), "a payload for the router"),
        (put("0", "value"), "a value of 0 wei"),
        (put(str(10**21), "value"), "a value of 1000000000000000000000 wei"),
        (lambda answer: answer.update(calldata=answer["calldata"] + "00" * 32), "calldata"),
    ],
)
def test_a_transaction_that_was_not_asked_for_is_refused(build: Any, twist: Twisted, said: str) -> None:
    assert said in refused(SELL_V1, twist, build).message


def test_a_call_without_its_transaction_is_encoded_here() -> None:
    def bare(path: str, answer: Any) -> Any:
        return {key: answer[key] for key in ("route", "swap_parameters")} if path == "execute" else answer

    with asked("monad", bare) as (source, _):
        assert posted(source, SELL_V1) == core(SELL_V1)[1]


@pytest.mark.parametrize("build", [at_once, posted])
@pytest.mark.parametrize(
    ("at", "value"), [(1, "1"), (2, "1"), (4, "1"), (6, "102"), (7, "0"), (12, STRANGER), (10, "0"), (-1, "-7")]
)
def test_felts_that_do_something_else_are_refused(build: Any, at: int, value: str) -> None:
    assert refused(STRK, put(value, "calldata", at), build)


@pytest.mark.parametrize(
    "document",
    [
        [], None, 1, "text", {}, {"success": True}, {"success": "true"}, {"route": []}, {"inputToken": 1},
    ],
)  # fmt: skip
def test_json_of_another_shape_is_told_with_its_field(document: Any) -> None:
    with loopback(saying(http(200, json.dumps(document), "Content-Type: image/png"))) as running:
        source = RemoteSource(running.url, network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0)
        with pytest.raises(UpstreamNonsense, match="answered what cannot be understood") as caught:
            source.quote(SELL_V2.ask())
    assert caught.value.details["field"]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"<html>", b"\xff\xfe{}", b'{"a": 1, "a": 2}', b"[" * 100_000, b'{"a": NaN}', b"{}{}", b'"\\ud800"',
        b'{"time": 1e999}', b"1" * 5_000,
    ],
)  # fmt: skip
def test_what_is_not_json_is_told(body: bytes) -> None:
    with loopback(saying(http(200, body, "Content-Type: application/json"))) as running:
        source = RemoteSource(running.url, network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0)
        with pytest.raises(UpstreamNonsense, match="answered what cannot be understood: the body"):
            source.quote(SELL_V2.ask())


@pytest.mark.parametrize(
    "twist",
    [
        put(10000000000, "inputAmount"),
        put("1e10", "inputAmount"),
        put("-1", "outputAmount"),
        put(str(2**256), "outputAmount"),
        put("99%", "route", 0, "percent"),
        put([], "route"),
        put("0x12", "inputToken", "address"),
        put(True, "routeSwapType"),
        put("yesterday", "meta", "timestamp"),
        put({"fee": [1]}, "route", 0, "swaps", 0, 0, "extraData"),
    ],
)
def test_a_field_of_another_form_is_refused(twist: Twisted) -> None:
    assert refused(SELL_V2, twist, quote)


@pytest.mark.parametrize(
    ("status", "document", "kind", "said"),
    [
        (200, {"success": False, "errorMessage": "no way\x1b[31m through"}, NoRoute, "no way [31m through"),
        (200, {"success": False, "error": "Invalid route", "details": "old"}, NoRoute, "old"),
        (400, {"statusCode": 400, "message": ["amount is bad", "and more"]}, InvalidInput, "amount is bad; and more"),
        (400, {"message": "Token in and token out cannot be the same"}, SameToken, "cannot be the same"),
        (400, {"success": False, "error": "Invalid route", "details": "old"}, InvalidRoute, "old"),
        (400, {"error": "Route expired", "message": "fetch again"}, RouteExpired, "fetch again"),
        (400, {"success": False, "error": "Slippage exceeded", "details": "moved"}, SlippageExceeded, "moved"),
        (404, {"message": "no such network"}, UpstreamRefused, "answered with status 404: no such network"),
        (429, {"message": "slow down"}, RateLimited, "slow down"),
        (500, {"message": "sorry " * 100_000}, UpstreamRefused, "answered with status 500: sorry"),
        (503, {"message": "no state"}, MarketUnavailable, "no state"),
    ],
)
def test_an_error_of_the_service_is_told_as_ours(
    status: int, document: Any, kind: type[SwapcliError], said: str
) -> None:
    with loopback(saying(http(status, json.dumps(document)))) as running:
        source = RemoteSource(running.url, network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0, retries=0)
        with pytest.raises(kind) as caught:
            source.quote(SELL_V2.ask())
    assert said in caught.value.message
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 400


@pytest.mark.parametrize("status", [400, 404, 500, 502])
def test_an_error_page_is_told_with_its_status(status: int) -> None:
    with loopback(saying(http(status, "<html><script>alert(1)</script>"))) as running:
        source = RemoteSource(running.url, network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0, retries=0)
        with pytest.raises(SwapcliError, match=f"status {status}"):
            source.quote(SELL_V2.ask())


def test_how_long_to_wait_is_passed_on() -> None:
    with loopback(saying(http(503, "{}", "Retry-After: 77"))) as running:
        source = RemoteSource(running.url, network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0)
        with pytest.raises(Overloaded) as caught:
            source.quote(SELL_V2.ask())
    assert caught.value.retry_after_s == 77


EARNS = Integrator(STRANGER, fee_bps=20)


@pytest.mark.parametrize(
    ("changes", "order", "said"),
    [
        ({"certify": True}, {}, "proofs"),
        ({"gas_price_wei": 1}, {}, "gas price"),
        ({}, {"max_hops": 3}, "number of hops"),
        ({}, {"reverse": True}, "the output that is wanted, on base in v2"),
        ({"generation": V1}, {"reverse": True}, "the output that is wanted, on base in v1"),
        ({"generation": V1, "integrator": EARNS}, {}, "an integrator in v1"),
    ],
)
@pytest.mark.parametrize("build", [False, True])
def test_what_the_interface_has_no_words_for_is_refused_and_not_sent(
    changes: dict[str, Any], order: dict[str, Any], said: str, build: bool
) -> None:
    plain = SELL_V2.ask()
    ask = plain._replace(**changes, order=replace(plain.order, **order))
    with asked("base") as (source, running):
        with pytest.raises(InvalidOption, match=f"a service cannot be asked for .*{said}"):
            source.quote_and_build(ask, SELL_V2.delivery()) if build else source.quote(ask)
        assert not running.talks


@pytest.mark.parametrize(
    ("case", "slippage_ppm"),
    [(SELL_V2, 490_001), (SELL_V1, 999), (SELL_V1, 1_000_001), (HYPE, 490_001), (HYPE, 999), (STRK, 999)],
    ids=str,
)
def test_a_slippage_that_the_endpoint_does_not_take_is_refused_and_not_sent(case: Case, slippage_ppm: int) -> None:
    with asked(case.network) as (source, running):
        with pytest.raises(InvalidSlippage):
            source.quote_and_build(case.ask(), case.delivery()._replace(slippage_ppm=slippage_ppm))
        assert not running.talks


def test_a_network_without_v2_is_not_asked_in_v2() -> None:
    with asked("starknet") as (source, running):
        with pytest.raises(InvalidOption, match="starknet has no v2"):
            source.quote(STRK.ask()._replace(generation=V2))
        with pytest.raises(InvalidOption, match="starknet has no v2"):
            source.build(core(STRK)[0]._replace(generation=V2), STRK.delivery())
        assert not running.talks


def test_a_token_for_itself_is_not_asked_for() -> None:
    plain = SELL_V2.ask()
    same = plain._replace(order=replace(plain.order, token_out=plain.order.token_in))
    with asked("base") as (source, running), pytest.raises(SameToken):
        source.quote(same)
    assert not running.talks


@pytest.mark.parametrize(("case", "sent"), [(SELL_V2, "5"), (SELL_V1, None), (HYPE, None)], ids=str)
def test_excluded_protocols_go_as_the_network_calls_them(case: Case, sent: str | None) -> None:
    protocols = network(case.network).protocols
    excluded = protocols[5]
    ask = case.ask()
    ask = ask._replace(order=replace(ask.order, excluded_protocols=frozenset({excluded.amm_name})))
    with asked(case.network) as (source, running):
        result = source.quote(ask).result
        (talk,) = running.talks
    named = excluded.amm_name if case is HYPE else str(excluded.id)
    assert f"excludeProtocols={named}" in talk.target
    assert sent is None or named == sent
    assert excluded.id not in {swap.protocol_id for s in result.segments for hop in s.hops for swap in hop}


@pytest.mark.parametrize("earns", [EARNS, Integrator(STRANGER, surplus_bps=5_000)])
def test_an_integrator_earns_exactly_what_was_asked(earns: Integrator) -> None:
    ask = SELL_V2.ask()._replace(integrator=earns)
    expected = embedded("base").quote_and_build(ask, SELL_V2.delivery())[1]
    with asked("base") as (source, _):
        answer, payload = source.quote_and_build(ask, SELL_V2.delivery())
        assert source.build(answer.result, SELL_V2.delivery()) == payload
    assert payload == expected
    assert payload.call.integrator_data


@pytest.mark.parametrize("twist", [put(21, "integratorFeePercentageBps"), put("0x" + "67" * 20, "integratorAddress")])
def test_an_integrator_that_was_not_asked_for_is_refused(twist: Twisted) -> None:
    def earning(source: RemoteSource, case: Case) -> object:
        return source.quote(case.ask()._replace(integrator=EARNS))

    assert "bps fee" in refused(SELL_V2, twist, earning).message


class TestTokens:
    """Names become tokens: of the catalogue, else of the service."""

    LISTED = Token("0x" + "77" * 20, "RARE", "Rare Token", 9)

    def listing(self, *, twin: bool = False) -> Callable[[str, Any], Any]:
        entry = {"address": self.LISTED.address, "name": "Rare Token", "symbol": "RARE", "decimals": "9", "price": None}

        def twist(path: str, told: Any) -> Any:
            if path == "tokens":
                return [*told, entry, {**entry, "address": STRANGER}] if twin else [*told, entry]
            return entry if path.startswith("tokens/") else told

        return twist

    @pytest.mark.parametrize("name", ["ETH", "usdc", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"])
    def test_what_the_catalogue_knows_is_not_asked_for(self, name: str) -> None:
        with asked("base") as (source, running):
            assert source.token(name) == embedded("base").token(name)._replace(price_usd=None)
            assert not running.talks

    def test_what_only_the_service_knows_is_asked_for_once(self) -> None:
        with asked("base", self.listing()) as (source, running):
            assert [source.token(name) for name in ("rare", "RARE", self.LISTED.address)] == [self.LISTED] * 3
            assert [talk.target for talk in running.talks] == ["/base/tokens"]

    def test_an_address_is_asked_for_alone(self) -> None:
        with loopback(saying(http(200, json.dumps(self.listing()("tokens/", {}))))) as running:
            source = RemoteSource(running.url, network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0)
            assert source.token(self.LISTED.address) == self.LISTED
            assert [talk.target for talk in running.talks] == [f"/base/tokens/{self.LISTED.address}"]

    def test_a_token_at_another_address_is_not_the_one(self) -> None:
        with loopback(saying(http(200, json.dumps(self.listing()("tokens/", {}))))) as running:
            source = RemoteSource(running.url, network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0)
            with pytest.raises(UnknownToken):
                source.token(STRANGER)

    def test_the_service_cannot_rename_what_the_catalogue_knows(self) -> None:
        def impostor(_: str, told: Any) -> Any:
            entries = [{**entry, "symbol": "WETH", "decimals": "1"} for entry in told]
            return [*entries, {**entries[0], "address": STRANGER, "symbol": "RARE"}]

        with asked("base", impostor) as (source, _):
            assert source.token("rare").address == STRANGER
            assert source.token("USDC") == network_token(network("base"), "USDC")

    def test_one_symbol_of_several_tokens_is_ambiguous(self) -> None:
        with asked("base", self.listing(twin=True)) as (source, _), pytest.raises(AmbiguousToken):
            source.token("RARE")

    @pytest.mark.parametrize("name", ["NOTHING", STRANGER])
    def test_what_nobody_knows_is_refused(self, name: str) -> None:
        with asked("base") as (source, _), pytest.raises(UnknownToken, match="on base"):
            source.token(name)

    @pytest.mark.parametrize("name", ["NOTHING", STRANGER])
    def test_a_service_that_lists_nothing_leaves_the_catalogues_answer(self, name: str) -> None:
        with loopback(saying(http(404, "<html>"))) as running:
            source = RemoteSource(running.url, network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0)
            with pytest.raises(UnknownToken) as caught:
                source.token(name)
        assert caught.value.hint

    def test_a_service_that_fails_is_told(self) -> None:
        with loopback(saying(b"")) as running:
            source = RemoteSource(running.url, network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0, retries=0)
            with pytest.raises(Unreachable):
                source.token("NOTHING")


def network_token(where: Network, symbol: str) -> Token:
    return next(token for token in where.tokens if token.symbol == symbol)


def test_a_token_on_the_way_that_nobody_names_goes_by_its_address() -> None:
    bare = replace(network("base"), tokens=())
    with asked("base", served=bare) as (source, _):
        answer = source.quote(SELL_V2.ask())
    on_the_way = {swap.token_out for s in answer.result.segments for hop in s.hops for swap in hop}
    named = {SELL_V2.ask().order.token_in.address, SELL_V2.ask().order.token_out.address}
    assert {answer.tokens[address].symbol[:2] for address in on_the_way - named} == {"0x"}


class TestHealth:
    """What a service says of itself."""

    @pytest.mark.parametrize(
        ("name", "path"), [("base", "/base/v2/healthcheck"), ("starknet", "/starknet/healthcheck")]
    )
    def test_a_healthy_service_is_asked_in_the_generation_that_it_has(self, name: str, path: str) -> None:
        with asked(name) as (source, running):
            health = source.health()
            assert [talk.target for talk in running.talks] == [path]
        assert (health.network, health.status, health.message, health.is_healthy) == (name, 200, "alive", True)
        assert health.origin is not None
        assert health.origin.service == running.url
        assert health.time_s > 0

    @pytest.mark.parametrize(
        ("answer", "status", "said"),
        [
            (http(200, '{"status": 503, "message": "ill"}'), 503, "ill"),
            (http(200, '{"staus": 500, "message": "ill"}'), 500, "ill"),
            (http(503, '{"status": 503, "message": "ill\x1b"}'), 503, "answered with status 503"),
            (http(503, '{"status": 200, "message": "well"}'), 503, "well"),
            (http(503, '{"statusCode": 503, "message": "no state"}'), 503, "no state"),
            (http(500, "<html>"), 500, "answered with status 500"),
            (http(404, ""), 404, "answered with status 404"),
            (http(200, "{}"), 0, "cannot be understood: status is missing"),
            (http(302, "", "Location: https://other.example"), 0, "https://other.example"),
            (b"", 0, "closed the connection"),
        ],
    )  # fmt: skip
    def test_an_unhealthy_service_is_told_and_not_raised(self, answer: bytes, status: int, said: str) -> None:
        with loopback(saying(answer)) as running:
            health = RemoteSource(
                running.url, network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0, retries=0
            ).health()
        assert not health.is_healthy
        assert said in health.message
        assert health.status == status


@pytest.mark.parametrize("url", ["https://me:secret@quotes.example", "quotes.example", "https://x/?y"])
def test_an_address_that_cannot_be_one_is_refused(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        RemoteSource(url, network("base"), SYSTEM_CLOCK, api_key=None, timeout_s=5.0)
    assert "secret" not in caught.value.message
