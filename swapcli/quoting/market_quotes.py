"""Quotes, prices and comparisons on one market."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from swapcli.core.errors import InvalidAmount, InvalidInput, InvalidOption, SwapcliError
from swapcli.core.model.token import Token
from swapcli.core.validation.values import describe
from swapcli.quoting.amounts import resolve_amount
from swapcli.quoting.quote_options import QuoteOptions, resolve_options
from swapcli.quoting.swap_quote import PreparesSwaps, SwapQuote, bind_quote

if TYPE_CHECKING:
    from swapcli.core.model.finding import Finding
    from swapcli.core.model.market import MarketState
    from swapcli.core.model.network import Network
    from swapcli.core.model.order import Order
    from swapcli.core.model.quote_request import QuoteRequest
    from swapcli.core.model.state_source import StateSource
    from swapcli.core.model.swap_terms import SwapTerms
    from swapcli.core.model.transaction import UnsignedTransaction
    from swapcli.core.model.written_amount import WrittenAmount
    from swapcli.quoting.aggregator_options import AggregatorOptions
    from swapcli.quoting.alternatives import Comparison
    from swapcli.quoting.amounts import Amount
    from swapcli.quoting.backtest import BacktestOrder
    from swapcli.quoting.depth_result import Depth
    from swapcli.quoting.many_quotes import ManyQuote, PreparedOrder
    from swapcli.quoting.openers.nodes import NodeOpener
    from swapcli.quoting.openers.router_memory import RouterMemory
    from swapcli.quoting.ordered_answers import Executors
    from swapcli.quoting.planning.plan import Plan
    from swapcli.quoting.planning.plan_terms import PlanTerms
    from swapcli.quoting.pool_listing import PoolList
    from swapcli.quoting.quote_keywords import QuoteKeywords
    from swapcli.quoting.sources.in_memory import InMemorySource
    from swapcli.quoting.sources.quote_source import QuoteSource
    from swapcli.quoting.token_prices import PriceList


class MarketQuotes:
    """Quotes from an open source. `market` builds the transactions for the quotes."""

    def __init__(self, source: QuoteSource, nodes: NodeOpener, routers: RouterMemory, market: PreparesSwaps) -> None:
        self._source, self._nodes, self._routers, self.market = source, nodes, routers, market

    @property
    def _network(self) -> Network:
        return self._source.network

    def prices(self, tokens: Sequence[str | Token], unit: str | Token | None) -> PriceList:
        """Return the prices of tokens. Raises the same errors as `Market.prices`."""
        from swapcli.quoting.token_prices import price_tokens

        wanted = [self.find(token) for token in tokens]
        found = price_tokens(self._source, wanted, None if unit is None else self.find(unit))
        return found._replace(warnings=self._state_warnings(found.state))

    def best_quote(
        self,
        token_in: str | Token,
        token_out: str | Token,
        amount: Amount | None,
        amount_out: Amount | None,
        options: QuoteKeywords,
    ) -> SwapQuote:
        """Return the best route for an order. Raises the same errors as `Market.quote`."""
        return self.quote_order(*self.read_order(token_in, token_out, amount, amount_out, options))

    def read_order(
        self,
        token_in: str | Token,
        token_out: str | Token,
        amount: Amount | None,
        amount_out: Amount | None,
        options: QuoteKeywords,
    ) -> tuple[Order, QuoteOptions]:
        """Return an order in base units, and the options for its quote. Raises the same errors as `Market.quote`."""
        if amount is not None and amount_out is not None:
            raise InvalidAmount("give only one of amount and amount_out", hint="amount_out is for an exact output")
        requested = amount_out if amount is None else amount
        if requested is None:
            raise InvalidAmount("a quote needs an amount: give amount, or amount_out for an exact output")
        resolved = self.resolve(amount_out is not None, options)
        return self._build_order(token_in, token_out, requested, resolved), resolved

    def quote_order(self, order: Order, options: QuoteOptions) -> SwapQuote:
        """Return the quote for an order. Raises the same errors as `Market.quote`."""
        return self.quote_request(options.build_request(order), options.terms)

    def quote_and_build(
        self, order: Order, options: QuoteOptions, terms: SwapTerms
    ) -> tuple[SwapQuote, UnsignedTransaction]:
        """Return the quote for an order, and its payload on the same state. Raises the same errors as
        `QuoteSource.quote`."""
        from swapcli.quoting.sources.quote_source import quote_and_build

        answer, payload = quote_and_build(self._source, options.build_request(order), terms)
        return bind_quote(answer, options.terms._replace(deadline_s=terms.deadline_s), self.market), payload

    def depth(
        self,
        token_in: str | Token,
        token_out: str | Token,
        amounts: Sequence[Amount | WrittenAmount],
        options: QuoteKeywords,
    ) -> Depth:
        """Return the price impact of selling each of `amounts`. Raises the same errors as `Market.depth`."""
        from swapcli.quoting.depth import measure_depth, start_amount

        resolved = self.resolve(False, options)
        order = resolved.build_order(self.find(token_in), self.find(token_out), 0)
        found = [resolve_amount(amount, order, resolved, self._source) for amount in amounts]
        start = 1 if found else start_amount(order, lambda text: resolve_amount(text, order, resolved, self._source))
        units = [each.amount for each in found]
        depth = measure_depth(self._source, resolved.build_request(order), resolved.terms, units, start)
        return depth._replace(notes=tuple(each.note for each in found if each.note))

    def plan_order(self, order: Order, options: QuoteOptions, terms: PlanTerms) -> Plan:
        """Return the plan for an order. Raises the same errors as `Market.plan`."""
        from swapcli.quoting.planning.plan import make_plan
        from swapcli.state.clock import SYSTEM_CLOCK

        request = options.build_request(order)
        made = make_plan(self._source, self._nodes, request, options.terms, terms, SYSTEM_CLOCK.now_s())
        return made._replace(warnings=self._state_warnings(made.state))

    def compare(
        self,
        token_in: str | Token,
        token_out: str | Token,
        amount: Amount,
        aggregators: AggregatorOptions | None,
        options: QuoteKeywords,
    ) -> Comparison:
        """Return the ways to sell an amount. Raises the same errors as `Market.compare`."""
        resolved = self.resolve(False, options)
        return self.compare_order(self._build_order(token_in, token_out, amount, resolved), resolved, (), aggregators)

    def compare_order(
        self,
        order: Order,
        options: QuoteOptions,
        services: Sequence[tuple[str, QuoteSource]],
        aggregators: AggregatorOptions | None,
    ) -> Comparison:
        """Return several ways to fill an order, including `services`, given by their URLs."""
        from swapcli.quoting.comparison import compare_alternatives
        from swapcli.state.clock import SYSTEM_CLOCK

        request = options.build_request(order)
        return compare_alternatives(self._source, services, request, options.terms, SYSTEM_CLOCK, aggregators)

    def choose_aggregators(self, aggregators: str | Sequence[str], sender: str | None) -> AggregatorOptions | None:
        """Return the aggregators that a comparison queries, or None for no aggregators. Raises `InvalidOption`,
        `InvalidAddress`."""
        names = [aggregators] if isinstance(aggregators, str) else aggregators
        if not names:
            if sender is not None:
                raise InvalidOption("sender is used only for quotes from aggregators", hint="set aggregators as well")
            return None
        from swapcli.quoting.aggregator_options import choose_aggregator_options
        from swapcli.quoting.quote_options import parse_address_option

        setup = self._nodes.setup
        if setup.is_offline:
            raise InvalidOption("aggregators are queried over the network, but this market was opened offline")
        if setup.block is not None:
            raise InvalidOption("aggregators quote on their own state, but this market is on a past block")
        address = None if sender is None else parse_address_option(sender, self._network, "sender")
        return choose_aggregator_options(names, address, self._network, self._nodes, self._routers)

    def pool_list(self, tokens: Sequence[str | Token], limit: int | None) -> PoolList:
        """Return the pools that trade `tokens`. Raises the same errors as `Market.pool_list`."""
        from swapcli.quoting.pool_listing import find_pools

        found = find_pools(self._source, list(map(self.find, tokens)), limit)
        return found._replace(warnings=self._state_warnings(found.state))

    def _state_warnings(self, state: StateSource) -> tuple[Finding, ...]:
        from swapcli.quoting.warnings import state_warnings

        return state_warnings(self._source.state_source, state, self._nodes.setup.settings.route_ttl_s)

    def quote_request(self, request: QuoteRequest, terms: SwapTerms) -> SwapQuote:
        """Return the quote for a request, with `terms` for the swap. Raises the same errors as `QuoteSource.quote`."""
        return bind_quote(self._source.quote(request), terms, self.market)

    def prepare_order(self, order_id: object, order: object, options: QuoteOptions) -> PreparedOrder:
        """Return one of many orders, converted to base units. Raises `InvalidInput`, and the errors of `quote` for its
        tokens and amount."""
        from swapcli.quoting.many_quotes import PreparedOrder, read_order

        built = self._build_order(*read_order(order), options)
        return PreparedOrder(order_id, options.build_request(built), options.terms)

    def source_in_memory(self) -> InMemorySource:
        """Return the source in a form that can be sent to an executor. Raises `InvalidOption` for other sources."""
        from swapcli.quoting.sources.in_memory import InMemorySource

        if not isinstance(self._source, InMemorySource):
            raise InvalidOption(
                "an executor can be used only with the embedded market or a market file",
                hint="remove executor",
            )
        return self._source

    def past_orders(
        self, orders: Iterable[tuple[str | Token, str | Token, Amount]], options: QuoteOptions
    ) -> list[BacktestOrder]:
        """Return orders for past blocks in base units, numbered from 0. Raises the same errors as `Market.quote`."""
        from swapcli.quoting.backtest import BacktestOrder
        from swapcli.quoting.many_quotes import read_order

        built = [self._build_order(*read_order(order), options) for order in orders]
        return [BacktestOrder(str(n), each.token_in, each.token_out, each.amount) for n, each in enumerate(built)]

    def known_market(self) -> MarketState:
        """Return all known pools and tokens. Raises `InvalidOption` for a service."""
        from swapcli.quoting.sources.quote_source import known_market

        known = known_market(self._source)
        if known is None:
            raise InvalidOption(f"the service of {self._network.name} does not list its pools")
        return known.whole()

    def find(self, token: str | Token) -> Token:
        """Return a token by its symbol or address. Raises `InvalidInput` for other types, and the same errors as
        `Market.token`."""
        if isinstance(token, str):
            return self._source.token(token)
        if not isinstance(token, Token):
            shown = "None" if token is None else describe(token)
            raise InvalidInput(f"a token must be a symbol, an address or a Token, not {shown}")
        return token

    def _build_order(
        self, token_in: str | Token, token_out: str | Token, amount: Amount, options: QuoteOptions
    ) -> Order:
        order = options.build_order(self.find(token_in), self.find(token_out), 0)
        return order._replace(amount=resolve_amount(amount, order, options, self._source).amount)

    def resolve(self, exact_output: bool, options: QuoteKeywords) -> QuoteOptions:
        """Return the options for one quote: `options`, completed from the settings. Raises `ConfigError`,
        `InvalidOption`."""
        if "reverse" in options:  # the command's option
            raise TypeError("a quote got an unexpected keyword argument 'reverse'; use amount_out for an exact output")
        setup = self._nodes.setup
        return resolve_options(setup.settings, self._network, setup.api_key, reverse=exact_output, **options)


def quote_many(
    lock: AbstractContextManager[object],
    open_quotes: Callable[[], MarketQuotes],
    orders: Iterable[Any],
    executor: Executors | None,
    answered: Container[object],
    options: QuoteKeywords,
) -> Iterator[ManyQuote]:
    """Yield the quotes for many orders, holding the market's `lock` during each. Raises the same errors as
    `Market.quote_many`."""
    from swapcli.quoting.many_quotes import ManyQuote, quote_in_executor

    quotes = open_quotes()
    if executor is not None and not (callable(executor) or hasattr(executor, "submit")):
        raise InvalidInput(f"executor must be an executor or a function that makes one, not {describe(executor)}")
    prepared = _prepare_orders(lock, open_quotes, orders, answered, options)
    if executor is not None:
        return quote_in_executor(quotes.source_in_memory(), quotes.market, prepared, executor)

    def answer(order: PreparedOrder) -> ManyQuote:
        if order.request is None:
            return ManyQuote(order.id, None, order.error)
        try:
            with lock:
                return ManyQuote(order.id, open_quotes().quote_request(order.request, order.terms), None)
        except SwapcliError as error:
            return ManyQuote(order.id, None, error)

    return map(answer, prepared)


def _prepare_orders(
    lock: AbstractContextManager[object],
    open_quotes: Callable[[], MarketQuotes],
    orders: Iterable[Any],
    answered: Container[object],
    options: QuoteKeywords,
) -> Iterator[PreparedOrder]:
    """Yield the orders whose ids do not have a result yet."""
    from swapcli.quoting.many_quotes import PreparedOrder, is_answered

    with lock:
        resolved = open_quotes().resolve(False, options)
    for number, each in enumerate(orders):
        order_id = each.get("id", number) if isinstance(each, Mapping) else number
        try:
            if is_answered(order_id, answered):
                continue
            with lock:
                prepared = open_quotes().prepare_order(order_id, each, resolved)
        except SwapcliError as error:
            prepared = PreparedOrder(order_id, None, resolved.terms, error)
        yield prepared
