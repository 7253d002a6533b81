"""A source of quotes at a recent block of a node. At that block, it reads the pools that an order could use.

One request reads the block, the first part of the pools' state and the transfers of untested tokens. Another reads the
ticks to which that state refers. If prices have moved so much that other pools may be better, these pools are read too,
as decided by `live_search`. All amounts are computed from that block's state alone. Earlier state only decides which
pools to read. The first reads for other threads' orders are included (`joined_orders`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from swapcli.core.errors import FeeOnTransfer, InvalidOption, NodesDisagree, NoRoute, UpstreamError
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import Network
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.quoter import Sale
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import DEFAULT_ROUTE_TTL_S, SwapTerms
from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple
from swapcli.core.routing.competing_routes import is_better
from swapcli.core.routing.no_route import LARGER, with_unread_past_pools, with_unread_pools
from swapcli.families.sampled.sampled_discovery import listed_sampled_pools
from swapcli.payload.dialects import executable_market
from swapcli.quoting.health import Health, check_live
from swapcli.quoting.l1_data_fee import with_l1_fee
from swapcli.quoting.quote_results import Contradiction, LocalQuote, QuoteResult, result_of
from swapcli.quoting.sources.checked_amounts import settle_amounts, without_protocols
from swapcli.quoting.sources.freshness import check_fresh, is_fresh
from swapcli.quoting.sources.joined_orders import JoinedOrder, JoinedOrders, PreparedSearch
from swapcli.quoting.sources.live_reading import LiveBlock, LivePoolReader, Others
from swapcli.quoting.sources.live_search import TOLERANCE, Limits, LiveSearch, pricing_pools
from swapcli.quoting.sources.local_quotes import BuiltRoute, LocalPayloads, build_local_quote, quote_locally
from swapcli.quoting.sources.market_prices import price_pools
from swapcli.quoting.sources.probed_transfers import ProbedTransfers
from swapcli.quoting.sources.quote_source import FindsPools, KnownMarket, PoolSource
from swapcli.quoting.sources.requote_sampled_pools import with_quoted_amounts
from swapcli.quoting.sources.sampled_markets import without_wrong_prices
from swapcli.quoting.sources.searchable_market import SearchableMarket
from swapcli.quoting.sources.token_checks import TokenChecks
from swapcli.state.clock import Clock
from swapcli.state.rpc.node import BudgetedNode, Node
from swapcli.state.snapshot_reader import ReadState

if TYPE_CHECKING:
    from swapcli.core.model.pool import Pool
    from swapcli.core.model.quote import Step
    from swapcli.core.model.transaction import UnsignedTransaction
    from swapcli.core.routing.router import SearchResult
    from swapcli.quoting.sources.router_choice import Search
    from swapcli.quoting.sources.state_confirmation import StateConfirmation
    from swapcli.state.rpc.witness_node import Witnesses
    from swapcli.state.snapshot_reader import BlockSnapshot

    Improves = Callable[[Mapping[str, Pool | None], int | None], bool]

T = TypeVar("T")


_MAX_MADE = 32
"""Number of quotes to remember: a program builds a quote's payload soon after the quote, if at all."""


_MANY_REQUESTS = 1_000


class _MadeQuote(NamedTuple):
    """What a quote was made from: the pools of a snapshot by their `keys`, which may have those of other orders too.

    `steps` are its own, which identify it also after other fields have been replaced.
    """

    steps: tuple[Step, ...]
    snapshot: BlockSnapshot
    keys: tuple[str, ...]
    improves: Improves


