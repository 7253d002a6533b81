"""Write a network as a definition, in the format of network files. `parse_network` reads it back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from swapcli.core.model.network import FIBROUS, Deployment, DialectRouter, Network, ProtocolInfo, PublicNode
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import SHARES

_HAS_V2 = "has_v2"
"""Written even if it is false, because its default depends on the kind of network."""


def definition_of(network: Network) -> dict[str, Any]:
    """Return the definition of a network. `own_nodes` is omitted, because the URLs of nodes may contain keys.

    Keys that have their default value are omitted too.
    """
    return {key: value for key, value in _members(network) if key == _HAS_V2 or value not in (None, "", 0, [], {})}


def _members(network: Network) -> Iterator[tuple[str, Any]]:
    yield "name", network.name
    yield "kind", network.kind.value
    yield "chain_id", network.chain_id
    yield "native", _token(network.native, has_address=network.native.address != ZERO_ADDRESS)
    yield "wrapped_native", _wrapped_native(network)
    yield "router", network.router
    yield "router_dialect", None if network.router_dialect == FIBROUS else network.router_dialect
    yield "routers", {dialect: _router(each) for dialect, each in network.routers.items()}
    yield "multicall", network.multicall
    yield "l1_fee_oracle", network.l1_fee_oracle
    yield "l1_gas_oracle", network.l1_gas_oracle
    yield "explorer", network.explorer
    yield "rpc_urls", [_node(each) for each in network.public_nodes]
    yield "stablecoins", list(network.stablecoins)
    yield "gas_price_wei", network.gas_price_wei
    yield "max_gas_price_wei", network.max_gas_price_wei
    yield "block_time_s", network.block_time_s
    yield "block_gas_limit", network.block_gas_limit
    yield "gas_units_per_evm_gas", None if network.gas_units_per_evm_gas == 1 else network.gas_units_per_evm_gas
    yield _HAS_V2, network.has_v2
    yield "head_is_proposed", network.head_is_proposed
    yield "tokens", [_token(each) for each in network.tokens]
    with_fees = {token: each.transfer_fee_ppm for token, each in network.transfers.items() if each != SHARES}
    yield "transfer_fees_ppm", with_fees
    yield "share_tokens", [token for token, each in network.transfers.items() if each == SHARES]
    yield "blocked_tokens", sorted(network.blocked_tokens)
    yield "revoke_first_tokens", sorted(network.revoke_first_tokens)
    yield "price_feeds", dict(network.price_feeds)
    yield "protocols", [_protocol(each) for each in network.protocols]
    yield "deployments", [_deployment(each) for each in network.deployments]
    yield "quoters", list(network.quoters)
    yield "hook_rules", list(network.hook_rules)
    yield "aggregators", dict(network.aggregators)
    yield "sources", dict(network.sources)
    yield "unconfirmed", list(network.unconfirmed)
    yield "facts_date", network.facts_date


def _token(token: Token, *, has_address: bool = True) -> dict[str, Any]:
    address = {"address": token.address} if has_address else {}
    return {**address, "symbol": token.symbol, "name": token.name, "decimals": token.decimals}


def _wrapped_native(network: Network) -> str | dict[str, Any] | None:
    """Return the address of the wrapped native token if the rest follows from it, otherwise the token."""
    wrapped, native = network.wrapped_native, network.native
    if wrapped is None:
        return None
    named_after = Token(wrapped.address, f"W{native.symbol}", f"Wrapped {native.name}", native.decimals)
    listed = next((token for token in network.tokens if token.address == wrapped.address), named_after)
    return wrapped.address if wrapped == listed else _token(wrapped)


def _router(router: DialectRouter) -> dict[str, Any]:
    return _given(
        address=router.address,
        registry=router.registry,
        spender=router.spender,
        version=router.version,
        protocols=dict(router.protocols),
    )


def _node(node: PublicNode) -> dict[str, Any]:
    return _given(
        url=node.url,
        requests_per_s=node.requests_per_s,
        batch_requests=node.batch_requests,
        log_blocks=node.log_blocks,
        latest_only=node.is_latest_only,
        quote_requests=node.quote_requests,
        source=node.source,
        date=node.date,
    )


def _protocol(protocol: ProtocolInfo) -> dict[str, Any]:
    return {
        "id": protocol.id,
        "amm_name": protocol.amm_name,
        "display_name": protocol.display_name,
        **_given(
            family=protocol.family,
            extra_keys=list(protocol.extra_keys),
            confirmed=protocol.confirmed,
            contracts=list(protocol.contracts),
            unsupported=protocol.unsupported,
            extended=protocol.is_extended,
        ),
    }


def _deployment(deployment: Deployment) -> dict[str, Any]:
    return {
        "protocols": list(deployment.protocols),
        "name": deployment.name,
        **_given(
            addresses=dict(deployment.addresses),
            init_code_hash=deployment.init_code_hash,
            fee_tiers={str(fee_ppm): spacing for fee_ppm, spacing in deployment.fee_tiers.items()},
            hooks={name: list(hooks) for name, hooks in deployment.hooks.items()},
            source=deployment.source,
            unconfirmed=list(deployment.unconfirmed),
        ),
    }


def _given(**members: Any) -> dict[str, Any]:
    return {key: value for key, value in members.items() if value not in (None, "", False, [], {})}
