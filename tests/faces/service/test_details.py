"""`details=true`: the figures of a quote in its body, the same as on the command line; without it nothing changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from swapcli.core.model.market import Provenance
from swapcli.interface.json_types import QuoteFieldsJson
from swapcli.interface.state_headers import WARNINGS_HEADER, parse_warnings
from tests.faces.situations import market_file
from tests.support.command import run_swapcli
from tests.support.markets import embedded_market
from tests.support.service import (
    RECIPIENT,
    InProcessService,
    build_order_query,
    build_swap_terms,
    in_process_service,
)

OPTIONAL = {"l1FeeWei", "poolLimit", "certificate", "proofFile", "routerChoice", "bookPrices"}
FIELDS = set(get_type_hints(QuoteFieldsJson)) - OPTIONAL
ROUTES = [(name, path) for name in ("base", "hyperevm") for path in ("route", "v2/route")]
PAYLOADS = [
    ("base", "routeAndCalldata"),
    ("base", "v2/routeAndCalldata"),
    ("hyperevm", "calldata"),
    ("starknet", "calldata"),
]
VARYING = {"time", "meta", "expiresAt"}


@pytest.fixture(scope="module")
def service() -> Iterator[InProcessService]:
    with in_process_service("base", "hyperevm", "starknet") as served:
        yield served


def steady(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name not in VARYING}


@pytest.mark.parametrize(("name", "path"), ROUTES)
def test_details_are_added_to_a_route(service: InProcessService, name: str, path: str) -> None:
    query = build_order_query(name, 10**17)
    plain, off = (service.get(f"/{name}/{path}", {**query, **extra}).json() for extra in ({}, {"details": "false"}))
    detailed = service.get(f"/{name}/{path}", {**query, "details": "true"}).json()
    assert not FIELDS & set(plain)
    assert steady(plain) == steady(off)
    assert set(detailed) - set(plain) == FIELDS
    assert steady(plain).items() <= detailed.items()


@pytest.mark.parametrize(("name", "path"), PAYLOADS)
def test_details_are_added_to_the_route_of_a_payload(service: InProcessService, name: str, path: str) -> None:
    query = {**build_order_query(name, 10**17), **build_swap_terms(name)}
    plain, detailed = (service.get(f"/{name}/{path}", {**query, **extra}).json() for extra in ({}, {"details": "true"}))
    assert set(detailed["route"]) - set(plain["route"]) == FIELDS
    assert set(plain) == set(detailed)


@pytest.mark.parametrize("amount", [10**15, 10**27])
def test_details_and_headers_warn_of_the_same(service: InProcessService, amount: int) -> None:
    answer = service.get("/base/v2/route", {**build_order_query("base", amount), "details": "true"})
    reported = parse_warnings(answer.headers[WARNINGS_HEADER])
    assert tuple(each["code"] for each in answer.json()["warnings"]) == reported.codes
    if reported.price_impact is not None:
        assert answer.json()["priceImpact"] == pytest.approx(reported.price_impact * 100, abs=0.01)


def test_the_command_line_shows_the_same_figures(service: InProcessService) -> None:
    query = build_order_query("base", 10**18)
    there = service.get("/base/v2/route", {**query, "details": "true", "shares": "fine"}).json()
    words = ("base", query["tokenInAddress"], query["tokenOutAddress"], query["amount"], "--raw")
    here = run_swapcli("route", *words, "--json").json
    assert {name: there[name] for name in FIELDS - VARYING} == {name: here[name] for name in FIELDS - VARYING}


def test_details_must_be_true_or_false(service: InProcessService) -> None:
    answer = service.get("/base/route", {**build_order_query("base"), "details": "all"})
    assert (answer.status_code, answer.json()["message"]) == (400, "details must be true or false")


def test_advice_is_that_of_the_command_on_real_prices(service: InProcessService, tmp_path: Path) -> None:
    query = {**build_order_query("base"), "details": "true", "advice": "true", "shares": "fine"}
    assert "advisedSlippage" not in service.get("/base/v2/route", query).json(), "these prices are modelled"
    real = embedded_market("base")._replace(provenance=Provenance.RECORDED)
    served = InProcessService({"base": lambda: real})
    try:
        found = served.get_json("/base/v2/route", query)
        assert "advisedSlippage" not in served.get_json("/base/v2/route", {**query, "advice": "false"})
        assert "advisedSlippage" not in served.get_json("/base/v2/route", {**query, "details": "false"})
    finally:
        served.close()
    words = ("calldata", "base", "ETH", "USDC", "1", "--destination", RECIPIENT, "--json", "--market")
    expected = run_swapcli(*words, market_file(tmp_path, Provenance.RECORDED)).json
    assert found["advisedSlippage"] == expected["advisedSlippage"]
