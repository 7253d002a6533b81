"""Orders from several threads that wait for the same market. A read for one of them also includes data for the next
ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from swapcli.core.records import NamedTuple

_MAX_TAKEN = 32
"""Orders that one read includes: each one's search is kept until its turn, with its part of a store."""

if TYPE_CHECKING:
    from swapcli.core.errors import UpstreamError
    from swapcli.core.model.quote_request import QuoteRequest
    from swapcli.quoting.sources.live_search import LiveSearch
    from swapcli.quoting.sources.searchable_market import SearchableMarket


class PreparedSearch(NamedTuple):
    """The work done for an order before its turn: the `known` market, and the search that starts on that market.

    `search` is None for an order that needs no search.
    """

    request: QuoteRequest
    known: SearchableMarket
    search: LiveSearch | None


class JoinedOrder:
    """An order that waits for its turn. `request` returns the order's request, or raises `SwapcliError`.

    `failure` is the error from the read that included the order's pools. `prepared` is the work done to choose those
    pools.
    """

    def __init__(self, request: Callable[[], QuoteRequest]) -> None:
        self.request = request
        self.failure: UpstreamError | None = None
        self.prepared: PreparedSearch | None = None
        self._is_waiting = True

    def take(self) -> bool:
        """Return True if no read has included the order yet. The current read must then include it."""
        was_waiting, self._is_waiting = self._is_waiting, False
        return was_waiting


class JoinedOrders:
    """The orders that wait for a market. Only the thread whose turn it is may call methods other than `joined`."""

    def __init__(self) -> None:
        self._orders: list[JoinedOrder] = []
        self._current: JoinedOrder | None = None

    @contextmanager
    def joined(self, request: Callable[[], QuoteRequest]) -> Iterator[JoinedOrder]:
        """Add an order to the waiting ones, until the end of the context."""
        order = JoinedOrder(request)
        self._orders.append(order)
        try:
            yield order
        finally:
            self._orders.remove(order)

    @contextmanager
    def turn(self, order: JoinedOrder) -> Iterator[None]:
        """Make it the turn of `order` during the context."""
        order.take()
        self._current = order
        try:
            yield
        finally:
            self._current = None

    def check_turn(self) -> None:
        """Raise the error, if any, from the read that included the order whose turn it is."""
        if self._current is not None and self._current.failure is not None:
            raise self._current.failure

    def take_prepared(self, request: QuoteRequest) -> PreparedSearch | None:
        """Return the work done for the current order before its turn, once. Return None if `request` is not that
        order's."""
        prepared = self._current and self._current.prepared
        if self._current is None or prepared is None or prepared.request != request:
            return None
        self._current.prepared = None
        return prepared

    def take_waiting(self) -> list[JoinedOrder]:
        """Return the next waiting orders that no read has included yet. The caller's read must include them."""
        return list(islice((order for order in self._orders.copy() if order.take()), _MAX_TAKEN))
