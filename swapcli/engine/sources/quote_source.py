"""Whatever answers orders: the core in this process, or a service of the published interface. Commands know no more."""

from __future__ import annotations

from typing import Protocol

from swapcli.api.route_result import RouteResult
from swapcli.engine.health import Health
from swapcli.engine.price_impact import PriceImpact
from swapcli.engine.quote import QuoteResult
from swapcli.errors import SameToken
from swapcli.model.network import Network
from swapcli.model.order import Order
from swapcli.model.quote_request import QuoteRequest
from swapcli.model.state_source import StateSource
from swapcli.model.swap_terms import SwapTerms
from swapcli.model.token import Token
from swapcli.model.transaction import UnsignedTransaction


def require_different_tokens(order: Order) -> None:
    """Raises `SameToken` where an order sells what it buys."""
    if order.token_in.address == order.token_out.address:
        raise SameToken


class QuoteSource(Protocol):
    """Answers orders on one network."""

    @property
    def network(self) -> Network:
        """The network that is served."""

    @property
    def state_source(self) -> StateSource:
        """Where the state behind the newest answer comes from, as it is now."""

    def token(self, name: str) -> Token:
        """The token called `name`, by symbol or address; the native one by its zero address."""

    def quote(self, ask: QuoteRequest) -> QuoteResult:
        """The best route for an order. Raises `SameToken`, `NoRoute`, `InvalidInput`, `UpstreamError`."""

    def quote_and_build(self, ask: QuoteRequest, terms: SwapTerms) -> tuple[QuoteResult, UnsignedTransaction]:
        """The best route and its payload, on one and the same state. Raises as `quote` and `build`."""

    def build(self, result: RouteResult, terms: SwapTerms) -> UnsignedTransaction:
        """The payload of a route that was found before, on the present state.

        Raises `InvalidRoute`, `RouteExpired`, `SlippageExceeded`, `PoolError` where the state no longer allows it, and
        `ConfigError` where the network's router is not known.
        """

    def impact_of(self, result: RouteResult, payload: UnsignedTransaction) -> PriceImpact | None:
        """The price impact of the payload that was just built of `result`; None where nobody knows it."""

    def health(self) -> Health:
        """How the source is; an unhealthy one is told, not raised."""