class LiveSource:
    """Quotes at the block that `node` calls `tag`. `pool_source` provides the known pools. The class is a `PoolSource`
    itself.

    `max_age_s` limits the age of pool states. If the latest block is requested and the pool source's state is young
    enough, it is used without a read. If the node's block is older than `max_age_s`, methods raise `MarketUnavailable`.
    Without a `tag`, the node is a view of one past block. Nothing about that block is remembered elsewhere, and no
    payloads are built on it. `close` calls `close_node`. If there are `witnesses`, they confirm the state of each
    payload, and `quote` with terms and `build` may raise `NodesDisagree`. `token_checks` compares tokens with their
    contracts. Methods raise `UpstreamError` if the node fails, and `ConfigError` if a token's contract contradicts the
    known facts about the token.
    """

    def __init__(
        self,
        pool_source: PoolSource,
        node: Node,
        clock: Clock,
        *,
        max_age_s: int | None = None,
        route_ttl_s: int = DEFAULT_ROUTE_TTL_S,
        limits: Limits | None = None,
        tag: BlockTag | None = BlockTag.LATEST,
        close_node: Callable[[], object] | None = None,
        witnesses: Witnesses | None = None,
        token_checks: TokenChecks | None = None,
    ) -> None:
        self._token_checks = token_checks or TokenChecks(pool_source.network)
        self._pool_source, self._clock, self._max_age_s, self._limits = pool_source, clock, max_age_s, limits
        network = pool_source.network
        if tag is None:
            network = network.for_dialect(network.router_dialect)  # nothing is signed, so no router is chosen
        self._block = LiveBlock(node, network, clock, tag)
        if isinstance(pool_source, FindsPools):
            pool_source.use_node(self, remembers=tag is not None)
        self._payloads = LocalPayloads(clock, route_ttl_s, confirm=self._confirm)
        self._witnesses = witnesses
        self._confirmation: StateConfirmation | None = None
        self._made: dict[int, _MadeQuote] = {}
        self._transfers = ProbedTransfers(pool_source.known(), records=tag is not None)
        self._close_node = close_node
        self.joined = JoinedOrders()
        """The orders that wait: a read for one of them reads for the next ones too."""
        self._contradictions: dict[str, Contradiction] = {}
        self._last: SearchableMarket | None = None
        self._network: Network | None = None
        self._listed_in: tuple[SearchableMarket, SearchableMarket] | None = None

    @property
    def network(self) -> Network:
        """The pool source's network, updated with the facts about its router that the node has shown."""
        network, snapshot = self._network or self._pool_source.network, self._block.last_snapshot
        registered = snapshot.registered_router if snapshot else None
        if registered is None or network.router_registry is None:
            return network
        return network.with_registered_router(registered.address)  # read by a quote that found no route

    @property
    def state_source(self) -> StateSource:
        return self._last.state_source if self._last else self._pool_source.state_source

    def token(self, name: str) -> Token:
        return self._pool_source.token(name)

    def quote(self, request: QuoteRequest, terms: SwapTerms | None = None) -> LocalQuote:
        if terms is None:
            return self._quote_and_build(request, None)
        self._check_signable()
        return self._confirmed(lambda: self._quote_and_build(request, terms))

    def _quote_and_build(self, request: QuoteRequest, terms: SwapTerms | None) -> LocalQuote:
        searched, answer = self._quote_live(request, needs_permit=terms is not None and terms.needs_permit)
        payload = None if terms is None else self._payloads.of_quote(answer, terms, self._with_router(searched.market))
        snapshot, is_live = self._block.last_snapshot, answer.state_source.provenance is Provenance.LIVE
        fees = snapshot.l1_fee_params if snapshot and is_live else None
        registry = self.network.book_registry
        if registry is not None and snapshot is not None and is_live:
            from swapcli.state.book_prices import read_book_prices

            answer = answer._replace(book_prices=read_book_prices(snapshot, request.order, registry))
        charged = with_l1_fee(answer, fees, payload) if fees else answer
        if snapshot and is_live and self.network.l1_gas_oracle:
            charged, payload = self._with_l1_gas(charged, payload, snapshot)
        return charged if payload is None else charged._replace(payload=payload)

    def _with_l1_gas(
        self, answer: LocalQuote, payload: UnsignedTransaction | None, snapshot: BlockSnapshot
    ) -> tuple[LocalQuote, UnsignedTransaction | None]:
        """Return a quote and its payload, if any, with the gas that its network adds for data on L1."""
        from swapcli.quoting.l1_data_fee import placeholder_payload, with_l1_gas

        swap = payload or placeholder_payload(answer)
        added = snapshot.read_l1_gas(swap.to, swap.calldata) if swap else 0
        return with_l1_gas(answer, added), payload and _with_more_gas(payload, added)

    def build(self, quoted: QuoteResult | RouteResult, terms: SwapTerms) -> UnsignedTransaction:
        """Return the payload of a quote at the quote's block, or of an earlier route with its pools at the latest
        block.

        Raises `InvalidOption` on a past block.
        """
        self._check_signable()
        if isinstance(quoted, LocalQuote):
            last = self._last or self.known().with_pools(quoted.result.pool_keys)
            try:
                return self._payloads.of_quote(quoted, terms, self._with_router(last.market))
            except NodesDisagree as error:
                if error.is_outvoted and self._block.node.use_spare(UpstreamError(error.message)):
                    self._block.discard()  # the next quote is read from another node
                raise
        return self._confirmed(lambda: self._build(result_of(quoted), terms))

    def _build(self, result: RouteResult, terms: SwapTerms) -> UnsignedTransaction:
        known = self._with_listed_pools(self.known().with_pools(result.pool_keys))
        reader = self._reader(known)
        read = with_quoted_amounts(known.with_market(reader.read(result.pool_keys)), result, reader.quote_sales)
        self._use(read)
        if read.network.chooses_router:
            from swapcli.quoting.sources.router_choice import choose_for_route

            self._last, choice = choose_for_route(
                read, result, needs_permit=terms.needs_permit or terms.permit is not None
            )
            built = self._payloads.of_route(self._last, result, terms)._replace(router_choice=choice)
        else:
            market = self._with_router(read.market)
            searchable = read if market is read.market else read.with_market(market)
            built = self._payloads.of_route(searchable, result, terms)
        snapshot = self._block.last_snapshot
        return _with_more_gas(built, snapshot.read_l1_gas(built.to, built.calldata)) if snapshot else built

    def _confirmed(self, build: Callable[[], T]) -> T:
        """Return the result of `build`, with witnesses that read along.

        If other nodes contradict the one that was read, the payload is built again on one of those.
        """
        if self._witnesses is None:
            return build()
        from swapcli.quoting.sources.state_confirmation import StateConfirmation

        self._confirmation = StateConfirmation(self._witnesses)
        self._block.on_use, self._transfers.on_trials = self._confirmation.begin, self._confirmation.begin_trials
        try:
            return build()
        except NodesDisagree as error:
            node = self._block.node
            if not error.is_outvoted or not node.use_spare(UpstreamError(error.message)):
                raise
            self._block.discard()
            return build()
        finally:
            self._block.on_use = self._transfers.on_trials = None
            self._confirmation.close()
            self._confirmation = None

    def _confirm(self, built: BuiltRoute) -> UnsignedTransaction:
        """Return a payload with the number of nodes that agree on its state. Raises `NodesDisagree`."""
        market, payload = built.market, built.payload
        if self._witnesses is None:
            return payload._replace(witnesses=1)
        if market.tag is BlockTag.PENDING or market.block is None:
            return payload._replace(witnesses=1, unconfirmed="other nodes cannot confirm the pending block")
        from swapcli.quoting.sources.state_confirmation import BuiltState, StateConfirmation

        made = self._made.get(id(built.steps))
        snapshot = made.snapshot if made else self._block.last_snapshot
        pools = _used_as_read(built, snapshot)
        is_read = snapshot is not None and snapshot.head.block.number == market.block
        if snapshot is None or not is_read or any(snapshot.pools.get(key, pools[key]) != pools[key] for key in pools):
            read = ReadState.of_pools(market, pools, _sales_of(built.steps, pools))
        else:
            read = snapshot.read_state(made.keys if made else pools)
        tokens = built.tokens
        trials = [trial for token in tokens for trial in self._transfers.trials.get(token.address, ())]
        state = BuiltState(read, pools, tokens, trials, self._transfers.tried, made.improves if made else None)
        confirmation = self._confirmation or StateConfirmation(self._witnesses)
        found = confirmation.finish(state)
        return payload._replace(witnesses=found.witnesses, unconfirmed=found.unconfirmed)

    def _check_signable(self) -> None:
        if self._block.is_past:
            raise InvalidOption("a quote on a past block cannot be signed: its prices are outdated", hint="quote again")

    def newest_snapshot(self) -> BlockSnapshot:
        """Return a snapshot of the data read from the latest block. Raises `UpstreamError`."""
        return self._block.newest_snapshot()

    def health(self) -> Health:
        """Return the health of the pool source, after quoting its sample order at the latest block."""
        return check_live(self._pool_source.health(), self.network, self.quote, self._clock)

    def refresh(self) -> None:
        self._block.discard()

    def pin(self, *, pinned: bool) -> None:
        self._block.pin(pinned=pinned)

    def close(self) -> None:
        """Close the pool source, and the node if this source owns it."""
        if self._close_node:
            self._close_node()
        self._pool_source.close()

    def known(self) -> KnownMarket:
        return self._pool_source.known()

    def read(self, part: SearchableMarket, keys: Collection[str], priced: Collection[str]) -> SearchableMarket:
        """Return a market with only the pools in `keys` and those that determine the prices of `priced`, at the latest
        block. Return `part` itself if it is fresh enough."""
        if self._is_fresh(part):
            return self._use(part)
        needed = dict.fromkeys((*keys, *price_pools(part, priced)))
        read = part.with_market(self._reader(part).read(needed))
        read.name_skipped(part)
        return self._use(read)

    def latest(self, keys: Collection[str]) -> SearchableMarket:
        return self._last or self.known().with_pools(keys)

    def _quote_live(self, request: QuoteRequest, *, needs_permit: bool = False) -> tuple[SearchableMarket, LocalQuote]:
        """Return the quote, and the market in the quote's state."""
        self.joined.check_turn()
        prepared = self.joined.take_prepared(request)
        known = self._with_findings(prepared.known) if prepared else self._known_for(request)
        chooses = known.network.chooses_router and not self._block.is_past
        if self._is_fresh(known):
            self._last, self._network = known, known.network
            if not chooses:
                return known, quote_locally(known, request)
            return self._quote_fresh(known, request, needs_permit=needs_permit)
        ends = (request.order.token_in, request.order.token_out)
        reader = self._reader(
            known,
            has_gas_price=request.gas_price_wei is not None,
            order_tokens=[known.network.to_wrapped_token(token).address for token in ends],
            others=self._read_for_others,
        )
        if self.network.wraps(request.order):
            read = self._use(known.with_market(reader.read(pricing_pools(known, request))))
            return read, _quote_wrapping(read, request) if chooses else quote_locally(read, request)
        search = prepared.search if prepared and prepared.known is known else None
        try:
            found = (search or self._live_search(known, request)).run(reader.read)
        except FeeOnTransfer:
            raise
        except NoRoute as error:
            if known.market.coverage and error.hint != LARGER:
                error.hint = f"{known.market.coverage}; swapcli sync {self.network.name} finds more"
            unread = reader.unread_reasons()
            if not unread:
                raise
            past = self._block.past_number
            if past is not None:
                raise with_unread_past_pools(error, unread, past) from error
            hint = f"swapcli sync {self.network.name} finds the pools that exist"
            raise with_unread_pools(error, unread, hint) from error
        refusals: list[Contradiction] = []
        read, best = self._settle(request, found.searched, found.outcome, reader, refusals)
        searched, outcome, choice = read, best, None
        started_s = self._clock.monotonic_s() - found.searched_s
        if chooses:
            from swapcli.quoting.sources.router_choice import choose_route

            searches = self._search_read(reader, refusals), partial(self._search_again, known, reader, refusals)
            searched, outcome, choice = choose_route(request, (read, best), searches, needs_permit=needs_permit)
        answer = build_local_quote(searched, request, outcome, started_s)
        snapshot = self._block.last_snapshot
        if self._witnesses is not None and snapshot is not None:
            keys = reader.requested
            improves = partial(_is_improved, request, known, best, snapshot, keys)
            self._remember(_MadeQuote(answer.quote.steps, snapshot, keys, improves))
        unread_gain_bps = None if found.left_bps is None else round(found.left_bps, 4)
        contradictions = (*self._contradictions.values(), *refusals)
        return self._use(read), answer._replace(
            contradictions=contradictions, unread_gain_bps=unread_gain_bps, router_choice=choice
        )

    def _known_for(self, request: QuoteRequest) -> SearchableMarket:
        """Return what is known of the pools that an order could use."""
        return self._with_findings(self._with_listed_pools(self.known().for_order(request.order)))

    def _with_findings(self, known: SearchableMarket) -> SearchableMarket:
        """Return the market with what nodes have shown in this process; the same one if it has that."""
        return without_protocols(self._transfers.applied_to(known), self._contradictions)

    def _read_for_others(self) -> tuple[MarketState, Callable[[UpstreamError], None]] | None:
        """Return the first reads of the waiting orders, and the function that reports an error of the shared read to
        them.

        Public nodes that take few requests are asked for one order at a time, and so is what witnesses will read again.
        """
        if self._confirmation is not None:
            return None
        is_limited = isinstance(self._block.node, BudgetedNode) and self._block.node.requests_left < _MANY_REQUESTS
        if is_limited or isinstance(self._pool_source, FindsPools):
            return None
        included: list[JoinedOrder] = []
        market: MarketState | None = None
        for order in self.joined.take_waiting():
            with suppress(Exception):  # whatever is wrong with that order is raised at its own turn
                order.prepared = self._prepare(order.request())
                found = self._first_market(order.prepared)
                included.append(order)
                if market is None:
                    market = found
                else:
                    tokens = {**market.tokens, **found.tokens}
                    market = market._replace(pools={**market.pools, **found.pools}, tokens=tokens)

        def fail(error: UpstreamError) -> None:
            for order in included:
                order.failure = error

        return None if market is None else (market, fail)

    def _prepare(self, request: QuoteRequest) -> PreparedSearch:
        """Return what an order begins with."""
        known = self._known_for(request)
        search = None if self.network.wraps(request.order) else self._live_search(known, request)
        return PreparedSearch(request, known, search)

    def _first_market(self, order: PreparedSearch) -> MarketState:
        """Return the known market with only the pools that an order reads first. Raise `NoRoute`."""
        market = order.known.market
        keys = order.search.first_pools() if order.search else pricing_pools(order.known, order.request)
        real = [key for key in keys if key in market.pools and key not in market.placeholder_pools]
        return market._replace(pools={key: market.pools[key] for key in real})

    def _quote_fresh(
        self, known: SearchableMarket, request: QuoteRequest, *, needs_permit: bool
    ) -> tuple[SearchableMarket, LocalQuote]:
        """Return the quote on known state, for the chosen router, with routers as named at the latest block."""
        with suppress(UpstreamError):  # a router that only a registry names is then not chosen
            network = self._block.newest_snapshot().with_router(known.network)
            known = known.with_changes(known.market._replace(network=network), frozenset())
        if self.network.wraps(request.order):
            return known, _quote_wrapping(known, request)
        from swapcli.quoting.sources.router_choice import choose_route

        started_s = self._clock.monotonic_s()
        found = choose_route(request, (known, known.search(request)), (_search_known,), needs_permit=needs_permit)
        answer = build_local_quote(found.searched, request, found.outcome, started_s)
        return known, answer._replace(router_choice=found.choice)

    def _live_search(self, known: SearchableMarket, request: QuoteRequest) -> LiveSearch:
        node = self._block.node
        requests_left = partial(_requests_left, node) if isinstance(node, BudgetedNode) else None
        return LiveSearch(known, request, self._limits, requests_left=requests_left)

    def _settle(
        self,
        request: QuoteRequest,
        searched: SearchableMarket,
        outcome: SearchResult,
        reader: LivePoolReader,
        refusals: list[Contradiction],
    ) -> tuple[SearchableMarket, SearchResult]:
        """Return an outcome whose amounts the protocols have quoted or confirmed, and add the pools that rejected
        theirs.

        Raises the same errors as `settle_amounts`.
        """
        checked = settle_amounts(request, searched, outcome, reader.quote_sales, reader.read_checks)
        refusals += [each for each in checked.contradictions if not each.quoted]
        self._contradictions.update((each.protocol, each) for each in checked.contradictions if each.quoted)
        return checked.searched, checked.outcome

    def _search_read(self, reader: LivePoolReader, refusals: list[Contradiction]) -> Search:
        """Return the function that searches the pools already read for another router."""

        def search(read: SearchableMarket, request: QuoteRequest) -> tuple[SearchableMarket, SearchResult]:
            return self._settle(request, read, read.search(request), reader, refusals)

        return search

    def _search_again(
        self,
        known: SearchableMarket,
        reader: LivePoolReader,
        refusals: list[Contradiction],
        searched: SearchableMarket,
        request: QuoteRequest,
    ) -> tuple[SearchableMarket, SearchResult]:
        """Search for the router of `searched`, reading pools as needed. Raises the same errors as `LiveSearch.run`."""
        dialect = searched.network.router_dialect

        def read(keys: Sequence[str]) -> MarketState:
            market = reader.read(keys)
            return market._replace(network=market.network.for_dialect(dialect))

        by_dialect = SearchableMarket(known.market._replace(network=searched.network), self._clock)
        found = self._live_search(by_dialect, request).run(read)
        return self._settle(request, found.searched, found.outcome, reader, refusals)

    def _remember(self, made: _MadeQuote) -> None:
        """Remember the data behind a quote until its payload is built."""
        while len(self._made) >= _MAX_MADE:
            del self._made[next(iter(self._made))]
        self._made[id(made.steps)] = made

    def _reader(
        self,
        known: SearchableMarket,
        *,
        has_gas_price: bool = False,
        order_tokens: Collection[str] = (),
        others: Others | None = None,
    ) -> LivePoolReader:
        return LivePoolReader(
            self._block,
            known.market,
            self._transfers,
            self._token_checks,
            has_gas_price=has_gas_price,
            order_tokens=order_tokens,
            others=others,
        )

    def _with_listed_pools(self, known: SearchableMarket) -> SearchableMarket:
        """Add the sampled pools listed in the network's definition whose tokens the market has."""
        if not known.network.quoters:
            return known
        if self._listed_in is None or self._listed_in[0] is not known:
            pools = known.market.pools
            new = {pool.key: pool for pool in listed_sampled_pools(known.market) if pool.key not in pools}
            market = known.market._replace(pools={**pools, **new})
            self._listed_in = (known, known.with_changes(market, new.keys()) if new else known)
        return self._listed_in[1]

    def _use(self, read: SearchableMarket) -> SearchableMarket:
        self._last, self._network = read, read.network
        check_fresh(read.state_source, self.network, self._max_age_s)
        return read

    def _is_fresh(self, known: SearchableMarket) -> bool:
        """Return whether known state is young enough for quotes on the latest block."""
        if self._max_age_s is None or self._block.tag is not BlockTag.LATEST:
            return False
        state = known.state_source
        if state.timestamp is not None and state.timestamp > self._clock.now_s() + self._max_age_s:
            return False  # the clock is wrong, so the age is unknown, and the node shows it
        return is_fresh(state, self._max_age_s)

    def _with_router(self, market: MarketState) -> MarketState:
        """Return a market with the address of the router, which a registry may name. Raises `UpstreamError`."""
        if market.network.router_registry is None:
            return market
        return market._replace(network=self._block.newest_snapshot().with_router(market.network))


