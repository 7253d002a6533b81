"""Decide when clients should retry rejected orders: one after the other, at the rate at which the service can process
them.

If many orders of a client were rejected with the same retry time, most would be rejected again. Each rejected order
therefore gets a separate time, after the times of the orders rejected before it. Until the rejected orders return or
expire, new orders of the same client count them as ahead in the queue, and orders of other clients count them as taking
turns. The times thus reflect how long orders really take, because each later order includes the delay of all orders
before it. Times are in seconds, from a clock that the caller passes in.
"""

from __future__ import annotations

from collections.abc import Hashable
from math import inf

from swapcli.core.records import NamedTuple

EARLY_S = 0.2
"""How early a rejected order may return. Clients are told whole seconds, rounded up, and rarely come early."""
GRACE_S = 2.0
"""How long after its retry time an order is still expected. This allows for rounding to whole seconds, and for a slow
network."""
SPARE_WAIT_S = 1.0
"""The wait that a rejected order should find when it returns. It is less than the maximum, because costs vary. It is
long enough to keep the thread busy until the order returns, because clients are told whole seconds."""
MAX_DELAY_S = 60.0
"""Maximum time until a rejected order should return."""
MAX_ORDERS = 1_024
"""Maximum number of rejected orders to remember: as many as the service has connections by default."""


class _Refused(NamedTuple):
    """When a rejected order is due, and the service's time for it."""

    due_s: float
    cost_s: float


class RetryTimes:
    """The retry times of rejected orders, by client and connection. Not thread-safe.

    A connection has one order at a time, so an order that returns early keeps its time. An order that does not return
    is forgotten.
    """

    def __init__(self) -> None:
        self._refused: dict[str, dict[Hashable, _Refused]] = {}
        self._count, self._total_s = 0, 0.0
        """Totals over all orders. Hundreds of orders return each second, so none may examine all others."""
        self._expires_s = inf
        """The first time at which an order is no longer expected, or an earlier time."""

    def refuse(self, client: str, connection: Hashable, wait_s: float, cost_s: float, now_s: float) -> float:
        """Return how many seconds a rejected order should wait. Its work takes `cost_s`, and without other rejected
        orders it would wait in the queue for `wait_s`."""
        ahead_s = self.preceding_s(client, connection, now_s)
        order = self._refused.get(client, {}).get(connection)
        if order is None or order.due_s <= now_s + EARLY_S:
            order = _Refused(now_s + min(max(0.0, wait_s + ahead_s - SPARE_WAIT_S), MAX_DELAY_S), cost_s)
            self.take(client, connection)
            if self._count < MAX_ORDERS:
                self._refused.setdefault(client, {})[connection] = order
                self._count += 1
                self._total_s += cost_s
                self._expires_s = min(self._expires_s, order.due_s + GRACE_S)
        return order.due_s - now_s

    def take(self, client: str, connection: Hashable) -> None:
        """Forget the retry time of an order that has been accepted."""
        orders = self._refused.get(client, {})
        order = orders.pop(connection, None)
        if order is not None:
            self._count -= 1
            self._total_s = self._total_s - order.cost_s if self._count else 0.0
            if not orders:
                del self._refused[client]

    def preceding_s(self, client: str, connection: Hashable, now_s: float) -> float:
        """Return the total cost of the rejected orders that take precedence over an order arriving now: its client's
        orders and, for each other client, as many orders plus one. The result is 0 if the order's own retry time has
        come."""
        self._forget_expired(now_s)
        own = self._refused.get(client, {})
        order = own.get(connection)
        if order is not None and order.due_s <= now_s + EARLY_S:
            return 0.0
        own_s = sum([each.cost_s for each in own.values()])
        others_s, others = self._total_s - own_s, self._count - len(own)
        other_clients = len(self._refused) - (client in self._refused)
        turns = len(own) + 1
        if order is not None:
            own_s, turns = own_s - order.cost_s, turns - 1
        # This assumes that all other clients have equally many: the exact sum would examine each of them.
        return own_s + (others_s * min(1.0, turns * other_clients / others) if others else 0.0)

    def _forget_expired(self, now_s: float) -> None:
        """Forget the orders that are no longer expected."""
        if now_s <= self._expires_s:
            return
        times_s = {
            (client, connection): order.due_s + GRACE_S
            for client, orders in self._refused.items()
            for connection, order in orders.items()
        }
        for (client, connection), expires_s in times_s.items():
            if expires_s < now_s:
                self.take(client, connection)
        self._expires_s = min([each for each in times_s.values() if each >= now_s], default=inf)
