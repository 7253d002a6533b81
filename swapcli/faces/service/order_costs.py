"""Estimate the time of orders from the times of earlier orders of the same class, the same pair, or the same client.

Times are in seconds.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from swapcli.core.records import NamedTuple
from swapcli.interface.requests import OrderRequest

FIRST_COST_S = 0.002
"""Expected time of the very first order, before there is a mean of all orders. It is the time of an easy order, so that
no order is rejected before any was measured."""
MAX_RECORDS = 10_000
"""Maximum number of classes, pairs and clients with recorded times. It is the same as for rate limits."""

_MEAN_WEIGHT = 1 / 16
"""Weight of one order in the mean of all orders, which single orders should not change much."""
_CLIENT_WEIGHT = 1 / 8
"""Weight of one order in its client's mean, which starts from the mean of all orders. Orders for other pairs say
little."""


class OrderClass(NamedTuple):
    """A hash of what determines an order's cost: the path, the network, the pair, and the bit length of the amounts.

    `pair` is the hash of the two tokens on their network, or None for a request without an order.
    """

    key: int
    pair: int | None = None

    @property
    def keys(self) -> tuple[int, ...]:
        """The keys under which times are recorded: the class, then the pair."""
        return (self.key,) if self.pair is None else (self.key, self.pair)


class CostEstimate(NamedTuple):
    """The expected time of an order. If its class, pair and client are unknown, it is a guess: the mean of all
    orders."""

    expected_s: float
    is_guess: bool


def classify_order(path: str, network: str, order: OrderRequest | None, size_bytes: int) -> OrderClass:
    """Return the class of a request to the endpoint at `path`. A request without an order is classified by the length
    of its query and body."""
    if order is None:
        return OrderClass(hash((path, network, size_bytes.bit_length())))
    alike = order._replace(amount=order.amount.bit_length(), slippage_ppm=0, recipient=None)
    return OrderClass(hash((path, network, alike)), hash((network, order.token_in, order.token_out)))


class OrderCosts:
    """Recent times of orders, as moving averages in which the newest order counts for one half. Not thread-safe.

    If the newest order took less than half of the average, it replaces the average. The first order of a pair also
    builds data for later orders, and may even load the market.
    """

    def __init__(self, max_records: int = MAX_RECORDS) -> None:
        self._max_averages = 3 * max_records
        self._averages_s: OrderedDict[Hashable, float] = OrderedDict()
        """Average times by class, pair and client. Beyond the limit, the entry updated least recently is dropped."""
        self._mean_s = FIRST_COST_S

    def estimate(self, client: str, order_class: OrderClass | None) -> CostEstimate:
        """Return the expected time of a client's order."""
        for key in (*(order_class.keys if order_class else ()), client):
            if key in self._averages_s:
                return CostEstimate(self._averages_s[key], False)
        return CostEstimate(self._mean_s, True)

    def record(self, client: str, order_class: OrderClass | None, spent_s: float, *, is_answered: bool = True) -> None:
        """Record the time of an order.

        An order that failed may have failed early, so it can only increase the expected time of its class and pair.
        """
        self._mean_s += (spent_s - self._mean_s) * _MEAN_WEIGHT
        mean_s = self._averages_s.get(client, self._mean_s)
        self._set(client, mean_s + (spent_s - mean_s) * _CLIENT_WEIGHT)
        for key in order_class.keys if order_class else ():
            mean_s = self._averages_s.get(key, spent_s)
            if is_answered and spent_s < mean_s / 2:
                mean_s = spent_s
            elif is_answered or spent_s > mean_s:
                mean_s = (mean_s + spent_s) / 2
            self._set(key, mean_s)

    def _set(self, key: Hashable, mean_s: float) -> None:
        self._averages_s[key] = mean_s
        self._averages_s.move_to_end(key)
        if len(self._averages_s) > self._max_averages:
            self._averages_s.popitem(last=False)
