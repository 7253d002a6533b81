"""Quotes on what a node says now: of the pools that are known, those that an order could want are read at one block.

One exchange asks for the newest block, one or two more for the pools at it. Where these differ so much from what was
known that other pools may be better, those are read too; `live_search` decides. Nothing older than the block is in any
amount: what is known only decides which pools are read. One exchange more where nobody knows yet how their tokens
transfer.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from swapcli.api.route_result import RouteResult
from swapcli.chain.node import Node
from swapcli.chain.transfer_trials import plan_trials, run_transfer_trials
from swapcli.engine.block_snapshot import BlockSnapshot
from swapcli.engine.clock import Clock
from swapcli.engine.health import UNHEALTHY, Health
from swapcli.engine.l1_data_fee import with_l1_fee
from swapcli.engine.pool_sources import PoolSource, check_fresh, is_fresh
from swapcli.engine.price_impact import PriceImpact
from swapcli.engine.quote import LocalQuote
from swapcli.engine.sources.in_memory import MarketSource
from swapcli.engine.sources.live_search import Limits, LiveSearch
from swapcli.engine.wrap import is_wrapping
from swapcli.errors import BlockMismatch, ChainReorganized, InvalidUpstreamResponse, SwapcliError, UpstreamError
from swapcli.model.api_version import ApiVersion
from swapcli.model.market import Market, Provenance
from swapcli.model.network import Network
from swapcli.model.order import Order
from swapcli.model.quote_request import QuoteRequest
from swapcli.model.state_source import StateSource
from swapcli.model.swap_terms import DEFAULT_ROUTE_TTL_S, SwapTerms
from swapcli.model.token import Token
from swapcli.model.transaction import UnsignedTransaction
from swapcli.model.transfer_behaviour import UNKNOWN, TransferBehaviour

_ATTEMPTS = 3
_MISMATCHES = 6
"""Attempts with a node that answers from other blocks than it is asked about: an exchange takes a tenth or two of the
time between two blocks, so that this many practically never all meet a new one."""
_BLOCK_TIME_S = 2.0


class LiveSource:
    """A `QuoteSource`. `max_age_s` is how old pool state may be: what the holder has is taken as it is where it is no
    older, and a newest block that is older is refused. Raises `UpstreamError` where the node gives no proper answer."""

    def __init__(
        self,
        holder: PoolSource,
        node: Node,
        clock: Clock,
        *,
        max_age_s: int | None = None,
        route_ttl_s: int = DEFAULT_ROUTE_TTL_S,
        limits: Limits | None = None,
    ) -> None:
        self._holder, self._node, self._clock = holder, node, clock
        self._max_age_s, self._route_ttl_s, self._limits = max_age_s, route_ttl_s, limits
        self._moment: BlockSnapshot | None = None
        self._tried: dict[str, TransferBehaviour] = {}
        self._answering: MarketSource | None = None

    @property
    def network(self) -> Network:
        """The holder's network."""
        return self._holder.network

    @property
    def state_source(self) -> StateSource:
        """As `QuoteSource.origin`."""
        return (self._answering or self._holder).state_source

    def token(self, name: str) -> Token:
        """As `QuoteSource.token`."""
        return self._holder.token(name)

    def quote(self, ask: QuoteRequest) -> LocalQuote:
        """As `QuoteSource.quote`."""
        return self._charged(self._answer(ask)[1])

    def quote_and_build(self, ask: QuoteRequest, terms: SwapTerms) -> tuple[LocalQuote, UnsignedTransaction]:
        """As `QuoteSource.quote_and_build`."""
        source, answer = self._answer(ask)
        payload = source.payload(answer, terms)
        return self._charged(answer, payload), payload

    def build(self, result: RouteResult, terms: SwapTerms) -> UnsignedTransaction:
        """As `QuoteSource.build`, on the route's own pools as they are now."""
        known = self._holder.source_with(result.pool_keys)
        market = _Reader(self, known.market).read(result.pool_keys)
        return self._answering_from(known.on(market)).build(result, terms)

    def impact_of(self, result: RouteResult, payload: UnsignedTransaction) -> PriceImpact | None:
        """As `QuoteSource.impact_of`."""
        return (self._answering or self._holder).impact_of(result, payload)

    def health(self) -> Health:
        """As `QuoteSource.health`: the holder's sample is quoted live."""
        held = self._holder.health()
        if held.sample is None:
            return held
        order = Order(held.sample.token_in, held.sample.token_out, held.sample.amount_in)
        started_s = self._clock.monotonic_s()
        try:
            amount_out = self.quote(QuoteRequest(order, ApiVersion.V1)).result.output_amount
        except SwapcliError as error:
            return held._replace(
                status=UNHEALTHY, message=f"{self.network.name}: {error.message}", state_source=self.state_source
            )
        time_s = held.time_s + round(self._clock.monotonic_s() - started_s, 6)
        sample = held.sample._replace(amount_out=amount_out)
        return held._replace(
            message=f"{held.message}, read live", time_s=time_s, state_source=self.state_source, sample=sample
        )

    def present(self) -> BlockSnapshot:
        """Return the newest block; orders that follow each other closely share one."""
        now_s, block_time_s = self._clock.monotonic_s(), self.network.block_time_s or _BLOCK_TIME_S
        if self._moment is None or now_s - self._moment.since_s > block_time_s:
            self._moment = BlockSnapshot(self._node, self.network, self._node.head(), now_s)
        return self._moment

    def forget(self) -> None:
        """Take another block for what comes: the last one is no longer of the chain."""
        self._moment = None

    def use_spare(self, error: UpstreamError) -> bool:
        """Ask another node from now on, because of `error`; return whether there is one."""
        return self._node.use_spare(error)

    def _answer(self, ask: QuoteRequest) -> tuple[MarketSource, LocalQuote]:
        """Return the answer, and the source over the state that it is for."""
        known = self._with_tried(self._holder.source_for(ask.order))
        if self._max_age_s is not None and is_fresh(known.state_source, self._max_age_s):
            self._answering = known
            return known, known.quote(ask)
        reader = _Reader(self, known.market)
        if is_wrapping(ask.order, self.network):
            source = self._answering_from(known.on(reader.read(known.pricing_pools(ask))))
            return source, source.quote(ask)
        found = LiveSearch(known, ask, reader.read, self._clock, self._limits).run()
        if found.left_bps is None:
            source = self._answering_from(found.source)
        else:
            left = f", others might add up to {found.left_bps:.1f} bps"
            source = self._answering_from(found.source.described(f"{found.source.market.source}{left}"))
        return source, source.answer(ask, found.outcome, self._clock.monotonic_s() - found.searched_s)

    def _answering_from(self, source: MarketSource) -> MarketSource:
        self._answering = source
        check_fresh(source.state_source, self.network, self._max_age_s)
        return source

    def _with_tried(self, held: MarketSource) -> MarketSource:
        """What is held, with what was found out about its tokens since: itself unless that changes what is routable."""
        market = held.market
        found = {token: each for token, each in self._tried.items() if token in market.tokens and each.is_limiting}
        if found.items() <= market.transfers.items():
            return held
        transfers = {**market.transfers, **found}
        return held.on(replace(market, transfers=transfers))

    def tried_out(self, moment: BlockSnapshot, market: Market) -> Market:
        """The market with how its tokens transfer: those that nobody has tried yet are tried now, in one exchange."""
        tokens = dict.fromkeys(token for pool in market.pools.values() for token in pool.tokens)
        known = self._tried.keys() | market.transfers.keys() | self.network.transfers.keys()
        new = [token for token in tokens if token not in known]
        if new:
            block = moment.head.block
            report = run_transfer_trials(self._node, block, plan_trials(new, market.pools.values(), self.network))
            self._tried.update(dict.fromkeys(new, UNKNOWN) | dict(report.behaviours))
            if not report.failure:
                self._holder.record_transfers(report.behaviours, block.number)
        found = {token: self._tried[token] for token in tokens if token in self._tried}
        return replace(market, transfers={**market.transfers, **found})

    def _charged(self, answer: LocalQuote, payload: UnsignedTransaction | None = None) -> LocalQuote:
        """With what its data costs on L1, where the network has such a fee and the answer is live."""
        terms = self._moment.l1_terms if self._moment and answer.state_source.provenance is Provenance.LIVE else None
        return with_l1_fee(answer, terms, payload) if terms else answer


