"""Mutated routes are either rejected in a documented way, or encoded for exactly what the pools give.

A model of the router executes the returned calldata.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import cache
from typing import Any, NamedTuple

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from swapcli.core.model.swap_terms import min_received
from swapcli.core.model.transaction import RouterCall
from swapcli.core.networks.catalogue import find_network
from swapcli.interface.fields import Fields
from swapcli.interface.router_call import parse_call
from swapcli.payload.evm import decode_call, encode_call
from swapcli.state.clock import Clock
from tests.examples import examples
from tests.faces.service.openapi_operations import openapi_document
from tests.payload.evm.router_model import RouterModel
from tests.support.markets import embedded_market
from tests.support.service import SendRequest, build_app, open_client, open_registry

NOW_S = 1_770_000_000.0
RECIPIENT = "0x" + "12" * 20
EXAMPLES = examples(4, full=300)

Document = dict[str, Any]


class Endpoint(NamedTuple):
    """An endpoint that takes a route: paths of the route and of the post, and the names of its fields."""

    network: str
    found_at: str
    method: str
    path: str
    route_field: str = "route"
    recipient_field: str = "destination"

    @property
    def described(self) -> Mapping[str, Any]:
        """The responses in the OpenAPI document."""
        paths = openapi_document()["paths"]
        own, shared = f"/{self.network}{self.path}", "/{network}" + self.path
        responses: Mapping[str, Any] = paths[own if own in paths else shared][self.method.lower()]["responses"]
        return responses


ENDPOINTS = (
    Endpoint("base", "/route", "POST", "/execute"),
    Endpoint("base", "/route", "POST", "/calldata"),
    Endpoint("base", "/v2/route", "POST", "/v2/calldata"),
    Endpoint("monad", "/v2/route", "POST", "/v2/calldata"),
    Endpoint("hyperevm", "/route", "POST", "/execute"),
    Endpoint("citrea", "/route", "GET", "/calldata", "route_response", "signer"),
)


@pytest.fixture(scope="module")
def ask() -> Iterator[SendRequest]:
    registry = open_registry()
    registry.clock = Clock(lambda: NOW_S, registry.clock.monotonic_s)
    with open_client(build_app(registry)) as ask:
        yield ask


FOUND: dict[tuple[str, int], Document] = {}


def found(ask: SendRequest, endpoint: Endpoint, size: int) -> Document:
    """A route of a large order, split over several paths."""
    key = (endpoint.network + endpoint.found_at, size)
    if key not in FOUND:
        stable = find_network(endpoint.network).stablecoins[0]
        native = "0x" + "0" * 40
        query = {"amount": str(10**18 * 4**size), "tokenInAddress": native, "tokenOutAddress": stable}
        FOUND[key] = ask("GET", f"/{endpoint.network}{endpoint.found_at}", params=query).json()
    return deepcopy(FOUND[key])


def segments(body: Document) -> list[Document]:
    """The segments of the route in a body; none if a mutation removed them."""
    for value in body.values():
        if isinstance(value, dict) and isinstance(value.get("route"), list):
            return [each for each in value["route"] if isinstance(each, dict) and isinstance(each.get("swaps"), list)]
    return []


def swaps(body: Document) -> list[Document]:
    hops = [hop for segment in segments(body) for hop in segment["swaps"] if isinstance(hop, list)]
    return [swap for hop in hops for swap in hop if isinstance(swap, dict)]


def route_of(body: Document) -> Document:
    return next((value for value in body.values() if isinstance(value, dict)), {})


SHARES = [
    "0%",
    "1%",
    "49%",
    "50%",
    "51%",
    "100%",
    "100.00%",
    "50.00%",
    "0.01%",
    "33.335%",
    "-1%",
    "1e1%",
    "NaN%",
    "",
    "１%",
]
AMOUNTS = ["0", "1", "2", "007", "-1", "1e18", "1.5", "0x10", "", " 1", str(2**256 - 1), str(2**256), "9" * 400, "１"]

shares = st.sampled_from(SHARES) | st.integers(0, 10_100).map(lambda n: f"{n // 100}.{n % 100:02d}%")
amounts = st.sampled_from(AMOUNTS) | st.integers(1, 10**24).map(str)
garbage = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@cache
def names_on(name: str) -> tuple[list[str], list[str]]:
    """Addresses of tokens and of pools, including unknown ones."""
    market = embedded_market(name)
    pools = sorted({pool.address for pool in market.pools.values()})
    return [*sorted(market.tokens), "0x" + "0" * 40, "0x" + "ab" * 20], [*pools, "0x" + "cd" * 20]


Change = Callable[[st.DataObject, Document, str], None]


def change_share(data: st.DataObject, body: Document, _: str) -> None:
    if places := [*segments(body), *swaps(body)]:
        data.draw(st.sampled_from(places))["percent"] = data.draw(shares)


def change_two_shares(data: st.DataObject, body: Document, _: str) -> None:
    """Move a share from one entry to another, so that shares may still sum."""
    places = data.draw(st.sampled_from([segments(body), *[hop for s in segments(body) for hop in s["swaps"]], []]))
    if len(places) >= 2 and all(isinstance(each, dict) for each in places):
        moved = data.draw(st.integers(-5, 5))
        for place, by in zip(places[:2], (moved, -moved), strict=True):
            number = str(place.get("percent", "")).removesuffix("%")
            if number.replace(".", "").isdecimal():
                place["percent"] = f"{float(number) + by:.2f}%"


def change_amount(data: st.DataObject, body: Document, _: str) -> None:
    field = data.draw(st.sampled_from(["inputAmount", "outputAmount", "estimatedGasUsed"]))
    route_of(body)[field] = data.draw(amounts)


def promise_less_or_more(data: st.DataObject, body: Document, _: str) -> None:
    route = route_of(body)
    if str(route.get("outputAmount", "")).isdecimal():
        route["outputAmount"] = str(int(route["outputAmount"]) * data.draw(st.integers(1, 2_000)) // 1_000)


def sell_less_or_more(data: st.DataObject, body: Document, _: str) -> None:
    route = route_of(body)
    if str(route.get("inputAmount", "")).isdecimal():
        route["inputAmount"] = str(int(route["inputAmount"]) * data.draw(st.integers(1, 5_000)) // 1_000)


def change_token(data: st.DataObject, body: Document, name: str) -> None:
    tokens, _ = names_on(name)
    if route_swaps := swaps(body):
        data.draw(st.sampled_from(route_swaps))[data.draw(st.sampled_from(["fromTokenAddress", "toTokenAddress"]))] = (
            data.draw(st.sampled_from(tokens))
        )


def change_end(data: st.DataObject, body: Document, name: str) -> None:
    end = route_of(body).get(data.draw(st.sampled_from(["inputToken", "outputToken"])))
    if isinstance(end, dict):
        end["address"] = data.draw(st.sampled_from(names_on(name)[0]))


def change_pool(data: st.DataObject, body: Document, name: str) -> None:
    if route_swaps := swaps(body):
        data.draw(st.sampled_from(route_swaps))["poolAddress"] = data.draw(st.sampled_from(names_on(name)[1]))


def exchange_pools(data: st.DataObject, body: Document, _: str) -> None:
    if route_swaps := swaps(body):
        one, other = (data.draw(st.sampled_from(route_swaps)) for _ in range(2))
        for key in ("poolAddress", "protocol", "extraData"):
            one[key], other[key] = other.get(key), one.get(key)


def change_protocol(data: st.DataObject, body: Document, _: str) -> None:
    if route_swaps := swaps(body):
        data.draw(st.sampled_from(route_swaps))["protocol"] = data.draw(st.integers(-1, 2**24) | st.integers(0, 30))


def change_traits(data: st.DataObject, body: Document, _: str) -> None:
    keys = st.sampled_from(["fee", "tickSpacing", "poolId", "hooks", "token0"])
    if route_swaps := swaps(body):
        data.draw(st.sampled_from(route_swaps))["extraData"] = data.draw(
            st.none() | st.dictionaries(keys, garbage, max_size=3)
        )


def repeat_something(data: st.DataObject, body: Document, _: str) -> None:
    """Repeat a segment, a hop or a swap."""
    lists = [[segment] for segment in segments(body)]
    route = route_of(body).get("route")
    places = [route] if isinstance(route, list) else []
    places += [segment["swaps"] for segment in segments(body)]
    places += [hop for segment in segments(body) for hop in segment["swaps"] if isinstance(hop, list)]
    place = data.draw(st.sampled_from([each for each in places if each] or lists or [[{}]]))
    place.insert(data.draw(st.integers(0, len(place))), deepcopy(data.draw(st.sampled_from(place))))


def reorder(data: st.DataObject, body: Document, _: str) -> None:
    route = route_of(body)
    if isinstance(route.get("route"), list):
        route["route"] = data.draw(st.permutations(route["route"]))


def turn_around(data: st.DataObject, body: Document, _: str) -> None:
    if route_segments := segments(body):
        data.draw(st.sampled_from(route_segments))["swaps"].reverse()


def change_type(data: st.DataObject, body: Document, _: str) -> None:
    route_of(body)["routeSwapType"] = data.draw(st.sampled_from([0, 1, 2, 3, -1, "0", None, True, 0.0]))


def change_time(data: st.DataObject, body: Document, _: str) -> None:
    route_of(body)["meta"] = data.draw(
        st.sampled_from([None, {}, {"timestamp": "2026-02-02T02:40:00.000Z"}, {"timestamp": "yesterday"}, "2.0"])
    )


RECEIVERS: list[object] = ["0x" + "0" * 40, "0x" + "ab" * 20, "0x12", "", None, 5]
TERMS: dict[str, list[object]] = {
    "slippage": [0, 0.0999, 0.1, 0.5, 49, 49.0001, 100, 100.0001, -1, "0.5", "1e1", "NaN", None, True, 1e300],
    "destination": RECEIVERS,
    "signer": RECEIVERS,
    "deadline": [0, NOW_S, NOW_S + 60, int(NOW_S), int(NOW_S) + 1, -1, 2**63, "5", None, True],
}


def change_terms(data: st.DataObject, body: Document, _: str) -> None:
    field = data.draw(st.sampled_from(sorted(TERMS)))
    body[field] = data.draw(st.sampled_from(TERMS[field]))


def put_garbage(data: st.DataObject, body: Document, _name: str) -> None:
    """Replace or remove any value."""
    place: Any = body
    for _ in range(data.draw(st.integers(0, 7))):
        inner = [
            each for each in (place.values() if isinstance(place, dict) else place) if isinstance(each, dict | list)
        ]
        if not inner:
            break
        place = data.draw(st.sampled_from(inner))
    if not place:
        return
    key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
    if data.draw(st.booleans()):
        place[key] = data.draw(garbage)
    else:
        del place[key]


CHANGES: tuple[Change, ...] = (
    change_share, change_two_shares, change_amount, promise_less_or_more, sell_less_or_more, change_token, change_end,
    change_pool, exchange_pools, change_protocol, change_traits, repeat_something, reorder, turn_around, change_type,
    change_time, change_terms, put_garbage,
)  # fmt: skip


def posted(ask: SendRequest, endpoint: Endpoint, data: st.DataObject) -> Document:
    """A body with a route and up to three mutations."""
    route = found(ask, endpoint, data.draw(st.integers(0, 4)))
    body = {endpoint.route_field: route, "slippage": 0.5, endpoint.recipient_field: RECIPIENT}
    for change in data.draw(st.lists(st.sampled_from(CHANGES), max_size=3)):
        change(data, body, endpoint.network)
    return body


def check_documented(endpoint: Endpoint, answer: httpx.Response) -> None:
    """Check that status and body match the OpenAPI document."""
    assert answer.status_code in (200, 400), answer.text
    schema = endpoint.described[str(answer.status_code)]["content"]["application/json"]["schema"]
    Draft202012Validator({**schema, "components": openapi_document()["components"]}).validate(answer.json())


def call_of(endpoint: Endpoint, answer: Document) -> RouterCall:
    """The call of a response; if it has parameters and calldata, they are equal."""
    if "swap_parameters" not in answer:
        return decode_call(answer["calldata"])
    call = parse_call(Fields(answer), find_network(endpoint.network))
    if "calldata" in answer:
        assert decode_call(answer["calldata"]) == call
    return call


def check_carried_out(endpoint: Endpoint, body: Document, answer: Document) -> None:
    """Execute the call on a model of the router: it ends with exactly the output and no other token."""
    call = call_of(endpoint, answer)
    balances = RouterModel(embedded_market(endpoint.network).pools.values()).execute(encode_call(call))
    assert balances.pop(call.route.token_out) == call.route.amount_out
    assert set(balances.values()) == {0}, "everything is spent"
    route, slippage_ppm = body[endpoint.route_field], round(float(body["slippage"]) * 10_000)
    assert call.route.amount_in == int(route["inputAmount"])
    assert call.route.min_received == min_received(call.route.amount_out, slippage_ppm)
    assert call.route.amount_out >= min_received(int(route["outputAmount"]), slippage_ppm)
    assert call.route.recipient == str(body[endpoint.recipient_field]).lower()


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda each: f"{each.method} {each.network}{each.path}")
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_a_mutated_route_is_rejected_or_encoded_exactly(
    ask: SendRequest, endpoint: Endpoint, data: st.DataObject
) -> None:
    body = posted(ask, endpoint, data)
    text = json.dumps(body)
    headers = {"Content-Type": "application/json"}
    answer = ask(endpoint.method, f"/{endpoint.network}{endpoint.path}", content=text, headers=headers)
    check_documented(endpoint, answer)
    if answer.status_code == 200:
        check_carried_out(endpoint, body, answer.json())


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda each: f"{each.method} {each.network}{each.path}")
@pytest.mark.parametrize("size", range(5))
def test_an_unchanged_route_is_encoded_for_its_output(ask: SendRequest, endpoint: Endpoint, size: int) -> None:
    route = found(ask, endpoint, size)
    body = {endpoint.route_field: route, "slippage": 0.5, endpoint.recipient_field: RECIPIENT}
    answer = ask(endpoint.method, f"/{endpoint.network}{endpoint.path}", json=body)
    assert answer.status_code == 200, answer.text
    check_carried_out(endpoint, body, answer.json())
    assert call_of(endpoint, answer.json()).route.amount_out == int(route["outputAmount"])


@settings(max_examples=EXAMPLES)
@given(text=st.binary(max_size=200) | garbage.map(lambda value: json.dumps(value).encode()))
def test_a_body_that_is_anything_at_all_is_refused(ask: SendRequest, text: bytes) -> None:
    for endpoint in ENDPOINTS[:2]:
        answer = ask("POST", f"/base{endpoint.path}", content=text, headers={"Content-Type": "application/json"})
        assert answer.status_code == 400
        check_documented(endpoint, answer)
