"""`swapcli tokens`: what can be named, and what matches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swapcli.core.networks.catalogue import find_network
from tests.support.command import run_swapcli
from tests.support.testnet import LONELY, build_market_document


def test_tokens_in_the_most_pools_are_listed_first(market_file: str) -> None:
    listed = run_swapcli("tokens", "testnet", "--market", market_file, "--json").json
    assert [(entry["symbol"], entry["pools"]) for entry in listed[:3]] == [("ETH", 4), ("WETH", 4), ("USDC", 3)]
    assert LONELY not in {entry["address"].lower() for entry in listed}


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


def test_a_token_added_to_a_network_is_listed(stored_market: tuple[str, str], tmp_path: Path) -> None:
    name, folder = stored_market
    address = "0x" + "056" * 21 if name == "starknet" else "0x" + "5656" * 10
    settings = tmp_path / "config.yaml"
    token = f'{{address: "{address}", symbol: MINE, name: My Token, decimals: 18}}'
    settings.write_text(f"networks: {{{name}: {{tokens: [{token}]}}}}\n")
    for source in ([], ["--store", folder]):
        listed = run_swapcli("tokens", name, "mine", "--json", "--config", str(settings), *source).json
        assert [(each["symbol"], each["decimals"], each["pools"]) for each in listed] == [("MINE", 18, 0)]
        assert run_swapcli("tokens", name, "--json", "--config", str(settings), *source).json[-1] == listed[0]


def test_a_network_without_a_market_lists_the_tokens_of_its_definition(tmp_path: Path) -> None:
    env = {"XDG_DATA_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    listed = run_swapcli("tokens", "ethereum", "--json", env=env).json
    known = find_network("ethereum").tokens
    assert {each["address"].lower() for each in listed} == {"0x" + "0" * 40, *(each.address for each in known)}
    assert {each["pools"] for each in listed} == {0}
    assert run_swapcli("tokens", "ethereum", "usdc", "--json", env=env).json[0]["symbol"] == "USDC"


def test_a_users_own_network_lists_its_tokens_without_pools(market_file: str, tmp_path: Path) -> None:
    document = build_market_document()["network"]
    token = {"address": "0x" + "56" * 20, "symbol": "MINE", "name": "My Token", "decimals": 6}
    definition = tmp_path / "mine.json"
    definition.write_text(json.dumps(document | {"tokens": [token]}))
    env = {"SWAPCLI_CONFIG": str(tmp_path / "config.yaml"), "XDG_DATA_HOME": str(tmp_path)}
    (tmp_path / "config.yaml").touch()
    assert run_swapcli("networks", "add", str(definition), env=env).exit_code == 0
    for source in ((), ("--market", market_file)):
        (mine,) = run_swapcli("tokens", "testnet", "mine", "--json", *source, env=env).json
        assert (mine["symbol"], mine["pools"]) == ("MINE", 0)


def pools_column(listing: str) -> list[str]:
    """Return the column of numbers below its title."""
    titles, *rows = listing.splitlines()
    return [row[titles.index("Pools") :].split()[0] for row in rows]


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


def test_the_network_of_the_settings_may_be_omitted(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("network: base\n")
    at = ("--config", str(tmp_path / "config.yaml"))
    assert symbols("usd", *at) == symbols("base", "usd")
    assert symbols("citrea", *at) == symbols("citrea")
    assert symbols(*at) == symbols("base")
    ran = run_swapcli("tokens", "bse", "usd", *at)
    assert (ran.exit_code, ran.stderr) == (2, 'error: no network "bse"\nhint:  did you mean base?\n')


@pytest.mark.parametrize("pattern", ["nosuchtoken", "0xdeadbeef", "", " ", "%", "\x1b[31m"])
def test_a_pattern_without_a_match_is_an_error(pattern: str) -> None:
    ran = run_swapcli("tokens", "base", pattern)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("error: no token on base matches ")
    assert "\x1b" not in ran.stderr
    assert "did you mean USDC?" in run_swapcli("tokens", "base", "uscd").stderr
