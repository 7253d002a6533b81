"""`swapcli health` of markets in this process: what it looks at, and how it ends."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from swapcli.core.networks.catalogue import network_names
from tests.examples import few
from tests.support.command import run_swapcli
from tests.support.testnet import NOW_S, write_market_file

MINE = {
    "chain_id": 4242,
    "native": {"symbol": "ETH", "name": "Ether", "decimals": 18},
    "wrapped_native": {"address": "0x" + "11" * 20, "symbol": "WETH", "name": "Wrapped Ether", "decimals": 18},
    "tokens": [],
    "protocols": [],
}
"""A network of the settings, without a node and without a market."""


def test_every_network_is_checked_where_none_is_named() -> None:
    ran = run_swapcli("health", "--json")
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert [each["network"] for each in ran.json] == list(network_names())
    assert all(each["healthy"] and each["pools"] and int(each["sample"]["outputAmount"]) for each in ran.json)


def test_named_networks_are_checked_in_their_order() -> None:
    assert [each["network"] for each in run_swapcli("health", "monad", "8453", "--json").json] == ["monad", "base"]


def test_a_market_file_tells_its_age(market_file: str) -> None:
    (health,) = run_swapcli("health", "--market", market_file, "--json").json
    assert (health["network"], health["pools"], health["state"]["timestamp"]) == ("testnet", 5, int(NOW_S) - 7_200)
    assert health["state"]["kind"] == "synthetic"
    assert health["sample"]["tokenIn"] in ("WETH", "USDC")
    named = run_swapcli("health", "testnet", "--market", market_file, "--json").json
    assert [each["network"] for each in named] == ["testnet"]


@pytest.mark.parametrize("form", ["--format=plain", "--format=table"])
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
    config.write_text(json.dumps({"networks": {"mine": MINE}}))
    ran = run_swapcli("health", "mine", "base", "--config", str(config), "--json")
    assert ran.exit_code == 8
    assert [(each["network"], each["healthy"]) for each in ran.json] == [("mine", False), ("base", True)]


@pytest.mark.parametrize(
    "words", [("nowhere",), ("--market", "/nonexistent"), ("base", "--timeout", "0"), ("--api-url", "x")]
)
def test_wrong_input_is_not_bad_health(words: tuple[str, ...]) -> None:
    ran = run_swapcli("health", *words, "--json")
    assert (ran.exit_code, ran.stdout, ran.error["exitCode"]) == (2, "", 2)


def test_a_broken_market_file_is_wrong_input(tmp_path: Path) -> None:
    assert run_swapcli("health", "testnet", "--market", write_market_file(tmp_path, format="x")).exit_code == 2


NO_NETWORK = {"SWAPCLI_LIVE": "auto", "HTTPS_PROXY": "http://127.0.0.1:9"}
"""Nothing listens at that port, so that no public node is reached."""


def test_networks_without_a_node_are_not_healthy() -> None:
    started_s = time.monotonic()
    ran = run_swapcli("health", "--json", env=NO_NETWORK)
    assert time.monotonic() - started_s < 15  # 3 s, and the searches of a busy machine
    assert (ran.exit_code, ran.error["code"]) == (8, "UNHEALTHY")
    assert "--offline" in ran.error["hint"]
    assert [each["network"] for each in ran.json] == list(network_names())
    for each in ran.json:
        assert (each["healthy"], each["status"], each["state"]["kind"]) == (False, 503, "modelled")
        assert f"no live prices for {each['network']}" in each["message"]
        assert int(each["sample"]["outputAmount"])


def test_offline_checks_the_markets_alone() -> None:
    ran = run_swapcli("health", "base", "--offline", "--json", env=NO_NETWORK)
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert (ran.json[0]["healthy"], ran.json[0]["state"]["kind"]) == (True, "modelled")


@pytest.mark.parametrize("required", few([("--live",), ("--live", "require")], 1))
def test_a_required_node_that_does_not_respond_is_bad_health(required: tuple[str, ...]) -> None:
    ran = run_swapcli("health", "base", *required, "--json", env=NO_NETWORK)
    assert (ran.exit_code, ran.error["code"]) == (8, "UNHEALTHY")
    (health,) = ran.json
    assert (health["healthy"], health.get("state"), health.get("sample")) == (False, None, None)
    assert run_swapcli("health", "base", "--json", env={**NO_NETWORK, "SWAPCLI_LIVE": "require"}).exit_code == 8


def test_a_required_node_that_nobody_knows_is_bad_health(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps({"networks": {"mine": MINE}}))
    ran = run_swapcli("health", "mine", "--live", "--config", str(config), "--json", env=NO_NETWORK)
    assert ran.exit_code == 8
    assert ran.json[0]["message"] == "no node is known for mine"


def test_people_read_which_prices_a_network_has() -> None:
    head, base = run_swapcli("health", "base", env=NO_NETWORK, width=200).stdout.splitlines()
    assert head.split()[:3] == ["Network", "Healthy", "State"]
    assert base.split()[:3] == ["base", "no", "modelled"]


def test_a_node_that_refuses_connections_is_named_once() -> None:
    url = "http://127.0.0.1:1"
    ran = run_swapcli("health", "base", "--rpc-url", url)
    assert ran.exit_code == 8
    assert ran.stderr == f"error: not healthy: base ({url} refuses connections)\n"
    assert ran.stdout.count("refuses connections") == 1
