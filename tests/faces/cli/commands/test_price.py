"""`swapcli price`: the prices with which quotes value amounts."""

from __future__ import annotations

import pytest

from swapcli.core.networks.catalogue import network_names
from tests.support.command import run_swapcli


@pytest.mark.parametrize("name", network_names())
def test_prices_are_those_with_which_quotes_value_amounts(name: str) -> None:
    tokens = [token["symbol"] for token in run_swapcli("tokens", name, "--json").json[:4]]
    ran = run_swapcli("price", name, *tokens, "--json")
    prices = {entry["symbol"]: entry for entry in ran.json["prices"]}
    for token in tokens[1:]:
        ordered = run_swapcli("route", name, tokens[0], token, "0.001", "--json")
        if ordered.exit_code == 0:
            assert prices[token]["priceUsd"] == pytest.approx(float(ordered.json["outputToken"]["price"]))


def test_a_price_in_another_token_is_the_ratio() -> None:
    in_usd = {
        entry["symbol"]: entry["priceUsd"]
        for entry in run_swapcli("price", "base", "AERO", "cbBTC", "--json").json["prices"]
    }
    ratio = run_swapcli("price", "base", "AERO", "--in", "cbBTC", "--get", "prices.0.price").stdout
    assert float(ratio) == pytest.approx(in_usd["AERO"] / in_usd["cbBTC"])


def test_a_token_that_no_pool_prices_has_no_price(market_file: str) -> None:
    ran = run_swapcli("price", "testnet", "LONELY", "--market", market_file, "--json")
    assert ran.exit_code == 0
    (price,) = ran.json["prices"]
    assert not {"priceUsd", "price", "pools"} & price.keys()
    assert "no pool gives a price" in run_swapcli("price", "testnet", "LONELY", "--market", market_file).stdout


@pytest.mark.parametrize(
    "arguments", [("base",), ("base", "nosuch"), ("base", "ETH", "--api-url", "http://127.0.0.1:1")]
)
def test_wrong_prices_are_one_sentence(arguments: tuple[str, ...]) -> None:
    ran = run_swapcli("price", *arguments)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "Traceback" not in ran.stderr
