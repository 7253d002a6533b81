"""A bounded queue that serves its clients in turn, and the items of each client by their expected cost.

A client may have all places that others leave free. If the queue is full, a client with fewer items evicts the newest
item of the client with the most. So neither one client nor several together can lock out the others.

An item goes behind those of its client that cost less, but only behind those that come within `PATIENCE` times its own
cost, so that none waits forever. Times are in seconds, of a clock that the caller passes in.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from math import inf
from typing import Any, Generic, TypeVar

from swapcli.core.records import NamedTuple

T = TypeVar("T", bound=Hashable)

PATIENCE = 3.0
"""How many times its own cost an item lets cheaper ones of its client go first: then it takes at most about four times
as long as alone."""
MAX_PATIENCE_S = 1.0
"""Maximum time in which an item lets cheaper ones go first."""


class QueueFull(Exception):
    """The queue has no place for another item of this client."""


class _Lane(Generic[T]):
    """The items of one client, by cost and by age."""

    __slots__ = ("by_age", "by_cost")

    def __init__(self) -> None:
        self.by_cost: list[_Place] = []
        self.by_age: OrderedDict[T, _Place] = OrderedDict()

    def __len__(self) -> int:
        return len(self.by_cost)

    @property
    def cheapest(self) -> T:
        item: T = self.by_cost[0].item
        return item

    @property
    def newest(self) -> T:
        return next(reversed(self.by_age))

    def next(self, now_s: float) -> T:
        """Return the item to serve next: the oldest if it is overdue, else the cheapest."""
        oldest = next(iter(self.by_age))
        return oldest if self.by_age[oldest].overdue_s <= now_s else self.cheapest

    def add(self, place: _Place) -> None:
        insort(self.by_cost, place)
        self.by_age[place.item] = place

    def remove(self, item: T) -> None:
        self._leave(self.by_age.pop(item))

    def set_cost(self, item: T, cost_s: float) -> None:
        """Change the cost of an item, and not its age."""
        place = self.by_age[item]
        self._leave(place)
        self.by_age[item] = changed = place._replace(cost_s=cost_s)
        insort(self.by_cost, changed)

    def _leave(self, place: _Place) -> None:
        del self.by_cost[bisect_left(self.by_cost, place)]


class _Place(NamedTuple):
    """The place of an item. Places are compared by cost, then by number, which is another one for each."""

    cost_s: float
    number: int
    queued_s: float
    item: Any

    @property
    def overdue_s(self) -> float:
        """The time from which no other item may go first."""
        return self.queued_s + min(PATIENCE * self.cost_s, MAX_PATIENCE_S)


class FairQueue(Generic[T]):
    """Items by client, at most `max_items` in all. Not thread-safe.

    Items of the client None belong to the service itself: they take turns as one client, and count as nothing in the
    times that others wait.
    """

    def __init__(self, max_items: int) -> None:
        self._max_items = max_items
        self._lanes: OrderedDict[str | None, _Lane[T]] = OrderedDict()
        self._length = 0
        self._pushed = 0
        self.cheapest_s = inf
        """The cost of the cheapest item; infinite if there is none."""
        self.total_s = 0.0
        """The cost of all items of clients."""

    def __len__(self) -> int:
        return self._length

    def push(self, client: str | None, item: T, cost_s: float, now_s: float) -> T | None:
        """Add an item. Return the item of another client that it evicted, if any. Raises `QueueFull`."""
        if not self.has_room(client):
            raise QueueFull
        evicted = None
        if self._length >= self._max_items:
            # `has_room` has made sure that the client with most items keeps some.
            longest = self._longest()
            evicted = self._lanes[longest].newest
            self.remove(longest, evicted)
        self._pushed += 1
        lane = self._lanes.get(client)
        if lane is None:
            lane = self._lanes[client] = _Lane()
        lane.add(_Place(cost_s, self._pushed, now_s, item))
        self._length += 1
        self._add_cost(client, cost_s)
        self.cheapest_s = min(self.cheapest_s, cost_s)
        return evicted

    def pop(self, now_s: float) -> T | None:
        """Remove and return the next item of the client whose turn it is; None if there is none."""
        for client, lane in self._lanes.items():
            return self._take(client, lane.next(now_s))
        return None

    def pop_cheaper(self, cost_s: float, is_eligible: Callable[[T], bool] | None = None) -> T | None:
        """Remove and return the cheapest eligible item below `cost_s` of the first client in turn that has one.

        Other clients keep their turn.
        """
        for client, lane in self._lanes.items():
            for place in lane.by_cost:
                if place.cost_s >= cost_s:
                    break
                if is_eligible is None or is_eligible(place.item):
                    return self._take(client, place.item)
        return None

    def set_cost(self, client: str | None, item: T, cost_s: float) -> None:
        """Change the cost of an item, if it is there; it keeps its age."""
        lane = self._lanes.get(client)
        if lane is not None and item in lane.by_age:
            self._add_cost(client, cost_s - lane.by_age[item].cost_s)
            lane.set_cost(item, cost_s)
            self._find_cheapest()

    def remove(self, client: str | None, item: T) -> bool:
        """Remove an item at any position. Return whether it was there."""
        lane = self._lanes.get(client)
        if lane is None or item not in lane.by_age:
            return False
        cost_s = lane.by_age[item].cost_s
        is_cheapest = cost_s <= self.cheapest_s
        lane.remove(item)
        self._length -= 1
        self._add_cost(client, -cost_s)
        if not lane:
            del self._lanes[client]
        if is_cheapest:
            self._find_cheapest()
        return True

    def wait_s(self, client: str, cost_s: float, now_s: float) -> float:
        """Return how long another item of the client would wait if each takes its cost and no other one comes."""
        own = self._lanes.get(client)
        ahead = own.by_cost[: bisect_right(own.by_cost, (cost_s, inf))] if own else []
        until_s = now_s + _total_s(ahead) + self._others_s(client, len(ahead), inf)
        if own:
            # Dearer ones are ahead, too, if they have let others go first for long enough by then.
            ahead += [each for each in own.by_age.values() if each.cost_s > cost_s and each.overdue_s <= until_s]
        return _total_s(ahead) + self._others_s(client, len(ahead), inf)

    def cheaper_s(self, client: str, cost_s: float) -> float:
        """Return the cost of the items below `cost_s` that would be taken before another one of the client."""
        own = self._lanes.get(client)
        ahead = own.by_cost[: bisect_right(own.by_cost, (cost_s, inf))] if own else []
        return _total_s(ahead) + self._others_s(client, len(ahead), cost_s)

    def remove_older(self, queued_s: float) -> list[T]:
        """Remove and return the items of clients that have waited since `queued_s` or longer."""
        old = [
            (client, place.item)
            for client, lane in self._lanes.items()
            if client is not None and next(iter(lane.by_age.values())).queued_s <= queued_s
            for place in lane.by_age.values()
            if place.queued_s <= queued_s
        ]
        for client, item in old:
            self.remove(client, item)
        return [item for _, item in old]

    @property
    def clients(self) -> int:
        """The number of clients with items."""
        return len(self._lanes)

    def has_room(self, client: str | None) -> bool:
        """Return whether `push` would accept an item of the client."""
        if self._length < self._max_items:
            return True
        # The client that loses a place must still have more items than this one afterwards.
        waiting = len(self._lanes.get(client, ()))
        return len(self._lanes[self._longest()]) > waiting + 1

    def _take(self, client: str | None, item: T) -> T:
        """Remove an item of a client, whose turn is over."""
        self.remove(client, item)
        if client in self._lanes:
            self._lanes.move_to_end(client)
        return item

    def _add_cost(self, client: str | None, cost_s: float) -> None:
        if client is not None:
            self.total_s += cost_s
        if not self._length:
            self.total_s = 0.0  # rounding must not add up over millions of orders

    def _others_s(self, client: str, turns: int, below_s: float) -> float:
        """Return the cost of the items below `below_s` that other clients have in as many turns, and one more."""
        return sum(
            _total_s([each for each in lane.by_cost[: turns + 1] if each.cost_s < below_s])
            for other, lane in self._lanes.items()
            if other is not None and other != client
        )

    def _find_cheapest(self) -> None:
        self.cheapest_s = min([lane.by_cost[0].cost_s for lane in self._lanes.values()], default=inf)

    def _longest(self) -> str | None:
        return max(self._lanes, key=lambda client: len(self._lanes[client]))


def _total_s(places: Sequence[_Place]) -> float:
    return sum([each.cost_s for each in places])
