"""Pools that chains have recorded are found by sync's discovery, with their ids: `creations.json` has the sources."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from eth_abi.abi import encode

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.catalogue import find_network
from swapcli.core.networks.pool_addresses import solidly_pair_address, v2_pair_address, v3_pool_address
from swapcli.families.reading.calls import Log
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.state.discovery.pool_discovery import creation_filter, find_factories, read_created_pools
from swapcli.state.rpc.log_scan import scan_logs
from swapcli.testing.evm import Chain
from tests.chain.node.evm_node import EvmNode, packed_reader
from tests.support.outside_ids import topic_of

CREATIONS: Final[list[dict[str, Any]]] = json.loads(Path(__file__).with_name("creations.json").read_text())
_NUMBER: Final = 7
EVENTS: Final = {
    "infinity_cl": "Initialize(bytes32,address,address,address,uint24,bytes32,uint160,int24)",
    "infinity_bin": "Initialize(bytes32,address,address,address,uint24,bytes32,uint24)",
    "uniswap_v4": "Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)",
    "uniswap_v3": "PoolCreated(address,address,uint24,int24,address)",
    "slipstream": "PoolCreated(address,address,int24,address)",
    "kuru": f"MarketRegistered({'address,' * 4}uint32,uint96,uint32,uint96,uint96,uint256,uint256,uint96)",
}
"""The events of `events.json` that announced the pools."""


def _event(creation: dict[str, Any]) -> str:
    """Return which of the events announced a pool; empty for factories with a list."""
    by_spacing = creation["kind"] == "uniswap_v3" and "fee_ppm" not in creation
    return "slipstream" if by_spacing else creation["kind"] if creation["kind"] in EVENTS else ""


def _log(creation: dict[str, Any]) -> Log:
    """Return the event of a creation. What no source has is 1: prices, and sizes and fees of a market."""
    event, spacing = _event(creation), creation.get("spacing", 0)
    hooks, tokens = creation.get("hooks", ZERO_ADDRESS), [f"0x{token[2:]:0>64}" for token in creation["tokens"]]
    fee = creation.get("fee_ppm", 0)
    market = [creation.get(f"{name}_precision", 0) for name in ("price", "size")]
    topics: dict[str, tuple[str, ...]] = {
        "uniswap_v3": (*tokens, f"0x{fee:064x}"),
        "slipstream": (*tokens, f"0x{spacing:064x}"),
        "kuru": (),
    }
    values: dict[str, tuple[list[str], list[Any]]] = {
        "infinity_cl": (["address", "uint24", "uint256", "uint160", "int24"], [hooks, fee, spacing << 16, 2**96, 0]),
        "infinity_bin": (["address", "uint24", "uint256", "uint24"], [hooks, fee, spacing << 16, 2**23]),
        "uniswap_v4": (["uint24", "int24", "address", "uint160", "int24"], [fee, spacing, hooks, 2**96, 0]),
        "uniswap_v3": (["int24", "address"], [spacing, creation["id"]]),
        "slipstream": (["address"], [creation["id"]]),
        "kuru": (
            ["address"] * 4 + ["uint256"] * 8,
            [*creation["tokens"], *[creation["id"]] * 2, *market, *[1] * 6],
        ),
    }
    keyed = topics.get(event, (creation["id"], *tokens))
    return Log(creation["contract"], (topic_of(EVENTS[event]), *keyed), encode(*values[event]), _NUMBER, 0)


@pytest.mark.parametrize(
    "creation",
    [each for each in CREATIONS if _event(each)],
    ids=lambda each: f"{each['network']} {each['id'][:10]}",
)
def test_discovery_finds_a_recorded_creation(creation: dict[str, Any]) -> None:
    network = find_network(creation["network"])
    factories = {each.address: each for each in find_factories(network)[0]}
    factory: Factory = factories[creation["contract"]]
    assert factory.kind == creation["kind"]
    node = EvmNode(Chain())
    node.emitted_logs.append(_log(creation))
    query = creation_filter([factory], 0, _NUMBER)
    assert query
    logs = [log for part in scan_logs(node, query) for log in part.logs]
    assert logs == node.emitted_logs
    (found,) = read_created_pools(packed_reader(node), factories, logs, network.wrapped_native_address)
    assert isinstance(found, PoolRef), found
    assert found.key == creation["id"]
    wrapped = network.wrapped_native_address
    assert found.tokens == tuple(wrapped if token == ZERO_ADDRESS else token for token in creation["tokens"])
    assert found.fee_ppm == creation.get("fee_ppm", 0)


@pytest.mark.parametrize(
    "creation",
    [each for each in CREATIONS if each["kind"] in {"uniswap_v2", "uniswap_v3", "solidly"}],
    ids=lambda each: f"{each['network']} {each['id'][:10]}",
)
def test_a_recorded_pool_has_the_derived_address(creation: dict[str, Any]) -> None:
    deployments = find_network(creation["network"]).deployments
    (deployment,) = (each for each in deployments if each.addresses.get("factory") == creation["contract"])
    deployer = deployment.addresses.get("pool_deployer", creation["contract"])
    assert deployment.init_code_hash
    token_a, token_b = creation["tokens"]
    if creation["kind"] == "uniswap_v3":
        tier = creation.get("fee_ppm", creation["spacing"])
        derived = v3_pool_address(deployer, token_a, token_b, tier, deployment.init_code_hash)
    elif creation["kind"] == "solidly":
        derived = solidly_pair_address(deployer, token_a, token_b, creation["stable"], deployment.init_code_hash)
    else:
        derived = v2_pair_address(deployer, token_a, token_b, deployment.init_code_hash)
    assert derived == creation["id"]
