"""Token and contract pages in a network's block explorer."""

from __future__ import annotations

import re

from swapcli.core.model.network import Network
from swapcli.core.networks.address import is_canonical, is_native


def token_page(network: Network, address: str) -> str | None:
    """Return the URL of a token's page; None for the native token, and if the network has no known explorer."""
    return None if is_native(address, network.kind) else _page(network, network.kind.traits.token_page, address)


def contract_page(network: Network, address: str) -> str | None:
    """Return the URL of a contract's page; None without an address, or if the network has no known explorer."""
    return _page(network, network.kind.traits.contract_page, address)


_transaction_link = re.compile(
    r"https?://[^/\s]+(?:/\S*)?/(?:tx|txs|transactions?)/(0x[0-9a-fA-F]+)(?:[/?#]\S*)?"
).fullmatch


def transaction_of_link(text: str) -> str:
    """Return the transaction hash from the URL of a block explorer page; any other text is returned unchanged.

    Example: `transaction_of_link("https://basescan.org/tx/0x12")`.
    """
    found = _transaction_link(text.strip())
    return found[1] if found else text


def _page(network: Network, path: str, address: str) -> str | None:
    if network.explorer is None or not is_canonical(address.lower(), network.kind):  # the ID of a pool in a contract
        return None
    return f"{network.explorer.rstrip('/')}/{path}/{address}"
