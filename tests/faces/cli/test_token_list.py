"""One count of tokens: every command says the same of a network, and offers only what can be swapped."""

from __future__ import annotations

from pathlib import Path

import pytest

from swapcli.core.networks.catalogue import find_network, network_names
from tests.support.command import run_swapcli
from tests.support.testnet import build_market_document, write_market_file


@pytest.mark.parametrize("name", network_names())
def test_every_command_counts_the_same_tokens(name: str, tmp_path: Path) -> None:
    listed = run_swapcli("tokens", name, "--json").json
    (network,) = (each for each in run_swapcli("networks", "--json").json if each["name"] == name)
    (health,) = run_swapcli("health", name, "--json").json
    exported = run_swapcli("market", "export", name, str(tmp_path / "market.json"), "--json").json
    imported = run_swapcli("market", "import", str(tmp_path / "market.json"), "--store", str(tmp_path), "--json").json
    stored = run_swapcli("tokens", name, "--store", str(tmp_path), "--json").json
    (of_store,) = run_swapcli("health", name, "--store", str(tmp_path), "--json").json
    counts = [each["tokens"] for each in (network, health, exported, imported, of_store)]
    assert counts == [len(listed)] * 5
    assert len(stored) == len(listed)
    assert all(each["pools"] for each in (*listed, *stored))


def test_a_store_without_a_pool_of_a_token_does_not_list_it(tmp_path: Path) -> None:
    extra = {"address": "0x" + "12" * 20, "symbol": "POOLLESS", "name": "No pool", "decimals": 18}
    file = write_market_file(tmp_path, tokens=[*build_market_document()["tokens"], extra])
    assert run_swapcli("market", "import", file, "--store", str(tmp_path)).exit_code == 0
    for source in (("--market", file), ("--store", str(tmp_path))):
        listed = {each["symbol"] for each in run_swapcli("tokens", "testnet", "--json", *source).json}
        assert "USDC" in listed
        assert "POOLLESS" not in listed
        (health,) = run_swapcli("health", "testnet", "--json", *source).json
        assert health["tokens"] == len(listed)
        ran = run_swapcli("route", "testnet", "POOLLES", "USDC", "1", *source)
        assert "POOLLESS" not in ran.stderr
    offered = run_swapcli("_complete", "route", "--store", str(tmp_path), "testnet", "").stdout
    assert "POOLLESS" not in offered


def test_suggestions_are_tokens_with_pools() -> None:
    listed = {each["symbol"] for each in run_swapcli("tokens", "base", "--json").json}
    described = {token.symbol for token in find_network("base").tokens} - listed
    assert described
    for symbol in sorted(described):
        typed = symbol + "x"
        ran = run_swapcli("route", "base", typed, "USDC", "1", "--json")
        assert set(ran.error["details"].get("closest", [])) <= listed
