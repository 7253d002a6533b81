"""The choice of the encoder for a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli.model.network import Kind, Network

if TYPE_CHECKING:
    from swapcli.model.payload_encoder import PayloadEncoder


def payload_encoder(network: Network) -> PayloadEncoder:
    """Return the encoder for the kind of a network. Only the modules of that kind are imported."""
    if network.kind is Kind.STARKNET:
        from swapcli.starknet.encoder import StarknetEncoder

        return StarknetEncoder(network)
    from swapcli.evm.encoder import EvmEncoder

    return EvmEncoder(network)
