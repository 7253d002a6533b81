"""Quotes: computed by the routing core in this process, or received from a remote service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from swapcli.api.route_result import RouteResult
from swapcli.model.network import Network
from swapcli.model.order import Order
from swapcli.model.pool import Pool
from swapcli.model.quote import Quote
from swapcli.model.state_source import StateSource
from swapcli.model.token import Token
from swapcli.model.transfer_behaviour import TransferBehaviour
from swapcli.records import NamedTuple


class LocalQuote(NamedTuple):
    """A quote of the routing core.

    `tokens` by address include the route's tokens, `pools` by key its pools. `placeholder_pools` are the keys of those
    of the route's pools whose addresses are placeholders. `transfers` says by address how the route's tokens transfer.
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


class RemoteQuote(NamedTuple):
    """A quote of a remote service: its route, without exact steps and pool states.

    `tokens` by address include the route's tokens.
    """

    order: Order
    result: RouteResult
    network: Network
    tokens: Mapping[str, Token]
    state_source: StateSource
    timestamp_ms: int


QuoteResult: TypeAlias = LocalQuote | RemoteQuote
