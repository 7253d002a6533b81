"""`swapcli networks`, `tokens`, `protocols`: what can be named, in every form."""

from __future__ import annotations

import pytest

from swapcli.networks.catalogue import network, network_names
from tests.cli.build import LONELY, USDC, swapcli


def test_networks_lists_the_catalogue() -> None:
    listed = swapcli("networks", "--json").json
    assert [entry["name"] for entry in listed] == list(network_names())
    assert all(entry["chainId"] == str(network(entry["name"]).chain_id) for entry in listed)


@pytest.mark.parametrize("name", network_names())
def test_protocols_lists_a_networks_protocols(name: str) -> None:
    listed = swapcli("protocols", name, "--json").json
    assert [(entry["protocol"], entry["amm_name"]) for entry in listed] == [
        (protocol.id, protocol.amm_name) for protocol in network(name).protocols
    ]


def test_tokens_lists_a_market_with_the_tokens_in_most_pools_first(market_file: str) -> None:
    listed = swapcli("tokens", "testnet", "--market", market_file, "--json").json
    assert [(entry["symbol"], entry["pools"]) for entry in listed[:3]] == [("ETH", 4), ("WETH", 4), ("USDC", 3)]
    assert listed[-1]["address"].lower() in (LONELY, USDC[:2] + "55" * 20)


@pytest.mark.parametrize("command", [("networks",), ("protocols", "base"), ("config", "show")])
def test_every_form_lists_the_same(command: tuple[str, ...]) -> None:
    plain, table = (swapcli(*command, form).out for form in ("--plain", "--table"))
    assert [line.split() for line in plain.splitlines()[1:]] == [line.split() for line in table.splitlines()[1:]]
    assert len(plain.splitlines()) == 1 + len(swapcli(*command, "--json").json)


def test_a_network_can_be_set() -> None:
    assert swapcli("protocols", env={"SWAPCLI_NETWORK": "monad"}).out == swapcli("protocols", "monad").out
    assert swapcli("protocols").status == 2
    assert "SWAPCLI_NETWORK" in swapcli("protocols").err


def test_an_unknown_network_is_guessed() -> None:
    ran = swapcli("tokens", "bse", "--json")
    assert (ran.status, ran.error["code"]) == (2, "UNKNOWN_NETWORK")
    assert "base" in ran.error["hint"]