class _Reader:
    """Reads known pools for one order, all at one block: also what was read before, where that block is gone."""

    def __init__(self, source: LiveSource, known: Market) -> None:
        self._source, self._known = source, known
        self._moment: BlockSnapshot | None = None

    def read(self, keys: Collection[str]) -> Market:
        """Return the known market with these pools alone, as they are now. Raises `UpstreamError`."""
        pools = [self._known.pools[key] for key in keys if key in self._known.pools]
        real = [pool for pool in pools if pool.key not in self._known.placeholder_pools]
        attempts = mismatches = 0
        while True:
            self._moment = self._moment or self._source.present()
            try:
                self._moment.read(real)
                market = self._moment.market(self._known, [pool.key for pool in real])
                return self._source.tried_out(self._moment, market)
            except BlockMismatch as error:
                self._forget()
                mismatches += 1
                if mismatches > _MISMATCHES or (mismatches == _MISMATCHES and not self._source.use_spare(error)):
                    raise
            except ChainReorganized:
                self._forget()
                attempts += 1
                if attempts == _ATTEMPTS:
                    raise
            except InvalidUpstreamResponse as error:
                self._forget()
                attempts += 1
                if attempts == _ATTEMPTS or not self._source.use_spare(error):
                    raise

    def _forget(self) -> None:
        """Read from another block next time."""
        self._moment = None
        self._source.forget()
