"""A source of quotes on a recent block of a node: it reads the pools that an order could use at that block.

One request gets the block, one or two more the pools. If prices have moved so much that other pools may be
better, those are read too; `live_search` decides. All amounts are computed from the block alone: earlier state only
decides which pools to read. One more request probes how tokens transfer if that is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from swapcli.core.errors import (
    BlockMismatch,
    ChainReorganized,
    FeeOnTransfer,
    InvalidUpstreamResponse,
    NoRoute,
    RequestBudgetSpent,
    SwapcliError,
    UpstreamError,
    UpstreamRejected,
)
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import OWN, Network
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.price_impact import PriceImpact
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.quoter import Sale
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import DEFAULT_ROUTE_TTL_S, SwapTerms
from swapcli.core.model.token import Token
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.model.transfer_behaviour import UNKNOWN, TransferBehaviour
from swapcli.core.networks.address import hash_code
from swapcli.core.routing.no_route import with_unread_pools
from swapcli.core.wrap import is_wrapping
from swapcli.quoting.health import UNHEALTHY, Health
from swapcli.quoting.l1_data_fee import with_l1_fee
from swapcli.quoting.quote_results import LocalQuote, QuoteResult
from swapcli.quoting.sources.freshness import check_fresh, is_fresh
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.live_search import Limits, LiveSearch
from swapcli.quoting.sources.pool_source import PoolSource
from swapcli.quoting.sources.sampled_amounts import SampledAmounts, with_quoted_amounts
from swapcli.state.block_snapshot import BlockSnapshot
from swapcli.state.clock import Clock
from swapcli.state.readers.sampled.sampled_discovery import listed_sampled_pools
from swapcli.state.rpc.node import BudgetedNode, Node
from swapcli.state.transfers.transfer_trials import plan_trials, run_transfer_trials

if TYPE_CHECKING:
    from swapcli.core.model.past_pools import PastPools
    from swapcli.quoting.pool_listing import PoolSelection

_MAX_ATTEMPTS = 3
_MAX_MISMATCHES = 6
"""Attempts with a node that answers from another block than requested. A request takes 10 to 20% of the block time, so
this many requests practically never all meet a new block."""
_DEFAULT_BLOCK_TIME_S = 2.0
_PENDING_TIME_S = 0.2
"""How often Base adds transactions to its pending block."""
_HINT_OLD_STATE = "the node may not keep the state of a block that old: use the latest state, or another node"


class LiveSource:
    """Quotes on the block that `node` calls `tag`; `pool_source` knows the pools.

    `max_age_s` limits the age of pool states: if the pool source's state is younger and the latest block is wanted, it
    is used without reading; a block that is older raises `MarketUnavailable`. `close` calls `close_node`. Methods raise
    `UpstreamError` if the node fails.
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
        tag: BlockTag = BlockTag.LATEST,
        close_node: Callable[[], object] | None = None,
    ) -> None:
        self._pool_source, self._node, self._clock = pool_source, node, clock
        self._max_age_s, self._route_ttl_s, self._limits = max_age_s, route_ttl_s, limits
        self._tag, self._close_node = tag, close_node
        self._snapshot: BlockSnapshot | None = None
        self._router_has_deadlines: bool | None = None
        self._is_pinned = False
        self._probed: dict[str, TransferBehaviour] = {}
        self._last_source: InMemorySource | None = None
        self._listed_in: tuple[InMemorySource, InMemorySource] | None = None

    @property
    def network(self) -> Network:
        """The network of the pool source, with what the node has shown of its router."""
        return (self._last_source or self._pool_source).network

    @property
    def state_source(self) -> StateSource:
        """As `QuoteSource.state_source`."""
        return (self._last_source or self._pool_source).state_source

    def token(self, name: str) -> Token:
        """As `QuoteSource.token`."""
        return self._pool_source.token(name)

    def quote(self, request: QuoteRequest) -> LocalQuote:
        """As `QuoteSource.quote`."""
        return self._with_l1_fee(self._quote_live(request)[1])

    def quote_and_build(self, request: QuoteRequest, terms: SwapTerms) -> tuple[LocalQuote, UnsignedTransaction]:
        """As `QuoteSource.quote_and_build`."""
        source, answer = self._quote_live(request)
        payload = self._with_router(source).build_payload(answer, terms)
        return self._with_l1_fee(answer, payload), payload

    def build_payload(self, answer: QuoteResult, terms: SwapTerms) -> UnsignedTransaction:
        """As `QuoteSource.build_payload`."""
        source = self._last_source or self._pool_source.source_with(answer.result.pool_keys)
        return self._with_router(source).build_payload(answer, terms)

    def build(self, result: RouteResult, terms: SwapTerms) -> UnsignedTransaction:
        """As `QuoteSource.build`, with the route's pools at the newest block."""
        known = self._with_listed_pools(self._pool_source.source_with(result.pool_keys))
        reader = _PoolReader(self, known.market)
        source = known.with_market(reader.read(result.pool_keys))
        source = with_quoted_amounts(source, result, reader.quote_sales)
        return self._with_router(self._use(source)).build(result, terms)

    def impact_of(self, result: RouteResult, payload: UnsignedTransaction) -> PriceImpact | None:
        """As `QuoteSource.impact_of`."""
        return (self._last_source or self._pool_source).impact_of(result, payload)

    def route_pools(self, result: RouteResult) -> Mapping[str, Pool] | None:
        """As `QuoteSource.route_pools`."""
        return (self._last_source or self._pool_source).route_pools(result)

    def known_market(self) -> MarketState | None:
        """As `QuoteSource.known_market`."""
        return self._pool_source.known_market()

    def known_contract(self, address: str) -> str | None:
        """As `QuoteSource.known_contract`."""
        return self._pool_source.known_contract(address)

    def known_pools(self, tokens: Collection[str]) -> Mapping[str, Pool] | None:
        """As `QuoteSource.known_pools`."""
        return self._pool_source.known_pools(tokens)

    def past_pools(self, keys: Collection[str]) -> tuple[PastPools, ...]:
        """As `QuoteSource.past_pools`."""
        return self._pool_source.past_pools(keys)

    def select_pools(self, tokens: Collection[str], limit: int | None) -> PoolSelection:
        """As `QuoteSource.select_pools`, with the state of the block."""
        selected = self._pool_source.select_pools(tokens, limit)
        known = selected.source
        addresses = {token for pool in selected.pools.values() for token in pool.tokens}
        source = self._read_known(
            known, {**dict.fromkeys(selected.pools), **dict.fromkeys(known.price_pools(addresses))}
        )
        return selected._replace(source=source, placeholders=known.market.placeholder_pools)

    def pricing_source(self, tokens: Collection[str]) -> InMemorySource:
        """As `QuoteSource.pricing_source`, with the state of the block."""
        known = self._pool_source.pricing_source(tokens)
        return self._read_known(known, known.price_pools(tokens))

    def _read_known(self, known: InMemorySource, keys: Collection[str]) -> InMemorySource:
        """Return a known source with only these pools, at the newest block; itself if it is fresh enough."""
        max_age_s = self._max_age_s if self._tag is BlockTag.LATEST else None
        if max_age_s is not None and is_fresh(known.state_source, max_age_s):
            return self._use(known)
        return self._use(known.with_market(_PoolReader(self, known.market).read(keys)))

    def health(self) -> Health:
        """As `QuoteSource.health`: quote the pool source's sample at the newest block."""
        stored_health = self._pool_source.health()
        if stored_health.sample is None:
            return stored_health
        order = Order(stored_health.sample.token_in, stored_health.sample.token_out, stored_health.sample.amount_in)
        started_s = self._clock.monotonic_s()
        try:
            amount_out = self.quote(QuoteRequest(order, ApiVersion.V1)).result.output_amount
        except SwapcliError as error:
            return stored_health._replace(
                status=UNHEALTHY, message=f"{self.network.name}: {error.message}", state_source=self.state_source
            )
        time_s = stored_health.time_s + round(self._clock.monotonic_s() - started_s, 6)
        sample = stored_health.sample._replace(amount_out=amount_out)
        return stored_health._replace(
            message=f"{stored_health.message}, read live", time_s=time_s, state_source=self.state_source, sample=sample
        )

    def newest_snapshot(self) -> BlockSnapshot:
        """Return the snapshot of the block that the node now calls `tag`; orders within one block time share it.

        While the source is pinned, all orders share it.
        """
        now_s, block_time_s = self._clock.monotonic_s(), self.network.block_time_s or _DEFAULT_BLOCK_TIME_S
        max_age_s = _PENDING_TIME_S if self._tag is BlockTag.PENDING else block_time_s
        is_old = self._snapshot is not None and now_s - self._snapshot.read_at_s > max_age_s
        if self._snapshot is None or (is_old and not self._is_pinned):
            self._snapshot = self._read_snapshot(now_s)
        return self._snapshot

    def _read_snapshot(self, now_s: float) -> BlockSnapshot:
        """Return a new snapshot. The code of the router is read with the block, if a reading of it is remembered, and
        once if it is this project's, whose version decides whether swaps have deadlines."""
        network = self._pool_source.network
        expected = network.router_code_hash
        is_own = network.router_dialect == OWN and self._router_has_deadlines is None
        head = self._node.read_head(self._tag, code_of=network.router if expected or is_own else None)
        has_changed = bool(expected) and head.code is not None and hash_code(head.code) != expected
        if is_own and head.code is not None:
            from swapcli.payload.evm.router.versions import find_version

            version = find_version(head.code)
            self._router_has_deadlines = version is not None and version.has_deadlines
        network = network._replace(router_has_deadlines=self._router_has_deadlines)
        return BlockSnapshot(self._node, network, head, now_s, self._tag, has_router_changed=has_changed)

    def discard_snapshot(self) -> None:
        """Discard the snapshot, so that the next order reads another block."""
        self._snapshot = None

    def refresh(self) -> None:
        """As `QuoteSource.refresh`: the next order reads the newest block."""
        self.discard_snapshot()

    def pin(self, *, pinned: bool) -> None:
        """As `QuoteSource.pin`."""
        self._is_pinned = pinned
        if pinned:
            self.discard_snapshot()

    def close(self) -> None:
        """As `QuoteSource.close`: also close the node, if the source owns it."""
        if self._close_node:
            self._close_node()
        self._pool_source.close()

    def use_spare(self, error: UpstreamError) -> bool:
        """Switch to another node because of `error`; return whether there is one."""
        return self._node.use_spare(error)

    def _quote_live(self, request: QuoteRequest) -> tuple[InMemorySource, LocalQuote]:
        """Return the quote, and the source over its state."""
        known = self._with_listed_pools(self._with_probed_transfers(self._pool_source.source_for(request.order)))
        max_age_s = self._max_age_s if self._tag is BlockTag.LATEST else None
        if max_age_s is not None and is_fresh(known.state_source, max_age_s):
            self._last_source = known
            return known, known.quote(request)
        reader = _PoolReader(self, known.market)
        if is_wrapping(request.order, self.network):
            source = self._use(known.with_market(reader.read(known.pricing_pools(request))))
            return source, source.quote(request)
        requests_left = partial(_requests_left, self._node) if isinstance(self._node, BudgetedNode) else None
        search = LiveSearch(known, request, reader.read, self._clock, self._limits, requests_left=requests_left)
        try:
            found = search.run()
        except FeeOnTransfer:
            raise
        except NoRoute as error:
            unread = reader.unread_reasons()
            if not unread:
                raise
            hint = f"swapcli sync {self.network.name} finds the pools that exist"
            raise with_unread_pools(error, unread, hint) from error
        source, outcome = SampledAmounts(request, reader.quote_sales).settle(found.source, found.outcome)
        if found.left_bps is not None:
            left = f", others might add up to {found.left_bps:.1f} bps"
            source = source.with_description(f"{source.market.source}{left}")
        source = self._use(source)
        return source, source.build_quote(request, outcome, self._clock.monotonic_s() - found.searched_s)

    def _with_listed_pools(self, source: InMemorySource) -> InMemorySource:
        """Return the source with the sampled pools that the network's definition lists, between tokens that it has."""
        if not source.network.quoters:
            return source
        if self._listed_in is None or self._listed_in[0] is not source:
            pools = source.market.pools
            new = {pool.key: pool for pool in listed_sampled_pools(source.market) if pool.key not in pools}
            market = source.market._replace(pools={**pools, **new})
            self._listed_in = (source, source.with_changes(market, new.keys()) if new else source)
        return self._listed_in[1]

    def _use(self, source: InMemorySource) -> InMemorySource:
        self._last_source = source
        check_fresh(source.state_source, self.network, self._max_age_s)
        return source

    def _with_router(self, source: InMemorySource) -> InMemorySource:
        """Return a source with the address of the router, which a registry may name. Raise `UpstreamError`."""
        market = source.market
        if market.network.router_registry is None:
            return source
        return source.with_market(market._replace(network=self.newest_snapshot().with_router(market.network)))

    def _with_probed_transfers(self, source: InMemorySource) -> InMemorySource:
        """Return `source` with the transfers that were probed since; itself unless they change what is routable."""
        market = source.market
        found = {token: each for token, each in self._probed.items() if token in market.tokens and each.is_limiting}
        if found.items() <= market.transfers.items():
            return source
        transfers = {**market.transfers, **found}
        return source.with_market(market._replace(transfers=transfers))

    def with_transfers(self, snapshot: BlockSnapshot, market: MarketState) -> MarketState:
        """Return the market with how its tokens transfer; probe the unknown ones in one request."""
        tokens = dict.fromkeys(token for pool in market.pools.values() for token in pool.tokens)
        known = self._probed.keys() | market.transfers.keys() | self.network.transfers.keys()
        new = [token for token in tokens if token not in known]
        if new:
            block = snapshot.head.block
            report = run_transfer_trials(self._node, block, plan_trials(new, market.pools.values(), self.network))
            self._probed.update(dict.fromkeys(new, UNKNOWN) | dict(report.behaviours))
            if not report.failure and not block.is_pending:
                self._pool_source.record_transfers(report.behaviours, block.number)
        found = {token: self._probed[token] for token in tokens if token in self._probed}
        return market._replace(transfers={**market.transfers, **found})

    def _with_l1_fee(self, answer: LocalQuote, payload: UnsignedTransaction | None = None) -> LocalQuote:
        """Return the quote with its L1 data fee, if the network has one and the quote is live."""
        terms = (
            self._snapshot.l1_fee_params
            if self._snapshot and answer.state_source.provenance is Provenance.LIVE
            else None
        )
        return with_l1_fee(answer, terms, payload) if terms else answer


