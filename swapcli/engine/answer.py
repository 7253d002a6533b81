"""What a source says to an order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from swapcli.model.market import Market, Provenance
from swapcli.model.network import Network
from swapcli.model.order import Order
from swapcli.model.pool import Pool
from swapcli.model.route import Quote
from swapcli.model.terms import Integrator
from swapcli.model.token import Token
from swapcli.wire.result import RouteResult, result_of
from swapcli.wire.terms import Generation


class Origin(NamedTuple):
    """Where the pool state behind an answer comes from; `age_s` is None where the state carries no time."""

    provenance: Provenance
    source: str
    block: int | None
    timestamp: int | None
    age_s: int | None

    @classmethod
    def of(cls, market: Market, now_s: float) -> Origin:
        """The origin of a market, looked at now."""
        age_s = None if market.timestamp is None else max(0, int(now_s) - market.timestamp)
        return cls(market.provenance, market.source, market.block, market.timestamp, age_s)

    @property
    def is_live(self) -> bool:
        """Did the state come from the network itself, so that its prices are real?"""
        return self.provenance in (Provenance.SYNCED, Provenance.RECORDED)


class Answer(NamedTuple):
    """A quote with everything needed to tell it: `order` as asked (the native token by its zero address), at least
    the route's tokens by address and pools by key, and when it was made (Unix milliseconds).

    `invented` are those of the route's pools at whose addresses nothing is deployed.
    """

    order: Order
    quote: Quote
    network: Network
    tokens: Mapping[str, Token]
    pools: Mapping[str, Pool]
    origin: Origin
    timestamp_ms: int
    invented: frozenset[str] = frozenset()

    def result(self, generation: Generation, integrator: Integrator | None = None) -> RouteResult:
        """The answer as the interface writes it."""
        return result_of(
            self.quote,
            self.order,
            self.network,
            self.pools,
            generation,
            timestamp_ms=self.timestamp_ms,
            integrator=integrator,
        )
