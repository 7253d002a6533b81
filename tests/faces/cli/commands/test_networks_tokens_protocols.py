"""`swapcli networks`, `tokens`, `protocols`: what can be named, in every form."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from swapcli.core.networks.catalogue import find_network, network_names
from tests.support.command import run_swapcli
from tests.support.testnet import LONELY, USDC


def test_networks_lists_the_catalogue() -> None:
    listed = run_swapcli("networks", "--json").json
    assert [entry["name"] for entry in listed] == list(network_names())
    assert all(entry["chainId"] == str(find_network(entry["name"]).chain_id) for entry in listed)


@pytest.mark.parametrize("name", network_names())
def test_protocols_lists_a_networks_protocols(name: str) -> None:
    listed = run_swapcli("protocols", name, "--json").json
    assert [(entry["protocol"], entry["amm_name"]) for entry in listed] == [
        (protocol.id, protocol.amm_name) for protocol in find_network(name).protocols
    ]


def test_without_a_network_the_networks_are_named() -> None:
    refused = run_swapcli("protocols", "--json")
    assert refused.exit_code == 2
    assert refused.error["hint"].startswith(f"name one of {', '.join(network_names())}")


def test_tokens_in_the_most_pools_are_listed_first(market_file: str) -> None:
    listed = run_swapcli("tokens", "testnet", "--market", market_file, "--json").json
    assert [(entry["symbol"], entry["pools"]) for entry in listed[:3]] == [("ETH", 4), ("WETH", 4), ("USDC", 3)]
    assert listed[-1]["address"].lower() in (LONELY, USDC[:2] + "55" * 20)


@pytest.fixture(params=["base", "citrea", "starknet"])
def stored_market(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """A network, and a folder where the embedded market is in its store."""
    exported = run_swapcli("market", "export", request.param).stdout.encode()
    assert run_swapcli("market", "import", "-", "--store", str(tmp_path), stdin=exported).exit_code == 0
    return request.param, str(tmp_path)


def test_the_tokens_of_a_store_are_those_of_its_market(stored_market: tuple[str, str]) -> None:
    name, folder = stored_market
    assert (
        run_swapcli("tokens", name, "--json", "--store", folder).stdout == run_swapcli("tokens", name, "--json").stdout
    )


def test_protocols_tell_how_many_pools_of_each_are_in_the_store(stored_market: tuple[str, str]) -> None:
    name, folder = stored_market
    without, listed = (
        run_swapcli("protocols", name, "--json").json,
        run_swapcli("protocols", name, "--json", "--store", folder).json,
    )
    pools = json.loads(run_swapcli("market", "export", name).stdout)["pools"]
    counts = Counter(pool["protocol"] for pool in pools)
    assert [entry["pools"] for entry in listed] == [counts[entry["amm_name"]] for entry in listed]
    assert [entry | {"pools": None} for entry in listed] == without
    assert pools_column(run_swapcli("protocols", name, "--store", folder).stdout) == [
        f"{entry['pools']:,}" for entry in listed
    ]


def pools_column(listing: str) -> list[str]:
    """Return the column of numbers below its title."""
    titles, *rows = listing.splitlines()
    return [row[titles.index("POOLS") :].split()[0] for row in rows]


def test_a_market_file_goes_before_a_store(stored_market: tuple[str, str], market_file: str) -> None:
    listed = run_swapcli("tokens", "testnet", "--market", market_file, "--store", stored_market[1], "--json")
    assert listed.json == run_swapcli("tokens", "testnet", "--market", market_file, "--json").json


def test_a_network_that_only_a_store_knows_is_listed_too(market_file: str, tmp_path: Path) -> None:
    assert run_swapcli("market", "import", market_file, "--store", str(tmp_path)).exit_code == 0
    listed = run_swapcli("tokens", "testnet", "--store", str(tmp_path), "--json").json
    assert listed == run_swapcli("tokens", "testnet", "--market", market_file, "--json").json
    assert run_swapcli("protocols", "31337", "--store", str(tmp_path)).exit_code == 2
    listed = run_swapcli("protocols", "testnet", "--store", str(tmp_path))
    assert pools_column(listed.stdout) == ["0", "4", "1"]


@pytest.mark.parametrize("command", ["tokens", "protocols"])
def test_a_damaged_store_is_told_and_not_passed_over(command: str, tmp_path: Path) -> None:
    (tmp_path / "base.sqlite").write_bytes(b"nothing of the kind")
    ran = run_swapcli(command, "base", "--store", str(tmp_path), "--json")
    assert (ran.exit_code, ran.error["code"]) == (2, "MARKET_ERROR")


WIDE = {"COLUMNS": "200"}


@pytest.mark.parametrize("command", [("networks",), ("protocols", "base"), ("config", "show")])
def test_every_form_lists_the_same(command: tuple[str, ...]) -> None:
    plain, table = (run_swapcli(*command, form, env=WIDE).stdout for form in ("--plain", "--table"))
    assert [line.split() for line in plain.splitlines()[1:]] == [line.split() for line in table.splitlines()[1:]]
    assert len(plain.splitlines()) == 1 + len(run_swapcli(*command, "--json").json)


def test_a_network_can_be_set() -> None:
    assert run_swapcli("protocols", env={"SWAPCLI_NETWORK": "monad"}).stdout == run_swapcli("protocols", "monad").stdout
    assert run_swapcli("protocols").exit_code == 2
    assert "SWAPCLI_NETWORK" in run_swapcli("protocols").stderr


def test_an_unknown_network_is_guessed() -> None:
    ran = run_swapcli("tokens", "bse", "--json")
    assert (ran.exit_code, ran.error["code"]) == (2, "UNKNOWN_NETWORK")
    assert "base" in ran.error["hint"]


def symbols(*arguments: str) -> list[str]:
    return [entry["symbol"] for entry in run_swapcli("tokens", *arguments, "--json").json]


def test_tokens_match_symbol_name_and_address_in_any_case() -> None:
    everything = run_swapcli("tokens", "base", "--json").json
    for pattern in ("usd", "USD", "wrapped", "0xFDE4", "Coin", "e"):
        typed = pattern.lower()
        expected = [
            token["symbol"]
            for token in everything
            if (token["address"].lower().startswith(typed) if typed.startswith("0x") else False)
            or (not typed.startswith("0x") and typed in f"{token['symbol']}\n{token['name']}".lower())
        ]
        assert expected
        assert sorted(symbols("base", pattern)) == sorted(expected)


def test_the_very_symbol_is_listed_first() -> None:
    assert symbols("base", "eth")[0] == "ETH"
    assert symbols("base", "usdt")[0] == "USDT"


def test_starknet_addresses_match_without_leading_zeros() -> None:
    assert symbols("starknet", "0x49d36570") == symbols("starknet", "0x049d36570") == ["ETH"]


@pytest.mark.parametrize("pattern", ["nosuchtoken", "0xdeadbeef", "", " ", "%", "\x1b[31m"])
def test_a_pattern_without_a_match_is_an_error(pattern: str) -> None:
    ran = run_swapcli("tokens", "base", pattern)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("error: no token of base matches ")
    assert "\x1b" not in ran.stderr
    assert "did you mean USDC?" in run_swapcli("tokens", "base", "uscd").stderr
