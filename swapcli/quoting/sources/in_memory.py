"""A source of quotes over a market in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from functools import cached_property
from typing import TYPE_CHECKING

from swapcli.core.errors import NoRoute
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.execution import RouterGas
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import OWN, Network
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.price_impact import PriceImpact
from swapcli.core.model.quote import WHOLE_PERCENTS, Quote
from swapcli.core.model.quote_request import QuoteRequest, SharePrecision
from swapcli.core.model.route_result import RouteResult, build_result
from swapcli.core.model.state_source import StateSource, chain_time_s
from swapcli.core.model.swap_terms import DEFAULT_DEADLINE_S, DEFAULT_ROUTE_TTL_S, SwapTerms
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import TransferBehaviour
from swapcli.core.routing.gas import gas_of_terms, route_gas
from swapcli.core.routing.replay import Replay, replay
from swapcli.core.routing.router import Router
from swapcli.core.wrap import (
    UNWRAP_GAS_UNITS,
    WRAP_GAS_UNITS,
    check_wrapper_allowed,
    is_wrapping,
    wrap_quote,
)
from swapcli.interface.interface_by_network import kind_variant
from swapcli.payload.dialects import check_executable, executable_market, execution_of, update_executable
from swapcli.payload.payloads import (
    build_transaction,
    calldata_limit,
    check_age,
    check_block_limit,
    pools_for,
    replay_result,
)
from swapcli.quoting.impact_measures import highest_impact
from swapcli.quoting.quote_results import LocalQuote, QuoteResult, RemoteQuote
from swapcli.quoting.resolve import find_token
from swapcli.quoting.sources.quote_source import require_different_tokens
from swapcli.quoting.transfer_rules import (
    check_not_blocked,
    check_route,
    check_token,
    rounding_of,
    rounding_of_steps,
    routable_market,
    transfers_of_steps,
)
from swapcli.state.clock import Clock

if TYPE_CHECKING:
    from swapcli.core.model.past_pools import PastPools
    from swapcli.core.model.price_basis import PriceBasis
    from swapcli.core.model.transaction import UnsignedTransaction
    from swapcli.core.routing.competing_routes import KnownRoute
    from swapcli.core.routing.router import SearchResult
    from swapcli.core.routing.search_memory import SearchMemory
    from swapcli.core.routing.unused_pool_gains import PoolGains
    from swapcli.quoting.health import Health
    from swapcli.quoting.pool_listing import PoolSelection

Cancelled = Callable[[], bool]

_SEARCH_TIME_SHARE = 0.9  # of a search's time limit: the rest is for the current step, the replay and prices


class InMemorySource:
    """Quotes over a market in memory. All orders share one index of the market."""

    def __init__(
        self,
        market: MarketState,
        clock: Clock,
        *,
        route_ttl_s: int = DEFAULT_ROUTE_TTL_S,
        executable: MarketState | None = None,
        memory: SearchMemory | None = None,
    ) -> None:
        """`executable` is the market with the pools that the network's router can execute, if it is known.

        With a `memory`, searches start from those of similar orders, on later states too; see
        `core.routing.search_memory`.
        """
        self.market = market
        self._clock = clock
        self._route_ttl_s = route_ttl_s
        self._executable = executable_market(market) if executable is None else executable
        self._execution = execution_of(market.network)
        self._memory = memory
        self._router = self._new_router()

    def warm(self) -> None:
        """Build the index that all orders share before the first order needs it."""
        self._router.index.warm()

    def use_memory(self, memory: SearchMemory) -> None:
        """Use another memory of searches from now on."""
        self._memory = self._router.memory = memory

    def with_changes(self, market: MarketState, changed: Set[str]) -> InMemorySource:
        """Return the source over `market`, which differs from this market only in the pools with the keys `changed`."""
        executable = None
        if market.network.router_dialect == self.network.router_dialect:
            executable = update_executable(self._executable, market, changed)
        source = InMemorySource(
            market, self._clock, route_ttl_s=self._route_ttl_s, executable=executable, memory=self._memory
        )
        if market.transfers == self.market.transfers:  # otherwise the set of routable pools may have changed
            source._router = self._router.with_changes(source._router.market, changed)
        return source

    @property
    def network(self) -> Network:
        """The market's network."""
        return self.market.network

    @property
    def state_source(self) -> StateSource:
        """As `QuoteSource.state_source`."""
        return StateSource.of(self.market, self._clock.now_s())

    def source_for(self, order: Order) -> InMemorySource:
        """As `PoolSource.source_for`: return itself for every order."""
        del order
        return self

    def source_with(self, keys: Iterable[str]) -> InMemorySource:
        """As `PoolSource.source_with`: return itself for all keys."""
        del keys
        return self

    def with_market(self, market: MarketState) -> InMemorySource:
        """Return a source over another market, with the same memory of searches."""
        return InMemorySource(market, self._clock, route_ttl_s=self._route_ttl_s, memory=self._memory)

    def record_transfers(self, behaviours: Mapping[str, TransferBehaviour], block: int) -> None:
        """As `PoolSource.record_transfers`: do nothing, since a market in memory ends with the process."""

    def with_description(self, description: str) -> InMemorySource:
        """Return this source with another description of where its state comes from."""
        copy = self.with_market(self.market._replace(source=description))
        copy._router = self._router
        return copy

    @property
    def broken_pools(self) -> frozenset[str]:
        """The keys of the pools that orders were answered without, since their state breaks a computation."""
        return self._router.index.broken_pools

    def leave_out(self, broken: frozenset[str]) -> None:
        """Quote without these pools from now on, and name them in quotes, as broken by their state."""
        self._router.index.leave_out(broken)

    def search(
        self, request: QuoteRequest, candidates: Sequence[KnownRoute] = (), is_cancelled: Cancelled | None = None
    ) -> SearchResult:
        """Return the result of the search for an order; it is no worse than `candidates` are on this market.

        Raise as `quote` does. An order that wraps or unwraps needs no search.
        """
        require_different_tokens(request.order)
        order, gas_price_wei = self._to_pool_tokens(request.order), request.gas_price_wei
        return self._router_for(order).search(
            order,
            gas_price_wei=gas_price_wei,
            is_cancelled=is_cancelled,
            is_time_up=self._deadline(request.solve_time_s),
            known_routes=candidates,
            share_step=WHOLE_PERCENTS if request.shares is SharePrecision.WHOLE else self._execution.share_step,
        )

    def replay_again(self, request: QuoteRequest, outcome: SearchResult) -> SearchResult | None:
        """Return an outcome found on other states of the pools as it is on these; None if a pool rejects its amount."""
        return self._router_for(self._to_pool_tokens(request.order)).replay_again(outcome)

    def pool_gains(
        self,
        request: QuoteRequest,
        outcome: SearchResult,
        excluded: Set[str],
        margin: float,
        *,
        all_paths: bool = False,
    ) -> PoolGains:
        """Return what the market's pools beside those `taken` could add to an outcome; see `routing.considered`."""
        from swapcli.core.routing.unused_pool_gains import pool_gains

        order = self._to_pool_tokens(request.order)
        return pool_gains(self._router_for(order).index, order, outcome, excluded, margin, all_paths=all_paths)

    def closest_pools(
        self, request: QuoteRequest, outcome: SearchResult, excluded: Set[str], limit: int
    ) -> tuple[str, ...]:
        """Return the keys of the pools beside those `taken` whose rates miss the best ones by least."""
        from swapcli.core.routing.unused_pool_gains import closest_pools

        order = self._to_pool_tokens(request.order)
        return closest_pools(self._router_for(order).index, order, outcome, excluded, limit)

    def pricing_pools(self, request: QuoteRequest) -> tuple[str, ...]:
        """Return the keys of the pools that give the USD prices of the order's tokens and of gas."""
        from swapcli.core.routing.unused_pool_gains import deepest_anchor_pools

        return deepest_anchor_pools(
            self._router.index,
            [*self.order_tokens(request.order), self.network.to_wrapped_token(self.network.native).address],
        )

    def order_tokens(self, order: Order) -> frozenset[str]:
        """Return the addresses of an order's tokens in pools: wrapped instead of native."""
        return frozenset(self.network.to_wrapped_token(token).address for token in (order.token_in, order.token_out))

    def known_pools(self, tokens: Collection[str]) -> Mapping[str, Pool]:
        """As `QuoteSource.known_pools`."""
        return {key: pool for key, pool in self.market.pools.items() if set(tokens).issubset(pool.tokens)}

    def past_pools(self, keys: Collection[str]) -> tuple[PastPools, ...]:
        """As `QuoteSource.past_pools`: it keeps none."""
        del keys
        return ()

    def select_pools(self, tokens: Collection[str], limit: int | None) -> PoolSelection:
        """As `QuoteSource.select_pools`."""
        from swapcli.quoting.pool_listing import select_in_memory

        return select_in_memory(self, self.known_pools(tokens), limit)

    def pricing_source(self, tokens: Collection[str]) -> InMemorySource:
        """As `QuoteSource.pricing_source`: return itself for all tokens."""
        del tokens
        return self

    def price_basis(self, token: Token) -> PriceBasis | None:
        """Return the USD price of a token with what it is based on; None where no pool that routes use gives one."""
        return self._router.index.price_basis(self.network.to_wrapped_token(token))

    def price_pools(self, tokens: Iterable[str]) -> tuple[str, ...]:
        """Return the keys of the pools on which the prices of these tokens, by address, are based."""
        known = [self.market.tokens[address] for address in tokens if address in self.market.tokens]
        bases = [basis for token in known if (basis := self.price_basis(token))]
        return tuple(dict.fromkeys(key for basis in bases for hop in basis.pools for key in hop))

    def unit_prices(self) -> Mapping[str, float]:
        """Return USD per base unit of all tokens with a price, by address."""
        prices = self._router.index.usd_prices(*self.market.tokens.values())
        priced = zip(self.market.tokens.values(), prices, strict=True)
        return {token.address: price / 10**token.decimals for token, price in priced if price is not None}

    def token(self, name: str) -> Token:
        """As `QuoteSource.token`; also knows the catalogue's tokens that the market does not hold."""
        return find_token(name, self.network, self.market.tokens)

    def quote(self, request: QuoteRequest, is_cancelled: Cancelled | None = None) -> LocalQuote:
        """As `QuoteSource.quote`. If `is_cancelled` returns true, raise `Cancelled`."""
        require_different_tokens(request.order)
        started_s = self._clock.monotonic_s()
        return self.build_quote(request, self._search_unless_wrapping(request, is_cancelled), started_s, is_cancelled)

    def build_quote(
        self,
        request: QuoteRequest,
        outcome: SearchResult | None,
        started_s: float,
        is_cancelled: Cancelled | None = None,
    ) -> LocalQuote:
        """Return the quote of a result of `search`, or of a wrap if `outcome` is None.

        The quote's time counts from `started_s` of the monotonic clock.
        """
        order = request.order
        quote, pools = self._quote(request, outcome)
        quote = quote._replace(time_s=round(self._clock.monotonic_s() - started_s, 6))
        now_s = self._clock.now_s()
        timestamp_ms = int(now_s * 1000)
        result = build_result(
            quote,
            order,
            self.network,
            pools,
            request.api_version,
            timestamp_ms=timestamp_ms,
            integrator=request.integrator,
        )
        return LocalQuote(
            order=order,
            result=result._replace(best_quotes=self._best_quotes(request, is_cancelled)),
            network=self.network,
            tokens=self.market.tokens,
            state_source=StateSource.of(self.market, now_s),
            timestamp_ms=timestamp_ms,
            quote=quote,
            pools=pools,
            placeholder_pools=self.market.placeholder_pools.intersection(step.pool for step in quote.steps),
            transfers=transfers_of_steps(quote.steps, self.market),
        )

    def quote_and_build(
        self, request: QuoteRequest, terms: SwapTerms, is_cancelled: Cancelled | None = None
    ) -> tuple[LocalQuote, UnsignedTransaction]:
        """As `QuoteSource.quote_and_build`."""
        answer = self.quote(request, is_cancelled)
        return answer, self.build_payload(answer, terms)

    def quote_batch(
        self, requests: Sequence[QuoteRequest], is_cancelled: Cancelled | None = None
    ) -> tuple[LocalQuote, ...]:
        """Return the quotes of orders that execute in turn, each on the pools after the orders before it."""
        answers: list[LocalQuote] = []
        source = self
        for request in requests:
            source = source._source_after(answers[-1]) if answers else source
            answers.append(source.quote(request, is_cancelled))
        return tuple(answers)

    def quote_and_build_batch(
        self, requests: Sequence[QuoteRequest], terms: SwapTerms, is_cancelled: Cancelled | None = None
    ) -> tuple[tuple[LocalQuote, UnsignedTransaction], ...]:
        """Return the quotes of `quote_batch`, each with its payload."""
        return tuple((answer, self.build_payload(answer, terms)) for answer in self.quote_batch(requests, is_cancelled))

    def build(self, result: RouteResult, terms: SwapTerms, *, issued_ms: int | None = None) -> UnsignedTransaction:
        """As `QuoteSource.build`. `issued_ms` is when this source returned a V1 route, which has no time."""
        check_age(result, issued_ms, int(self._clock.now_s() * 1000), self._route_ttl_s)
        check_route(result, self.market)
        check_executable(result.pool_keys, self.market)
        done, pools = replay_result(result, self._executable, terms.slippage_ppm)
        timed = self._with_deadline(terms)
        payload = build_transaction(result, done.steps, done.amount_out, pools, self.network, timed)
        gas_units = _transaction_gas(result, pools, done, self._execution.gas)
        gas_units *= self.network.gas_units_per_evm_gas
        check_block_limit(gas_units, self.network)
        transfers = transfers_of_steps(done.steps, self.market)
        rounding = rounding_of_steps(done.steps, transfers, self.market.tokens)
        return payload._replace(gas_units=payload.gas_units or gas_units, rounding=rounding)

    def replay_of(self, result: RouteResult) -> Replay:
        """Return the replay of a route on this market. Raise `InvalidRoute` and `PoolError`."""
        pools = pools_for(result, self._executable)
        return replay(pools, result.route, result.input_amount, self._execution)

    def impact_of(self, result: RouteResult, payload: UnsignedTransaction) -> PriceImpact | None:
        """As `QuoteSource.impact_of`."""
        tokens = [self.network.to_wrapped_token(each) for each in (result.input_token, result.output_token)]
        price_in, price_out = self._router.index.usd_prices(*tokens)
        priced = result._replace(
            input_token=result.input_token._replace(price_usd=price_in),
            output_token=result.output_token._replace(price_usd=price_out),
        )
        return highest_impact(priced, payload.call.route.amount_out, self.network, pools_for(result, self._executable))

    def route_pools(self, result: RouteResult) -> Mapping[str, Pool]:
        """As `QuoteSource.route_pools`."""
        return pools_for(result, self._executable)

    def known_market(self) -> MarketState:
        """As `QuoteSource.known_market`."""
        return self.market

    def known_contract(self, address: str) -> str | None:
        """As `QuoteSource.known_contract`."""
        from swapcli.payload.checks.recipients import POOL, describe_token

        if token := self.market.tokens.get(address):
            return describe_token(token.symbol)
        return POOL if address in self._pool_addresses else None

    @cached_property
    def _pool_addresses(self) -> frozenset[str]:
        return frozenset(pool.address for pool in self.market.pools.values())

    def health(self) -> Health:
        """As `QuoteSource.health`: quote a sample order between two main tokens."""
        from swapcli.quoting.health import MarketSize, check_market

        count = MarketSize(len(self.market.pools), len(self.market.tokens))
        return check_market(routable_market(self.market), self.quote_sample, self._clock, count)

    def quote_sample(self, order: Order) -> LocalQuote:
        """Return the quote of a sample order."""
        return self.quote(QuoteRequest(order, ApiVersion.V1))

    def build_payload(self, answer: QuoteResult, terms: SwapTerms) -> UnsignedTransaction:
        """As `QuoteSource.build_payload`."""
        if isinstance(answer, RemoteQuote):
            return self.build(answer.result, terms)
        steps, amount_out, timed = answer.quote.steps, answer.quote.amount_out, self._with_deadline(terms)
        payload = build_transaction(answer.result, steps, amount_out, answer.pools, self.network, timed)
        gas_units = payload.gas_units or answer.quote.gas_units
        return payload._replace(gas_units=gas_units, rounding=rounding_of(answer))

    def refresh(self) -> None:
        """As `QuoteSource.refresh`: do nothing, since a market in memory does not change."""

    def pin(self, *, pinned: bool) -> None:
        """As `QuoteSource.pin`: do nothing, since a market in memory does not change."""
        del pinned

    def close(self) -> None:
        """As `QuoteSource.close`: do nothing."""

    def _with_deadline(self, terms: SwapTerms) -> SwapTerms:
        """Return the terms with a deadline: by default the time when a route of this moment expires, or for this
        project's router the interface's twenty minutes from now.

        The router compares it with the time of its block, so that the time of a node's newest block is now.
        """
        if terms.deadline_s is not None and terms.deadline_in_s is None:
            return terms
        ttl_s = DEFAULT_DEADLINE_S if self.network.router_dialect == OWN else self._route_ttl_s
        now_s = chain_time_s(self.state_source) or int(self._clock.now_s())
        return terms._replace(deadline_s=now_s + (terms.deadline_in_s or ttl_s))

    def _source_after(self, answer: LocalQuote) -> InMemorySource:
        """Return a source over the market after the swaps of `answer`."""
        after = replay(answer.pools, answer.quote.route, answer.quote.amount_in, self._execution).pools_after
        changed = {key: pool for key, pool in after.items() if key in self.market.pools}
        market = self.market._replace(pools={**self.market.pools, **changed})
        return InMemorySource(market, self._clock, route_ttl_s=self._route_ttl_s)

    def _search_unless_wrapping(self, request: QuoteRequest, is_cancelled: Cancelled | None) -> SearchResult | None:
        if is_wrapping(request.order, self.network):
            return None
        return self.search(request, is_cancelled=is_cancelled)

    def _quote(self, request: QuoteRequest, outcome: SearchResult | None) -> tuple[Quote, Mapping[str, Pool]]:
        order, gas_price_wei = request.order, request.gas_price_wei
        if outcome is None:
            check_wrapper_allowed(order, self.network)
            check_not_blocked([order.token_in, order.token_out], self.network)
            gas_price_wei = self.market.gas_price_wei if gas_price_wei is None else gas_price_wei
            return wrap_quote(order, gas_price_wei, self._native_price_usd(), certify=request.certify)
        wrapped_order = self._to_pool_tokens(order)
        quote = self._router_for(wrapped_order).build_quote(
            wrapped_order, outcome, gas_price_wei=gas_price_wei, certify=request.certify
        )
        swap_type = SwapType.of(order.token_in.address, order.token_out.address)
        router, pays_integrator = self._execution.gas, request.integrator is not None
        of_terms = gas_of_terms(self._executable.pools, quote.steps, swap_type, router, pays_integrator=pays_integrator)
        single_gas = quote.best_single_path_gas_units
        quote = quote._replace(
            gas_units=quote.gas_units + of_terms,
            best_single_path_gas_units=None if single_gas is None else single_gas + of_terms,
        )
        return quote, self._executable.pools

    def _deadline(self, solve_time_s: float | None) -> Callable[[], bool] | None:
        """Return a function that says whether the time of a search that starts now is up; None without a limit."""
        if not solve_time_s:
            return None
        timer_s = self._clock.monotonic_s
        end_s = timer_s() + solve_time_s * _SEARCH_TIME_SHARE
        return lambda: timer_s() >= end_s

    def _best_quotes(self, request: QuoteRequest, is_cancelled: Cancelled | None) -> tuple[int, ...]:
        """Return what each protocol alone would pay, in the order of ids; 0 without a route.

        Empty where the interface has no such list.
        """
        if not kind_variant(self.network.kind).lists_best_quotes or request.order.reverse:
            return ()
        names = [protocol.amm_name for protocol in sorted(self.network.protocols, key=lambda each: each.id)]
        return tuple(self._best_quote_of(name, names, request, is_cancelled) for name in names)

    def _best_quote_of(self, name: str, names: list[str], request: QuoteRequest, is_cancelled: Cancelled | None) -> int:
        others = frozenset(names) - {name} | request.order.excluded_protocols
        alone = request._replace(order=request.order._replace(excluded_protocols=others), certify=False)
        try:
            return (
                0
                if name in others
                else self._quote(alone, self._search_unless_wrapping(alone, is_cancelled))[0].amount_out
            )
        except NoRoute:
            return 0

    def _new_router(self, end_tokens: Set[str] = frozenset()) -> Router:
        market = routable_market(self._executable, end_tokens)
        return Router(market, self._execution, calldata_limit(self.network), self._memory)

    def _router_for(self, order: Order) -> Router:
        """Return the shared router; for an order with a token that other routes may not use, one that allows it."""
        addresses = {order.token_in.address, order.token_out.address}
        if all(self.market.transfers_of(address).is_passable for address in addresses):
            return self._router
        return self._new_router(addresses)

    def _native_price_usd(self) -> float | None:
        return self._router.index.usd_prices(self.network.to_wrapped_token(self.network.native))[0]

    def _to_pool_tokens(self, order: Order) -> Order:
        return order._replace(
            token_in=self._to_pool_token(order.token_in), token_out=self._to_pool_token(order.token_out)
        )

    def _to_pool_token(self, token: Token) -> Token:
        """Return the token as pools have it, wrapped instead of native, with the requested symbol.

        Raise `NoRoute` if no pool has it, `FeeOnTransfer` if it is not tradable.
        """
        wrapped = self.network.to_wrapped_token(token)
        check_token(wrapped, self.market)
        if wrapped.address not in self.market.tokens:
            raise NoRoute(
                f"no route: the market of {self.network.name} holds no pool of {token.symbol}",
                hint=f"swapcli tokens {self.network.name} lists what it holds",
                details={"token": wrapped.address},
            )
        return wrapped._replace(symbol=token.symbol)


def _transaction_gas(result: RouteResult, pools: Mapping[str, Pool], done: Replay, router: RouterGas) -> int:
    """Return the gas units of a transaction from the pools before it and its replay, as in its quote."""
    if pools[done.steps[0].pool].is_wrapper:
        return WRAP_GAS_UNITS if result.swap_type is SwapType.NATIVE_TO_TOKEN else UNWRAP_GAS_UNITS
    pays_integrator = result.integrator is not None
    return route_gas(pools, done, router) + gas_of_terms(
        pools, done.steps, result.swap_type, router, pays_integrator=pays_integrator
    )
