"""The networks that the interface does not list: what commands know of them without a market, a store or a node."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swapcli.core.networks.catalogue import all_network_names, find_network, network_names
from tests.support.command import run_swapcli

FURTHER = tuple(name for name in all_network_names() if name not in network_names())
PERMIT2 = "0x000000000022d473030f116ddee9f6b43ac78ba3"
RECIPIENT = "0x1234567890123456789012345678901234567890"
PAIR = "0xb4e16d0168e52d35cacd2c6185b44281ec28c9dc"
"""Uniswap V2's pair of USDC and WETH on Ethereum."""


@pytest.fixture
def market(tmp_path: Path) -> str:
    """A market of Ethereum with one pair."""
    network = find_network("ethereum")
    tokens = {token.symbol: token for token in network.tokens}
    pair = [tokens["USDC"], tokens["WETH"]]
    document = {
        "format": "swap-market/1",
        "network": {"name": "ethereum", "chain_id": 1},
        "block": 1,
        "timestamp": 1_700_000_000,
        "provenance": "recorded",
        "source": "made for this test",
        "gas_price_wei": 10**9,
        "tokens": [
            {"address": each.address, "symbol": each.symbol, "name": each.name, "decimals": each.decimals}
            for each in pair
        ],
        "pools": [
            {
                "address": PAIR,
                "protocol": "uniswapV2",
                "family": "constant_product",
                "tokens": [each.address for each in pair],
                "fee_ppm": 3000,
                "reserves": [str(10**13), str(5 * 10**21)],
            }
        ],
    }
    file = tmp_path / "ethereum.json"
    file.write_text(json.dumps(document))
    return str(file)


@pytest.mark.parametrize("name", FURTHER)
def test_protocols_are_listed_with_routers_that_are_there(name: str) -> None:
    listed = run_swapcli("protocols", name, "--json")
    assert listed.exit_code == 0, listed.stderr
    rows = {row["protocol"]: row for row in listed.json}
    assert rows.keys() == {protocol.amm_name for protocol in find_network(name).protocols}
    assert {"settler", "universal-router"} <= set(rows["uniswapV3"]["dialects"])
    assert [row for row in rows.values() if "fibrous" in row.get("dialects", [])] == []


@pytest.mark.parametrize("name", FURTHER)
def test_a_payload_is_recognized_by_its_token(name: str) -> None:
    network = find_network(name)
    token = next(each for each in network.tokens if each.address in network.stablecoins)
    words = ("--to", token.address, "--offline", "--json")
    approval = f"0x095ea7b3{PERMIT2[2:]:0>64}{10**6:064x}"
    assert run_swapcli("decode", approval, *words).json["network"] == name


@pytest.mark.parametrize("name", FURTHER)
def test_a_payload_for_the_universal_router_is_recognized(name: str) -> None:
    network = find_network(name)
    token = next(each for each in network.tokens if each.address in network.stablecoins)
    router = network.routers["universal-router"].address
    assert router is not None
    approval = f"0x095ea7b3{router[2:]:0>64}{10**6:064x}"
    named = run_swapcli("decode", approval, "--to", token.address, "--network", name, "--offline", "--json")
    assert named.json["network"] == name
    assert "SPENDER_UNKNOWN" not in {each["code"] for each in named.json.get("warnings", [])}


def test_a_network_without_the_interfaces_router_says_which_dialects_it_has(market: str) -> None:
    words = ("calldata", "ethereum", "ETH", "USDC", "1", "--market", market, "--destination", RECIPIENT)
    refused = run_swapcli(*words)
    assert refused.exit_code == 2
    assert "no payload can be built on ethereum: its router is unknown" in refused.stderr
    assert "or use the router dialect settler or universal-router" in refused.stderr
    built = run_swapcli(*words, "--router-dialect", "universal-router", "--json")
    assert built.exit_code == 0, built.stderr
    assert built.json["to"].lower() == find_network("ethereum").routers["universal-router"].address
    decoded = run_swapcli("decode", "-", "--market", market, "--json", stdin=json.dumps(built.json).encode())
    assert decoded.json["network"] == "ethereum"
    assert decoded.json["order"]["minReceived"] == built.json["minReceived"]
