"""When refused orders are to be asked again: one after the other, as the service can take them.

A client of which many orders are refused at once would be told the same time for each, and most would be refused again.
So each refused order gets a time of its own, after those that were refused before it. While such orders may come again,
others of the same client count them as waiting before them. Times are in seconds, of a clock that the caller passes in.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from swapcli.core.records import NamedTuple

EARLY_S = 0.2
"""How long before its time an order may come. Clients are told whole seconds, rounded up, and seldom come early."""
GRACE_S = 2.0
"""How long an order is expected after its time: whole seconds, and a slow network."""
MAX_DELAY_S = 60.0
"""Maximum time until an order is due."""
MAX_CLIENTS = 10_000
"""Clients with refused orders; the same as for rate limits. The one that was refused least recently is dropped."""
MAX_ORDERS = 1_024
"""Refused orders of a client; as many as the service has connections by default."""


class _Refused(NamedTuple):
    """When a refused order is due, and the time that the service takes for it and for others in between."""

    due_s: float
    cost_s: float


class RetryTimes:
    """The times of refused orders, by client and connection. Not thread-safe.

    A connection has one order at a time, so that one which comes again before its time keeps that. An order that does
    not come again is forgotten.
    """

    def __init__(self) -> None:
        self._refused: OrderedDict[str, OrderedDict[Hashable, _Refused]] = OrderedDict()

    def refuse(self, client: str, connection: Hashable, first_s: float, cost_s: float, now_s: float) -> float:
        """Return in how many seconds a refused order is due, if the service takes one after `first_s` at the earliest,
        and one every `cost_s`.
        """
        orders = self._orders(client, now_s)
        order = orders.get(connection)
        if order is None:
            last_s = max((each.due_s for each in orders.values()), default=now_s)
            due_s = max(now_s + first_s, last_s + cost_s if orders else now_s)
        elif order.due_s <= now_s + EARLY_S:
            # One that has come at its time goes before those that are still to come.
            due_s = now_s + first_s
        else:
            due_s = order.due_s
        due_s = min(due_s, now_s + MAX_DELAY_S)
        if len(orders) < MAX_ORDERS or order is not None:
            orders[connection] = _Refused(due_s, cost_s)
            self._refused[client] = orders
            self._refused.move_to_end(client)
            if len(self._refused) > MAX_CLIENTS:
                self._refused.popitem(last=False)
        return due_s - now_s

    def take(self, client: str, connection: Hashable) -> None:
        """Forget the time of an order that was taken."""
        orders = self._refused.get(client)
        if orders is not None:
            orders.pop(connection, None)
            if not orders:
                del self._refused[client]

    def preceding_s(self, client: str, connection: Hashable, now_s: float) -> float:
        """Return the cost of the refused orders of a client that go before the one that comes now: none if its time has
        come.
        """
        orders = self._orders(client, now_s)
        order = orders.get(connection)
        if order is None:
            return sum(each.cost_s for each in orders.values())
        if order.due_s <= now_s + EARLY_S:
            return 0.0
        return sum(each.cost_s for each in orders.values()) - order.cost_s

    def _orders(self, client: str, now_s: float) -> OrderedDict[Hashable, _Refused]:
        """Return the refused orders of a client that may still come again."""
        orders = self._refused.get(client)
        if orders is None:
            return OrderedDict()
        for connection in [each for each, order in orders.items() if order.due_s < now_s - GRACE_S]:
            del orders[connection]
        if not orders:
            self._refused.pop(client, None)
        return orders
