"""A market: quotes and transactions on one network, for programs and for the command line."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, Unpack
from weakref import finalize

from swapcli.core.errors import InvalidAmount, InvalidInput, InvalidOption, MarketUnavailable, SwapcliError
from swapcli.quoting.price_policy import PriceRequest
from swapcli.quoting.swap_quote import CheckedSwap, PreparedSwap, SwapQuote

if TYPE_CHECKING:
    from os import PathLike
    from types import TracebackType

    from swapcli.core.model.block_tag import BlockTag
    from swapcli.core.model.depth import Depth
    from swapcli.core.model.market import MarketState
    from swapcli.core.model.network import Network
    from swapcli.core.model.order import Order
    from swapcli.core.model.pool import Pool
    from swapcli.core.model.state_source import StateSource
    from swapcli.core.model.swap_terms import SwapTerms
    from swapcli.core.model.token import Token
    from swapcli.core.model.transaction import UnsignedTransaction
    from swapcli.core.model.written_amount import WrittenAmount
    from swapcli.interface.document_types import PoolDocumentJson
    from swapcli.payload.checks.presign_checks import CheckOptions
    from swapcli.payload.verdict.verdict import Verdict
    from swapcli.quoting.account_holdings import Allowance, Holdings
    from swapcli.quoting.aggregator_options import AggregatorOptions
    from swapcli.quoting.alternatives import Comparison
    from swapcli.quoting.amounts import Amount, ResolvedAmount
    from swapcli.quoting.config import Secret, Settings
    from swapcli.quoting.health import Health
    from swapcli.quoting.many_quotes import ManyQuote, PreparedOrder
    from swapcli.quoting.openers.choose_source import SourceChooser
    from swapcli.quoting.openers.nodes import NodeOpener
    from swapcli.quoting.openers.router_memory import RouterMemory
    from swapcli.quoting.ordered_answers import Executors
    from swapcli.quoting.pool_listing import PoolList
    from swapcli.quoting.quote_keywords import Percentage, QuoteKeywords, TransactionKeywords
    from swapcli.quoting.quote_options import QuoteOptions
    from swapcli.quoting.quote_results import QuoteResult
    from swapcli.quoting.review.presign_checker import PayloadChecker
    from swapcli.quoting.sources.quote_source import QuoteSource
    from swapcli.quoting.token_prices import PriceList

    Warn: TypeAlias = Callable[[str], object] | None


_LOWER_LEVEL = frozenset({"source", "resolve_amount", "quote_order", "quote_and_build", "bind", "check_swap"})
"""What the command line uses below a quote."""


class Market:
    """Quotes on one network. Open one with a class method; close it, or use it as a context manager.

    Example:

        with Market.embedded("base") as market:
            print(market.quote("ETH", "USDC", "1.5").amount_out_decimal)

    All class methods take `settings`, by dotted key as in the settings file (`{"networks.base.router": "0x..."}`),
    which override the user's own, and `warn`, which receives warnings as sentences (by default the logger `swapcli`
    does). Methods may be called from any thread, one at a time; others wait. All errors are `SwapcliError`s.

    Equal quotes on equal state are equal. With `reuse_searches=True`, quotes start from those of similar orders before:
    the same pair within 25 percent of the amount, on later blocks too. Most are about twice as fast, and their amounts
    may depend on the orders before, by less than 0.01 basis points.
    """

    def __init__(
        self,
        source: QuoteSource,
        nodes: NodeOpener,
        routers: RouterMemory,
        *,
        price_request: PriceRequest = PriceRequest.NONE,
    ) -> None:
        """Quote on `source`. `price_request` adds to the request for unreal prices in the settings of `nodes`."""
        self._source = source
        self._price_request = nodes.rules.price_request if price_request is PriceRequest.NONE else price_request
        self._nodes, self._routers = nodes, routers
        self._lock = RLock()
        self._finalizer = finalize(self, source.close)

    @classmethod
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
        """Open the market that the command line uses for `network`, a name or chain id.

        That is the service of the settings if there is one; otherwise the market file, the store or the embedded
        market, with the pools of an order read from the node that is set, else from the network's public nodes, unless
        `offline` or the setting `live` excludes them. If no public node answers, quotes are on stored or modelled
        state, with the warning `LIVE_UNAVAILABLE`; no transaction is built on modelled prices, which raises
        `ModelledState`, unless nodes are excluded. With a `block`, by its number or hash, the state is that of this
        past block, as in `live`. Raises `UnknownNetwork`, `ConfigError`, `InvalidOption`, `MarketError`.
        """
        sources = _open_sources(settings or {}, offline=offline, warn=warn, reuse_searches=reuse_searches, block=block)
        return cls._opened(sources.open(network), sources)

    @classmethod
    def embedded(
        cls,
        network: str,
        *,
        reuse_searches: bool = False,
        settings: Mapping[str, object] | None = None,
        warn: Warn = None,
    ) -> Self:
        """Open the market that is part of the program: modelled prices of a few hundred pools, without any connection.

        Raises `UnknownNetwork`, `MarketUnavailable` for a network without such a market.
        """
        sources = _open_sources(settings or {}, warn=warn, reuse_searches=reuse_searches)
        return cls._opened(sources.pools.open_embedded(network), sources, price_request=PriceRequest.OFFLINE)

    @classmethod
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

        Raises `MarketError`, which names the file, the pool and the field.
        """
        import os

        sources = _open_sources(
            {**(settings or {}), "market": os.fspath(path)}, warn=warn, reuse_searches=reuse_searches
        )
        return cls._opened(sources.pools.open_file(skip_bad_pools=skip_bad_pools), sources)

    @classmethod
    def store(
        cls,
        network: str,
        *,
        folder: str | PathLike[str] | None = None,
        reuse_searches: bool = False,
        settings: Mapping[str, object] | None = None,
        warn: Warn = None,
    ) -> Self:
        """Open the store that `swapcli sync` has filled, in `folder` or in that of the settings.

        Each quote uses the newest block in the store. Raises `ConfigError` if there is no store, `MarketError`.
        """
        import os

        overrides = {**(settings or {})} if folder is None else {**(settings or {}), "store_dir": os.fspath(folder)}
        sources = _open_sources(overrides, warn=warn, reuse_searches=reuse_searches)
        request = PriceRequest.OFFLINE if sources.nodes.rules.excludes_nodes else PriceRequest.MARKET
        return cls._opened(sources.pools.open_stored(network), sources, price_request=request)

    @classmethod
    def live(
        cls,
        network: str,
        *,
        rpc_url: str | None = None,
        state: BlockTag | Literal["latest", "pending", "safe", "finalized"] = "latest",
        block: int | str | None = None,
        reuse_searches: bool = False,
        settings: Mapping[str, object] | None = None,
        warn: Warn = None,
    ) -> Self:
        """Open a market whose pools are read from a node, at the block that it calls `state`, or at a past `block`.

        A past block is named by its number or hash. Its quotes have the gas price of its time and build no transaction,
        and what they read is remembered nowhere; blocks older than some minutes need an archive node. `rpc_url` is an
        http or https URL; without it that is the node of the settings, else a public one. Which pools there are comes
        from the store, else from the embedded market. Quotes within one block time share a block; `refresh` ends it.
        Raises `ConfigError` for an invalid URL, `InvalidOption` without a node; quotes raise `UpstreamError`.
        """
        if block is not None and state != "latest":
            raise InvalidOption(f"a market has one state: give block or state, not both (state is {state})")
        overrides = {"live": "require", **(settings or {}), "state": str(state)}
        from swapcli.quoting.config import node_url

        url = None if rpc_url is None else node_url("rpc_url", rpc_url)
        sources = _open_sources(overrides, rpc_url=url, warn=warn, reuse_searches=reuse_searches, block=block)
        return cls._opened(sources.open_live(network), sources)

    @classmethod
    def service(
        cls, network: str, *, api_url: str, settings: Mapping[str, object] | None = None, warn: Warn = None
    ) -> Self:
        """Open the market of a remote service of the interface. An API key comes from the settings.

        Raises `ConfigError` for an invalid URL; quotes raise `UpstreamError`.
        """
        sources = _open_sources({**(settings or {}), "api_url": api_url}, warn=warn)
        return cls._opened(sources.open_service(network), sources)

    @classmethod
    def _opened(
        cls, source: QuoteSource, sources: SourceChooser, *, price_request: PriceRequest = PriceRequest.NONE
    ) -> Self:
        return cls(source, sources.nodes, sources.networks.routers, price_request=price_request)

    @property
    def source(self) -> QuoteSource:
        """The source of the quotes. Raises `MarketUnavailable` after `close`."""
        if not self._finalizer.alive:
            raise closed_market()
        return self._source

    @property
    def network(self) -> Network:
        """The network of the quotes."""
        return self._source.network

    @property
    def settings(self) -> Settings:
        """The settings that apply where a quote has no option of its own."""
        return self._nodes.setup.settings

    @property
    def state(self) -> StateSource:
        """Where the state of the newest quote comes from, and its age now."""
        with self._lock:
            return self.source.state_source

    @property
    def pools(self) -> Mapping[str, Pool]:
        """All known pools by key, with their state before any reading. Raises `InvalidOption` for a service."""
        return self._known_market().pools

    @property
    def tokens(self) -> Mapping[str, Token]:
        """All tokens of the pools by lower-case address. Raises `InvalidOption` for a service."""
        return self._known_market().tokens

    def token(self, name: str) -> Token:
        """Return the token called `name`, a symbol in any case or an address; the zero address is the native token.

        Raises `UnknownToken`, `AmbiguousToken`, `InvalidAddress`.
        """
        with self._lock:
            return self.source.token(name)

    def prices(self, *tokens: str | Token, unit: str | Token | None = None) -> PriceList:
        """Return the mid prices of tokens in USD and in `unit`, by default the native token. A price may be None.

        Raises `UnknownToken`, `InvalidOption` for a service, `UpstreamError`.
        """
        from swapcli.quoting.token_prices import price_tokens
        from swapcli.quoting.warnings import state_warnings

        with self._lock:
            wanted = [self._find(token) for token in tokens]
            found = price_tokens(self.source, wanted, None if unit is None else self._find(unit))
            return found._replace(warnings=state_warnings(self.state, found.state, self.settings.route_ttl_s))

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

        Tokens are symbols, addresses or `Token`s. Text and `Decimal` are whole tokens, an `int` is base units; text may
        also be "2k" or "$1000". Raises `InvalidAmount` (also for floats), `UnknownToken`, `SameToken`, `NoRoute`,
        `InvalidOption`, `UpstreamError`.
        """

        requested = amount_out if amount is None else amount
        if requested is None or (amount is not None and amount_out is not None):
            raise InvalidAmount("a quote needs an amount: give amount, or amount_out for an exact output")
        with self._lock:
            resolved = self._resolve(amount_out is not None, **options)
            order = resolved.build_order(self._find(token_in), self._find(token_out), 0)
            units = self.resolve_amount(requested, order, resolved).amount
            return self.quote_order(order._replace(amount=units), resolved)

    def depth(
        self,
        token_in: str | Token,
        token_out: str | Token,
        amounts: Sequence[Amount] = (),
        **options: Unpack[QuoteKeywords],
    ) -> Depth:
        """Return what `amounts` of `token_in` lose by their size: `points` with one quote each, and `levels` of impact.

        Without amounts, a ladder of them starts at about $10. Raises as `quote`.
        """
        from swapcli.quoting.depth import measure_depth, start_amount

        with self._lock:
            resolved = self._resolve(False, **options)
            order = resolved.build_order(self._find(token_in), self._find(token_out), 0)
            units = [self.resolve_amount(amount, order, resolved).amount for amount in amounts]
            start = 1 if units else start_amount(order, lambda text: self.resolve_amount(text, order, resolved))
            return measure_depth(self.source, resolved.build_request(order), resolved.terms, units, start)

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
        """Return the ways to sell `amount`, the best first: split, single path, direct, and each protocol alone.

        Aggregators are only asked if `aggregators` names them, as `swapcli compare --aggregators` does: "all", or names
        such as ["lifi", "kyberswap"]. The tokens, the amount and the `sender`, by default an address that nobody owns,
        are then sent to the `hosts` of the comparison, while this process computes. With a node, their payloads are
        simulated for the sender, and ranked by what they pay.

        Errors of one way are its `error`; otherwise raises as `quote`, and `InvalidOption` for an aggregator that
        cannot be asked, or for any aggregator if the market is offline or on a past block.
        """
        from swapcli.quoting.comparison import compare_alternatives
        from swapcli.state.clock import SYSTEM_CLOCK

        with self._lock:
            resolved = self._resolve(False, **options)
            asked = self._choose_aggregators([aggregators] if isinstance(aggregators, str) else aggregators, sender)
            order = resolved.build_order(self._find(token_in), self._find(token_out), 0)
            order = order._replace(amount=self.resolve_amount(amount, order, resolved).amount)
            request = resolved.build_request(order)
            return compare_alternatives(self.source, (), request, resolved.terms, SYSTEM_CLOCK, asked)

    def _choose_aggregators(self, names: Sequence[str], sender: str | None) -> AggregatorOptions | None:
        if not names:
            if sender is not None:
                raise InvalidOption("sender is for offers of aggregators", hint="name some in aggregators")
            return None
        from swapcli.quoting.aggregator_options import choose_aggregator_options
        from swapcli.quoting.quote_options import parse_address_option

        setup = self._nodes.setup
        if setup.is_offline:
            raise InvalidOption("aggregators are asked over the network, but this market was opened offline")
        if setup.block is not None:
            raise InvalidOption("aggregators quote on their own state, but this market is on a past block")
        address = None if sender is None else parse_address_option(sender, self.network, "sender")
        return choose_aggregator_options(names, address, self.network, self._nodes, self._routers)

    def pool_list(self, *tokens: str | Token, limit: int | None = None) -> PoolList:
        """Return the pools that trade `tokens`, at most two, the deepest first, and then those that a sync left out.

        Raises `SameToken`, `InvalidOption` for a service and for more tokens, `UpstreamError`.
        """
        from swapcli.quoting.pool_listing import find_pools
        from swapcli.quoting.warnings import state_warnings

        with self._lock:
            found = find_pools(self.source, [self._find(token) for token in tokens], limit)
            return found._replace(warnings=state_warnings(self.state, found.state, self.settings.route_ttl_s))

    def pool_rows(self, *tokens: str | Token, limit: int | None = None) -> list[PoolDocumentJson]:
        """Return the rows of `pool_list`, as `swapcli pools --json` has them. Raises as `pool_list`.

        `pandas.DataFrame(market.pool_rows("ETH", "USDC"))` takes them as they are.
        """
        return self.pool_list(*tokens, limit=limit).document()["pools"]

    def balance(self, owner: str, *tokens: str | Token) -> Holdings:
        """Return what an account holds of `tokens`, by default of all known tokens that it has any of.

        Read on the newest block of a node. Raises `InvalidAddress`, `UnknownToken`, `InvalidOption` without a node,
        `UpstreamError`.
        """
        from swapcli.quoting.account_holdings import find_holdings

        with self._lock:
            named = [self._find(token) for token in tokens]
            return find_holdings(self._nodes, self.network, owner, named, self._known_market)

    def allowance(self, owner: str, token: str | Token, spender: str | None = None) -> Allowance:
        """Return what `spender`, by default the network's router, may take of an account's token.

        Read on the newest block of a node. Raises `InvalidAddress`, `UnknownToken`, `InvalidOption` without a node or a
        router and for the native token, `UpstreamError`.
        """
        from swapcli.quoting.account_holdings import find_allowance

        with self._lock:
            return find_allowance(self._nodes, self.network, owner, self._find(token), spender)

    def quote_many(
        self,
        orders: Iterable[tuple[str | Token, str | Token, Amount] | Mapping[str, Any]],
        executor: Executors | None = None,
        *,
        answered: Container[object] = (),
        **options: Unpack[QuoteKeywords],
    ) -> Iterator[ManyQuote]:
        """Yield the quotes of many orders, in order, each as soon as it is ready; errors are answers too.

        An order is (token_in, token_out, amount), or a line of `swapcli route --batch`: token_in, token_out, amount_in
        in base units, and perhaps an id; an amount as `quote` takes it is called amount. The default id is the order's
        number from 0. Orders with an id in `answered` are skipped. An item that is not an order gets an error.

        `executor` is any executor of the standard library, or of a Dask client. It quotes on the state of this market,
        which each worker is sent once. Orders of a crashed worker are retried. If that breaks the executor itself, as
        with processes, the remaining orders are quoted here. A class or function that makes executors is called for a
        new one instead: `quote_many(orders, ProcessPoolExecutor)`. An executor needs a market in memory, embedded or
        from a file: otherwise raises `InvalidOption`.

        Processes that are not forked (on macOS and Windows, and by default since Python 3.14) import the main module
        again. A script that starts them needs a guard:

            if __name__ == "__main__":
                for answer in market.quote_many(orders, ProcessPoolExecutor):
                    print(answer.id, answer.quote or answer.error)

        Without it, raises `InputOutputError` because workers end before their first order.
        """
        from swapcli.quoting.many_quotes import ManyQuote, quote_in_executor
        from swapcli.quoting.sources.in_memory import InMemorySource

        source = self.source
        prepared = self._prepare_orders(orders, answered, options)
        if executor is not None:
            if not isinstance(source, InMemorySource):
                raise InvalidOption(
                    "an executor needs a market in memory: an embedded one, or a market file",
                    hint="leave out executor",
                )
            return quote_in_executor(source, self, prepared, executor)

        def answer(order: PreparedOrder) -> ManyQuote:
            if order.request is None:
                return ManyQuote(order.id, None, order.error)
            try:
                with self._lock:
                    return ManyQuote(order.id, self.bind(self.source.quote(order.request), order.terms), None)
            except SwapcliError as error:
                return ManyQuote(order.id, None, error)

        return map(answer, prepared)

    def _prepare_orders(
        self, orders: Iterable[Any], answered: Container[object], options: QuoteKeywords
    ) -> Iterator[PreparedOrder]:
        """Yield the orders whose ids are not among those answered."""
        from swapcli.quoting.many_quotes import PreparedOrder, is_answered, read_order

        with self._lock:
            resolved = self._resolve(False, **options)
        for number, each in enumerate(orders):
            order_id = each.get("id", number) if isinstance(each, Mapping) else number
            try:
                if is_answered(order_id, answered):
                    continue
                token_in, token_out, amount = read_order(each)
                with self._lock:
                    order = resolved.build_order(self._find(token_in), self._find(token_out), 0)
                    order = order._replace(amount=self.resolve_amount(amount, order, resolved).amount)
                yield PreparedOrder(order_id, resolved.build_request(order), resolved.terms)
            except SwapcliError as error:
                yield PreparedOrder(order_id, None, resolved.terms, error)

    def resolve_amount(self, amount: Amount | WrittenAmount, order: Order, options: QuoteOptions) -> ResolvedAmount:
        """Return the amount of an order in base units, which `order` does not have yet, and what a notation means."""
        from swapcli.quoting.amounts import resolve_amount

        with self._lock:
            return resolve_amount(amount, order, options, self.source)

    def quote_order(self, order: Order, options: QuoteOptions) -> SwapQuote:
        """Return the quote for an order. Raises as `quote` does."""
        with self._lock:
            return self.bind(self.source.quote(options.build_request(order)), options.terms)

    def quote_and_build(
        self, order: Order, options: QuoteOptions, terms: SwapTerms
    ) -> tuple[SwapQuote, UnsignedTransaction]:
        """Return the quote for an order and its payload on the same state. Raises as `QuoteSource.quote`."""
        from swapcli.quoting.sources.quote_source import quote_and_build

        with self._lock:
            answer, payload = quote_and_build(self.source, options.build_request(order), terms)
            return self.bind(answer, options.terms._replace(deadline_s=terms.deadline_s)), payload

    def bind(self, answer: QuoteResult, terms: SwapTerms) -> SwapQuote:
        """Return an answer of this market with its figures for a swap on these terms."""
        from swapcli.quoting.quote_figures import compute_figures

        return SwapQuote(answer, terms, compute_figures(answer, terms), self)

    def transactions(self, quote: SwapQuote, **terms: Unpack[TransactionKeywords]) -> list[dict[str, Any]]:
        """Return the transactions of a quote of this market in the order to send them: approvals first, the swap last.

        On EVM networks each is what web3.py and viem send: `to`, `data`, `value` and `chainId`, and with `sender` also
        `from`, `nonce`, `gas` and fees in wei. On Starknet each is a call of an account: `to`, `entrypoint`, `calldata`
        and `value`. The approvals are those that the sender lacks, or all without a sender. A node of the settings
        rehearses the swap first, unless the setting `check` is "never".

        Raises `VerdictBlocks` for a swap that a rehearsal has shown to be harmful, `InvalidAddress`, `UnsafeRecipient`,
        `PriceImpactTooHigh`, `UnreadGainTooHigh`, `SlippageTooHigh`, `ConfigError` if the router is unknown,
        `InvalidOption` without a node for `sender` or `simulate`, `InsufficientBalance`, `SimulationError`,
        `UnusualFees` and `UpstreamError`.
        """
        return self._prepare(quote, **terms).transactions

    def transaction(self, quote: SwapQuote, **terms: Unpack[TransactionKeywords]) -> dict[str, Any]:
        """Return the last of `transactions`, the swap itself. Raises as `transactions`."""
        return self._prepare(quote, **terms).transactions[-1]

    def prepare(self, quote: SwapQuote, **terms: Unpack[TransactionKeywords]) -> PreparedSwap:
        """Return the `transactions` of a quote with the warnings to read before signing. Raises as `transactions`."""
        return self._prepare(quote, **terms)

    def permit(self, quote: SwapQuote, *, owner: str, deadline: int | str) -> dict[str, Any]:
        """Return the message whose signature replaces the approval of the router, as `eth_signTypedData_v4` takes it.

        Pass the owner's signature of it to `transactions` or `prepare` as `signature`, with the same `deadline` in Unix
        seconds. It permits the router to take `amount_in` until then: by the token's own permit (EIP-2612), or by
        Permit2, which the owner has approved once. A node has the owner's nonce. Example:

            deadline = int(time.time()) + 1200
            message = market.permit(quote, owner=account.address, deadline=deadline)
            signature = account.sign_typed_data(full_message=message).signature.to_0x_hex()
            market.transactions(quote, destination=account.address, deadline=deadline, signature=signature)

        Raises `InvalidOption` if the router or the token takes no permit, if none is needed, or without a node,
        `InvalidDeadline`, `InvalidAddress`, `ConfigError` if the router is unknown, and `UpstreamError`.
        """
        from swapcli.payload.signing.deadlines import parse_deadline_s
        from swapcli.quoting.permits import PermittedSwap, permit_message
        from swapcli.quoting.quote_options import parse_address_option
        from swapcli.state.clock import SYSTEM_CLOCK

        address = parse_address_option(owner, quote.network, "owner")
        now_s = quote.state.network_time_s(SYSTEM_CLOCK.now_s())
        deadline_s = parse_deadline_s(str(deadline), now_s, "deadline")
        with self._lock:
            terms = quote.terms._replace(recipient=address, deadline_s=deadline_s)
            router = self.source.build(quote.answer, terms).to
            swap = PermittedSwap(quote.route, quote.network, router, address, deadline_s)
            return permit_message(self._nodes, swap).document()

    def _prepare(
        self,
        quote: SwapQuote,
        *,
        destination: str,
        slippage: Percentage | None = None,
        deadline: int | str | None = None,
        max_impact: Percentage | None = None,
        max_slippage: Percentage | None = None,
        allow_recipient: str | None = None,
        sender: str | None = None,
        simulate: bool = False,
        allow_fees: bool = False,
        signature: str | None = None,
    ) -> PreparedSwap:
        from swapcli.interface.slippage import SLIPPAGE_RANGE
        from swapcli.payload.checks.payload_findings import payload_findings
        from swapcli.payload.signing.deadlines import parse_deadline_s, parse_duration_s
        from swapcli.payload.transactions_to_send import render_transactions
        from swapcli.quoting.accounts import check_allowed_recipient
        from swapcli.quoting.config import override_settings
        from swapcli.quoting.live_choice import own_node_hint
        from swapcli.quoting.price_policy import PriceUse, check_use
        from swapcli.quoting.quote_options import parse_account, require_swap_terms
        from swapcli.quoting.review.presign_checker import has_own_router
        from swapcli.quoting.warnings import (
            deadline_warnings,
            exact_output_warnings,
            settle_impact,
            settle_slippage,
        )
        from swapcli.state.clock import SYSTEM_CLOCK

        network = quote.network
        overrides = {"slippage": slippage, "max_impact": max_impact, "max_slippage": max_slippage}
        settings = override_settings(self.settings, {k: None if v is None else str(v) for k, v in overrides.items()})
        slippage_ppm = quote.terms.slippage_ppm if slippage is None else settings.slippage_ppm
        SLIPPAGE_RANGE[quote.route.api_version].check(slippage_ppm)
        settle_slippage(slippage_ppm, settings)
        terms = require_swap_terms(parse_account(destination, network, "destination"), slippage_ppm, network)
        recipient = terms.required_recipient
        with self._lock:
            check_allowed_recipient(self.source, recipient, allow_recipient, "allow_recipient")
        if (slippage_ppm, recipient) != (quote.terms.slippage_ppm, quote.terms.recipient):
            quote = self.bind(quote.answer, quote.terms._replace(slippage_ppm=slippage_ppm, recipient=recipient))
        if deadline is not None:
            now_s = quote.state.network_time_s(SYSTEM_CLOCK.now_s())
            deadline_s = parse_deadline_s(str(deadline), now_s, "deadline")
            terms = terms._replace(deadline_s=deadline_s, deadline_in_s=parse_duration_s(str(deadline)))
        if not simulate:  # a simulation shows the real output
            check_use(quote.state, PriceUse.PAYLOAD, self._price_request, node_hint=own_node_hint(network))
        settle_impact(quote.price_impact, quote.state, settings, unread_gain_bps=quote.figures.unread_gain_bps)
        if sender is not None:
            terms = terms._replace(sender=parse_account(sender, network, "sender"))
        with self._lock:
            if signature is not None:
                terms = self._with_signature(quote, terms, signature)
            payload = self.source.build(quote.answer, terms)
            needs_node = sender is not None or simulate
            checker = None
            if needs_node:
                from swapcli.payload.checks.presign_checks import CheckOptions

                options = CheckOptions(simulate, max_fee_usd=settings.max_fee_usd, allows_fees=allow_fees)
                checker = self._new_checker(network, sender, options)
            swap = self.check_swap(quote, payload, terms, checker)
            verdict = self._judge(swap, checker)
        payload, checked = swap.payload, swap.checked
        on_deadline = deadline_warnings(network, terms, quote.state, SYSTEM_CLOCK.now_s())
        on_quote = (*swap.quote.warnings, *exact_output_warnings(quote.answer.order, payload), *on_deadline)
        is_own = has_own_router(settings, network)
        return PreparedSwap(
            swap.quote,
            [dict(each.request or each.signed_fields) for each in render_transactions(payload, network, checked)],
            payload_findings(
                on_quote, payload, network, checked, swap.variants, has_own_router=is_own, with_approval=True
            ),
            checked.simulation if checked else None,
            payload,
            verdict,
        )

    def _with_signature(self, quote: SwapQuote, terms: SwapTerms, signature: str) -> SwapTerms:
        """Return the terms with a signed permit of the input, whose owner is the sender, else the recipient."""
        from swapcli.quoting.permits import PermittedSwap, check_permit

        network, owner = quote.network, terms.sender or terms.required_recipient
        if terms.deadline_s is None:
            raise InvalidOption("signature needs deadline: the end of the permit", hint="give the deadline of permit")
        if network.router is None:
            return terms  # the payload is refused for the same reason
        swap = PermittedSwap(quote.route, network, network.router, owner, terms.deadline_s)
        return terms._replace(permit=check_permit(self._nodes, swap, signature), deadline_in_s=None)

    def _judge(self, swap: CheckedSwap, checker: PayloadChecker | None) -> Verdict | None:
        """Return the verdict on a swap, None if the settings name no node for it. Raises `VerdictBlocks`."""
        from swapcli.quoting.quote_results import LocalQuote
        from swapcli.quoting.review.presign_checker import BuiltSwap, judge_built, traded_tokens

        answer, network = swap.quote.answer, swap.quote.network
        pools = answer.pools if isinstance(answer, LocalQuote) else None
        ends = traded_tokens(answer.result, swap.payload, network)
        built = BuiltSwap(swap.payload, answer.result, pools, network, ends, swap.quote.state, self.source)
        verdict = judge_built(self._nodes, built, checker.requested.sender if checker else None)
        if verdict is not None:
            verdict.settle()
        return verdict

    def check_swap(
        self, quote: SwapQuote, payload: UnsignedTransaction, terms: SwapTerms, checker: PayloadChecker | None
    ) -> CheckedSwap:
        """Return a quote of this market and its payload after the checks of `checker`. Raises as `check_quoted`."""
        from swapcli.quoting.quote_results import LocalQuote
        from swapcli.quoting.review.presign_checker import in_variant, mark_revocations, route_payloads

        answer, find = quote.answer, self._routers.findings
        pools = answer.pools if isinstance(answer, LocalQuote) else None
        variants = route_payloads(find, answer.network, answer.result, pools, terms, payload)
        with self._lock:
            checked = checker.check_quoted(answer, payload, variants) if checker else None
        answer, payload = in_variant(answer, variants, checked, payload)
        payload = mark_revocations(payload, answer.state_source, self._nodes, answer.network, checked)
        return CheckedSwap(
            quote if answer is quote.answer else self.bind(answer, quote.terms), payload, checked, variants
        )

    def _new_checker(self, network: Network, sender: str | None, options: CheckOptions) -> PayloadChecker:
        from swapcli.quoting.live_choice import missing_node_hint
        from swapcli.quoting.quote_options import parse_address_option
        from swapcli.quoting.review.presign_checker import new_checker

        if not network.kind.traits.has_eth_nodes:
            raise InvalidOption(f"transactions are checked on EVM networks only, not on {network.name}")
        address = None if sender is None else parse_address_option(sender, network, "sender")
        node = self._nodes.node(network)
        if node is None:
            raise InvalidOption(
                f"sender and simulate need a node of {network.name}, but {self._nodes.rules.why_no_node()}",
                hint=f"open Market.live; {missing_node_hint(network, 'rpc_url')}",
            )
        return new_checker(self._nodes, self._routers, network, node, options._replace(sender=address))

    def health(self) -> Health:
        """Return whether the market answers orders, by quoting one, on prices that are real or that you requested.

        An unhealthy market raises nothing.
        """
        from swapcli.quoting.health import judge_prices

        with self._lock:
            return judge_prices(self.source.health(), self._price_request)

    def refresh(self) -> None:
        """Read the newest state for the next quote, even within the same block time."""
        with self._lock:
            self.source.refresh()

    @contextmanager
    def pinned(self) -> Iterator[Self]:
        """Quote on one state inside the `with`: all quotes of a live market are on the block of the first one.

        A block that leaves the chain is replaced all the same. Other markets change only when they are refreshed, a
        store when it is synced.
        """
        with self._lock:
            self.source.pin(pinned=True)
        try:
            yield self
        finally:
            with self._lock:
                self._source.pin(pinned=False)

    def close(self) -> None:
        """Close the connections and files. Figures of quotes stay; every further call raises `MarketUnavailable`."""
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

    def _find(self, token: str | Token) -> Token:
        if isinstance(token, str):
            return self.source.token(token)
        from swapcli.core.model.token import Token

        if not isinstance(token, Token):
            from swapcli.core.validation.values import describe

            raise InvalidInput(f"a token is a symbol, an address or a Token, not {describe(token)}")
        return token

    def _known_market(self) -> MarketState:
        from swapcli.quoting.sources.quote_source import known_market

        known = known_market(self.source)
        if known is None:
            raise InvalidOption(f"the service of {self.network.name} does not list its pools")
        with self._lock:
            return known.whole()

    def _resolve(self, exact_output: bool, **options: Any) -> QuoteOptions:
        from swapcli.quoting.quote_options import resolve_options

        return resolve_options(self.settings, self.network, self._nodes.setup.api_key, reverse=exact_output, **options)


def _open_sources(
    settings: Mapping[str, object],
    *,
    rpc_url: Secret | None = None,
    offline: bool = False,
    warn: Warn = None,
    reuse_searches: bool = False,
    block: int | str | None = None,
) -> SourceChooser:
    # Importing the settings takes longer than `swapcli` may take.
    from swapcli.quoting.openers.choose_source import open_source_chooser
    from swapcli.quoting.openers.program_setup import program_setup

    return open_source_chooser(
        program_setup(settings, rpc_url=rpc_url, offline=offline, reuse_searches=reuse_searches, block=block, warn=warn)
    )


def closed_market() -> MarketUnavailable:
    """Return the error of a call after `close`."""
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
    """Return a quote as `swapcli route` does: `quote("base", "ETH", "USDC", "1.5")`.

    Opens `Market.open(network)` each time: for several quotes, keep a market. Raises as `Market.quote`.
    """
    return Market.open(network).quote(token_in, token_out, amount, amount_out=amount_out, **options)
