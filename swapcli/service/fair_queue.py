"""A bounded queue that serves its clients in turn.

No client waits with more than a quarter of the places. Where the queue is full, a client that waits with fewer items
takes the place of the newest item of the client that waits with the most, so that nobody can fill the queue alone or
together with others and lock the rest out.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

CLIENT_SHARE = 4
"""A client holds at most one place in so many."""


class QueueFull(Exception):
    """There is no place for a further item of this client."""


class FairQueue(Generic[T]):
    """Items by client, at most `max_items` in all. Items without a client (None) are the service's own: they take
    their turn as one client, which is not limited to a share. Not thread-safe."""

    def __init__(self, max_items: int) -> None:
        self._max_items = max_items
        self._max_per_client = max(1, max_items // CLIENT_SHARE)
        self._lanes: OrderedDict[str | None, deque[T]] = OrderedDict()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def push(self, client: str | None, item: T) -> T | None:
        """Append an item. Return the item of another client that lost its place to it, if any; raise `QueueFull`."""
        if not self.has_room(client):
            raise QueueFull
        evicted = self._longest().pop() if self._length >= self._max_items else None
        self._length -= evicted is not None
        self._lanes.setdefault(client, deque()).append(item)
        self._length += 1
        return evicted

    def pop(self, is_eligible: Callable[[str | None], bool] | None = None) -> T | None:
        """Remove and return the oldest item of the client whose turn it is; None where nothing waits.

        With `is_eligible`, clients for which it returns False are passed over and keep their turn.
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
        """Take an item out, wherever it stands. Return whether it was there."""
        lane = self._lanes.get(client)
        if lane is None or item not in lane:
            return False
        lane.remove(item)
        self._length -= 1
        if not lane:
            del self._lanes[client]
        return True

    def has_room(self, client: str | None) -> bool:
        """Return whether `push` would take an item of the client."""
        waiting = len(self._lanes.get(client, ()))
        if client is not None and waiting >= self._max_per_client:
            return False
        # The client that gives up a place must still be the one that waits with more.
        return self._length < self._max_items or len(self._longest()) > waiting + 1

    def _longest(self) -> deque[T]:
        return max(self._lanes.values(), key=len)
