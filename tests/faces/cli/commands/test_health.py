"""`swapcli health` of markets in this process: what it looks at, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swapcli.core.networks.catalogue import network_names
from tests.support.command import run_swapcli
from tests.support.testnet import NOW_S, write_market_file


def test_every_network_is_checked_where_none_is_named() -> None:
    ran = run_swapcli("health", "--json")
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert [each["network"] for each in ran.json] == list(network_names())
    assert all(each["healthy"] and each["pools"] and int(each["sample"]["amountOut"]) for each in ran.json)


def test_named_networks_are_checked_in_their_order() -> None:
    assert [each["network"] for each in run_swapcli("health", "monad", "8453", "--json").json] == ["monad", "base"]


def test_a_market_file_tells_its_age(market_file: str) -> None:
    (health,) = run_swapcli("health", "--market", market_file, "--json").json
    assert (health["network"], health["pools"], health["market"]["timestamp"]) == ("testnet", 5, int(NOW_S) - 7_200)
    assert health["market"]["provenance"] == "synthetic"
    assert health["sample"]["tokenIn"] in ("WETH", "USDC")
    named = run_swapcli("health", "testnet", "--market", market_file, "--json").json
    assert [each["network"] for each in named] == ["testnet"]


@pytest.mark.parametrize("form", ["--plain", "--table"])
def test_people_read_a_row_a_network(form: str) -> None:
    rows = run_swapcli("health", "base", "starknet", form).stdout.splitlines()
    assert [row.split()[0].lower() for row in rows] == ["network", "base", "starknet"]
    assert "220" in rows[1]


def test_a_market_that_cannot_quote_is_status_8_and_still_told(tmp_path: Path) -> None:
    file = write_market_file(tmp_path, pools=[])
    ran = run_swapcli("health", "--market", file, "--json")
    assert ran.exit_code == 8
    assert (ran.error["code"], ran.error["details"]) == ("UNHEALTHY", {"networks": ["testnet"]})
    (health,) = ran.json
    assert (health["healthy"], health["status"], health["pools"]) == (False, 503, 0)
    people = run_swapcli("health", "--market", file)
    assert "the market holds no pools" in people.stdout
    assert people.stderr.startswith("error: not healthy: testnet (")


def test_a_network_without_a_market_is_not_healthy(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    described = {
        "chain_id": 4242,
        "native": {"symbol": "ETH", "name": "Ether", "decimals": 18},
        "wrapped_native": {"address": "0x" + "11" * 20, "symbol": "WETH", "name": "Wrapped Ether", "decimals": 18},
        "tokens": [],
        "protocols": [],
    }
    config.write_text(json.dumps({"networks": {"mine": described}}))
    ran = run_swapcli("health", "mine", "base", "--config", str(config), "--json")
    assert ran.exit_code == 8
    assert [(each["network"], each["healthy"]) for each in ran.json] == [("mine", False), ("base", True)]


@pytest.mark.parametrize(
    "words", [("nowhere",), ("--market", "/nonexistent"), ("base", "--timeout", "0"), ("--api-url", "x")]
)
def test_wrong_input_is_not_bad_health(words: tuple[str, ...]) -> None:
    ran = run_swapcli("health", *words, "--json")
    assert (ran.exit_code, ran.stdout, ran.error["exit_code"]) == (2, "", 2)


def test_a_broken_market_file_is_wrong_input(tmp_path: Path) -> None:
    assert run_swapcli("health", "testnet", "--market", write_market_file(tmp_path, format="x")).exit_code == 2
