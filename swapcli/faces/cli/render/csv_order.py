"""The CSV columns that describe an order: its network, and the symbol, address and decimals of its tokens."""

from __future__ import annotations

from typing import Final

from swapcli import Network, Token
from swapcli.core.networks.address import display_address

ORDER_COLUMNS: Final = (
    "network", "inputToken", "inputTokenAddress", "inputTokenDecimals", "outputToken", "outputTokenAddress",
    "outputTokenDecimals",
)  # fmt: skip
"""The columns that every CSV of orders has, because amounts in base units cannot be read without them."""


def order_columns(network: Network, token_in: Token | None, token_out: Token | None) -> dict[str, object]:
    """Return the CSV columns that describe an order. The columns of an unknown token are empty."""
    return {
        "network": network.name,
        **_token_columns("inputToken", token_in, network),
        **_token_columns("outputToken", token_out, network),
    }


def _token_columns(name: str, token: Token | None, network: Network) -> dict[str, object]:
    if token is None:
        return {}
    return {
        name: token.symbol,
        f"{name}Address": display_address(token.address, network.kind),
        f"{name}Decimals": token.decimals,
    }
