"""A service with a node adds the verdict on a swap to its details, if that answers in time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from swapcli.model.market import MarketState
from swapcli.model.order import ZERO_ADDRESS
from swapcli.payload.verdict import VerdictStatus
from tests.chain.test_wallet_check import PLAIN, Service, market, node_at
from tests.service.openapi_operations import openapi_document

__all__ = ["market"]

BOB = "0x" + "b0" * 20


def ask(service: Service, market_state: MarketState, details: str, path: str = "") -> dict[str, Any]:
    usdc = next(token for token in market_state.tokens.values() if token.symbol == "USDC")
    order = {
        "amount": str(10**18),
        "tokenInAddress": ZERO_ADDRESS,
        "tokenOutAddress": usdc.address,
        "slippage": "0.5",
        "destination": BOB,
        "details": details,
    }
    response = asyncio.run(service.ask("GET", f"/{PLAIN}/{path}routeAndCalldata", params=order))
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def problems(document: dict[str, Any], schema: str) -> list[str]:
    """What a document has against a schema of the OpenAPI document, in which no object may have a field of its own."""
    components = openapi_document()["components"]
    closed = {
        name: {**each, "additionalProperties": False} if "properties" in each else each
        for name, each in components["schemas"].items()
    }
    whole = {"$ref": f"#/components/schemas/{schema}", "components": {"schemas": closed}}
    return [f"{each.instance_path}: {each.message}" for each in Draft202012Validator(whole).iter_errors(document)]


@pytest.mark.parametrize(("path", "schema"), [("", "RouteAndCalldataV1"), ("v2/", "RouteAndCalldataV2")])
def test_the_openapi_document_declares_all_details(market: tuple[MarketState, str], path: str, schema: str) -> None:
    state, url = market
    with node_at(url) as nodes:
        document = ask(Service(state, nodes), state, "true", path)
    assert document["route"]["verdict"]["facts"]["sales"]
    assert problems(document, schema) == []
    del document["route"]["verdict"]["status"]
    assert problems(document, schema)


def test_the_openapi_document_names_every_status() -> None:
    declared = openapi_document()["components"]["schemas"]["Verdict"]["properties"]["status"]
    assert declared["enum"] == [each.value for each in VerdictStatus]


def test_details_have_the_verdict_of_the_node(market: tuple[MarketState, str]) -> None:
    state, url = market
    with node_at(url) as nodes:
        service = Service(state, nodes)
        verdict = ask(service, state, "true")["route"]["verdict"]
        assert (verdict["status"], verdict["reasons"]) == ("ok", [])
        assert verdict["facts"]["sender"].lower() == BOB
        assert verdict["facts"]["sales"]
        assert "verdict" not in ask(service, state, "false")["route"]


@pytest.mark.parametrize("has_node", [False, True])
def test_a_service_whose_node_is_missing_answers_all_the_same(
    market: tuple[MarketState, str],
    has_node: bool,
) -> None:
    state, _ = market
    with node_at("http://127.0.0.1:9") as nodes:
        route = ask(Service(state, nodes if has_node else {}), state, "true")["route"]
    assert int(route["outputAmount"]) > 0
    assert route.get("verdict", {}).get("status", "warn") == "warn"
