"""A source of quotes over a market in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Set
from functools import cached_property
from typing import TYPE_CHECKING

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import Network
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import DEFAULT_ROUTE_TTL_S, SwapTerms
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import TransferBehaviour
from swapcli.quoting.quote_results import LocalQuote, QuoteResult, result_of
from swapcli.quoting.resolve import find_token
from swapcli.quoting.sources.local_quotes import Confirm, LocalPayloads, quote_locally
from swapcli.quoting.sources.searchable_market import Cancelled, SearchableMarket
from swapcli.state.clock import Clock

if TYPE_CHECKING:
    from swapcli.core.model.past_pools import PastPools
    from swapcli.core.model.swappable_tokens import SwappableToken
    from swapcli.core.model.transaction import UnsignedTransaction
    from swapcli.core.routing.search_memory import SearchMemory
    from swapcli.quoting.health import Health


class KnownInMemory:
    """An in-memory market as a `KnownMarket`. Every query returns the whole market."""

    def __init__(self, searchable: SearchableMarket) -> None:
        self._searchable, self._market = searchable, searchable.market

    def whole(self) -> MarketState:
        return self._market

    def for_order(self, order: Order) -> SearchableMarket:
        del order
        return self._searchable

    def with_pools(self, keys: Iterable[str]) -> SearchableMarket:
        del keys
        return self._searchable

    def for_prices(self, tokens: Collection[str], keys: Iterable[str] = ()) -> SearchableMarket:
        del tokens, keys
        return self._searchable

    def trading(self, tokens: Collection[str]) -> Mapping[str, Pool]:
        return {key: pool for key, pool in self._market.pools.items() if set(tokens).issubset(pool.tokens)}

    def deepest(self, tokens: Collection[str], limit: int | None) -> tuple[Mapping[str, Pool], int]:
        from swapcli.quoting.pool_liquidity import liquidity_usd
        from swapcli.quoting.sources.market_prices import unit_prices

        found, prices = self.trading(tokens), unit_prices(self._searchable)
        by_depth = sorted(found, key=lambda key: -(liquidity_usd(found[key], prices) or 0.0))
        return {key: found[key] for key in by_depth[:limit]}, len(found)

    def token_at(self, address: str) -> Token | None:
        return self._market.tokens.get(address)

    def has_pool_at(self, address: str) -> bool:
        return address in self._pool_addresses

    @cached_property
    def _pool_addresses(self) -> frozenset[str]:
        return frozenset(pool.address for pool in self._market.pools.values())

    def skipped_pools(self) -> tuple[()]:
        """Return nothing, because the market does not come from a sync."""
        return ()

    def past_pools(self, keys: Collection[str]) -> tuple[PastPools, ...]:
        """Return nothing, because a market in memory has only one state."""
        del keys
        return ()

    def record_transfers(self, behaviours: Mapping[str, TransferBehaviour], block: int) -> None:
        """Do nothing, because a market in memory ends with the process."""


class InMemorySource:
    """Quotes on a market in memory that does not change, as a `PoolSource`."""

    def __init__(
        self,
        market: MarketState,
        clock: Clock,
        *,
        route_ttl_s: int = DEFAULT_ROUTE_TTL_S,
        memory: SearchMemory | None = None,
        searchable: SearchableMarket | None = None,
    ) -> None:
        """With a `memory`, searches start from earlier ones for similar orders, on later states too; see
        `core.routing.search_memory`. `searchable` is the market with its router, if it already exists.
        """
        self.searchable = searchable or SearchableMarket(market, clock, memory=memory)
        self.market = market
        self._known = KnownInMemory(self.searchable)
        self._clock, self._route_ttl_s = clock, route_ttl_s
        self._payloads = LocalPayloads(clock, route_ttl_s)

    def with_changes(self, market: MarketState, changed: Set[str]) -> InMemorySource:
        """Return a source over `market`, which may differ from this source's market only in the pools with the keys
        `changed`."""
        searchable = self.searchable.with_changes(market, changed)
        return InMemorySource(market, self._clock, route_ttl_s=self._route_ttl_s, searchable=searchable)

    def without_memory(self) -> InMemorySource:
        """Return a source whose quotes depend only on the order and the state, not on earlier quotes."""
        searchable = self.searchable.without_memory()
        return InMemorySource(self.market, self._clock, route_ttl_s=self._route_ttl_s, searchable=searchable)

    @property
    def network(self) -> Network:
        return self.market.network

    @property
    def state_source(self) -> StateSource:
        return self.searchable.state_source

    def token(self, name: str) -> Token:
        """Return a token in the market or the catalogue."""
        return find_token(name, self.network, self.market.tokens, self._find_swappable)

    def _find_swappable(self) -> tuple[SwappableToken, ...]:
        from swapcli.core.model.swappable_tokens import swappable_in  # only after a mistake

        return swappable_in(self.market)

    def quote(
        self, request: QuoteRequest, terms: SwapTerms | None = None, *, is_cancelled: Cancelled | None = None
    ) -> LocalQuote:
        """Return the best route for an order, as `QuoteSource.quote` does. If `is_cancelled` returns true, raises
        `Cancelled`."""
        answer = quote_locally(self.searchable, request, is_cancelled)
        return answer if terms is None else answer._replace(payload=self.build(answer, terms))

    def build(
        self,
        quoted: QuoteResult | RouteResult,
        terms: SwapTerms,
        *,
        issued_ms: int | None = None,
        confirm: Confirm | None = None,
    ) -> UnsignedTransaction:
        """Return the payload of a route. `issued_ms` is the time at which this source returned the route, if it is a V1
        route, which contains no time.

        `confirm` receives the payload with the state from which it was built, and returns the payload.
        """
        if isinstance(quoted, LocalQuote):
            return self._payloads.of_quote(quoted, terms, self.market, confirm=confirm)
        result = result_of(quoted)
        return self._payloads.of_route(self.searchable, result, terms, issued_ms=issued_ms, confirm=confirm)

    def health(self) -> Health:
        """Return the health, after quoting a sample order between two main tokens."""
        from swapcli.quoting.health import check_market, size_of
        from swapcli.quoting.transfer_rules import routable_market

        return check_market(
            routable_market(self.market),
            lambda order: self.quote(QuoteRequest(order, ApiVersion.V1)),
            self._clock,
            size_of(self.market),
        )

    def refresh(self) -> None:
        """Do nothing, because a market in memory does not change."""

    def pin(self, *, pinned: bool) -> None:
        """Do nothing, because a market in memory does not change."""
        del pinned

    def close(self) -> None:
        """Do nothing, because there is nothing to close."""

    def known(self) -> KnownInMemory:
        return self._known

    def read(self, part: SearchableMarket, keys: Collection[str], priced: Collection[str]) -> SearchableMarket:
        """Return `part`, because there is no other state."""
        del keys, priced
        return part

    def latest(self, keys: Collection[str]) -> SearchableMarket:
        del keys
        return self.searchable
