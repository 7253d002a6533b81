"""Prices of tokens from the mid prices of pools, the same as those used to value amounts in quotes."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from swapcli.core.model.finding import Finding
from swapcli.core.model.network import Network
from swapcli.core.model.price_basis import PriceBasis
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.token import Token
from swapcli.core.networks.address import display_address
from swapcli.core.networks.explorer import token_page
from swapcli.core.records import NamedTuple
from swapcli.interface.own_document import own_document
from swapcli.interface.quote_fields import render_state_source, render_warning_list
from swapcli.quoting.sources.market_prices import price_basis
from swapcli.quoting.sources.quote_source import require_pools

if TYPE_CHECKING:
    from swapcli.interface.document_types import PriceDocumentJson, PricesJson
    from swapcli.quoting.sources.quote_source import QuoteSource


class TokenPrice(NamedTuple):
    """The price of one whole token in USD and in a second token (None if no pool determines it), and the basis of the
    price.

    `path` has the tokens from this one to the token whose price is known in advance.
    """

    token: Token
    price_usd: float | None
    price: float | None
    basis: PriceBasis | None
    path: tuple[Token, ...] = ()


class PriceList(NamedTuple):
    """The prices of tokens in USD and in `unit`, all on the same state."""

    prices: tuple[TokenPrice, ...]
    unit: Token
    state: StateSource
    network: Network
    warnings: tuple[Finding, ...] = ()

    def address(self, found: TokenPrice) -> str:
        """Return the address of a priced token, as its network writes addresses."""
        return display_address(found.token.address, self.network.kind)

    def page(self, found: TokenPrice) -> str | None:
        """Return the page of a priced token in the network's explorer; None if there is no explorer."""
        return token_page(self.network, self.address(found))

    @own_document
    def document(self) -> PricesJson:
        """Return the JSON that `swapcli price` prints."""
        return {
            "network": self.network.name,
            "state": render_state_source(self.state),
            "warnings": render_warning_list(self.warnings),
            "prices": [self._row(each) for each in self.prices],
        }

    def _row(self, found: TokenPrice) -> PriceDocumentJson:
        basis, kind = found.basis, self.network.kind
        return {
            "symbol": found.token.symbol,
            "address": self.address(found),
            "priceUsd": found.price_usd,
            "price": found.price,
            "in": self.unit.symbol,
            "depthUsd": basis.depth_usd if basis and isfinite(basis.depth_usd) else None,
            "path": [token.symbol for token in found.path],
            "pools": [display_address(key, kind) for hop in basis.pools for key in hop] if basis else [],
        }


def price_tokens(source: QuoteSource, tokens: Sequence[Token], unit: Token | None = None) -> PriceList:
    """Return the prices of tokens in USD and in `unit`, by default the native token.

    Raises `InvalidOption` for a service, `UpstreamError`.
    """
    network = source.network
    unit = unit or network.native
    addresses = [network.to_wrapped_token(token).address for token in (*tokens, unit)]
    access = require_pools(source)
    pricing = access.read(access.known().for_prices(addresses), (), addresses)
    unit_basis = price_basis(pricing, unit)
    known = pricing.market.tokens

    def price(token: Token) -> TokenPrice:
        basis = price_basis(pricing, token)
        if basis is None:
            return TokenPrice(token, None, None, None)
        ratio = basis.price_usd / unit_basis.price_usd if unit_basis and unit_basis.price_usd else None
        return TokenPrice(token, basis.price_usd, ratio, basis, tuple(known[address] for address in basis.path))

    return PriceList(tuple(map(price, tokens)), unit, pricing.state_source, network)
