"""Any input gets a documented response below 500 in the format of its endpoint, and nothing of it comes back
in a header or a log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import httpx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from swapcli.faces.service.endpoint_table import ENDPOINTS, PATHS
from swapcli.faces.service.request_io import MAX_BODY_BYTES
from tests.examples import examples
from tests.support.service import (
    JSON,
    RECIPIENT,
    InProcessService,
    Json,
    build_order_query,
    build_swap_terms,
    in_process_service,
)

ERROR_BODIES = (
    {"success", "error", "details"},
    {"error", "message"},
    {"statusCode", "message", "error"},
    {"success", "errorMessage"},
)


def is_documented_body(body: Json, path: str) -> bool:
    """Whether an error has one of the documented forms: with `meta` in V2, and with a hint for a refused value."""
    is_v2 = re.match(r"/[^/]+/v2/", path) is not None
    return set(body) - {"hint", "meta"} in ERROR_BODIES and ("meta" in body) is is_v2


@pytest.fixture(scope="module")
def service() -> Iterator[InProcessService]:
    with in_process_service("testnet", "hyperevm", "citrea", "starknet") as served:
        yield served


@pytest.fixture(scope="module")
def route(service: InProcessService) -> Json:
    return service.get_json("/testnet/v2/route", build_order_query("testnet", 10**20))


def is_documented(answer: httpx.Response) -> bool:
    return 400 <= answer.status_code < 500 and is_documented_body(answer.json(), answer.url.path)


def post_raw(
    service: InProcessService, body: bytes, path: str = "/testnet/v2/calldata", **headers: str
) -> httpx.Response:
    return service.send("POST", path, content=body, headers=JSON | headers)


def changed(route: Json, where: str, value: object) -> Json:
    """A copy of the route with one changed percentage."""
    copy = json.loads(json.dumps(route))
    first = copy["route"][0]
    (first if where == "segment" else first["swaps"][0][0])["percent"] = value
    return copy


@pytest.mark.parametrize(
    "percent",
    [
        "99%",
        "101%",
        "-1%",
        "1e2%",
        "NaN%",
        "nan",
        "Infinity%",
        "",
        "%",
        "100",
        "100.001%",
        " 100%",
        "100%\u0000",
        "0x64%",
        "١٠٠%",
        100,
        1.0,
        None,
        True,
        [],
        {},
    ],
)
@pytest.mark.parametrize("where", ["segment", "swap"])
def test_percentages_that_do_not_sum_or_are_none(
    service: InProcessService, route: Json, where: str, percent: object
) -> None:
    body = {"route": changed(route, where, percent), **build_swap_terms("testnet")}
    answer = service.post("/testnet/v2/calldata", body)
    assert answer.status_code == 400
    assert answer.json()["error"] == "Invalid route"


@pytest.mark.parametrize(
    "slippage",
    [
        -1,
        "-1",
        "1e1",
        "NaN",
        "Infinity",
        "",
        " ",
        "1,5",
        "0x1",
        "٣",
        "1%",
        None,
        True,
        [],
        {},
        [1],
        "5" * 400,
    ],
)
@pytest.mark.parametrize("path", ["/testnet/v2/calldata", "/testnet/execute"])
def test_slippage_that_is_no_percentage(service: InProcessService, route: Json, path: str, slippage: object) -> None:
    answer = service.post(path, {"route": route, "destination": RECIPIENT, "slippage": slippage})
    assert answer.status_code == 400
    assert answer.json()["error"] == "Invalid slippage"
    query = {**build_order_query("testnet"), "destination": RECIPIENT, "slippage": str(slippage)}
    assert is_documented(service.get("/testnet/v2/routeAndCalldata", query))


@pytest.mark.parametrize(
    "literal", ["NaN", "Infinity", "-Infinity", "1e1", "1e400", "-0.5", "0.5e0", "05", "+1", "1" * 500]
)
def test_numbers_that_json_or_the_interface_does_not_have(service: InProcessService, route: Json, literal: str) -> None:
    body = json.dumps({"route": route, "destination": RECIPIENT})[:-1] + f', "slippage": {literal}}}'
    answer = post_raw(service, body.encode())
    assert answer.status_code == 400
    assert set(answer.json()) - {"hint"} == {"success", "error", "details", "meta"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"null",
        b"[]",
        b'"route"',
        b"17",
        b"{}",
        b'{"route": {}, "route": {}}',
        b'{"slippage": 1, "slippage": 2}',
        b"\xff\xfe{}",
        b'{"a": "\xc3\x28"}',
        b'{"a": "\\ud800"}',
        b"[" * 100_000,
        b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
        b"[" * 65 + b"]" * 65,
        b"{'route': 1}",
        b"amount=1&route=2",
        b'{"route": 1} trailing',
    ],
    ids=lambda body: repr(body[:24]),
)
@pytest.mark.parametrize("path", ["/testnet/v2/calldata", "/testnet/execute", "/testnet/calldata"])
def test_bodies_that_are_not_what_they_should_be(service: InProcessService, path: str, body: bytes) -> None:
    answer = post_raw(service, body, path)
    assert answer.status_code == 400
    assert is_documented(answer)


def test_citreas_get_wants_its_body(service: InProcessService) -> None:
    answer = service.get("/citrea/calldata")
    message = "the body must be JSON, sent with the header Content-Type: application/json"
    assert answer.json() == {"success": False, "error": "Bad Request", "details": message}
    assert service.send("GET", "/citrea/calldata", content=b"{}", headers=JSON).json()["error"] == "Invalid slippage"


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonx",
        "json",
        "",
        "application/json; charset=latin-1",
        "application/xml, application/json",
        "\x80",
    ],
)
def test_bodies_of_another_content_type(service: InProcessService, route: Json, content_type: str) -> None:
    body = json.dumps({"route": route, **build_swap_terms("testnet")}).encode()
    headers = {"Content-Type": content_type.encode("latin-1")}
    answer = service.send("POST", "/testnet/v2/calldata", content=body, headers=headers)
    message = "the body must be JSON, sent with the header Content-Type: application/json"
    assert (answer.status_code, answer.json()["details"]) == (400, message)


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"'])
def test_ways_to_write_the_content_type(service: InProcessService, route: Json, content_type: str) -> None:
    body = json.dumps({"route": route, **build_swap_terms("testnet")}).encode()
    answer = service.send("POST", "/testnet/v2/calldata", content=body, headers={"Content-Type": content_type})
    assert answer.status_code == 200


def padded(route: Json, size: int) -> bytes:
    body = json.dumps({"route": route, **build_swap_terms("testnet"), "pad": ""}).encode()
    return body[:-2] + b"x" * (size - len(body)) + body[-2:]


async def in_pieces(body: bytes) -> Any:
    for start in range(0, len(body), 65_536):
        yield body[start : start + 65_536]


@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_body_may_have_one_mebibyte_and_no_byte_more(
    service: InProcessService, route: Json, is_chunked: bool
) -> None:
    answers = []
    for size in (MAX_BODY_BYTES, MAX_BODY_BYTES + 1):
        body = padded(route, size)
        assert len(body) == size
        content = in_pieces(body) if is_chunked else body
        answers.append(service.send("POST", "/testnet/v2/calldata", content=content, headers=JSON))
    assert answers[0].status_code == 200
    assert answers[1].status_code == 413
    assert answers[1].json() == {
        "statusCode": 413,
        "message": "the body is larger than 1 MiB",
        "error": HTTPStatus(413).phrase,
        "hint": "send a single order or route",
        "meta": service.v2_metadata,
    }
    assert answers[1].headers["Connection"] == "close"


@pytest.mark.parametrize("path", ["/testnet/route", "/testnet/healthcheck", "/supported-chains", "/citrea/calldata"])
def test_a_get_with_a_large_body_is_refused_too(service: InProcessService, path: str) -> None:
    answer = service.send("GET", path, content=b"x" * (MAX_BODY_BYTES + 1))
    assert answer.status_code == 413


RUBBISH = [
    "/%00/route",
    "/testnet%00/route",
    "/%ff%fe/route",
    "/testnet/%E2%84%AA/route",
    "/testnet/tokens/%0d%0aSet-Cookie:%20a=b",
    "/testnet/tokens/%F0%9F%92%A9",
    "/testnet/tokens/0x%00" + "0" * 38,
    "/testnet/v2%2",
    "/%%%",
    "/testnet/..%2f..%2fetc%2fpasswd",
    "/" + "a" * 8_000,
    "/testnet/\u212aealthcheck",
    "/{network}/route",
    "/testnet/tokens/{address}",
    "/testnet/%72oute%3f",
]


@pytest.mark.parametrize("path", RUBBISH)
def test_percent_encoded_rubbish_in_paths(service: InProcessService, path: str) -> None:
    answer = service.get(path)
    assert answer.status_code in (400, 404)
    assert is_documented(answer)
    assert "\r" not in answer.text
    assert "passwd" not in answer.text


@pytest.mark.parametrize(
    "query",
    [
        "amount=%ff&tokenInAddress=%c3%28",
        "amount=1&amount=2",
        "%00=%00",
        "amount=%0d%0aX:1",
        "&" * 2_000,
        "a=b&" * 2_000,
        "amount",
        "amount=-1",
        "amount=1e18",
        "amount=0x10",
        "amount=1.5",
        "amount=%2B1",
        "amount=0",
        "amount=" + "9" * 79,
        "amount=%D9%A1",
    ],
)
@pytest.mark.parametrize("path", ["/testnet/route", "/testnet/v2/route", "/hyperevm/calldata", "/starknet/routeBatch"])
def test_queries_of_rubbish(service: InProcessService, path: str, query: str) -> None:
    answer = service.send("GET", f"{path}?{query}")
    assert answer.status_code == 400
    assert is_documented(answer)


NO_ADDRESS = '"{}" is not an EVM address: expected 0x and 40 hexadecimal digits'


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        ({"amount": None}, "amount should not be null or undefined", None),
        (
            {"amount": "1.5"},
            "amount must be a decimal integer string from 1 to 2^256 - 1",
            "write it in base units",
        ),
        ({"tokenInAddress": "weth"}, "tokenInAddress must be an Ethereum address", NO_ADDRESS.format("weth")),
        ({"tokenOutAddress": "0x12"}, "tokenOutAddress must be an Ethereum address", NO_ADDRESS.format("0x12")),
        (
            {"tokenOutAddress": "0x" + "0" * 40},
            "Token in and token out cannot be the same",
            "name two different tokens",
        ),
        ({"destination": "x"}, "destination must be an Ethereum address", NO_ADDRESS.format("x")),
        (
            {"destination": "0x" + "0" * 40},
            "destination must be an Ethereum address that can hold tokens",
            "funds sent to the zero address are lost",
        ),
        (
            {"slippage": "many"},
            "slippage must be a number conforming to the specified constraints",
            'slippage "many" is not a percentage; write half a percent as 0.5',
        ),
        ({"reverse": "true"}, "reverse is reserved and not supported", None),
        ({"direct": "perhaps"}, "direct must be true or false", None),
        ({"shares": "coarse"}, "shares must be one of fine, whole", None),
        ({"excludeProtocols": "4,77"}, "no protocol 77 on testnet", "GET /testnet/protocols lists them"),
        ({"onlyProtocols": "4,77"}, "no protocol 77 on testnet", "GET /testnet/protocols lists them"),
        ({"onlyProtocols": ""}, "onlyProtocols must name at least one protocol", None),
        ({"onlyProtocols": " , "}, "onlyProtocols must name at least one protocol", None),
        ({"onlyProtocols": "Uniswap V3,77"}, "no protocol 77 on testnet", "GET /testnet/protocols lists them"),
        (
            {"onlyProtocols": "4", "excludeProtocols": "4,5"},
            "every allowed protocol is also excluded: uniswapV2",
            "exclude fewer protocols, or allow others",
        ),
        ({"excludeProtocols": "uniswapv"}, "no protocol uniswapv on testnet", "did you mean uniswapV2 or uniswapV3?"),
        (
            {"tokenOutAddress": "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc3"},
            "tokenOutAddress must be an Ethereum address, but its checksum is wrong",
            '"0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc3" is an address with a wrong checksum; copy the address again'
            " from its source: at least one character is wrong",
        ),
    ],
)
def test_parameters_are_refused_in_the_words_that_clients_know(
    service: InProcessService, change: dict[str, object], message: str, hint: str | None
) -> None:
    parameters = {**build_order_query("testnet"), **build_swap_terms("testnet")} | change
    query = {key: value for key, value in parameters.items() if value is not None}
    answer = service.get("/testnet/v2/routeAndCalldata", query)
    body = {"statusCode": 400, "message": message, "error": "Bad Request", "meta": service.v2_metadata}
    assert answer.json() == (body if hint is None else body | {"hint": hint})
    assert answer.status_code == 400


@pytest.mark.parametrize("path", ["/testnet/route", "/testnet/v2/route"])
def test_shares_are_whole_unless_fine_ones_are_requested(service: InProcessService, path: str) -> None:
    plain, whole, fine = (
        service.get(path, {**build_order_query("testnet"), **extra}).json()
        for extra in ({}, {"shares": "whole"}, {"shares": "fine"})
    )
    assert plain["route"] == whole["route"]
    assert not any("." in segment["percent"] for segment in whole["route"])
    assert int(fine["outputAmount"]) >= int(whole["outputAmount"])


def test_reverse_false_is_accepted(service: InProcessService) -> None:
    assert service.get("/testnet/v2/route", build_order_query("testnet", reverse="false")).status_code == 200


INJECTIONS = ["a\r\nSet-Cookie: x=1", "a\nb", "a b", "x" * 65, "<script>", "\x00", "é", "a;b", ""]


@pytest.mark.parametrize("value", INJECTIONS)
def test_no_request_header_is_returned_but_a_plain_id(service: InProcessService, value: str) -> None:
    names = ("X-Request-Id", "Origin", "User-Agent", "X-Forwarded-For", "Host")
    headers = [(name.encode(), value.encode()) for name in names if name != "Host" or value]
    answer = service.send("GET", "/nowhere", headers=headers)
    message = " ".join(f"{name}: {content}" for name, content in answer.headers.items())
    assert not value or value not in message
    assert "set-cookie" not in message.lower()
    assert len(answer.headers["X-Request-Id"]) == 16


def test_a_plain_request_id_comes_back(service: InProcessService) -> None:
    answer = service.get("/testnet/route", build_order_query("testnet"), headers={"X-Request-Id": "order-17.a_B"})
    assert answer.headers["X-Request-Id"] == "order-17.a_B" == service.log_lines()[-1]["request_id"]


def test_pools_and_tokens_that_do_not_fit_make_a_route_invalid(service: InProcessService, route: Json) -> None:
    for key, value in (
        ("poolAddress", "0x" + "99" * 20),
        ("poolAddress", "0x12"),
        ("fromTokenAddress", "0x" + "66" * 20),
        ("toTokenAddress", "0x" + "66" * 20),
        ("protocol", 9_999),
        ("protocol", -1),
        ("protocol", "5"),
        ("extraData", []),
    ):
        copy = json.loads(json.dumps(route))
        copy["route"][0]["swaps"][0][0][key] = value
        for path, error in (("/testnet/v2/calldata", "Invalid route"), ("/testnet/execute", "Invalid route")):
            answer = service.post(path, {"route": copy, **build_swap_terms("testnet")})
            assert (answer.status_code, answer.json()["error"]) == (400, error), (key, value)


def test_a_route_that_goes_in_circles_is_invalid(service: InProcessService, route: Json) -> None:
    copy = json.loads(json.dumps(route))
    hop = copy["route"][0]["swaps"][0]
    back = json.loads(json.dumps(hop))
    for swap in back:
        swap["fromTokenAddress"], swap["toTokenAddress"] = swap["toTokenAddress"], swap["fromTokenAddress"]
    copy["route"][0]["swaps"] = [hop, back, hop]
    copy["outputAmount"] = "1"
    answer = service.post("/testnet/v2/calldata", {"route": copy, **build_swap_terms("testnet")})
    assert (answer.status_code, answer.json()["error"]) == (400, "Invalid route")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=8,
)
NAMES = ["route", "slippage", "destination", "amount", "tokenInAddress", "signer", "route_response", "deadline"]
METHODS = ["GET", "POST", "HEAD", "TRACE", "x"]
NETWORK_ENDPOINTS = [each for each in ENDPOINTS if each.networks and each.handler]
BODIES = [each for each in ENDPOINTS if each.body]


@given(
    st.sampled_from(BODIES),
    st.dictionaries(st.sampled_from(NAMES), json_values),
    st.sampled_from(["testnet", "citrea"]),
)
@settings(max_examples=examples(15, full=150), deadline=None)
def test_no_body_makes_a_defect(service: InProcessService, endpoint: Any, body: Json, name: str) -> None:
    content = json.dumps(body).encode()
    answer = service.send(endpoint.method, endpoint.path.replace("{network}", name), content=content, headers=JSON)
    assert is_documented(answer)


@given(st.sampled_from(NETWORK_ENDPOINTS), st.binary(max_size=60), st.sampled_from(["testnet", "hyperevm", "starknet"]))
@settings(max_examples=examples(15, full=150), deadline=None)
def test_no_query_makes_a_defect(service: InProcessService, endpoint: Any, query: bytes, name: str) -> None:
    path = endpoint.path.replace("{network}", name).replace("{address}", "0x1")
    status, body = service.run(service.send_raw(endpoint.method, path, query))
    assert status == 200 or (400 <= status < 500 and is_documented_body(json.loads(body), path))


def is_served(path: str) -> bool:
    """Whether the path fits one of the service's, which match case-insensitively."""
    patterns = (re.sub(r"\\{\w+\\}", "[^/]+", re.escape(each)) for each in PATHS)
    return any(re.fullmatch(pattern, path, re.IGNORECASE | re.ASCII) for pattern in patterns)


