"""Quotes on what a node says now: of what a holder holds, the pools that an order could want are read anew.

One exchange tells the newest block, two more the pools at it: three, but for kinds of pools that take longer. An order
is answered over pools of that block alone, so that nothing older is in any amount; what the holder remembers of them
decides only which pools are read.
"""

from __future__ import annotations

from collections.abc import Iterable

from swapcli.chain.node import Node
from swapcli.engine.answer import Answer, Ask, Delivery, Origin
from swapcli.engine.clock import Clock
from swapcli.engine.fees import with_l1_fee
from swapcli.engine.health import UNHEALTHY, Health
from swapcli.engine.holders import Holder, check_fresh, is_fresh
from swapcli.engine.market_source import MarketSource
from swapcli.engine.moment import Moment
from swapcli.errors import BlockMismatch, NoRoute, Reorganised, SwapcliError, UpstreamNonsense
from swapcli.model.market import Provenance
from swapcli.model.network import Network
from swapcli.model.order import Order
from swapcli.model.payload import Payload
from swapcli.model.terms import DEFAULT_ROUTE_TTL_S
from swapcli.model.token import Token
from swapcli.wire.result import RouteResult
from swapcli.wire.terms import Generation

MOST_POOLS = 48
"""Pools that are read for an order; more where its best route so far has more."""

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
        holder: Holder,
        node: Node,
        clock: Clock,
        *,
        max_age_s: int | None = None,
        route_ttl_s: int = DEFAULT_ROUTE_TTL_S,
        most_pools: int = MOST_POOLS,
    ) -> None:
        self._holder, self._node, self._clock = holder, node, clock
        self._max_age_s, self._route_ttl_s, self._most_pools = max_age_s, route_ttl_s, most_pools
        self._moment: Moment | None = None
        self._answering: MarketSource | None = None

    @property
    def network(self) -> Network:
        """The holder's network."""
        return self._holder.network

    @property
    def origin(self) -> Origin:
        """As `QuoteSource.origin`."""
        return (self._answering or self._holder).origin

    def token(self, name: str) -> Token:
        """As `QuoteSource.token`."""
        return self._holder.token(name)

    def quote(self, ask: Ask) -> Answer:
        """As `QuoteSource.quote`."""
        return self._charged(self._source_for(ask).quote(ask))

    def quote_and_build(self, ask: Ask, delivery: Delivery) -> tuple[Answer, Payload]:
        """As `QuoteSource.quote_and_build`."""
        answer, payload = self._source_for(ask).quote_and_build(ask, delivery)
        return self._charged(answer, payload), payload

    def build(self, result: RouteResult, delivery: Delivery) -> Payload:
        """As `QuoteSource.build`, on the route's own pools as they are now."""
        return self._source_of(self._holder.holding(result.pool_keys), result.pool_keys).build(result, delivery)

    def health(self) -> Health:
        """As `QuoteSource.health`: the holder's sample is quoted live."""
        held = self._holder.health()
        if held.sample is None:
            return held
        order = Order(held.sample.token_in, held.sample.token_out, held.sample.amount_in)
        started_s = self._clock.timer_s()
        try:
            amount_out = self.quote(Ask(order, Generation.V1)).result.output_amount
        except SwapcliError as error:
            return held._replace(status=UNHEALTHY, message=f"{self.network.name}: {error.message}", origin=self.origin)
        time_s = held.time_s + round(self._clock.timer_s() - started_s, 6)
        sample = held.sample._replace(amount_out=amount_out)
        return held._replace(message=f"{held.message}, read live", time_s=time_s, origin=self.origin, sample=sample)

    def _source_for(self, ask: Ask) -> MarketSource:
        around = self._holder.around(ask.order)
        if self._max_age_s is not None and is_fresh(around.origin, self._max_age_s):
            self._answering = around
            return around
        return self._source_of(around, _considered(around, ask, self._most_pools))

    def _source_of(self, held: MarketSource, keys: Iterable[str]) -> MarketSource:
        """What answers from these of the held pools as they are now."""
        known = [held.market.pools[key] for key in keys if key in held.market.pools]
        real = [pool for pool in known if pool.key not in held.market.invented]
        attempts = mismatches = 0
        while True:
            moment = self._present()
            try:
                moment.read(real)
                break
            except (Reorganised, BlockMismatch) as error:
                self._moment = None
                mismatches += isinstance(error, BlockMismatch)
                attempts += isinstance(error, Reorganised)
                if attempts == _ATTEMPTS or mismatches > _MISMATCHES:
                    raise
                if mismatches == _MISMATCHES and not self._node.use_spare(error):
                    raise
            except UpstreamNonsense as error:
                self._moment = None
                attempts += 1
                if attempts == _ATTEMPTS or not self._node.use_spare(error):
                    raise
        market = moment.market(held.market, [pool.key for pool in real])
        self._answering = MarketSource(market, self._clock, route_ttl_s=self._route_ttl_s)
        check_fresh(self._answering.origin, self.network, self._max_age_s)
        return self._answering

    def _charged(self, answer: Answer, payload: Payload | None = None) -> Answer:
        """With what its data costs on L1, where the network has such a fee and the answer is live."""
        terms = self._moment.l1_terms if self._moment and answer.origin.provenance is Provenance.LIVE else None
        return with_l1_fee(answer, terms, payload) if terms else answer

    def _present(self) -> Moment:
        """The newest block; orders that follow each other closely share one."""
        now_s, block_time_s = self._clock.timer_s(), self.network.block_time_s or _BLOCK_TIME_S
        if self._moment is None or now_s - self._moment.since_s > block_time_s:
            self._moment = Moment(self._node, self.network, self._node.head(), now_s)
        return self._moment


def _considered(around: MarketSource, ask: Ask, most: int) -> Iterable[str]:
    """The pools that an answer could rest on. Where what is held allows none, those that touch the order's tokens."""
    try:
        return around.considered(ask, most)
    except NoRoute:
        ends = around.ends(ask.order)
        touching = [key for key, pool in around.market.pools.items() if not ends.isdisjoint(pool.tokens)]
        if not touching:
            raise
        return touching[:most]