def _requests_left(node: BudgetedNode) -> int:
    return node.requests_left


class _PoolReader:
    """Reads known pools for one order, all at one block. If that block is gone, it reads all of them again."""

    def __init__(self, source: LiveSource, known: MarketState) -> None:
        self._source, self._known = source, known
        self._snapshot: BlockSnapshot | None = None
        self._requested: dict[str, None] = {}

    def read(self, keys: Collection[str]) -> MarketState:
        """Return the known market with only these pools, at the newest block. Raise `UpstreamError`."""
        self._requested.update(dict.fromkeys(keys))
        pools = [self._known.pools[key] for key in keys if key in self._known.pools]
        real = [pool for pool in pools if pool.key not in self._known.placeholder_pools]
        attempts = mismatches = 0
        while True:
            self._snapshot = self._snapshot or self._source.newest_snapshot()
            try:
                self._snapshot.read(real)
                market = self._snapshot.market(self._known, [pool.key for pool in real])
                return self._source.with_transfers(self._snapshot, market)
            except BlockMismatch as error:
                self._discard_snapshot()
                mismatches += 1
                if mismatches > _MAX_MISMATCHES or (
                    mismatches == _MAX_MISMATCHES and not self._source.use_spare(error)
                ):
                    raise
            except UpstreamRejected as error:
                if self._snapshot and self._snapshot.head.tag in (BlockTag.SAFE, BlockTag.FINALIZED):
                    error.hint = error.hint or _HINT_OLD_STATE
                raise
            except ChainReorganized:
                self._discard_snapshot()
                attempts += 1
                if attempts == _MAX_ATTEMPTS:
                    raise
            except InvalidUpstreamResponse as error:
                self._discard_snapshot()
                attempts += 1
                if attempts == _MAX_ATTEMPTS or not self._source.use_spare(error):
                    raise

    def quote_sales(self, sales: Mapping[str, Sequence[Sale]]) -> Mapping[str, Pool | None]:
        """Return sampled pools with what their protocols quote for these sales at the block of their samples.

        If that block is gone, or no requests are left, their outputs remain estimates.
        """
        snapshot = self._snapshot
        if snapshot is None:
            return {}
        try:
            snapshot.quote_sales(sales)
        except (BlockMismatch, ChainReorganized):
            self._discard_snapshot()
            return {}
        except RequestBudgetSpent:
            return {}
        return {key: snapshot.pools[key] for key in sales}

    def unread_reasons(self) -> list[str]:
        """Return why requested pools could not be read, in the order of their requests."""
        reasons = self._snapshot.reasons if self._snapshot else {}
        return [reasons[key] for key in self._requested if key in reasons]

    def _discard_snapshot(self) -> None:
        """Read from another block next time, here and in the source."""
        self._snapshot = None
        self._source.discard_snapshot()
