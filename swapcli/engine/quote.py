"""What is asked of a source, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from swapcli.api.route_result import RouteResult
from swapcli.api.state_headers import ReportedWarnings
from swapcli.model.api_version import ApiVersion
from swapcli.model.market import Market, Provenance
from swapcli.model.network import Network
from swapcli.model.order import Order
from swapcli.model.pool import Pool
from swapcli.model.route import Quote
from swapcli.model.swap_terms import Integrator
from swapcli.model.token import Token
from swapcli.model.transfers import TransferBehaviour


class QuoteRequest(NamedTuple):
    """An order (the native token by its zero address) and how the answer is to be.

    `gas_price_wei` None leaves it to the source; `certify` wants the proof of optimality too. `solve_time_s` bounds a
    search, None or 0 does not; what a service does is up to it.
    """

    order: Order
    api_version: ApiVersion
    integrator: Integrator | None = None
    gas_price_wei: int | None = None
    certify: bool = False
    solve_time_s: float | None = None


class Delivery(NamedTuple):
    """How a swap is to be carried out: how far it may slip, and who receives the output."""

    slippage_ppm: int
    recipient: str


class StateSource(NamedTuple):
    """Where the pool state behind an answer comes from; `age_s` is None where the state carries no time.

    `service_url` is the address of the service that answered, None where the core in this process did. The provenance
    is None where the service does not say; `reported` is what it warns of. `pinned` is as in
    `Market`; `is_proposed` says that the network had not yet agreed on the block when it was read.
    """

    provenance: Provenance | None
    description: str
    block: int | None = None
    timestamp: int | None = None
    age_s: int | None = None
    service_url: str | None = None
    reported: ReportedWarnings = ReportedWarnings()
    pinned: bool | None = None
    is_proposed: bool = False

    @classmethod
    def of(cls, market: Market, now_s: float) -> StateSource:
        """The origin of a market, looked at now."""
        age_s = None if market.timestamp is None else max(0, int(now_s) - market.timestamp)
        read = market.provenance in (Provenance.LIVE, Provenance.SYNCED)
        return cls(
            market.provenance,
            market.source,
            market.block,
            market.timestamp,
            age_s,
            pinned=market.pinned,
            is_proposed=read and market.network.head_is_proposed,
        )

    @property
    def is_live(self) -> bool:
        """Did the state come from the network itself, so that its prices are real?"""
        return self.provenance in (Provenance.LIVE, Provenance.SYNCED, Provenance.RECORDED)


class Answer(NamedTuple):
    """A route in the generation that was asked for, with everything needed to tell it.

    `tokens` by address are at least the route's. `quote`, the route's `pools` by key and `placeholder_pools` (those
    of them at
    whose addresses nothing is deployed) are what only the core can tell: None and empty from a service. So are
    `transfers`: how the tokens that the route trades behave, by address.
    """

    order: Order
    result: RouteResult
    network: Network
    tokens: Mapping[str, Token]
    state_source: StateSource
    timestamp_ms: int
    quote: Quote | None = None
    pools: Mapping[str, Pool] = MappingProxyType({})
    placeholder_pools: frozenset[str] = frozenset()
    transfers: Mapping[str, TransferBehaviour] = MappingProxyType({})
