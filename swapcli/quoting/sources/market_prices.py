"""Derive prices in USD from the mid prices of a market's pools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from swapcli.core.model.price_basis import PriceBasis
from swapcli.core.model.token import Token
from swapcli.quoting.sources.searchable_market import SearchableMarket


def unit_prices(searchable: SearchableMarket) -> Mapping[str, float]:
    """Return the USD price per base unit of each token that has a price, by address."""
    tokens = searchable.market.tokens.values()
    priced = zip(tokens, searchable.router.index.usd_prices(*tokens), strict=True)
    return {token.address: price / 10**token.decimals for token, price in priced if price is not None}


def price_basis(searchable: SearchableMarket, token: Token) -> PriceBasis | None:
    """Return the USD price of a token and the basis of that price; None if no routable pool gives a price."""
    return searchable.router.index.price_basis(searchable.network.to_wrapped_token(token))


def price_pools(searchable: SearchableMarket, tokens: Iterable[str]) -> tuple[str, ...]:
    """Return the keys of the pools that determine the prices of `tokens` (addresses)."""
    known = searchable.market.tokens
    bases = [price_basis(searchable, known[address]) for address in tokens if address in known]
    return tuple(dict.fromkeys(key for basis in bases if basis for hop in basis.pools for key in hop))
