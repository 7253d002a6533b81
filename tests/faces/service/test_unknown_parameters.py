"""A misspelt parameter never changes a swap unnoticed: published endpoints report it, swapcli's own refuse it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from time import perf_counter

import pytest

from tests.faces.service.openapi_operations import openapi_document
from tests.support.service import InProcessService, build_order_query, build_swap_terms, in_process_service

ME = "0x" + "12" * 20
NETWORKS = ("base", "hyperevm", "starknet")
UNKNOWN = "PARAMETER_UNKNOWN"


@pytest.fixture(scope="module")
def service() -> Iterator[InProcessService]:
    with in_process_service(*NETWORKS) as served:
        yield served


def reported(headers: object) -> list[str]:
    """Return the words about unknown parameters in the header with the warnings."""
    found = headers.get("X-Swap-Warnings") or ""  # type: ignore[attr-defined]
    return [word for word in found.split(", ") if word.startswith(UNKNOWN)]


@pytest.mark.parametrize(("name", "path"), [("base", "route"), ("base", "v2/route"), ("starknet", "route")])
def test_a_misspelt_parameter_is_reported_with_the_right_name(service: InProcessService, name: str, path: str) -> None:
    query = build_order_query(name)
    plain = service.get(f"/{name}/{path}", query)
    misspelt = service.get(f"/{name}/{path}", {**query, "exludeProtocols": "uniswapV2", "maxHops": "99"})
    assert reported(plain.headers) == []
    assert (misspelt.status_code, misspelt.json()["route"]) == (200, plain.json()["route"])
    assert reported(misspelt.headers) == [
        f"{UNKNOWN};name=exludeProtocols;closest=excludeProtocols",
        f"{UNKNOWN};name=maxHops",
    ]


def test_the_details_have_it_in_words(service: InProcessService) -> None:
    query = {**build_order_query("base"), **build_swap_terms("base"), "details": "true", "exludeProtocols": "a"}
    expected = {
        "code": UNKNOWN,
        "message": "the parameter exludeProtocols does not exist, so it was ignored: did you mean excludeProtocols?",
    }
    assert expected in service.get_json("/base/route", query)["warnings"]
    assert expected in service.get_json("/base/v2/routeAndCalldata", query)["route"]["warnings"]


def test_a_misspelt_field_of_a_body_is_reported(service: InProcessService) -> None:
    route = service.get_json("/base/v2/route", build_order_query("base"))
    body = {"route": route, **build_swap_terms("base")}
    order = {**build_order_query("base"), **build_swap_terms("base")}
    for path, document in (("execute", body), ("v2/calldata", body), ("calldata", order)):
        plain, misspelt = (service.post(f"/base/{path}", each) for each in (document, {**document, "dedline": 1}))
        assert (plain.status_code, misspelt.status_code) == (200, 200), misspelt.text
        assert (reported(plain.headers), reported(misspelt.headers)) == (
            [], [f"{UNKNOWN};name=dedline;closest=deadline"],
        )  # fmt: skip


def test_parameters_of_the_other_version_are_known(service: InProcessService) -> None:
    extras = {**build_swap_terms("base"), "integratorFeePercentageBps": "0", "dialect": "fibrous", "reverse": "false"}
    for path in ("route", "v2/route"):
        answer = service.get(f"/base/{path}", {**build_order_query("base"), **extras, "shares[]": "fine"})
        assert reported(answer.headers) == [], path


def test_requests_do_not_share_their_reports(service: InProcessService) -> None:
    for name in ("amout", "exludeProtocols", "revers"):
        answer = service.get("/base/route", {**build_order_query("base"), name: "1"})
        assert [word.split(";")[1] for word in reported(answer.headers)] == [f"name={name}"]
    assert reported(service.get("/base/route", build_order_query("base")).headers) == []


def test_the_report_is_bounded_and_plain(service: InProcessService) -> None:
    hostile = {f"{i:03d}\r\nX-Evil: 1, A;=\u20ac" + "z" * 100: "x" for i in range(90)}
    started_s = perf_counter()
    answer = service.get("/base/route", {**build_order_query("base"), **hostile})
    assert perf_counter() - started_s < 2
    assert "X-Evil" not in answer.headers
    words = reported(answer.headers)
    assert len(words) == 3
    assert all(re.fullmatch(r"PARAMETER_UNKNOWN;name=[\w.-]{1,40}", word) for word in words), words
    pattern = openapi_document()["components"]["headers"]["X-Swap-Warnings"]["schema"]["pattern"]
    assert re.fullmatch(pattern, answer.headers["X-Swap-Warnings"])


def test_own_endpoints_refuse_what_they_do_not_know(service: InProcessService) -> None:
    for path in ("base/route.svg", "base/v2/route/events"):
        answer = service.get(f"/{path}", {**build_order_query("base"), "exludeProtocols": "uniswapV2"})
        assert (answer.status_code, answer.json()["message"]) == (400, "exludeProtocols does not exist here"), path
        assert "did you mean excludeProtocols?" in answer.text
    body = {"to": ME, "calldata": "0x12345678"}
    answer = service.post("/base/decode", {**body, "sendr": ME})
    assert (answer.status_code, answer.json()["message"]) == (400, "sendr does not exist here")
    assert "did you mean sender?" in answer.text
    answer = service.post("/base/decode", {**body, "slippage": 1})
    assert (answer.status_code, answer.json()["message"]) == (400, "slippage does not exist here")


def test_what_is_missing_or_repeated_is_said_so(service: InProcessService) -> None:
    query = build_order_query("base")
    for changed, hint in (
        ({"amount": "-1"}, "write amounts without a sign"),
        ({"amount": "0"}, "the minimum is one base unit of the token"),
        ({"amount": "1.5"}, "write it in base units"),
        ({"amount": ["1", "2"]}, "give amount once"),
    ):
        answer = service.get("/base/route", {**query, **changed})
        assert (answer.status_code, answer.json().get("hint")) == (400, hint), answer.text
    answer = service.get("/base/v2/routeAndCalldata", {**query, "slippage": "1"})
    assert (answer.status_code, "destination is missing" in answer.text) == (400, True), answer.text
