"""Orders of several threads that wait for the same market: a read for one of them reads for the next ones too."""

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
    """What was found for an order before its turn: the `known` market, and the search that begins on it.

    There is no `search` for an order that needs none.
    """

    request: QuoteRequest
    known: SearchableMarket
    search: LiveSearch | None


class JoinedOrder:
    """An order that waits for its turn. `request` returns it, and raises `SwapcliError`.

    `failure` is the error of the read that included its pools, and `prepared` what was found to choose these.
    """

    def __init__(self, request: Callable[[], QuoteRequest]) -> None:
        self.request = request
        self.failure: UpstreamError | None = None
        self.prepared: PreparedSearch | None = None
        self._is_waiting = True

    def take(self) -> bool:
        """Return whether the order still waits and no read has included it; the current read then includes it."""
        was_waiting, self._is_waiting = self._is_waiting, False
        return was_waiting


class JoinedOrders:
    """The orders of a market. Only the thread whose turn it is may call methods other than `joined`."""

    def __init__(self) -> None:
        self._orders: list[JoinedOrder] = []
        self._current: JoinedOrder | None = None

    @contextmanager
    def joined(self, request: Callable[[], QuoteRequest]) -> Iterator[JoinedOrder]:
        """Make an order wait until the end of the context."""
        order = JoinedOrder(request)
        self._orders.append(order)
        try:
            yield order
        finally:
            self._orders.remove(order)

    @contextmanager
    def turn(self, order: JoinedOrder) -> Iterator[None]:
        """Have the sources quote this order."""
        order.take()
        self._current = order
        try:
            yield
        finally:
            self._current = None

    def check_turn(self) -> None:
        """Raise the error of the read that included the order whose turn it is."""
        if self._current is not None and self._current.failure is not None:
            raise self._current.failure

    def take_prepared(self, request: QuoteRequest) -> PreparedSearch | None:
        """Return what was found for a request before its turn, once; None for any other request."""
        prepared = self._current and self._current.prepared
        if self._current is None or prepared is None or prepared.request != request:
            return None
        self._current.prepared = None
        return prepared

    def take_waiting(self) -> list[JoinedOrder]:
        """Return the next orders that wait and that no read has included, which one now does."""
        return list(islice((order for order in self._orders.copy() if order.take()), _MAX_TAKEN))
