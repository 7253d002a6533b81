"""The main tokens of a network, through which routes between other tokens lead."""

from __future__ import annotations

from typing import Final

from swapcli.core.model.network import Network
from swapcli.core.model.order import ZERO_ADDRESS

_MAX_STABLECOINS: Final = 3
_MAX_MAIN_TOKENS: Final = 6
"""Each further token makes look-ups of pools longer by a pair with every other one. Chosen."""


def main_tokens(network: Network) -> tuple[str, ...]:
    """Return the addresses of the main tokens: wrapped native, stablecoins, and the first that the definition lists."""
    first = [*filter(None, [network.wrapped_native_address]), *network.stablecoins[:_MAX_STABLECOINS]]
    listed = [token.address for token in network.tokens if token.address != ZERO_ADDRESS]
    return tuple(dict.fromkeys([*first, *listed]))[:_MAX_MAIN_TOKENS]