@given(st.text(max_size=40) | st.sampled_from(PATHS).map(lambda path: path[1:]), st.sampled_from(METHODS))
@example("DOCS", "GET")
@example("docs/", "GET")
@settings(max_examples=examples(15, full=150), deadline=None)
def test_no_path_makes_a_defect(service: InProcessService, path: str, method: str) -> None:
    encoded = path.encode("utf-8", "surrogatepass").hex(" ").replace(" ", "%")
    answer = service.send(method, f"http://service.test/%{encoded}" if encoded else "http://service.test/")
    assert answer.status_code in ((200, 308, 400, 404, 405, 503) if is_served(f"/{path}") else (404, 405))


@pytest.mark.parametrize("path", ["/docs", "/DOCS", "/Supported-Chains", "/testnet/V2/HealthCheck"])
def test_paths_match_in_any_letter_case(service: InProcessService, path: str) -> None:
    assert is_served(path)
    assert service.get(path).status_code == 200


def test_a_byte_order_mark_before_a_body_is_skipped(service: InProcessService, route: Json) -> None:
    body = json.dumps({"route": route, **build_swap_terms("testnet")}).encode()
    plain, marked = (post_raw(service, prefix + body) for prefix in (b"", b"\xef\xbb\xbf"))
    assert plain.status_code == marked.status_code == HTTPStatus.OK
    assert {**marked.json(), "meta": None} == {**plain.json(), "meta": None}
