"""Pages about tokens and contracts in the block explorer of a network."""

from __future__ import annotations

from swapcli.core.model.network import Kind, Network
from swapcli.core.networks.address import STARKNET_ADDRESS_LIMIT, is_native

_ADDRESS_LENGTHS = {Kind.EVM: 42, Kind.STARKNET: 66}
"""Characters of an address. What is longer on an EVM network is the id of a pool inside a contract."""


def token_page(network: Network, address: str) -> str | None:
    """Return the URL of a token's page; None for the native token, and if the network has no known explorer."""
    path = "contract" if network.kind is Kind.STARKNET else "token"
    return None if is_native(address, network.kind) else _page(network, path, address)


def contract_page(network: Network, address: str) -> str | None:
    """Return the URL of a contract's page; None if `address` is none, or the network has no known explorer."""
    return _page(network, "contract" if network.kind is Kind.STARKNET else "address", address)


def _page(network: Network, path: str, address: str) -> str | None:
    if network.explorer is None or len(address) != _ADDRESS_LENGTHS[network.kind]:
        return None
    if network.kind is Kind.STARKNET and int(address, 16) >= STARKNET_ADDRESS_LIMIT:  # the id of an Ekubo pool
        return None
    return f"{network.explorer.rstrip('/')}/{path}/{address}"
