"""A source of quotes on a store. For each order, it reads the pools that the order can use."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from swapcli.core.errors import UnknownToken
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import Network
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import DEFAULT_ROUTE_TTL_S, SwapTerms
from swapcli.core.model.swappable_tokens import swappable_tokens
from swapcli.core.model.token import Token
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.model.transfer_behaviour import TransferBehaviour
from swapcli.core.networks.address import without_chain
from swapcli.quoting.health import Health, MarketSize, check_market
from swapcli.quoting.quote_results import LocalQuote, QuoteResult, result_of
from swapcli.quoting.resolve import find_token
from swapcli.quoting.sources.local_quotes import LocalPayloads, quote_locally
from swapcli.quoting.sources.searchable_market import SearchableMarket
from swapcli.quoting.transfer_rules import routable_market
from swapcli.state.clock import Clock
from swapcli.state.store import Store

if TYPE_CHECKING:
    from swapcli.core.model.past_pools import PastPools
    from swapcli.core.routing.search_memory import SearchMemory
    from swapcli.families.reading.pool_ref import PoolRef
    from swapcli.state.store import SkippedEntry

_HEALTH_POOLS = 200  # the deepest pools, for the quote of a health check


class KnownInStore:
    """The pools in a store, as a `KnownMarket`."""

    def __init__(self, store: Store, clock: Clock, memory: SearchMemory | None) -> None:
        self._store, self._clock, self._memory = store, clock, memory

    def part(self, market: MarketState) -> SearchableMarket:
        """Return a searchable market for `market`, which is a part of the store."""
        return SearchableMarket(market, self._clock, memory=self._memory)

    def whole(self) -> MarketState:
        return self._store.read_market()

    def for_order(self, order: Order) -> SearchableMarket:
        return self.part(self._store.read_candidates(order))

    def with_pools(self, keys: Iterable[str]) -> SearchableMarket:
        return self.part(self._store.read_pools(keys))

    def for_prices(self, tokens: Collection[str], keys: Iterable[str] = ()) -> SearchableMarket:
        return self.part(self._store.read_priced(tokens, keys))

    def trading(self, tokens: Collection[str]) -> Mapping[str, Pool]:
        return self.deepest(tokens, None)[0]

    def deepest(self, tokens: Collection[str], limit: int | None) -> tuple[Mapping[str, Pool], int]:
        keys, count = self._store.find_pools(tokens, limit)
        pools = self._store.read_pools(keys).pools
        return {key: pools[key] for key in keys}, count

    def token_at(self, address: str) -> Token | None:
        return self._store.find_tokens(address).get(address)

    def has_pool_at(self, address: str) -> bool:
        return any(pool.address == address for pool in self._store.read_pools([address]).pools.values())

    def skipped_pools(self) -> Iterator[tuple[SkippedEntry, PoolRef]]:
        from swapcli.state.sync.skipped import parse_pool_refs

        for entry in self._store.inventory.all_skipped():
            for ref in parse_pool_refs([entry]):
                yield entry, ref

    def past_pools(self, keys: Collection[str]) -> tuple[PastPools, ...]:
        return self._store.read_past_pools(keys)

    def record_transfers(self, behaviours: Mapping[str, TransferBehaviour], block: int) -> None:
        """Record the transfer behaviour of tokens, unless another process is writing to the store."""
        self._store.record_transfers(behaviours, block)


class StoreSource:
    """Quotes on a store, as a `PoolSource`. The store must stay open."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        route_ttl_s: int = DEFAULT_ROUTE_TTL_S,
        memory: SearchMemory | None = None,
    ) -> None:
        """With a `memory`, searches start from earlier ones for similar orders; see `core.routing.search_memory`."""
        self.store = store
        self._clock = clock
        self._payloads = LocalPayloads(clock, route_ttl_s)
        self._known = KnownInStore(store, clock, memory)

    @property
    def network(self) -> Network:
        return self.store.network

    @property
    def state_source(self) -> StateSource:
        return self._known.with_pools(()).state_source

    def token(self, name: str) -> Token:
        """Return the token called `name`. The catalogue's tokens take precedence, because anyone can copy a symbol."""
        name = without_chain(name, self.network)
        try:
            return find_token(name, self.network, self._tokens_with_symbol(name))
        except UnknownToken:
            # Reading all tokens is slow, and only the error's hint needs it.
            tokens, inventory = self.store.read_tokens(), self.store.inventory
            if reason := inventory.skip_reason(name.lower()):
                raise UnknownToken(
                    f"the token {name} was skipped by swapcli sync: {reason}",
                    hint="use a different token",
                    details={"token": name, "network": self.network.name},
                ) from None
            return find_token(
                name,
                self.network,
                tokens,
                lambda: swappable_tokens(self.network, tokens, inventory.pool_counts_by_token()),
            )

    def quote(self, request: QuoteRequest, terms: SwapTerms | None = None) -> LocalQuote:
        searchable = self._known.for_order(request.order)
        answer = quote_locally(searchable, request)
        if terms is None:
            return answer
        return answer._replace(payload=self._payloads.of_quote(answer, terms, searchable.market))

    def build(self, quoted: QuoteResult | RouteResult, terms: SwapTerms) -> UnsignedTransaction:
        result = result_of(quoted)
        searchable = self._known.with_pools(result.pool_keys)
        if isinstance(quoted, LocalQuote):
            return self._payloads.of_quote(quoted, terms, searchable.market)
        return self._payloads.of_route(searchable, result, terms)

    def health(self) -> Health:
        """Return the health, after quoting the sample order on the deepest pools."""
        market = self.store.read_deepest(_HEALTH_POOLS)
        searchable, summary = self._known.part(market), self.store.read_summary()

        def quote(order: Order) -> LocalQuote:
            return quote_locally(searchable, QuoteRequest(order, ApiVersion.V1))

        return check_market(routable_market(market), quote, self._clock, MarketSize(summary.pools, summary.tokens))

    def refresh(self) -> None:
        """Do nothing, because each order reads its pools from the store."""

    def pin(self, *, pinned: bool) -> None:
        """Do nothing, because each order reads its pools from the store."""
        del pinned

    def close(self) -> None:
        self.store.close()

    def known(self) -> KnownInStore:
        return self._known

    def read(self, part: SearchableMarket, keys: Collection[str], priced: Collection[str]) -> SearchableMarket:
        """Return `part`, which has just been read from the store."""
        del keys, priced
        return part

    def latest(self, keys: Collection[str]) -> SearchableMarket:
        return self._known.with_pools(keys)

    def _tokens_with_symbol(self, name: str) -> dict[str, Token]:
        found = self.store.find_tokens(name)
        listed = {token.address for token in self.network.tokens if token.symbol.lower() == name.lower()}
        return {address: token for address, token in found.items() if not listed or address in listed}
