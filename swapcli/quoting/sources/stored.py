"""A source of quotes over a store, from which it reads the pools that an order can use."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from swapcli.core.errors import UnknownToken
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import Network
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.price_impact import PriceImpact
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import DEFAULT_ROUTE_TTL_S, SwapTerms
from swapcli.core.model.token import Token
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.model.transfer_behaviour import TransferBehaviour
from swapcli.quoting.health import Health, MarketSize, check_market
from swapcli.quoting.quote_results import LocalQuote, QuoteResult
from swapcli.quoting.resolve import find_token
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.transfer_rules import routable_market
from swapcli.state.clock import Clock
from swapcli.state.store import Store

if TYPE_CHECKING:
    from swapcli.core.model.past_pools import PastPools
    from swapcli.core.routing.search_memory import SearchMemory
    from swapcli.quoting.pool_listing import PoolSelection

_HEALTH_POOLS = 200


class StoreSource:
    """Quotes over a store, which has to stay open; a `PoolSource`."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        route_ttl_s: int = DEFAULT_ROUTE_TTL_S,
        memory: SearchMemory | None = None,
    ) -> None:
        """With a `memory`, searches start from those of similar orders; see `core.routing.search_memory`."""
        self.store = store
        self._clock = clock
        self._route_ttl_s = route_ttl_s
        self._memory = memory

    @property
    def network(self) -> Network:
        """The store's network."""
        return self.store.network

    @property
    def state_source(self) -> StateSource:
        """As `QuoteSource.state_source`."""
        return self.source_with(()).state_source

    def token(self, name: str) -> Token:
        """As `QuoteSource.token`. Anyone can copy a symbol: the catalogue's token has precedence."""
        try:
            return find_token(name, self.network, self._tokens_with_symbol(name))
        except UnknownToken:
            # Reading all tokens is slow, and needed only for the hint of the error.
            return find_token(name, self.network, self.store.read_tokens())

    def source_for(self, order: Order) -> InMemorySource:
        """As `PoolSource.source_for`."""
        return self._source(self.store.read_candidates(order))

    def source_with(self, keys: Iterable[str]) -> InMemorySource:
        """As `PoolSource.source_with`."""
        return self._source(self.store.read_pools(keys))

    def record_transfers(self, behaviours: Mapping[str, TransferBehaviour], block: int) -> None:
        """As `PoolSource.record_transfers`, unless another process is writing just now."""
        self.store.record_transfers(behaviours, block)

    def quote(self, request: QuoteRequest) -> LocalQuote:
        """As `QuoteSource.quote`."""
        return self.source_for(request.order).quote(request)

    def quote_and_build(self, request: QuoteRequest, terms: SwapTerms) -> tuple[LocalQuote, UnsignedTransaction]:
        """As `QuoteSource.quote_and_build`."""
        return self.source_for(request.order).quote_and_build(request, terms)

    def build_payload(self, answer: QuoteResult, terms: SwapTerms) -> UnsignedTransaction:
        """As `QuoteSource.build_payload`."""
        return self.source_with(answer.result.pool_keys).build_payload(answer, terms)

    def build(self, result: RouteResult, terms: SwapTerms) -> UnsignedTransaction:
        """As `QuoteSource.build`."""
        return self.source_with(result.pool_keys).build(result, terms)

    def impact_of(self, result: RouteResult, payload: UnsignedTransaction) -> PriceImpact | None:
        """As `QuoteSource.impact_of`."""
        return self.source_with(result.pool_keys).impact_of(result, payload)

    def route_pools(self, result: RouteResult) -> Mapping[str, Pool]:
        """As `QuoteSource.route_pools`."""
        return self.source_with(result.pool_keys).route_pools(result)

    def known_market(self) -> MarketState:
        """As `QuoteSource.known_market`."""
        return self.store.read_market()

    def known_contract(self, address: str) -> str | None:
        """As `QuoteSource.known_contract`."""
        found = self.store.read_pools([address])
        tokens = {**found.tokens, **self.store.find_tokens(address)}
        return self._source(found._replace(tokens=tokens)).known_contract(address)

    def known_pools(self, tokens: Collection[str]) -> Mapping[str, Pool]:
        """As `QuoteSource.known_pools`."""
        keys, _ = self.store.find_pools(tokens, None)
        return self.store.read_pools(keys).pools

    def past_pools(self, keys: Collection[str]) -> tuple[PastPools, ...]:
        """As `QuoteSource.past_pools`."""
        return self.store.read_past_pools(keys)

    def select_pools(self, tokens: Collection[str], limit: int | None) -> PoolSelection:
        """As `QuoteSource.select_pools`."""
        from swapcli.quoting.pool_listing import PoolSelection

        keys, count = self.store.find_pools(tokens, limit)
        found = self.store.read_pools(keys)
        source = self._source(self.store.read_priced(found.tokens, keys))
        return PoolSelection(source, {key: found.pools[key] for key in keys}, count)

    def pricing_source(self, tokens: Collection[str]) -> InMemorySource:
        """As `QuoteSource.pricing_source`."""
        return self._source(self.store.read_priced(tokens))

    def health(self) -> Health:
        """As `QuoteSource.health`: the sample is quoted over the deepest pools."""
        market = self.store.read_deepest(_HEALTH_POOLS)
        source, summary = self._source(market), self.store.read_summary()
        return check_market(
            routable_market(market), source.quote_sample, self._clock, MarketSize(summary.pools, summary.tokens)
        )

    def refresh(self) -> None:
        """As `QuoteSource.refresh`: do nothing, since each order reads its pools from the store."""

    def pin(self, *, pinned: bool) -> None:
        """As `QuoteSource.pin`: do nothing, since each order reads its pools from the store."""
        del pinned

    def close(self) -> None:
        """As `QuoteSource.close`."""
        self.store.close()

    def _source(self, market: MarketState) -> InMemorySource:
        return InMemorySource(market, self._clock, route_ttl_s=self._route_ttl_s, memory=self._memory)

    def _tokens_with_symbol(self, name: str) -> dict[str, Token]:
        found = self.store.find_tokens(name)
        listed = {token.address for token in self.network.tokens if token.symbol.lower() == name.lower()}
        return {address: token for address, token in found.items() if not listed or address in listed}