def _with_more_gas(payload: UnsignedTransaction, gas_units: int) -> UnsignedTransaction:
    """Return a payload with additional gas; unchanged if its gas is unknown."""
    return payload if payload.gas_units is None else payload._replace(gas_units=payload.gas_units + gas_units)


def _used_as_read(built: BuiltRoute, snapshot: BlockSnapshot | None) -> dict[str, Pool]:
    """Return the pools of a route as they were read, by key: its router may compute some of them itself."""
    used = built.used_pools
    read = {key: pool for key in used if snapshot and (pool := snapshot.pools.get(key))}
    executed = executable_market(built.market._replace(pools=read)).pools
    return {key: read[key] if executed.get(key) == pool else pool for key, pool in used.items()}


def _quote_wrapping(searchable: SearchableMarket, request: QuoteRequest) -> LocalQuote:
    """Return the quote that wraps or unwraps the native token by the most trusted router."""
    from swapcli.quoting.sources.router_choice import choose_wrapping

    network, choice = choose_wrapping(searchable.network)
    return quote_locally(searchable.executing(network), request)._replace(router_choice=choice)


def _search_known(searchable: SearchableMarket, request: QuoteRequest) -> tuple[SearchableMarket, SearchResult]:
    return searchable, searchable.search(request)


def _is_improved(
    request: QuoteRequest,
    known: SearchableMarket,
    outcome: SearchResult,
    snapshot: BlockSnapshot,
    keys: Collection[str],
    others: Mapping[str, Pool | None],
    gas_price_wei: int | None,
) -> bool:
    """Return whether an order pays more than `outcome` if these of the pools that it has read have other states.

    If the gas price differs and the order does not give one, only the output is compared.
    """
    is_repriced = gas_price_wei is not None and request.gas_price_wei is None
    if is_repriced:
        request = request._replace(gas_price_wei=gas_price_wei)
    elif gas_price_wei is not None:
        return False
    market = snapshot.market(known.market, [key for key in keys if key in snapshot.known])
    pools = {key: pool for key, pool in {**market.pools, **others}.items() if pool}
    try:
        found = without_wrong_prices(known.with_market(market._replace(pools=pools))).search(request)
    except NoRoute:
        return False
    if is_repriced and not request.order.reverse:
        return found.best.replay.amount_out > outcome.best.replay.amount_out * (1.0 + TOLERANCE)
    return is_better(request.order, found.best, outcome.best, TOLERANCE)


def _sales_of(steps: Sequence[Step], pools: Mapping[str, Pool]) -> dict[str, list[Sale]]:
    """Return a route's sales to its sampled pools."""
    sales: dict[str, list[Sale]] = {}
    for step in steps:
        pool = pools.get(step.pool)
        if pool is not None and pool.is_sampled:
            sales.setdefault(step.pool, []).append(Sale(step.token_in == pool.tokens[0], step.amount_in))
    return sales


def _requests_left(node: BudgetedNode) -> int:
    return node.requests_left
