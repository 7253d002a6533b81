"""Settings files that describe a test network, for commands that run in processes of their own."""

from __future__ import annotations

import json
from pathlib import Path

from swapcli.core.model.network import Deployment, Network, ProtocolInfo
from swapcli.core.model.token import Token
from tests.chain.anvil import AnvilChain


def write_settings(folder: Path, network: Network, rpc_url: str | None, **more: object) -> Path:
    """Write a settings file into `folder`, next to the stores; `more` are further top-level settings."""
    settings = {"store_dir": str(folder / "stores"), "networks": {network.name: describe_network(network, rpc_url)}}
    file = folder / "config.yaml"
    file.write_text(json.dumps(settings | more))  # every JSON document is a YAML one
    return file


def url_of(chain: AnvilChain) -> str:
    """Return the URL of a chain's node."""
    return f"http://127.0.0.1:{chain.node.port}"


def websocket_url(port: int) -> str:
    """Return the WebSocket URL of a port of this machine."""
    return f"ws://127.0.0.1:{port}"


def describe_network(network: Network, rpc_url: str | None = None) -> dict[str, object]:
    """Return the mapping that settings describe a network with."""
    wrapped = network.wrapped_native
    described = {
        "chain_id": network.chain_id,
        "native": _token(network.native, "symbol", "name", "decimals"),
        "wrapped_native": wrapped.address if wrapped else None,
        "tokens": [_token(token, "address", "symbol", "name", "decimals") for token in network.tokens],
        "protocols": [_protocol(protocol) for protocol in network.protocols],
        "deployments": [_deployment(deployment) for deployment in network.deployments],
        "stablecoins": list(network.stablecoins),
        "rpc_url": rpc_url,
        "router": network.router,
        "multicall": network.multicall,
        "block_time_s": network.block_time_s,
        "hook_rules": [*network.hook_rules] or None,
    }
    return {key: value for key, value in described.items() if value is not None}


def _token(token: Token, *keys: str) -> dict[str, object]:
    return {key: getattr(token, key) for key in keys}


def _protocol(protocol: ProtocolInfo) -> dict[str, object]:
    row: dict[str, object] = {
        "id": protocol.id,
        "amm_name": protocol.amm_name,
        "display_name": protocol.display_name,
        "extra_keys": list(protocol.extra_keys),
        "contracts": list(protocol.contracts),
    }
    return row | ({"family": protocol.family} if protocol.family else {})


def _deployment(deployment: Deployment) -> dict[str, object]:
    row: dict[str, object] = {
        "protocols": list(deployment.protocols),
        "name": deployment.name,
        "addresses": dict(deployment.addresses),
        "fee_tiers": dict(deployment.fee_tiers),
    }
    hooks = {protocol: list(addresses) for protocol, addresses in deployment.hooks.items()}
    return row | ({"hooks": hooks} if hooks else {})
