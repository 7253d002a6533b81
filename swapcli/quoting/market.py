"""A market for quotes and transactions on one network, for programs and for the command line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, Unpack
from weakref import finalize

from swapcli.core.errors import MarketUnavailable
from swapcli.core.validation.argument_types import checks_arguments
from swapcli.quoting.price_policy import PriceRequest
from swapcli.quoting.swap_quote import PreparedSwap, SwapQuote

if TYPE_CHECKING:
    from os import PathLike
    from types import TracebackType

    from swapcli.core.model.block_tag import BlockTag
    from swapcli.core.model.network import Network
    from swapcli.core.model.order import Order
    from swapcli.core.model.pool import Pool
    from swapcli.core.model.quote_request import QuoteRequest
    from swapcli.core.model.route_result import RouteResult
    from swapcli.core.model.state_source import StateSource
    from swapcli.core.model.swap_terms import SwapTerms
    from swapcli.core.model.token import Token
    from swapcli.core.model.transaction import UnsignedTransaction
    from swapcli.core.model.written_amount import WrittenAmount
    from swapcli.interface.document_types import PoolDocumentJson
    from swapcli.quoting.account_holdings import Allowance, Holdings
    from swapcli.quoting.aggregator_options import AggregatorOptions
    from swapcli.quoting.alternatives import Comparison
    from swapcli.quoting.amounts import Amount, ResolvedAmount
    from swapcli.quoting.backtest import Backtest, BacktestOrder, PastQuotes
    from swapcli.quoting.config import Settings
    from swapcli.quoting.depth_result import Depth
    from swapcli.quoting.health import Health
    from swapcli.quoting.many_quotes import ManyQuote
    from swapcli.quoting.market_history import MarketHistory
    from swapcli.quoting.market_quotes import MarketQuotes
    from swapcli.quoting.market_watch import MarketWatch, OnFailure
    from swapcli.quoting.openers.nodes import NodeOpener
    from swapcli.quoting.openers.router_memory import RouterMemory
    from swapcli.quoting.ordered_answers import Executors
    from swapcli.quoting.planning.due_part import BuiltPart
    from swapcli.quoting.planning.plan import Plan
    from swapcli.quoting.planning.plan_terms import PlanTerms
    from swapcli.quoting.pool_listing import PoolList
    from swapcli.quoting.prepared_payload import PreparedRoute
    from swapcli.quoting.program_markets import ProgramMarkets
    from swapcli.quoting.quote_keywords import PartKeywords, Percentage, QuoteKeywords, TransactionKeywords
    from swapcli.quoting.quote_options import QuoteOptions
    from swapcli.quoting.quote_results import QuoteResult
    from swapcli.quoting.slippage_measures import SlippageAdvice
    from swapcli.quoting.sources.joined_orders import JoinedOrders
    from swapcli.quoting.sources.quote_source import QuoteSource
    from swapcli.quoting.swap_builder import RequestedChecks, SwapBuilder
    from swapcli.quoting.swap_check import SwapCheck
    from swapcli.quoting.token_prices import PriceList
    from swapcli.quoting.verification.hindsight import Hindsight
    from swapcli.quoting.verification.recent_verification import OnSwap, RecentVerification
    from swapcli.quoting.verification.recording import Recording
    from swapcli.quoting.verification.transaction_verification import Verification

    Warn: TypeAlias = Callable[[str], object] | None


_LOWER_LEVEL = frozenset({
    "advise", "bind", "check_route", "check_swap", "choose_aggregators", "compare_order", "past_quotes",
    "plan_order", "quote_and_build", "quote_order",
    "resolve_amount", "source", "watch_order",
})  # fmt: skip
"""The parts below a quote that the command line uses."""


class Market:
    """A market for quotes on one network. Open it with a class method. Use it as a context manager, or close it.

    Example:

        with Market.embedded("base") as market:
            print(market.quote("ETH", "USDC", "1.5").amount_out_decimal)

    All class methods take `settings`, which override the user's settings. Keys are dotted as in the settings file
    (`{"networks.base.router": "0x..."}`). They also take `warn`, a function that receives warnings as sentences; by
    default, the logger `swapcli` receives them. Methods may be called from any thread, and run one at a time. All
    errors are `SwapcliError`s.

    The same order on the same state always gives the same quote. With `reuse_searches=True`, a quote starts from an
    earlier quote for a similar order (the same pair, with an amount within 25 percent), also at later blocks. Most
    quotes are then about twice as fast, and their amounts may vary with earlier orders by less than 0.01 basis points.
    """

    def __init__(
        self,
        source: QuoteSource,
        nodes: NodeOpener,
        routers: RouterMemory,
        price_request: PriceRequest = PriceRequest.NONE,
    ) -> None:
        """Quote on `source`. `price_request` adds to the request for unreal prices in the settings of `nodes`."""
        self._source = source
        self._price_request = nodes.rules.price_request if price_request is PriceRequest.NONE else price_request
        self._nodes, self._routers = nodes, routers
        self._lock = RLock()
        # For sources that read nodes, whose module no other market loads.
        self._joined: JoinedOrders | None = getattr(source, "joined", None)
        self._finalizer = finalize(self, source.close)

    @classmethod
    @checks_arguments
    def open(
        cls,
        network: str,
        *,
        offline: bool = False,
        block: int | str | None = None,
        reuse_searches: bool = False,
        settings: Mapping[str, object] | None = None,
        warn: Warn = None,
    ) -> Self:
        """Open the market that the command line uses for `network`, which is a name or chain id.

        If no node responds and there is no store, the prices are modelled, not real. To get an error instead, pass
        `settings={"live": "require"}`, or use `Market.live`.

        The market is the service in the settings, if any, otherwise the market file, the store or the embedded market.
        If there is none of these, it has the pools that factories list for an order's tokens. An order's pools are read
        from the node in the settings or, without one, from the network's public nodes, unless `offline` or the setting
        `live` excludes nodes. If no public node responds, quotes use stored or modelled state and carry the warning
        `LIVE_UNAVAILABLE`. A transaction on modelled prices raises `ModelledState`, unless nodes are excluded. `block`
        is as in `live`. Raises `UnknownNetwork`, `ConfigError`, `InvalidOption`, `MarketError`.
        """
        return cls(*_opener(settings, warn, reuse_searches, block).open(network, offline=offline))

    @classmethod
    @checks_arguments
    def embedded(
        cls,
        network: str,
        *,
        reuse_searches: bool = False,
        settings: Mapping[str, object] | None = None,
        warn: Warn = None,
    ) -> Self:
        """Open the embedded market, which has modelled prices for a few hundred pools. No connection is used.

        Raises `UnknownNetwork`, and `MarketUnavailable` if the network has no embedded market.
        """
        return cls(*_opener(settings, warn, reuse_searches).embedded(network))

    @classmethod
    @checks_arguments
    def from_file(
        cls,
        path: str | PathLike[str],
        *,
        skip_bad_pools: bool = False,
        reuse_searches: bool = False,
        settings: Mapping[str, object] | None = None,
        warn: Warn = None,
    ) -> Self:
        """Open a market file. With `skip_bad_pools`, malformed pools are skipped with a warning.

        Raises `MarketError`, whose message names the file, the pool and the field.
        """
        return cls(*_opener(settings, warn, reuse_searches).from_file(path, skip_bad_pools=skip_bad_pools))

    @classmethod
    @checks_arguments
    def store(
        cls,
        network: str,
        *,
        folder: str | PathLike[str] | None = None,
        reuse_searches: bool = False,
        settings: Mapping[str, object] | None = None,
        warn: Warn = None,
    ) -> Self:
        """Open the store that `swapcli sync` keeps, in `folder` or in the folder from the settings.

        Each quote uses the latest block in the store. Raises `ConfigError` if there is no store, and `MarketError`.
        """
        return cls(*_opener(settings, warn, reuse_searches).store(network, folder))

    @classmethod
    @checks_arguments
    def live(
        cls,
        network: str,
        *,
        rpc_url: str | None = None,
        block: BlockTag | int | str = "latest",
        reuse_searches: bool = False,
        settings: Mapping[str, object] | None = None,
        warn: Warn = None,
    ) -> Self:
        """Open a market whose pools are read from a node, at a recent block or a past one.

        `block` is "latest", "pending", "safe" or "finalized", or a past block's number or hash. Quotes at a past block
        use its gas price, cannot build transactions, and are not cached. Blocks older than a few minutes need an
        archive node. `rpc_url` is an http or https URL. Without it, the node from the settings or a public node is
        used. The pools are the store's pools or, without a store, the embedded market's pools. Quotes within one block
        time share a block; `refresh` makes the next quote read a new one. Raises `ConfigError` for an invalid URL, and
        `InvalidOption` if there is no node. Quotes raise `UpstreamError` if the node fails.
        """
        return cls(*_opener(settings, warn, reuse_searches, block).live(network, rpc_url))

    @classmethod
    @checks_arguments
    def service(
        cls, network: str, *, api_url: str, settings: Mapping[str, object] | None = None, warn: Warn = None
    ) -> Self:
        """Open the market of a remote service. The API key comes from the settings.

        Raises `ConfigError` for an invalid URL. Quotes raise `UpstreamError` if the service fails.
        """
        return cls(*_opener(settings, warn).service(network, api_url))

    @property
    def source(self) -> QuoteSource:
        """The source of this market's quotes. Raises `MarketUnavailable` after `close`."""
        if not self._finalizer.alive:
            raise closed_market()
        return self._source

    @property
    def network(self) -> Network:
        """The network on which the market quotes."""
        return self._source.network

    @property
    def settings(self) -> Settings:
        """The settings that quotes use unless they override them."""
        return self._nodes.setup.settings

    @property
    def state(self) -> StateSource:
        """The source of the state behind the latest quote, and that state's current age."""
        with self._lock:
            return self.source.state_source

    @property
    def pools(self) -> Mapping[str, Pool]:
        """All known pools by key, with the state they have before a node is read. Raises `InvalidOption` for a
        service."""
        with self._lock:
            return self._quotes().known_market().pools

    @property
    def tokens(self) -> Mapping[str, Token]:
        """All tokens that the pools trade, by lower-case address. Raises `InvalidOption` for a service."""
        with self._lock:
            return self._quotes().known_market().tokens

    @checks_arguments
    def token(self, name: str) -> Token:
        """Return the token called `name`, a symbol in any case or an address. The zero address is the native token.

        Raises `UnknownToken`, `AmbiguousToken`, `InvalidAddress`.
        """
        with self._lock:
            return self.source.token(name)

    @checks_arguments
    def prices(self, *tokens: str | Token, unit: str | Token | None = None) -> PriceList:
        """Return the mid prices of `tokens` in USD and in `unit`, by default the native token. A price is None if it is
        unknown.

        Raises `UnknownToken`, `UpstreamError`, and `InvalidOption` for a service.
        """
        with self._lock:
            return self._quotes().prices(tokens, unit)

    @checks_arguments
    def quote(
        self,
        token_in: str | Token,
        token_out: str | Token,
        amount: Amount | None = None,
        *,
        amount_out: Amount | None = None,
        **options: Unpack[QuoteKeywords],
    ) -> SwapQuote:
        """Return the best route for selling `amount` of `token_in`, or for buying `amount_out` of `token_out`.

        Tokens are symbols, addresses or `Token`s. An amount given as text or `Decimal` is in whole tokens, and an `int`
        is in base units. Text may also be "2k" or "$1000". Raises `InvalidAmount` (also for floats), `UnknownToken`,
        `SameToken`, `NoRoute`, `InvalidOption`, `UpstreamError`.
        """
        with self._joined_quote(token_in, token_out, amount, amount_out=amount_out, **options) as find_quote:
            return find_quote()

    @contextmanager
    def _joined_quote(
        self,
        token_in: str | Token,
        token_out: str | Token,
        amount: Amount | None = None,
        *,
        amount_out: Amount | None = None,
        **options: Unpack[QuoteKeywords],
    ) -> Iterator[Callable[[], SwapQuote]]:
        """Make an order wait until the end of the context; yield the function that quotes it once the market is free.

        A node read for another order also reads for the orders that wait, so concurrent quotes share it.
        """
        joined = self._joined
        if joined is not None and isinstance(amount, str):
            from swapcli.quoting.amount_notation import is_in_dollars

            # Such an amount needs a separate quote, for which no other order should wait.
            joined = None if is_in_dollars(amount) else joined

        def read_request() -> QuoteRequest:
            order, resolved = self._quotes().read_order(token_in, token_out, amount, amount_out, options)
            return resolved.build_request(order)

        def find_quote(turn: AbstractContextManager[object]) -> SwapQuote:
            with self._lock, turn:
                return self._quotes().best_quote(token_in, token_out, amount, amount_out, options)

        if joined is None:
            yield lambda: find_quote(nullcontext())
        else:
            with joined.joined(read_request) as order:
                yield lambda: find_quote(joined.turn(order))

    @checks_arguments
    def watch(
        self,
        token_in: str | Token,
        token_out: str | Token,
        amount: Amount | None = None,
        *,
        amount_out: Amount | None = None,
        every_s: float | None = None,
        on_failure: OnFailure | None = None,
        **options: Unpack[QuoteKeywords],
    ) -> Iterator[SwapQuote]:
        """Yield a quote at each new block, or every `every_s` seconds, always on the newest state. The first quote
        follows immediately.

        A WebSocket or IPC node in the settings announces blocks. Other nodes, services and stores are read once per
        block time. If an attempt fails after the first quote, `on_failure` (by default the market's `warn`) receives
        the error, and the watch continues. Raises the same errors as `quote`, and `InvalidOption` for a market that
        never changes.

        Example: `for quote in market.watch("ETH", "USDC", "1.5"): print(quote.state.block, quote.amount_out)`.
        """
        with self._lock:
            order, resolved = self._quotes().read_order(token_in, token_out, amount, amount_out, options)
        report = on_failure or (lambda error: self._nodes.setup.warn(error.message))
        return iter(self.watch_order(order, resolved, every_s, report))

    def watch_order(
        self, order: Order, options: QuoteOptions, every_s: float | None, on_failure: OnFailure
    ) -> MarketWatch:
        """Return the quotes for an order, as `watch` yields them."""
        from swapcli.quoting.market_watch import MarketWatch

        def quote_newest() -> SwapQuote:
            with self._lock:
                self.source.refresh()
                return self._quotes().quote_order(order, options)

        return MarketWatch(self.source, self._nodes, quote_newest, every_s, on_failure)

    @checks_arguments
    def depth(
        self,
        token_in: str | Token,
        token_out: str | Token,
        amounts: Sequence[Amount | WrittenAmount] = (),
        **options: Unpack[QuoteKeywords],
    ) -> Depth:
        """Return the price impact of selling each of `amounts` of `token_in`. `points` has one quote per amount, and
        `levels` the amounts at given levels of price impact.

        Without `amounts`, a ladder that starts at about $10 is used. Raises the same errors as `quote`.
        """
        with self._lock:
            return self._quotes().depth(token_in, token_out, amounts, options)

    @checks_arguments
    def plan(
        self,
        token_in: str | Token,
        token_out: str | Token,
        amount: Amount,
        *,
        over: str | int,
        parts: int | Literal["auto"] = "auto",
        max_impact: Percentage | None = None,
        risk: Literal["none", "low", "medium", "high"] = "none",
        start: int | str | None = None,
        band: Percentage | None = None,
        **options: Unpack[QuoteKeywords],
    ) -> Plan:
        """Plan the sale of a large order in parts over time. Return the parts, and compare their expected output with a
        single swap's.

        `over` is the total time, such as "4h", or a number of seconds. `max_impact` limits the price impact of each
        part, and `band` limits how far its price may be from the planned one, both in percent. `start` is in Unix
        seconds, or a duration from now. The pools' recovery and the volatility are measured from past blocks in the
        store or from the node. Raises the same errors as `quote` for the whole order. Also raises `InvalidOption` for
        terms that no plan can meet, `InvalidDeadline`, and `InvalidAmount` for an order that drains the pools.
        """
        from swapcli.quoting.planning.plan_terms import parse_plan_terms
        from swapcli.state.clock import SYSTEM_CLOCK

        given = {
            "over": over, "parts": parts, "max_impact": max_impact, "risk": risk, "start": start, "band": band
        }  # fmt: skip
        terms = parse_plan_terms(given, SYSTEM_CLOCK.now_s())
        with self._lock:
            order, resolved = self._quotes().read_order(token_in, token_out, amount, None, options)
            return self._quotes().plan_order(order, resolved, terms)

    def plan_order(self, order: Order, options: QuoteOptions, terms: PlanTerms) -> Plan:
        """Return the plan for an order. Raises the same errors as `plan`."""
        with self._lock:
            return self._quotes().plan_order(order, options, terms)

    @checks_arguments
    def build_part(self, path: str | PathLike[str], **options: Unpack[PartKeywords]) -> BuiltPart:
        """Return the payload of the part that is due in a plan file, and record the payload in the file.

        The part is quoted again, within the plan's limits on routes, which `options` may narrow, and its payload is
        built as by `prepare`. Further calls return the same payload until it expires. After you have executed it,
        call `mark_part_done` to go on to the next part. Raises `PartNotDue`, `PlanEnded`, `OutsidePriceBand`,
        `InvalidPlan`, `InvalidOption` for options wider than the plan's limits, and the same errors as `quote` and
        `prepare`. After an error, the file is unchanged.
        """
        from swapcli.quoting.planning.market_parts import build_market_part

        with self._lock:
            return build_market_part(self, self._price_request, path, options)

    @checks_arguments
    def compare(
        self,
        token_in: str | Token,
        token_out: str | Token,
        amount: Amount,
        *,
        aggregators: str | Sequence[str] = (),
        sender: str | None = None,
        **options: Unpack[QuoteKeywords],
    ) -> Comparison:
        """Return several ways to sell `amount`, best first: split, single path, direct, and through each protocol
        alone.

        Aggregators are queried only if `aggregators` names them, as in `swapcli compare --aggregators`: "all", or names
        such as ["lifi", "kyberswap"]. The tokens, the amount and the `sender`, by default an address that nobody owns,
        are sent to the `hosts` of the comparison. If there is a node, the payloads are then simulated for the sender,
        and ranked by their simulated outputs.

        If one way fails, its `error` has the reason. Raises the same errors as `quote` if the order is invalid, and
        `InvalidOption` for an aggregator that cannot be queried, or for any aggregator if the market is offline or on a
        past block.
        """
        with self._lock:
            quotes = self._quotes()
            return quotes.compare(token_in, token_out, amount, quotes.choose_aggregators(aggregators, sender), options)

    def choose_aggregators(self, names: str | Sequence[str], sender: str | None) -> AggregatorOptions | None:
        """Return the aggregators that `compare_order` is to query, with the hosts to which it will send the order.
        Raises the same errors as `compare`."""
        return self._quotes().choose_aggregators(names, sender)

    def compare_order(
        self,
        order: Order,
        options: QuoteOptions,
        services: Sequence[tuple[str, QuoteSource]],
        aggregators: AggregatorOptions | None,
    ) -> Comparison:
        """Return several ways to fill an order, including `services`, given by their URLs. If one way fails, its error
        is part of the result."""
        with self._lock:
            return self._quotes().compare_order(order, options, services, aggregators)

    @checks_arguments
    def pool_list(self, *tokens: str | Token, limit: int | None = None) -> PoolList:
        """Return the pools that trade `tokens` (at most two), deepest first, followed by the pools that a sync skipped.

        Raises `SameToken`, `UpstreamError`, and `InvalidOption` for a service or for more than two tokens.
        """
        with self._lock:
            return self._quotes().pool_list(tokens, limit)

    @checks_arguments
    def pool_rows(self, *tokens: str | Token, limit: int | None = None) -> list[PoolDocumentJson]:
        """Return the rows that `swapcli pools --json` prints, with None for missing fields. Raises the same errors as
        `pool_list`.

        `pandas.DataFrame(market.pool_rows("ETH", "USDC"))` accepts them directly.
        """
        return self.pool_list(*tokens, limit=limit).rows()

    @checks_arguments
    def balance(self, owner: str, *tokens: str | Token) -> Holdings:
        """Return an account's balances of `tokens`, by default of all known tokens that it holds.

        Balances are read from a node at the latest block. Raises `InvalidAddress`, `UnknownToken`, `UpstreamError`, and
        `InvalidOption` if there is no node.
        """
        from swapcli.quoting.account_holdings import find_holdings

        with self._lock:
            quotes = self._quotes()
            return find_holdings(self._nodes, self.network, owner, list(map(quotes.find, tokens)), quotes.known_market)

    @checks_arguments
    def allowance(self, owner: str, token: str | Token, spender: str | None = None) -> Allowance:
        """Return the amount of a token that `spender` may take from an account. The default spender is the network's
        router.

        The allowance is read from a node at the latest block. Raises `InvalidAddress`, `UnknownToken`, `UpstreamError`,
        and `InvalidOption` for the native token, or if there is no node or no router.
        """
        from swapcli.quoting.account_holdings import find_allowance

        with self._lock:
            return find_allowance(self._nodes, self.network, owner, self._quotes().find(token), spender)

    @checks_arguments
    def quote_many(
        self,
        orders: Iterable[tuple[str | Token, str | Token, Amount] | Mapping[str, Any]],
        executor: Executors | None = None,
        *,
        answered: Container[object] = (),
        **options: Unpack[QuoteKeywords],
    ) -> Iterator[ManyQuote]:
        """Yield the quotes for many orders, in order, each as soon as it is ready. If an order fails, its result is the
        error.

        An order is a tuple (token_in, token_out, amount), with an amount as in `quote`, or a mapping like a line of
        `swapcli route --batch`, with the keys tokenIn, tokenOut, and either amount (in whole tokens, even if it is an
        int) or inputAmount (in base units), and optionally id. The default id is the order's number, counted from 0.
        Orders with an id in `answered` are skipped. For an item that is not an order, the result is an error.

        `executor` is any executor from the standard library, or from a Dask client. Its workers quote on this market's
        state, which is sent to each worker once. If a worker crashes, its orders are retried. If the crash breaks the
        executor itself, as with processes, the remaining orders are quoted in this process. If you pass a class or
        function that makes executors, a new executor is made instead: `quote_many(orders, ProcessPoolExecutor)`. An
        executor requires a market in memory, embedded or from a file; otherwise raises `InvalidOption`.

        Processes that are not forked (on macOS and Windows, and by default since Python 3.14) import the main module
        again. A script that starts them needs a guard:

            if __name__ == "__main__":
                for answer in market.quote_many(orders, ProcessPoolExecutor):
                    print(answer.id, answer.quote or answer.error)

        Without the guard, raises `InputOutputError`, because the workers end before their first order.
        """
        from swapcli.quoting.market_quotes import quote_many

        return quote_many(self._lock, self._quotes, orders, executor, answered, options)

    @checks_arguments
    def verify(self, transaction: str) -> Verification:
        """Return the swaps in a mined transaction, given by its hash, each with its quote on the state just before it.

        Call `check` on the result to raise an error if a quote differs. `best` is the output of the best route at the
        parent block. The state is read from the node in the settings, or from a public node. Blocks older than a few
        minutes need an archive node. Raises `InvalidInput` for a transaction without swaps, `NotMined`, `InvalidOption`
        for a service or if there is no node, and `UpstreamError`.
        """
        with self._lock:
            return self._history().verify(transaction)

    @checks_arguments
    def verify_recent(
        self,
        count: int = 3,
        *,
        protocols: Collection[str] | None = None,
        max_requests: int = 400,
        max_duration_s: float | None = None,
        on_swap: OnSwap | None = None,
    ) -> RecentVerification:
        """Return the last `count` swaps in each protocol of the network, each with its quote on the state just before
        it.

        Swaps are found by their events in known pools and in pools listed by factories, backwards from the latest
        block, until all are found or a limit is reached. The limits are `max_requests` HTTP requests and
        `max_duration_s`. `protocols` are names as listed by `swapcli protocols`; None means all protocols of the
        network. `on_swap` receives the protocol and each swap as soon as it is verified. Matches are remembered, as in
        `verify`. Call `check` on the result to raise an error if a quote differs, or if no swap matches. Raises
        `InvalidOption` for a count out of range, for a service or if there is no node, `UnknownProtocol`, and
        `UpstreamError` if the node does not return its latest block.
        """
        with self._lock:
            return self._history().verify_recent(
                count,
                protocols=protocols,
                max_requests=max_requests,
                max_duration_s=max_duration_s,
                on_swap=on_swap,
            )

    @checks_arguments
    def record(self, transaction: str) -> Recording:
        """Return the swaps in a mined transaction, with the state of their pools at the parent block.

        The amounts come from the events. `document` returns the public form, which others can replay. Swaps that cannot
        be replayed are in `skipped`, with the reason. Call `check` on the result to raise an error if no swap was
        recorded. Raises the same errors as `verify`.
        """
        with self._lock:
            return self._history().record(transaction)

    @checks_arguments
    def record_recent(
        self,
        count: int = 20,
        *,
        pool: str | None = None,
        protocols: Collection[str] | None = None,
        max_requests: int = 400,
    ) -> Recording:
        """Return the last `count` swaps in each protocol, or in one `pool`, in the form that `record` returns.

        `pool` is the pool's address, or its id if its contract has many pools. Swaps are found as in `verify_recent`.
        Raises the same errors as `verify_recent`, and `InvalidInput` for an unknown pool that does not name a known
        factory.
        """
        with self._lock:
            return self._history().record_recent(count, pool=pool, protocols=protocols, max_requests=max_requests)

    @checks_arguments
    def hindsight(self, transactions: Iterable[str], *, use_cache: bool = True) -> Hindsight:
        """Compare mined transactions, given by hash, with the best routes at their parent blocks.

        If a transaction cannot be compared, its `reason` says why. Call `check` on the result to raise an error if none
        can be compared. With `use_cache`, data about final blocks is cached for the next call. Raises the same errors
        as `verify`.
        """
        with self._lock:
            return self._history().hindsight(transactions, use_cache=use_cache)

    @checks_arguments
    def backtest(
        self,
        orders: Iterable[tuple[str | Token, str | Token, Amount]],
        blocks: Sequence[int],
        *,
        use_cache: bool = True,
        **options: Unpack[QuoteKeywords],
    ) -> Backtest:
        """Quote each order at each of several past blocks in ascending order, such as `range(first, last, 1000)`.

        Orders are (token_in, token_out, amount). With `use_cache`, data about final blocks is cached for the next call.
        Blocks older than a few minutes need an archive node. Raises the same errors as `quote` and `verify`. If an
        order has no route at a block, its quote there has the `error` instead.
        """
        with self._lock:
            quotes = self._quotes()
            resolved = quotes.resolve(False, options)
            found = quotes.past_orders(orders, resolved)
            return self._history().backtest(found, resolved, blocks, use_cache=use_cache)

    @contextmanager
    def past_quotes(self, orders: Sequence[BacktestOrder], *, use_cache: bool) -> Iterator[PastQuotes]:
        """Yield a source of quotes for `orders` at past blocks, with the options from the settings. Raises the same
        errors as `backtest`."""
        resolved = self._quotes().resolve(False, {})
        with self._history().past_quotes(orders, resolved, use_cache=use_cache) as past:
            yield past

    def resolve_amount(self, amount: Amount | WrittenAmount, order: Order, options: QuoteOptions) -> ResolvedAmount:
        """Return the amount of an order in base units, with an explanation of its notation."""
        from swapcli.quoting.amounts import resolve_amount

        with self._lock:
            return resolve_amount(amount, order, options, self.source)

    def quote_order(self, order: Order, options: QuoteOptions) -> SwapQuote:
        """Return the quote for an order. Raises the same errors as `quote`."""
        with self._lock:
            return self._quotes().quote_order(order, options)

    def quote_and_build(
        self, order: Order, options: QuoteOptions, terms: SwapTerms
    ) -> tuple[SwapQuote, UnsignedTransaction]:
        """Return the quote for an order, and its payload on the same state. Raises the same errors as
        `QuoteSource.quote`."""
        with self._lock:
            return self._quotes().quote_and_build(order, options, terms)

    def bind(self, answer: QuoteResult, terms: SwapTerms) -> SwapQuote:
        """Return a result of this market as a quote, with its figures for a swap on `terms`."""
        from swapcli.quoting.swap_quote import bind_quote

        return bind_quote(answer, terms, self)

    @checks_arguments
    def transactions(self, quote: SwapQuote, **terms: Unpack[TransactionKeywords]) -> list[dict[str, Any]]:
        """Return the transactions for a quote from this market, in the order in which to send them: approvals first,
        the swap last.

        On EVM networks, each has the form that web3.py and viem send: `to`, `data`, `value` and `chainId`, and with
        `sender` also `from`, `nonce`, `gas` and fees in wei. On Starknet, each is a call by an account: `to`,
        `entrypoint`, `calldata` and `value`. With `sender`, the document from `prepare` also has the account's nonce,
        resource bounds and fee. With `sender`, only the approvals that are missing are included; otherwise, all are. A
        node from the settings rehearses the swap first, unless the setting `check` is "never".

        Raises `VerdictBlocks` if a rehearsal has shown the swap to be harmful, `InvalidAddress`, `UnsafeRecipient`,
        `PriceImpactTooHigh`, `UnreadGainTooHigh`, `SlippageTooHigh`, `ConfigError` if the router is unknown,
        `InvalidOption` if `sender` or `simulate` is given but there is no node, `InsufficientBalance`,
        `SimulationError`, `UnusualFees` and `UpstreamError`.
        """
        return self.prepare(quote, **terms).transactions

    @checks_arguments
    def transaction(self, quote: SwapQuote, **terms: Unpack[TransactionKeywords]) -> dict[str, Any]:
        """Return the swap itself, which is the last of `transactions`. Raises the same errors as `transactions`."""
        return self.prepare(quote, **terms).transactions[-1]

    @checks_arguments
    def prepare(self, quote: SwapQuote, **terms: Unpack[TransactionKeywords]) -> PreparedSwap:
        """Return the `transactions` for a quote, with the warnings to read before signing. Raises the same errors as
        `transactions`."""
        with self._lock:
            return self._builder().prepare(quote, terms)

    @checks_arguments
    def permit(self, quote: SwapQuote, *, owner: str, deadline: int | str) -> dict[str, Any]:
        """Return the message whose signature replaces the router's approval, in the form for `eth_signTypedData_v4`.

        Pass the owner's signature to `transactions` or `prepare` as `signature`, with the same `deadline` in Unix
        seconds. The signature allows the router to take `amount_in` until the deadline, either by the token's own
        permit (EIP-2612), or by Permit2, which the owner must have approved once. The owner's nonce is read from a
        node. Example:

            deadline = int(time.time()) + 1200
            message = market.permit(quote, owner=account.address, deadline=deadline)
            signature = account.sign_typed_data(full_message=message).signature.to_0x_hex()
            market.transactions(quote, destination=account.address, deadline=deadline, signature=signature)

        Raises `InvalidOption` if the router or the token does not accept permits, if no permit is needed, or if there
        is no node. Also raises `InvalidDeadline`, `InvalidAddress`, `ConfigError` if the router is unknown, and
        `UpstreamError`.
        """
        with self._lock:
            return self._builder().permit(quote, owner, deadline)

    @checks_arguments
    def check(self, quote: SwapQuote, **terms: Unpack[TransactionKeywords]) -> SwapCheck:
        """Check the transactions for a quote. Return the verdict, with warnings and figures.

        A node from the settings rehearses the swap and then a sale of the bought tokens. Do not sign if
        `SwapCheck.is_blocked` is true. Raises the same errors as `transactions`, except `VerdictBlocks`.
        """
        with self._lock:
            return self._builder().check(quote, terms)

    @checks_arguments
    def execute(self, route: Mapping[str, object], **terms: Unpack[TransactionKeywords]) -> PreparedRoute:
        """Return the transactions that execute an earlier route (`SwapQuote.to_dict`) on the current state.

        All amounts come from replaying the route. The default slippage is the one in the settings. Raises the same
        errors as `transactions`, `InvalidInput` for an invalid route, and `SlippageExceeded` if the route's output has
        fallen by more than the slippage.
        """
        with self._lock:
            return self._builder().execute(route, terms)

    def advise(self, quote: SwapQuote) -> SlippageAdvice | None:
        """Return the slippage recommended by the history of the route's pools; None for wrapping, and for a service's
        quote."""
        from swapcli.quoting.slippage_advice import advise_on

        with self._lock:
            return advise_on(quote.answer, self.source, quote.terms.ttl_s)

    def check_swap(
        self, quote: SwapQuote, payload: UnsignedTransaction, terms: SwapTerms, checks: RequestedChecks
    ) -> PreparedSwap:
        """Return a quote from this market and its payload, after all checks. Raises the same errors as
        `transactions`."""
        with self._lock:
            return self._builder().check_swap(quote, payload, terms, checks)

    def check_route(
        self, route: RouteResult, payload: UnsignedTransaction, terms: SwapTerms, checks: RequestedChecks
    ) -> PreparedRoute:
        """Return the payload that this market has built for a route, after all checks. Raises the same errors as
        `transactions`."""
        with self._lock:
            return self._builder().check_route(route, payload, terms, checks)

    def health(self) -> Health:
        """Check that the market can quote, and that its prices are real or of the kind that you requested.

        An unhealthy market does not raise an error.
        """
        from swapcli.quoting.health import judge_prices

        with self._lock:
            return judge_prices(self.source.health(), self._price_request)

    def refresh(self) -> None:
        """Make the next quote read the newest state, even within the same block time."""
        with self._lock:
            self.source.refresh()

    @contextmanager
    def pinned(self) -> Iterator[Self]:
        """Make all quotes inside the `with` statement use the same state. A live market uses the block of the first
        quote.

        If that block leaves the chain, it is nevertheless replaced. Other markets change only when they are refreshed,
        and a store when it is synced.
        """
        with self._lock:
            self.source.pin(pinned=True)
        try:
            yield self
        finally:
            with self._lock:
                self._source.pin(pinned=False)

    def close(self) -> None:
        """Close the connections and files. The figures of quotes remain available, and every further call raises
        `MarketUnavailable`."""
        with self._lock:
            self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __dir__(self) -> list[str]:
        return [
            name
            for name in super().__dir__()
            if name not in _LOWER_LEVEL and (name.startswith("__") or not name.startswith("_"))
        ]

    def __repr__(self) -> str:
        shown = self._source.state_source.description if self._finalizer.alive else "closed"
        return f"<Market {self.network.name}: {shown}>"

    def _quotes(self) -> MarketQuotes:
        """Return the object that quotes on the open market. Raises `MarketUnavailable` after `close`."""
        from swapcli.quoting.market_quotes import MarketQuotes

        return MarketQuotes(self.source, self._nodes, self._routers, self)

    def _history(self) -> MarketHistory:
        from swapcli.quoting.market_history import MarketHistory

        return MarketHistory(self.source, self._nodes, self._routers)

    def _builder(self) -> SwapBuilder:
        from swapcli.quoting.swap_builder import SwapBuilder

        return SwapBuilder(self.source, self._nodes, self._routers, self._price_request, self)


