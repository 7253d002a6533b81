"""A bounded queue that serves its clients in turn.

A client may have at most a quarter of the places. If the queue is full, a client with fewer items evicts the newest
item of the client with the most. So neither one client nor several together can lock out the others.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

CLIENT_SHARE = 4
"""A client may have one place in this number."""


class QueueFull(Exception):
    """The queue has no place for another item of this client."""


class FairQueue(Generic[T]):
    """Items by client, at most `max_items` in all. Not thread-safe.

    Items of the client None belong to the service itself: they take turns as one client without a limited share.
    """

    def __init__(self, max_items: int) -> None:
        self._max_items = max_items
        self._max_per_client = max(1, max_items // CLIENT_SHARE)
        self._lanes: OrderedDict[str | None, deque[T]] = OrderedDict()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def push(self, client: str | None, item: T) -> T | None:
        """Append an item. Return the item of another client that it evicted, if any. Raises `QueueFull`."""
        if not self.has_room(client):
            raise QueueFull
        evicted = None
        if self._length < self._max_items:
            self._length += 1
        else:
            # Replaces the newest item of the client with most items; `has_room` has made sure that it keeps some.
            evicted = self._longest().pop()
        self._lanes.setdefault(client, deque()).append(item)
        return evicted

    def pop(self, is_eligible: Callable[[str | None], bool] | None = None) -> T | None:
        """Remove and return the oldest item of the client whose turn it is; None if there is none.

        Clients for which `is_eligible` returns False are skipped and keep their turn.
        """
        for client, lane in self._lanes.items():
            if is_eligible is None or is_eligible(client):
                item = lane.popleft()
                self._length -= 1
                if lane:
                    self._lanes.move_to_end(client)
                else:
                    del self._lanes[client]
                return item
        return None

    def remove(self, client: str | None, item: T) -> bool:
        """Remove an item at any position. Return whether it was there."""
        lane = self._lanes.get(client)
        if lane is None or item not in lane:
            return False
        lane.remove(item)
        self._length -= 1
        if not lane:
            del self._lanes[client]
        return True

    def has_room(self, client: str | None) -> bool:
        """Return whether `push` would accept an item of the client."""
        waiting = len(self._lanes.get(client, ()))
        if client is not None and waiting >= self._max_per_client:
            return False
        # The client that loses a place must still have more items than this one afterwards.
        return self._length < self._max_items or len(self._longest()) > waiting + 1

    def _longest(self) -> deque[T]:
        return max(self._lanes.values(), key=len)
