"""A market that can be searched for routes, with the rules for how tokens transfer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence, Set
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING

from swapcli.core.errors import NoRoute
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import Network
from swapcli.core.model.order import Order, require_different_tokens
from swapcli.core.model.quote import WHOLE_PERCENTS, Quote
from swapcli.core.model.quote_request import QuoteRequest, SharePrecision
from swapcli.core.model.state_source import StateSource, count_without_samples
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.token import Token
from swapcli.core.routing.gas import gas_of_terms
from swapcli.core.routing.router import Router
from swapcli.payload.dialects import executable_market, execution_of, update_executable
from swapcli.payload.payloads import calldata_limit
from swapcli.quoting.transfer_rules import check_token, routable_market
from swapcli.state.clock import Clock

if TYPE_CHECKING:
    from swapcli.core.model.skipped_pool import SkippedPool
    from swapcli.core.routing.competing_routes import KnownRoute
    from swapcli.core.routing.router import SearchResult
    from swapcli.core.routing.search_memory import SearchMemory

Cancelled = Callable[[], bool]

_MAX_DELAY = 3.0
"""Multiple of its time limit that a search may take on a busy machine. People wait for seconds, not for tens of
seconds."""
_SEARCH_TIME_SHARE = 0.9  # share of a search's time limit: the rest is for the current step, replay and prices


class SearchableMarket:
    """Searches routes for orders on a market. All searches share one index.

    `executable` is the market with the pools in which the network's router can execute swaps. `router` searches the
    pools among them that routes may use.
    """

    def __init__(
        self,
        market: MarketState,
        clock: Clock,
        *,
        executable: MarketState | None = None,
        memory: SearchMemory | None = None,
    ) -> None:
        """With a `memory`, searches start from earlier ones for similar orders, on later states too."""
        self.market, self.clock = market, clock
        self.executable = executable_market(market) if executable is None else executable
        self.execution = execution_of(market.network)
        self._proven: SearchableMarket | None = None
        self.router = self._new_router(frozenset(), memory)

    def executing(self, network: Network, keys: Collection[str] | None = None) -> SearchableMarket:
        """Return the market with another router of its network, for executing routes that were found on this market.

        Routes on the returned market use only the pools with `keys`, by default all pools. Prices and proofs still
        cover all pools of this market.
        """
        pools = self.market.pools
        used = pools if keys is None else {key: pools[key] for key in keys if key in pools}
        market = self.market._replace(network=network)
        found = SearchableMarket(market, self.clock, executable=executable_market(market._replace(pools=used)))
        found._proven = self
        found.router = self.router.executing(found.executable, found.execution, calldata_limit(network))
        return found

    def execute_again(self, request: QuoteRequest, outcome: SearchResult) -> SearchResult | None:
        """Return an outcome that was found for another router, replayed as this market's router executes it; None if it
        cannot."""
        order = self.order_in_pools(request.order)
        return self.router_for(order).execute_again(order, outcome)

    @property
    def network(self) -> Network:
        """The market's network."""
        return self.market.network

    @property
    def state_source(self) -> StateSource:
        """The source of the market's state, with its age now."""
        return self.state_at(self.clock.now_s(), self.router.index.broken_pools.values())

    def state_at(self, now_s: float, broken: Iterable[SkippedPool]) -> StateSource:
        """Return the source of the market's state, with its age at a Unix time. `broken` are the pools that were
        skipped because they break computations."""
        return StateSource.of(self.market, now_s, broken, without_samples=self._without_samples)

    @cached_property
    def _without_samples(self) -> int:
        return count_without_samples(self.market)

    def with_market(self, market: MarketState) -> SearchableMarket:
        """Return a searchable market for `market` that shares this market's memory of earlier searches."""
        return SearchableMarket(market, self.clock, memory=self.router.memory)

    def without_memory(self) -> SearchableMarket:
        """Return the same market with the same index, whose searches do not start from earlier ones."""
        found = copy(self)
        found.router = self.router.without_memory()
        return found

    def with_changes(self, market: MarketState, changed: Set[str]) -> SearchableMarket:
        """Return a searchable market for `market`, which may differ from this market only in the pools with the keys
        `changed`."""
        executable = None
        if market.network.router_dialect == self.network.router_dialect:
            executable = update_executable(self.executable, market, changed)
        after = SearchableMarket(market, self.clock, executable=executable, memory=self.router.memory)
        if market.transfers == self.market.transfers:  # otherwise the set of routable pools may have changed
            after.router = self.router.with_changes(after.router.market, changed)
        return after

    def name_skipped(self, known: SearchableMarket) -> None:
        """List as skipped the pools that break computations in `known`, an earlier state, and that were not read
        again."""
        broken = known.router.index.broken_pools
        if broken:
            self.router.index.skip(each for key, each in broken.items() if key not in self.market.pools)

    def search(
        self, request: QuoteRequest, candidates: Sequence[KnownRoute] = (), is_cancelled: Cancelled | None = None
    ) -> SearchResult:
        """Return the best route found for an order. It is at least as good as each of `candidates` on this market.

        Do not call this for an order that only wraps or unwraps. If `is_cancelled` returns true, raises `Cancelled`.
        Raises the same errors as `QuoteSource.quote`.
        """
        require_different_tokens(request.order)
        order = self.order_in_pools(request.order)
        return self.router_for(order).search(
            order,
            gas_price_wei=request.gas_price_wei,
            is_cancelled=is_cancelled,
            is_time_up=self._time_limit(request.solve_time_s),
            known_routes=candidates,
            share_step=WHOLE_PERCENTS if request.shares is SharePrecision.WHOLE else self.execution.share_step,
        )

    def build_quote(self, request: QuoteRequest, outcome: SearchResult) -> Quote:
        """Return the quote for a result of `search`, with the gas that depends on the request's terms."""
        order = request.order
        in_pools = self.order_in_pools(order)
        quote = self.router_for(in_pools).build_quote(
            in_pools,
            outcome,
            gas_price_wei=request.gas_price_wei,
            certify=request.certify,
            proof=request.proof,
        )
        of_terms = gas_of_terms(
            self.executable.pools,
            quote.steps,
            SwapType.of(order.token_in.address, order.token_out.address),
            self.execution.gas,
            pays_integrator=request.integrator is not None,
        )
        single_gas = quote.best_single_path_gas_units
        return quote._replace(
            gas_units=quote.gas_units + of_terms,
            best_single_path_gas_units=None if single_gas is None else single_gas + of_terms,
        )

    def replay_again(self, request: QuoteRequest, outcome: SearchResult) -> SearchResult | None:
        """Return an outcome that was found on other states of the pools, replayed on this market's states; None if a
        pool rejects its amount."""
        return self.router_for(self.order_in_pools(request.order)).replay_again(outcome)

    def router_for(self, order: Order) -> Router:
        """Return the shared router, or a separate router for an order with a token that other orders' routes may not
        use."""
        if self._proven is not None:
            found = self._proven.router_for(order)
            return found.executing(self.executable, self.execution, calldata_limit(self.network))
        addresses = {order.token_in.address, order.token_out.address}
        if all(self.market.transfers_of(address).is_passable for address in addresses):
            return self.router
        return self._new_router(addresses, self.router.memory)

    def order_in_pools(self, order: Order) -> Order:
        """Return the order with the tokens that pools trade: wrapped tokens in place of native ones.

        Raises `NoRoute` if no pool trades one of the tokens, and `FeeOnTransfer` if one is not tradable.
        """
        token_in, token_out = (self._token_in_pools(each, order) for each in (order.token_in, order.token_out))
        return order._replace(token_in=token_in, token_out=token_out)

    def _token_in_pools(self, token: Token, order: Order) -> Token:
        """Return a token of the order as pools have it, wrapped instead of native, with the requested symbol."""
        wrapped = self.network.to_wrapped_token(token)
        check_token(wrapped, self.market)
        if wrapped.address not in self.market.tokens:
            raise NoRoute(
                f"no route: the {self.network.name} market has no pool with {token.symbol}",
                hint=self._missing_pool_hint(order),
                details={"token": wrapped.address},
            )
        return wrapped._replace(symbol=token.symbol)

    def _missing_pool_hint(self, order: Order) -> str:
        """Return the hint for an order with a token that no pool has. A store may have been synced for other
        tokens."""
        name = self.network.name
        if self.market.provenance not in (Provenance.SYNCED, Provenance.LIVE):
            return f"swapcli tokens {name} lists its tokens"
        listed = {self.network.native, *self.network.tokens}
        names = [each.symbol if each in listed else each.address for each in (order.token_in, order.token_out)]
        return f"swapcli sync {name} --tokens {','.join(names)} adds its pools"

    def _new_router(self, end_tokens: Set[str], memory: SearchMemory | None) -> Router:
        market = routable_market(self.executable, end_tokens)
        return Router(market, self.execution, calldata_limit(self.network), memory)

    def _time_limit(self, solve_time_s: float | None) -> Callable[[], bool] | None:
        """Return a function that shows whether the time of a search that starts now is up; None without a limit.

        It measures processor time, so a busy machine gives the same result as an idle one, only later. It must be
        called in the thread that searches.
        """
        if not solve_time_s:
            return None
        timer_s, limit_s = self.clock.monotonic_s, solve_time_s * _SEARCH_TIME_SHARE
        work_s = self.clock.work_s
        if work_s is None:
            end_s = timer_s() + limit_s
            return lambda: timer_s() >= end_s
        work_end_s, last_s = work_s() + limit_s, timer_s() + limit_s * _MAX_DELAY
        return lambda: work_s() >= work_end_s or timer_s() >= last_s