def _opener(
    settings: Mapping[str, object] | None, warn: Warn, reuse_searches: bool = False, block: int | str | None = None
) -> ProgramMarkets:
    # Importing the settings takes longer than `import swapcli` may take.
    from swapcli.quoting.program_markets import ProgramMarkets

    return ProgramMarkets(settings, warn, reuse_searches=reuse_searches, block=block)


def closed_market() -> MarketUnavailable:
    """Return the error to raise when a method is called after `close`."""
    return MarketUnavailable("the market is closed", hint="open it again")


def quote(
    network: str,
    token_in: str,
    token_out: str,
    amount: Amount | None = None,
    *,
    amount_out: Amount | None = None,
    **options: Unpack[QuoteKeywords],
) -> SwapQuote:
    """Return a quote, as `swapcli route` does. Example: `quote("base", "ETH", "USDC", "1.5")`.

    If no node responds and there is no store, the prices are modelled, not real (see `quote.state` and
    `quote.warnings`). To get an error instead, use `Market.live(network).quote`, or set the environment variable
    `SWAPCLI_LIVE=require`.

    Each call opens `Market.open(network)`. For several quotes, open a market once and keep it open. Raises the same
    errors as `Market.quote`.
    """
    return Market.open(network).quote(token_in, token_out, amount, amount_out=amount_out, **options)
