"""What is asked of a source, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from swapcli.model.market import Market, Provenance
from swapcli.model.network import Network
from swapcli.model.order import Order
from swapcli.model.pool import Pool
from swapcli.model.route import Quote
from swapcli.model.terms import Integrator
from swapcli.model.token import Token
from swapcli.model.transfers import TransferBehaviour
from swapcli.wire.provenance import StatedWarnings
from swapcli.wire.result import RouteResult
from swapcli.wire.terms import Generation


class Ask(NamedTuple):
    """An order (the native token by its zero address) and how the answer is to be.

    `gas_price_wei` None leaves it to the source; `certify` wants the proof of optimality too. `solve_time_s` bounds a
    search, None or 0 does not; what a service does is up to it.
    """

    order: Order
    generation: Generation
    integrator: Integrator | None = None
    gas_price_wei: int | None = None
    certify: bool = False
    solve_time_s: float | None = None


class Delivery(NamedTuple):
    """How a swap is to be carried out: how far it may slip, and who receives the output."""

    slippage_ppm: int
    destination: str


class Origin(NamedTuple):
    """Where the pool state behind an answer comes from; `age_s` is None where the state carries no time.

    `service` is the address of the service that answered, None where the core in this process did. The provenance is
    None where the service does not say; `reported` is what it warns of.
    """

    provenance: Provenance | None
    source: str
    block: int | None = None
    timestamp: int | None = None
    age_s: int | None = None
    service: str | None = None
    reported: StatedWarnings = StatedWarnings()

    @classmethod
    def of(cls, market: Market, now_s: float) -> Origin:
        """The origin of a market, looked at now."""
        age_s = None if market.timestamp is None else max(0, int(now_s) - market.timestamp)
        return cls(market.provenance, market.source, market.block, market.timestamp, age_s)

    @property
    def is_live(self) -> bool:
        """Did the state come from the network itself, so that its prices are real?"""
        return self.provenance in (Provenance.LIVE, Provenance.SYNCED, Provenance.RECORDED)


class Answer(NamedTuple):
    """A route in the generation that was asked for, with everything needed to tell it.

    `tokens` by address are at least the route's. `quote`, the route's `pools` by key and `invented` (those of them at
    whose addresses nothing is deployed) are what only the core can tell: None and empty from a service. So are
    `transfers`: how the tokens that the route trades behave, by address.
    """

    order: Order
    result: RouteResult
    network: Network
    tokens: Mapping[str, Token]
    origin: Origin
    timestamp_ms: int
    quote: Quote | None = None
    pools: Mapping[str, Pool] = MappingProxyType({})
    invented: frozenset[str] = frozenset()
    transfers: Mapping[str, TransferBehaviour] = MappingProxyType({})
