"""Quotes that were computed by the routing core in this process, or received from a remote service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from swapcli.core.model.network import Network
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Quote
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import TransferBehaviour
from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.core.model.book_prices import BookPrices
    from swapcli.core.model.router_choice import RouterChoice
    from swapcli.core.model.transaction import UnsignedTransaction


class Contradiction(NamedTuple):
    """A computed pool whose contract quotes a different output than swapcli. No pool of its protocol is used any more.

    `quoted` is 0 if the contract rejects the sale. In that case, only this pool is excluded.
    """

    protocol: str
    pool: str
    amount_in: int
    computed: int
    quoted: int


class LocalQuote(NamedTuple):
    """A quote from the routing core.

    `tokens`, by address, include the route's tokens, and `pools`, by key, its pools. `placeholder_pools` are the keys
    of pools in the route whose addresses are placeholders. `transfers` is the transfer behaviour of the route's tokens,
    by address. `payload` is the route's payload, if the quote was requested with terms. `contradictions` are the
    reasons why protocols or pools were excluded. `unread_gain_bps` is as in `QuoteFigures`. If there is a
    `router_choice`, `network` has the chosen router. `book_prices` are as in `QuoteFigures`.
    """

    order: Order
    result: RouteResult
    network: Network
    tokens: Mapping[str, Token]
    state_source: StateSource
    timestamp_ms: int
    quote: Quote
    pools: Mapping[str, Pool]
    placeholder_pools: frozenset[str]
    transfers: Mapping[str, TransferBehaviour]
    payload: UnsignedTransaction | None = None
    contradictions: tuple[Contradiction, ...] = ()
    unread_gain_bps: float | None = None
    router_choice: RouterChoice | None = None
    book_prices: BookPrices | None = None


class RemoteQuote(NamedTuple):
    """A quote from a remote service. It has a route, but no exact steps or pool states.

    `tokens`, by address, include the route's tokens. `payload` is as in `LocalQuote`. `proof` is the document sent by
    the service, unchecked; None if it sent none.
    """

    order: Order
    result: RouteResult
    network: Network
    tokens: Mapping[str, Token]
    state_source: StateSource
    timestamp_ms: int
    payload: UnsignedTransaction | None = None
    proof: Mapping[str, Any] | None = None


QuoteResult: TypeAlias = LocalQuote | RemoteQuote


def result_of(quoted: QuoteResult | RouteResult) -> RouteResult:
    """Return the route of a quote, or the route itself."""
    return quoted if isinstance(quoted, RouteResult) else quoted.result


def with_route_pools(answer: QuoteResult) -> QuoteResult:
    """Return the quote with only the pools of its route, or the pools of its proof if it has one."""
    if not isinstance(answer, LocalQuote) or answer.quote.witness is not None:
        return answer
    keys = {step.pool for step in answer.quote.steps}
    pools = {key: pool for key, pool in answer.pools.items() if key in keys}
    return answer._replace(pools=pools)
