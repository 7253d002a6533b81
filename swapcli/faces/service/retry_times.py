"""When rejected orders are to be asked again: one after the other, as the service can take them.

A client of which many orders are rejected at once would be told the same time for each, and most would be rejected
again. So each rejected order gets its own time, after those that were rejected before it. While such orders may come
again, others of the same client count them as waiting before them, and those of other clients as having their turns. So
a time that was told moves with what orders really take: those that come later are told the delay of all before them.
Times are in seconds, of a clock that the caller passes in.
"""

from __future__ import annotations

from collections.abc import Hashable
from math import inf

from swapcli.core.records import NamedTuple

EARLY_S = 0.2
"""How long before its time an order may come. Clients are told whole seconds, rounded up, and seldom come early."""
GRACE_S = 2.0
"""How long an order is expected after its time: whole seconds, and a slow network."""
SPARE_WAIT_S = 1.0
"""The wait that a rejected order should find when it comes again: less than it may be, since costs vary, and enough to
keep the thread busy until it comes, as clients are told whole seconds."""
MAX_DELAY_S = 60.0
"""Maximum time until an order is due."""
MAX_ORDERS = 1_024
"""Rejected orders that are remembered; as many as the service has connections by default."""


class _Refused(NamedTuple):
    """When a rejected order is due, and the time that the service takes for it."""

    due_s: float
    cost_s: float


class RetryTimes:
    """The times of rejected orders, by client and connection. Not thread-safe.

    A connection has one order at a time, so that one which comes again before its time keeps that. An order that does
    not come again is forgotten.
    """

    def __init__(self) -> None:
        self._refused: dict[str, dict[Hashable, _Refused]] = {}
        self._count, self._total_s = 0, 0.0
        """Of all orders: hundreds come again each second, and must not look at each other."""
        self._expires_s = inf
        """The first time at which an order is no longer expected, or an earlier one."""

    def refuse(self, client: str, connection: Hashable, wait_s: float, cost_s: float, now_s: float) -> float:
        """Return in how many seconds a rejected order is due. It takes `cost_s`, and would wait for `wait_s` if none of
        the rejected orders came again.
        """
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
        """Forget the time of an order that was taken."""
        orders = self._refused.get(client, {})
        order = orders.pop(connection, None)
        if order is not None:
            self._count -= 1
            self._total_s = self._total_s - order.cost_s if self._count else 0.0
            if not orders:
                del self._refused[client]

    def preceding_s(self, client: str, connection: Hashable, now_s: float) -> float:
        """Return the cost of the rejected orders that go before the one that comes now: those of its client, and of
        each other client as many, and one more. None do if its time has come.
        """
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
        # As if all other clients had equally many: the exact sum would look at each of them in turn.
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
