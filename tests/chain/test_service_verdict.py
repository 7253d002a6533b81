"""A service with a node adds the verdict on a swap to its details, if that answers in time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from swapcli.model.market import MarketState
from swapcli.model.order import ZERO_ADDRESS
from tests.chain.test_wallet_check import PLAIN, Service, market, node_at

__all__ = ["market"]

BOB = "0x" + "b0" * 20


def ask(service: Service, market_state: MarketState, details: str) -> dict[str, Any]:
    usdc = next(token for token in market_state.tokens.values() if token.symbol == "USDC")
    order = {
        "amount": str(10**18),
        "tokenInAddress": ZERO_ADDRESS,
        "tokenOutAddress": usdc.address,
        "slippage": "0.5",
        "destination": BOB,
        "details": details,
    }
    response = asyncio.run(service.ask("GET", f"/{PLAIN}/routeAndCalldata", params=order))
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


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
