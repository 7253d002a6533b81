"""The main tokens of a network, which connect routes between other tokens."""

from __future__ import annotations

from typing import Final

from swapcli.core.model.network import Network
from swapcli.core.model.order import ZERO_ADDRESS

_MAX_STABLECOINS: Final = 3
_MAX_MAIN_TOKENS: Final = 6
"""The maximum number of main tokens. Each one adds a pair with every other to pool look-ups. Chosen."""


def main_tokens(network: Network) -> tuple[str, ...]:
    """Return the addresses of the main tokens: wrapped native, stablecoins, and the first tokens in the definition."""
    first = [*filter(None, [network.wrapped_native_address]), *network.stablecoins[:_MAX_STABLECOINS]]
    listed = [token.address for token in network.tokens if token.address != ZERO_ADDRESS]
    return tuple(dict.fromkeys([*first, *listed]))[:_MAX_MAIN_TOKENS]
