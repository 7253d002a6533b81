"""Every face takes the gas from the output at one value, that of the mid prices, and says where it comes from."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from io import StringIO
from math import ceil
from typing import Any, Final

import pytest

from swapcli import Market
from tests.support.command import run_swapcli
from tests.support.loopback_server import http_response, loopback_server, respond_with
from tests.support.mcp_client import document, with_client
from tests.support.service import InProcessService, in_process_service

NETWORK, SOLD, BOUGHT, DECIMALS = "base", "cbBTC", "AERO", 18
AMOUNT = 2 * 10**5  # of its 8 decimals: about 200 USD, so that gas counts
GAS_PRICE = 10**9
ME = "0x" + "12" * 20
WORDS = (NETWORK, SOLD, BOUGHT, "0.002", "--offline", "--gas-price", "1gwei")


@pytest.fixture(scope="module")
def wei_value() -> Fraction:
    """Base units of the output for a wei, by the prices that `swapcli price` shows."""
    prices: dict[str, float] = {each["symbol"]: each["priceUsd"] for each in run_prices()}
    return Fraction(prices["ETH"]) / Fraction(prices[BOUGHT]) * Fraction(10**DECIMALS, 10**18)


def run_prices() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run_swapcli("price", NETWORK, "ETH", BOUGHT, "--offline", "--json").json["prices"]
    return found


@pytest.fixture(scope="module")
def service() -> Iterator[InProcessService]:
    with in_process_service(NETWORK) as served:
        yield served


def library() -> dict[str, Any]:
    with Market.embedded(NETWORK) as market:
        return dict(market.quote(SOLD, BOUGHT, "0.002", gas_price="1gwei").document())


def batch(*options: str) -> str:
    order = {"id": 1, "tokenIn": SOLD, "tokenOut": BOUGHT, "inputAmount": str(AMOUNT)}
    words = ("route", NETWORK, "--batch", "-", "--offline", "--gas-price", "1gwei")
    return run_swapcli(*words, *options, stdin=json.dumps(order).encode()).stdout


def of_service(served: InProcessService, path: str) -> dict[str, Any]:
    prices = Market.embedded(NETWORK)
    sold, bought = (prices.token(each).address for each in (SOLD, BOUGHT))
    query = {"amount": str(AMOUNT), "tokenInAddress": sold, "tokenOutAddress": bought, "details": "true"}
    found: dict[str, Any] = served.get(f"/{NETWORK}/{path}", query).json()
    return found


def of_agent(detail: str) -> dict[str, Any]:
    order = {"network": NETWORK, "token_in": SOLD, "token_out": BOUGHT, "amount": "0.002", "offline": True}
    return document(with_client(lambda client: client.call_tool("quote", {**order, "detail": detail})))


FACES: Final[Mapping[str, Callable[[], dict[str, Any]]]] = {
    "library": library,
    "route": lambda: run_swapcli("route", *WORDS, "--json").json,
    "route, certified": lambda: run_swapcli("route", *WORDS, "--json", "--certify").json,
    "route, to buy": lambda: run_swapcli("route", NETWORK, SOLD, BOUGHT, "300", "--reverse", *WORDS[4:], "--json").json,
    "calldata": lambda: run_swapcli("calldata", *WORDS, "--destination", ME, "--json").json,
    "batch": lambda: json.loads(batch())["result"],
    "batch as CSV": lambda: next(csv.DictReader(StringIO(batch("--format", "csv")))),
}


def check(shown: dict[str, Any], wei_value: Fraction, gas_wei: int) -> None:
    output = shown.get("outputAmount") or shown["route"]["outputAmount"]
    assert int(shown["outputAfterGas"]) == pytest.approx(int(output) - ceil(gas_wei * wei_value), rel=1e-12)
    assert shown["outputAfterGas"] != output


@pytest.mark.parametrize("face", FACES)
def test_the_output_is_less_the_gas_at_mid_prices(face: str, wei_value: Fraction) -> None:
    shown = FACES[face]()
    check(shown, wei_value, int(shown["gasUnits"]) * GAS_PRICE)
    assert shown["gasValueSource"] == "midPrices"


@pytest.mark.parametrize("path", ["route", "v2/route"])
def test_a_service_says_the_same(service: InProcessService, wei_value: Fraction, path: str) -> None:
    shown = of_service(service, path)
    check(shown, wei_value, int(shown["gasUnits"]) * int(shown["gasPriceWei"]))
    assert shown["gasValueSource"] == "midPrices"


@pytest.mark.slow
def test_an_agent_reads_the_same(wei_value: Fraction) -> None:
    shown = of_agent("full")
    check(shown, wei_value, int(shown["gasUnits"]) * int(shown["gasPriceWei"]))
    assert shown["gasValueSource"] == of_agent("brief")["gasValueSource"] == "midPrices"


def test_every_alternative_has_the_value_of_the_split_route(wei_value: Fraction) -> None:
    found = run_swapcli("compare", *WORDS, "--json").json
    assert found["gasValueSource"] == "midPrices"
    with_output = [each for each in found["alternatives"] if "outputAmount" in each]
    assert {each["kind"] for each in with_output} >= {"split", "singlePath", "protocol"}
    for each in with_output:
        check(each, wei_value, int(each["gasUnits"]) * GAS_PRICE)
    rows = list(csv.DictReader(StringIO(run_swapcli("compare", *WORDS, "--format", "csv").stdout)))
    assert {row["gasValueSource"] for row in rows} == {"midPrices"}
    for row in rows:
        if row["outputAmount"]:
            check(dict(row), wei_value, int(row["gasUnits"]) * GAS_PRICE)


def test_a_service_with_other_prices_has_the_value_of_the_split_route_too(wei_value: Fraction) -> None:
    route = run_swapcli("route", *WORDS, "--json").json
    route["outputToken"]["price"] = 3 * float(route["outputToken"]["price"])
    response = http_response(200, json.dumps(route))
    with loopback_server(respond_with(response, response)) as server:
        alone = run_swapcli("route", *WORDS[:4], "--api-url", server.url, "--json").json
        found = run_swapcli("compare", *WORDS[:4], "--api-url", server.url, "--json").json
    (service,) = (each for each in found["alternatives"] if each["kind"] == "service")
    gas_wei = int(route["gasUnits"]) * GAS_PRICE
    check(service, wei_value, gas_wei)
    assert alone["gasValueSource"] == "service"
    check(alone, wei_value / 3, gas_wei)


@pytest.mark.parametrize("bought", ["ETH", "WETH"])
def test_the_native_token_pays_for_its_gas_to_the_unit(bought: str) -> None:
    shown = run_swapcli("route", NETWORK, SOLD, bought, *WORDS[3:], "--json").json
    assert int(shown["outputAfterGas"]) == int(shown["outputAmount"]) - int(shown["gasUnits"]) * GAS_PRICE
    assert shown["gasValueSource"] == "native"
