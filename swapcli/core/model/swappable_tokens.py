"""The tokens that orders can swap: tokens with pools, and the native token if its wrapped form has pools.

Counts and lists of tokens, suggestions and completion all start from here, so that they agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from swapcli.core.model.market import MarketState
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple


class SwappableToken(NamedTuple):
    """A token and the number of its pools; for the native token, the pools of its wrapped form."""

    token: Token
    pools: int


def count_pools_by_token(pools: Iterable[Pool]) -> Counter[str]:
    """Return the number of pools that trade each token, by address."""
    return Counter(address for pool in pools for address in pool.tokens)


def swappable_pool_counts(network: Network, pool_counts: Mapping[str, int]) -> dict[str, int]:
    """Return, by address, the tokens that orders can swap and the number of pools that trade each of them.

    `pool_counts` are the counts of tokens that pools hold, which include only the wrapped form of the native token.
    """
    found = {address: count for address, count in pool_counts.items() if count}
    wrapped = network.wrapped_native
    if wrapped is not None and wrapped.address in found:
        found[network.native.address] = found[wrapped.address]
    return found


def swappable_in(market: MarketState) -> tuple[SwappableToken, ...]:
    """Return the tokens of a market that orders can swap, sorted by their number of pools, most first."""
    return swappable_tokens(market.network, market.tokens, count_pools_by_token(market.pools.values()))


def swappable_tokens(
    network: Network, tokens: Mapping[str, Token], pool_counts: Mapping[str, int]
) -> tuple[SwappableToken, ...]:
    """Return the tokens that orders can swap, sorted by their number of pools, most first. `tokens` are the market's
    tokens, by address."""
    known = {network.native.address: network.native, **tokens}
    counts = swappable_pool_counts(network, pool_counts)
    found = (SwappableToken(known[address], count) for address, count in counts.items() if address in known)
    return tuple(sorted(found, key=lambda each: (-each.pools, each.token.symbol.lower(), each.token.address)))
