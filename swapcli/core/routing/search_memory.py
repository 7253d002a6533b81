"""Remember searches, so that later searches for similar orders, on this and later states of a market, can start from
them.

The number of remembered searches is limited, and so is how far an order may differ from a remembered one. Results
therefore depend on earlier orders: usually by less than 0.01 basis points, and at most by a tenth of the rounding loss
of the search from scratch; see `warm_search`.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from swapcli.core.model.order import Order
from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.order_market import drop_oldest
from swapcli.core.routing.search.problem import SwapSpec
from swapcli.core.routing.search.route_search import RouteSearch, SearchResult
from swapcli.core.routing.search.warm_search import FormerSearch, search_from, summarize

_MAX_ENTRIES = 128  # some 10 KB each
_MAX_RATIO = 1.25  # between the amounts of similar orders, and between their values of gas
_MAX_USES = 64  # of consecutive results that each build on the last: then a search from scratch follows

_Key = tuple[Order, int, bool]
"""The addresses of the tokens, and the other properties that orders must share: reverse, direct, most hops, excluded
protocols, share step, and whether gas costs anything."""


class _Entry(NamedTuple):
    """A remembered search.

    `amount` (of the order) and `gas_value` come from the search from scratch that started its chain of `uses` searches.
    """

    former: FormerSearch
    amount: int
    gas_value: float
    uses: int

    def is_similar(self, amount: int, gas_value: float) -> bool:
        """Return whether an order with these figures may start from it."""
        return self.uses < _MAX_USES and _are_close(self.amount, amount) and _are_close(self.gas_value, gas_value)


class SearchMemory:
    """The most recent searches on a market, one per pair of tokens and options.

    Threads may share a memory, as may routers for successive states of the market.
    """

    def __init__(self) -> None:
        self._entries: dict[_Key, _Entry] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def search(self, order: Order, search_for: Callable[[int], RouteSearch], first: int) -> SearchResult | None:
        """Return the result for `order`, starting from the result for a similar order; None if it must be searched from
        scratch.

        `search_for` returns the search for an input; `first` is the input of the order, or an estimate of it for an
        exact-output order. Raises `Cancelled`.
        """
        search = search_for(first)
        key = _key(order, search.spec)
        entry = self._find(key)
        if entry is None or not entry.is_similar(order.amount, search.spec.gas_value):
            return None
        if order.reverse:
            from swapcli.core.routing.exact_output import route_from

            result = route_from(search_for, order.amount, entry.former)
        else:
            result = search_from(search, entry.former)
        former = summarize(result) if result else None
        if former:
            former = former._replace(loss=entry.former.loss)
            self._remember(key, entry._replace(former=former, uses=entry.uses + 1))
        return result

    def remember(self, order: Order, result: SearchResult) -> None:
        """Remember the result of a search from scratch, if later searches can start from it."""
        former, spec = summarize(result), result.problem.spec
        if former:
            self._remember(_key(order, spec), _Entry(former, order.amount, spec.gas_value, 0))

    def _find(self, key: _Key) -> _Entry | None:
        """Return the entry, and make it the newest."""
        with self._lock:
            entry = self._entries.pop(key, None)
            if entry:
                self._entries[key] = entry
            return entry

    def _remember(self, key: _Key, entry: _Entry) -> None:
        with self._lock:
            self._entries.pop(key, None)
            self._entries[key] = entry
            drop_oldest(self._entries, _MAX_ENTRIES)


def _key(order: Order, spec: SwapSpec) -> _Key:
    """Return the properties that two searches must share for one to start from the other: all of the order except these
    three fields."""
    return order._replace(amount=0, max_pools=None, single_path=False), spec.share_step, spec.gas_value > 0.0


def _are_close(value: float, other: float) -> bool:
    return value <= other * _MAX_RATIO and other <= value * _MAX_RATIO
