"""Payloads for 0x Settler: the address of Settler comes from a node or from the settings, never from the catalogue."""

from __future__ import annotations

from pathlib import Path

import pytest

from swapcli.core.model.network import SETTLER
from swapcli.core.networks.catalogue import find_network
from tests.support.command import run_swapcli

VERIFIED = "0x" + "5e" * 20
RECIPIENT = ("--destination", "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045")
SPENDER = find_network("base").routers[SETTLER].spender


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a user who has verified a Settler."""
    config = tmp_path / "config.yaml"
    config.write_text(f'networks: {{base: {{router: "{VERIFIED}", router_dialect: settler}}}}')
    return {"SWAPCLI_CONFIG": str(config)}


def test_without_a_node_quotes_have_no_payload() -> None:
    order = ("base", "ETH", "USDC", "1", "--router-dialect", "settler", "--offline")
    assert run_swapcli("route", *order, "--json").exit_code == 0
    refused = run_swapcli("calldata", *order, *RECIPIENT, "--json")
    assert (refused.exit_code, refused.error["code"]) == (2, "CONFIG_ERROR")
    assert refused.error["hint"].startswith("set networks.base.rpc_url, or networks.base.router")


def test_tokens_go_through_allowance_holder(env: dict[str, str]) -> None:
    document = run_swapcli(
        "calldata", "base", "USDC", "ETH", "1500", *RECIPIENT, "--with-approval", "--json", env=env
    ).json
    assert (document["dialect"], document["to"].lower(), document["value"]) == ("settler", SPENDER, "0")
    assert document["calldata"].startswith(f"0x2213bc0b{VERIFIED[2:]:0>64}")
    assert "swap_parameters" not in document
    approval, swap = document["transactions"]
    assert approval["data"].startswith(f"0x095ea7b3{str(SPENDER)[2:]:0>64}")
    assert swap["data"] == document["calldata"]


def test_native_currency_goes_to_settler_itself(env: dict[str, str]) -> None:
    document = run_swapcli("calldata", "base", "ETH", "USDC", "1", *RECIPIENT, "--json", env=env).json
    assert (document["to"].lower(), document["value"]) == (VERIFIED, str(10**18))
    assert document["calldata"].startswith("0x1fff991f")


def test_a_printed_route_is_executed_by_settler(env: dict[str, str]) -> None:
    route = run_swapcli("route", "base", "USDC", "ETH", "1500", "--json", env=env).stdout.encode()
    document = run_swapcli("execute", *RECIPIENT, "--json", stdin=route, env=env).json
    assert document["to"].lower() == SPENDER


def test_a_network_without_settler_is_refused() -> None:
    refused = run_swapcli("route", "citrea", "cBTC", "ctUSD", "1", "--router-dialect", "settler", "--json")
    assert (refused.exit_code, refused.error["code"]) == (2, "INVALID_OPTION")
