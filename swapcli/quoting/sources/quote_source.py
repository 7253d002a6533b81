"""The interface of sources of quotes: the routing core in this process, or a remote service."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Protocol

from swapcli.core.errors import SameToken
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import Network
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.price_impact import PriceImpact
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.token import Token
from swapcli.quoting.quote_results import QuoteResult

if TYPE_CHECKING:
    from swapcli.core.model.past_pools import PastPools
    from swapcli.core.model.transaction import UnsignedTransaction
    from swapcli.quoting.health import Health
    from swapcli.quoting.pool_listing import PoolSelection
    from swapcli.quoting.sources.in_memory import InMemorySource


def require_different_tokens(order: Order) -> None:
    """Raise `SameToken` if an order sells and buys the same token."""
    if order.token_in.address == order.token_out.address:
        raise SameToken


class QuoteSource(Protocol):
    """A source of quotes on one network."""

    @property
    def network(self) -> Network:
        """The network of the quotes."""

    @property
    def state_source(self) -> StateSource:
        """Where the state of the newest quote comes from, and its age now."""

    def token(self, name: str) -> Token:
        """Return the token called `name`, a symbol or an address; the zero address is the native token."""

    def quote(self, request: QuoteRequest) -> QuoteResult:
        """Return the best route for an order. Raise `SameToken`, `NoRoute`, `InvalidInput`, `UpstreamError`."""

    def quote_and_build(self, request: QuoteRequest, terms: SwapTerms) -> tuple[QuoteResult, UnsignedTransaction]:
        """Return the best route and its payload on the same state. Raise as `quote` and `build` do."""

    def build_payload(self, answer: QuoteResult, terms: SwapTerms) -> UnsignedTransaction:
        """Return the payload of a quote of this source, on the state of the quote. Raise as `build` does."""

    def build(self, result: RouteResult, terms: SwapTerms) -> UnsignedTransaction:
        """Return the payload of an earlier route on the current state.

        Raise `InvalidRoute`, `RouteExpired`, `SlippageExceeded` or `PoolError` if the state no longer allows the route,
        `ConfigError` if the network's router is unknown.
        """

    def impact_of(self, result: RouteResult, payload: UnsignedTransaction) -> PriceImpact | None:
        """Return the price impact of the payload that was just built from `result`; None if it is unknown."""

    def route_pools(self, result: RouteResult) -> Mapping[str, Pool] | None:
        """Return the pools, by key, on whose state the payload of `result` was just built; None if they are unknown."""

    def known_market(self) -> MarketState | None:
        """Return all pools and tokens that the source knows, with their state before any reading; None for a service,
        which does not list its pools."""

    def known_contract(self, address: str) -> str | None:
        """Return what the known market has at an address, a token or a pool, in words; None if it has nothing there."""

    def known_pools(self, tokens: Collection[str]) -> Mapping[str, Pool] | None:
        """Return the known pools that trade all of these tokens, by key, with their state before any reading.

        None for a service.
        """

    def past_pools(self, keys: Collection[str]) -> tuple[PastPools, ...]:
        """Return the states of these pools at recent blocks, newest first; empty without a synced store of them."""

    def select_pools(self, tokens: Collection[str], limit: int | None) -> PoolSelection:
        """Return the deepest pools that trade all of these tokens, by address, at most `limit` of them if it is given.

        Raise `InvalidOption` for a service, `UpstreamError`.
        """

    def pricing_source(self, tokens: Collection[str]) -> InMemorySource:
        """Return a source with the pools that give the prices of these tokens, by address. Raise as `select_pools`."""

    def health(self) -> Health:
        """Return the health of the source; an unhealthy source raises nothing."""

    def refresh(self) -> None:
        """Quote on the newest state from now on."""

    def pin(self, *, pinned: bool) -> None:
        """Quote on the block of the next order from now on, or again on newest blocks if not `pinned`."""

    def close(self) -> None:
        """Close the connections and files of the source."""
