"""When refused orders are to be asked again: one after the other, as the service can take them.

A client of which many orders are refused at once would be told the same time for each, and most would be refused again.
So each refused order gets a time of its own, after those that were refused before it. While such orders may come again,
others of the same client count them as waiting before them, and those of other clients as having their turns. So a time
that was told moves with what orders really take: those that come later are told the delay of all before them. Times are
in seconds, of a clock that the caller passes in.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from heapq import heappop, heappush

from swapcli.core.records import NamedTuple
from swapcli.faces.service.rate_limits import MAX_CLIENTS

EARLY_S = 0.2
"""How long before its time an order may come. Clients are told whole seconds, rounded up, and seldom come early."""
GRACE_S = 2.0
"""How long an order is expected after its time: whole seconds, and a slow network."""
SPARE_WAIT_S = 1.0
"""The wait that a refused order should find when it comes again: less than it may be, since costs vary, and enough to
keep the thread busy until it comes, as clients are told whole seconds."""
MAX_DELAY_S = 60.0
"""Maximum time until an order is due."""
MAX_ORDERS = 1_024
"""Refused orders of a client; as many as the service has connections by default."""


class _Refused(NamedTuple):
    """When a refused order is due, and the time that the service takes for it."""

    due_s: float
    cost_s: float


class _Expiry(NamedTuple):
    """When a refused order is no longer expected. Expiries are compared by time, then by number."""

    at_s: float
    number: int
    client: str
    connection: Hashable
    order: _Refused


class RetryTimes:
    """The times of refused orders, by client and connection. Not thread-safe.

    A connection has one order at a time, so that one which comes again before its time keeps that. An order that does
    not come again is forgotten.
    """

    def __init__(self) -> None:
        self._refused: OrderedDict[str, dict[Hashable, _Refused]] = OrderedDict()
        self._expiries: list[_Expiry] = []
        self._number = 0
        self._count = 0
        self._total_s = 0.0

    def refuse(self, client: str, connection: Hashable, wait_s: float, cost_s: float, now_s: float) -> float:
        """Return in how many seconds a refused order is due. It takes `cost_s`, and would wait for `wait_s` if none of
        the refused orders came again.
        """
        ahead_s = self.preceding_s(client, connection, now_s)
        order = self._refused.get(client, {}).get(connection)
        if order is None or order.due_s <= now_s + EARLY_S:
            due_s = now_s + min(max(0.0, wait_s + ahead_s - SPARE_WAIT_S), MAX_DELAY_S)
            self._set(client, connection, _Refused(due_s, cost_s))
        else:
            due_s = order.due_s
        return due_s - now_s

    def take(self, client: str, connection: Hashable) -> None:
        """Forget the time of an order that was taken."""
        orders = self._refused.get(client)
        if orders is not None and connection in orders:
            order = orders.pop(connection)
            self._count -= 1
            self._total_s = self._total_s - order.cost_s if self._count else 0.0
            if not orders:
                del self._refused[client]

    def preceding_s(self, client: str, connection: Hashable, now_s: float) -> float:
        """Return the cost of the refused orders that go before the one that comes now: those of its client, and of each
        other client as many, and one more. None do if its time has come.
        """
        self._forget_expired(now_s)
        orders = self._refused.get(client, {})
        order = orders.get(connection)
        if order is not None and order.due_s <= now_s + EARLY_S:
            return 0.0
        own_s = sum([each.cost_s for each in orders.values()])
        others_s = self._total_s - own_s
        others, other_clients = self._count - len(orders), len(self._refused) - (client in self._refused)
        if order is not None:
            own_s -= order.cost_s
        # As if all other clients had equally many: the exact sum would look at each of them.
        turns = len(orders) + 1 - (order is not None)
        return own_s + (others_s * min(1.0, turns * other_clients / others) if others else 0.0)

    def _set(self, client: str, connection: Hashable, order: _Refused) -> None:
        self.take(client, connection)
        orders = self._refused.setdefault(client, {})
        self._refused.move_to_end(client)
        if len(orders) >= MAX_ORDERS:
            return
        orders[connection] = order
        self._count += 1
        self._total_s += order.cost_s
        self._number += 1
        heappush(self._expiries, _Expiry(order.due_s + GRACE_S, self._number, client, connection, order))
        if len(self._refused) > MAX_CLIENTS:
            oldest = next(iter(self._refused))
            for each in list(self._refused[oldest]):
                self.take(oldest, each)

    def _forget_expired(self, now_s: float) -> None:
        """Forget the orders that are no longer expected."""
        while self._expiries and self._expiries[0].at_s < now_s:
            _, _, client, connection, order = heappop(self._expiries)
            if self._refused.get(client, {}).get(connection) is order:
                self.take(client, connection)
