"""A service with a node adds the verdict on a swap to its details, if that answers in time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from swapcli.core.model.market import MarketState
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.token import Token
from swapcli.faces.service.market_registry import ServiceRules
from tests.chain.contract_fixture import WETH
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.odd_tokens import open_pair
from tests.chain.settings import url_of
from tests.chain.trader import USER, Trader
from tests.contracts.evm import compile_solidity, solidity
from tests.faces.service.openapi_operations import openapi_document
from tests.faces.service.test_balance_check import DETAILED, PLAIN, Service, market, node_at
from tests.support.chain import restored

__all__ = ["market"]

BOB = "0x" + "b0" * 20
FEEDS = solidity("feeds.sol")
CENTS = {WETH: 990_000, "USDC": 100}


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
    assert declared["enum"] == ["ok", "warn", "block"]


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


def posted(service: Service, market_state: MarketState, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The answer to a body, with the route of the order in it where that names one."""

    async def go() -> dict[str, Any]:
        sent = dict(body)
        if "route" in sent:
            order = {"amount": str(10**18), "tokenInAddress": ZERO_ADDRESS, "tokenOutAddress": usdc}
            sent["route"] = (await service.ask("GET", sent["route"], params=order)).json()
        response = await service.ask("POST", path, json={**sent, "slippage": 0.5, "destination": USER})
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    usdc = next(token.address for token in market_state.tokens.values() if token.symbol == "USDC")
    return asyncio.run(go())


POSTS = [
    (f"/{PLAIN}/execute", f"/{PLAIN}/route", "Execute"),
    (f"/{DETAILED}/execute", f"/{DETAILED}/route", "JudgedCall"),
    (f"/{PLAIN}/calldata", f"/{PLAIN}/route", "Execute"),
    (f"/{PLAIN}/v2/calldata", f"/{PLAIN}/v2/route", "CalldataV2"),
]


@pytest.mark.parametrize(("path", "route", "schema"), POSTS)
def test_a_posted_route_has_a_verdict_on_request(
    market: tuple[MarketState, str], path: str, route: str, schema: str
) -> None:
    state, url = market
    with node_at(url) as nodes:
        service = Service(state, nodes)
        document = posted(service, state, path, {"route": route, "details": True})
        plain = posted(service, state, path, {"route": route, "details": False})
        alone = posted(Service(state, {}), state, path, {"route": route, "details": True})
    # The catalogue of hyperevm does not have the tokens of this chain, which anyone mints.
    expected = ["OWNER_POWERS"] if DETAILED in path else []
    assert [each["code"] for each in document["verdict"]["reasons"]] == expected
    assert document["verdict"]["facts"]["sales"]
    assert problems(document, schema) == []
    assert set(document) - {"verdict"} == set(plain) == set(alone)


def test_a_posted_order_has_a_verdict_on_request(market: tuple[MarketState, str]) -> None:
    state, url = market
    usdc = next(token for token in state.tokens.values() if token.symbol == "USDC")
    order = {"amount": str(10**18), "tokenInAddress": ZERO_ADDRESS, "tokenOutAddress": usdc.address}
    with node_at(url) as nodes:
        document = posted(Service(state, nodes), state, f"/{PLAIN}/calldata", {**order, "details": True})
    assert document["verdict"]["status"] == "ok"
    assert problems(document, "CalldataV1") == []


@pytest.fixture(scope="module")
def priced_market(shared_trader: Trader) -> Iterator[tuple[MarketState, str]]:
    """A market whose settings name feeds by which a unit of the native token is worth 9,900 dollars."""
    with restored(shared_trader) as trader:
        trader.chain.node.ask("evm_setNextBlockTimestamp", hex(int(time.time())))
        trader.chain.node.ask("evm_mine")
        deployed = {symbol: trader.chain.deploy(FEEDS()["Feed"], cents, 2, 60) for symbol, cents in CENTS.items()}
        feeds = {trader.world.address(symbol): feed.address.lower() for symbol, feed in deployed.items()}
        network = trader.market.network._replace(
            price_feeds=feeds, multicall=deploy_multicall(trader.chain), name=PLAIN
        )
        block = int(trader.chain.node.ask("eth_blockNumber"), 16)
        yield trader.market._replace(block=block, network=network), url_of(trader.chain)


def test_a_price_far_below_a_feed_is_said(priced_market: tuple[MarketState, str]) -> None:
    state, url = priced_market
    with node_at(url) as nodes:
        service = Service(state, nodes)
        verdicts = [
            ask(service, state, "true")["route"]["verdict"],
            posted(service, state, f"/{PLAIN}/calldata", {"route": f"/{PLAIN}/route", "details": True})["verdict"],
        ]
    for verdict in verdicts:
        assert verdict["status"] == "warn", "averages of other pools agree with the quote"
        (reason,) = verdict["reasons"]
        assert (reason["code"], reason["status"]) == ("PRICE_BELOW_REFERENCES", "warn")
        (feed,) = [each for each in verdict["facts"]["priceReferences"] if each["kind"] == "feed"]
        assert int(feed["outputAmount"]) == 9_900 * 10**6


def test_the_settings_of_the_service_say_what_is_far(priced_market: tuple[MarketState, str]) -> None:
    state, url = priced_market
    with node_at(url) as nodes:
        service = Service(state, nodes)
        service.registry.rules = ServiceRules(price_limits_ppm=(900_000, 950_000))
        verdict = ask(service, state, "true")["route"]["verdict"]
    assert (verdict["status"], verdict["reasons"]) == ("ok", [])


def test_the_owner_of_a_token_outside_the_catalogue_is_a_reason(shared_trader: Trader) -> None:
    with restored(shared_trader) as trader:
        world = trader.world
        coin = trader.chain.deploy(compile_solidity("traps.sol", "tokens.sol")["PausableCoin"], "ODD")
        world.contracts["ODD"], world.tokens["ODD"] = coin, Token(coin.address, "ODD", "ODD", 18)
        open_pair(world, "ODD", WETH)
        block = int(trader.chain.node.ask("eth_blockNumber"), 16)
        state = read_market(world)._replace(block=block)
        order = {"amount": "1000000000000000", "tokenInAddress": ZERO_ADDRESS, "tokenOutAddress": coin.address}
        with node_at(url_of(trader.chain)) as nodes:
            service = Service(state, nodes)
            bodies = {**order, "slippage": "0.5", "destination": USER, "details": "true"}
            found = {
                name: asyncio.run(service.ask("GET", f"/{name}/{path}", params=bodies)).json()["route"]["verdict"]
                for name, path in ((PLAIN, "routeAndCalldata"), (DETAILED, "calldata"))
            }
    assert found[PLAIN]["status"] == "ok", "there is no catalogue of its tokens"
    assert found[DETAILED]["status"] == "warn"
    assert [each["code"] for each in found[DETAILED]["reasons"]] == ["OWNER_POWERS"]
