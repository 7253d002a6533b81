"""Quotes from the routing core, with the data that outputs need, and their payloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from swapcli.core.errors import NoRoute
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import OWN
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Quote, Step
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.route_result import RouteResult, build_result
from swapcli.core.model.router_execution import RouterGas
from swapcli.core.model.state_source import StateSource, chain_time_s
from swapcli.core.model.swap_terms import DEFAULT_DEADLINE_S, HANDOFF_DEADLINE_S, SwapTerms
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple
from swapcli.core.routing.gas import gas_of_terms, route_gas
from swapcli.core.routing.replay import Replay
from swapcli.families.wrap import UNWRAP_GAS_UNITS, WRAP_GAS_UNITS, check_wrapper_allowed, wrap_quote
from swapcli.interface.interface_by_network import kind_variant
from swapcli.payload.dialects import check_executable
from swapcli.payload.payloads import build_transaction, check_age, check_block_limit, replay_result
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.searchable_market import Cancelled, SearchableMarket
from swapcli.quoting.transfer_rules import (
    check_not_blocked,
    check_route,
    rounding_of,
    rounding_of_steps,
    transfers_of_steps,
)
from swapcli.state.clock import Clock

if TYPE_CHECKING:
    from swapcli.core.model.transaction import UnsignedTransaction
    from swapcli.core.routing.router import SearchResult


def quote_locally(
    searchable: SearchableMarket, request: QuoteRequest, is_cancelled: Cancelled | None = None
) -> LocalQuote:
    """Return the best route for an order. If `is_cancelled` returns true, raises `Cancelled`."""
    started_s = searchable.clock.monotonic_s()
    outcome = _search_unless_wrapping(searchable, request, is_cancelled)
    return build_local_quote(searchable, request, outcome, started_s, is_cancelled)


def build_local_quote(
    searchable: SearchableMarket,
    request: QuoteRequest,
    outcome: SearchResult | None,
    started_s: float,
    is_cancelled: Cancelled | None = None,
) -> LocalQuote:
    """Return the quote for a search result, or for a wrap if `outcome` is None.

    The quote's time is measured from `started_s` on the monotonic clock.
    """
    market, clock, order = searchable.market, searchable.clock, request.order
    quote, pools = _quote_of(searchable, request, outcome)
    quote = quote._replace(time_s=round(clock.monotonic_s() - started_s, 6))
    now_s = clock.now_s()
    timestamp_ms = int(market.network_time_s(now_s) * 1000)
    result = build_result(
        quote,
        order,
        market.network,
        pools,
        request.api_version,
        timestamp_ms=timestamp_ms,
        integrator=request.integrator,
    )
    if kind_variant(market.network.kind).lists_best_quotes and not order.reverse:
        result = result._replace(best_quotes=_amounts_by_protocol(searchable, request, is_cancelled))
    return LocalQuote(
        order=order,
        result=result,
        network=market.network,
        tokens=market.tokens,
        state_source=searchable.state_at(now_s, quote.broken_pools),
        timestamp_ms=timestamp_ms,
        quote=quote,
        pools=pools,
        placeholder_pools=market.placeholder_pools.intersection(step.pool for step in quote.steps),
        transfers=transfers_of_steps(quote.steps, market),
    )


def quote_batch(
    searchable: SearchableMarket, requests: Sequence[QuoteRequest], is_cancelled: Cancelled | None = None
) -> tuple[LocalQuote, ...]:
    """Return the quotes for orders that execute one after another. Each is quoted on the state that the previous orders
    leave."""
    answers: list[LocalQuote] = []
    for request in requests:
        searchable = _after(searchable, answers[-1]) if answers else searchable
        answers.append(quote_locally(searchable, request, is_cancelled))
    return tuple(answers)


def _after(searchable: SearchableMarket, answer: LocalQuote) -> SearchableMarket:
    """Return the market after the swaps of `answer`."""
    from swapcli.core.routing.replay import replay

    after = replay(answer.pools, answer.quote.route, answer.quote.amount_in, searchable.execution).pools_after
    pools = searchable.market.pools
    changed = {key: pool for key, pool in after.items() if key in pools}
    return SearchableMarket(searchable.market._replace(pools={**pools, **changed}), searchable.clock)


def _search_unless_wrapping(
    searchable: SearchableMarket, request: QuoteRequest, is_cancelled: Cancelled | None
) -> SearchResult | None:
    if searchable.network.wraps(request.order):
        return None
    return searchable.search(request, is_cancelled=is_cancelled)


def _quote_of(
    searchable: SearchableMarket, request: QuoteRequest, outcome: SearchResult | None
) -> tuple[Quote, Mapping[str, Pool]]:
    """Return the quote of a search result or a wrap, and the pools, by key, that it may use."""
    if outcome is not None:
        return searchable.build_quote(request, outcome), searchable.executable.pools
    order, network = request.order, searchable.network
    check_wrapper_allowed(order, network)
    check_not_blocked([order.token_in, order.token_out], network)
    gas_price_wei = searchable.market.gas_price_wei if request.gas_price_wei is None else request.gas_price_wei
    native_usd = searchable.router.index.usd_prices(network.to_wrapped_token(network.native))[0]
    return wrap_quote(order, gas_price_wei, native_usd, certify=request.certify or request.proof)


def _amounts_by_protocol(
    searchable: SearchableMarket, request: QuoteRequest, is_cancelled: Cancelled | None
) -> tuple[int, ...]:
    """Return the output of each protocol alone, in order of ids; 0 without a route."""
    network = searchable.network
    protocols = sorted(network.protocols, key=lambda each: each.id)
    unused = network.extended_protocols & request.order.excluded_protocols
    names = [protocol.amm_name for protocol in protocols if protocol.amm_name not in unused]

    def amount_of(name: str) -> int:
        others = frozenset(names) - {name} | request.order.excluded_protocols
        if name in others:
            return 0
        alone = request._replace(order=request.order._replace(excluded_protocols=others), certify=False, proof=False)
        try:
            outcome = _search_unless_wrapping(searchable, alone, is_cancelled)
            return _quote_of(searchable, alone, outcome)[0].amount_out
        except NoRoute:
            return 0

    return tuple(map(amount_of, names))


class BuiltRoute(NamedTuple):
    """A payload with the data from which it was built: the `steps` of a replay on `pools` (by key), and the market."""

    payload: UnsignedTransaction
    steps: Sequence[Step]
    pools: Mapping[str, Pool]
    market: MarketState

    @property
    def used_pools(self) -> dict[str, Pool]:
        """The pools that the steps use, by key."""
        return {step.pool: self.pools[step.pool] for step in self.steps}

    @property
    def tokens(self) -> list[Token]:
        """The tokens that the steps trade, as described by the market."""
        addresses = dict.fromkeys(token for step in self.steps for token in (step.token_in, step.token_out))
        return [token for address in addresses if (token := self.market.tokens.get(address))]


Confirm = Callable[[BuiltRoute], "UnsignedTransaction"]
"""Returns the payload with the number of nodes that agree on its state. Raises `NodesDisagree`."""


class LocalPayloads:
    """Builds the payloads of routes. A route is valid for `route_ttl_s`.

    All payloads in this process are built here. `confirm` returns a payload with the number of nodes that agree on its
    state, or raises `NodesDisagree`. If a method is given its own `confirm`, it calls that instead.
    """

    def __init__(self, clock: Clock, route_ttl_s: int, confirm: Confirm | None = None) -> None:
        self._clock, self._route_ttl_s, self._confirm = clock, route_ttl_s, confirm

    def of_quote(
        self, answer: LocalQuote, terms: SwapTerms, market: MarketState, *, confirm: Confirm | None = None
    ) -> UnsignedTransaction:
        """Return the payload of a quote on the quote's own state. `market` provides the router and the time of the
        latest block.

        If the quote has chosen a router, that router is used.
        """
        if answer.router_choice is not None:
            market = market._replace(network=answer.network)
        timed = self._with_deadline(terms, market)
        payload = build_transaction(
            answer.result, answer.quote.steps, answer.quote.amount_out, answer.pools, market.network, timed
        )
        gas_units = payload.gas_units or answer.quote.gas_units
        payload = payload._replace(gas_units=gas_units, rounding=rounding_of(answer))
        built = BuiltRoute(payload, answer.quote.steps, answer.pools, _at_block(market, answer.state_source))
        return self._confirmed(built, confirm)

    def of_route(
        self,
        searchable: SearchableMarket,
        result: RouteResult,
        terms: SwapTerms,
        *,
        issued_ms: int | None = None,
        confirm: Confirm | None = None,
    ) -> UnsignedTransaction:
        """Return the payload of an earlier route. Raises the same errors as `QuoteSource.build`.

        `issued_ms` is the time at which this process returned the route, if it is a V1 route, which contains no time.
        """
        market, network = searchable.market, searchable.network
        now_ms = int(market.network_time_s(self._clock.now_s()) * 1000)
        check_age(result, issued_ms, now_ms, self._route_ttl_s)
        check_route(result, market)
        check_executable(result.pool_keys, market)
        done, pools = replay_result(result, searchable.executable, terms.slippage_ppm)
        timed = self._with_deadline(terms, market)
        payload = build_transaction(result, done.steps, done.amount_out, pools, network, timed)
        gas_units = _transaction_gas(result, pools, done, searchable.execution.gas) * network.gas_units_per_evm_gas
        check_block_limit(gas_units, network)
        transfers = transfers_of_steps(done.steps, market)
        rounding = rounding_of_steps(done.steps, transfers, market.tokens)
        payload = payload._replace(gas_units=payload.gas_units or gas_units, rounding=rounding)
        return self._confirmed(BuiltRoute(payload, done.steps, pools, market), confirm)

    def _confirmed(self, built: BuiltRoute, confirm: Confirm | None) -> UnsignedTransaction:
        confirm = confirm or self._confirm
        return built.payload if confirm is None else confirm(built)

    def _with_deadline(self, terms: SwapTerms, market: MarketState) -> SwapTerms:
        """Return the terms with a deadline. By default it is the time when a route found now expires; for this
        project's router it is the Fibrous API's twenty minutes from now, or a day for a swap that has to stay valid
        that long.

        The router compares it with its block's time, so "now" is the time of the node's latest block.
        """
        if terms.deadline_s is not None and terms.deadline_in_s is None:
            return terms
        ttl_s = DEFAULT_DEADLINE_S if market.network.router_dialect == OWN else self._route_ttl_s
        if terms.lifetime_s:
            ttl_s = max(ttl_s, HANDOFF_DEADLINE_S)
        now_s = self._clock.now_s()
        from_s = chain_time_s(StateSource.of(market, now_s)) or int(market.network_time_s(now_s))
        return terms._replace(deadline_s=from_s + (terms.deadline_in_s or ttl_s))


def _at_block(market: MarketState, state: StateSource) -> MarketState:
    """Return the market at the block of a quote's state."""
    return market._replace(block=state.block, timestamp=state.timestamp, tag=state.tag)


def _transaction_gas(result: RouteResult, pools: Mapping[str, Pool], done: Replay, router: RouterGas) -> int:
    """Return a transaction's gas units from the pools before it and its replay, as in its quote."""
    if pools[done.steps[0].pool].is_wrapper:
        return WRAP_GAS_UNITS if result.swap_type is SwapType.NATIVE_TO_TOKEN else UNWRAP_GAS_UNITS
    pays_integrator = result.integrator is not None
    return route_gas(pools, done, router) + gas_of_terms(
        pools, done.steps, result.swap_type, router, pays_integrator=pays_integrator
    )
