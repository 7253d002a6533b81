"""The limits of a node, learned from its rejections.

Nodes limit requests per second, requests per batch, blocks per event query, and gas per call, and few nodes document
their limits. Each limit is found by bisection, so in a long run the node hardly ever has to reject a request.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from copy import copy
from math import inf
from typing import Final

from swapcli.core.model.network import PublicNode

FIRST_LOG_BLOCKS: Final = 4_096  # tried first; a rejection halves it
MAX_LOG_BLOCKS: Final = 1 << 17
"""Blocks in one query for events."""
MAX_BATCH_REQUESTS: Final = 200
MAX_AGGREGATE_CALLS: Final = 400
MIN_AGGREGATE_CALLS: Final = 12
"""Calls in one Multicall3 aggregate: 400 usual ones need about 10 million gas, and nodes allow 50 million or more."""

_MIN_REQUESTS_PER_S: Final = 1.0
_MAX_REQUESTS_PER_S: Final = 1_000.0
"""A single connection hardly sends more, so a node that accepts this many is not limited."""
_RATE_WINDOW_S: Final = 1.0  # window in which requests are counted
_MIN_REJECTED_RATE: Final = 8.0
"""Requests per second: if fewer are rejected, the node is more likely to be busy, unless its rate is already known."""
_SATURATION: Final = 0.7
"""Share of a rate that must be used before a success says anything about it."""
_STOP_SHARE: Final = 1 / 8
"""Bisection ends when the limit is this close to the smallest rejected size."""
_RELAX_S: Final = 3_600.0
"""Time after which the smallest rejected size doubles: operators rarely change limits."""
_CONTRADICTED_SHARE: Final = 0.97


class LearnedLimit:
    """The largest size that a node is known to accept.

    A rejected size halves the limit, or reduces it to the largest accepted size. After `grow_after` more accepted
    requests of full size, the limit grows with each further one. It doubles, or grows halfway to the smallest rejected
    size, which itself doubles every hour. If a limit depends on more than the size (`is_constant` is false), a rejected
    size counts only if nothing as large was ever accepted.

    >>> limit = LearnedLimit(4096, 1, 131072, grow_after=8)
    >>> limit.reject(4096, now_s=0.0)
    >>> limit.size
    2048
    """

    def __init__(
        self, initial: float, minimum: float, maximum: float, *, grow_after: int, is_constant: bool = True
    ) -> None:
        self.value = initial
        self.rejected: float | None = None
        self.rejected_at_s: float | None = None
        self._minimum, self._maximum = minimum, maximum
        self._grow_after, self._is_constant = grow_after, is_constant
        self._largest_accepted, self._rest = 0.0, 0

    @property
    def size(self) -> int:
        """The limit in whole units, at least 1."""
        return max(int(min(self.value, 1 << 62)), 1)

    @property
    def is_learned(self) -> bool:
        """Whether the node has ever rejected a size."""
        return self.rejected_at_s is not None

    def accept(self, size: float, *, now_s: float, may_grow: bool = True) -> None:
        """Record that the node accepted a request of this size. The limit stays the same unless it `may_grow`."""
        self._largest_accepted = max(self._largest_accepted, size)
        if size < int(self.value) or self.value >= self._maximum:
            return
        self._rest = max(self._rest - 1, 0)
        if self._rest or not may_grow:
            return
        self._relax(now_s)
        if self.rejected is None or self.rejected - self.value > self.rejected * _STOP_SHARE:
            half_way = (self.value + (self.rejected or inf)) / 2
            self.value = min(2 * self.value, half_way, self._maximum)

    def reject(self, size: float, *, now_s: float) -> None:
        """Record that the node rejected a request of this size."""
        reduced = min(self.value, size) / 2
        if size > self._largest_accepted:
            self.rejected = min(size, self.rejected or inf)
            reduced = max(reduced, self._largest_accepted)
        elif self._is_constant:
            self.rejected, self._largest_accepted = min(size, self.rejected or inf), reduced
        else:  # a few blocks may have too many events; if it recurs, the limit has changed
            self._largest_accepted *= _CONTRADICTED_SHARE
        self.value = max(reduced, self._minimum)
        self.rejected_at_s, self._rest = now_s, self._grow_after

    def assume(self, value: float, *, may_grow: bool = False) -> None:
        """Start from a documented limit, unless a lower one was learned. The limit may exceed `value` only if it
        `may_grow`."""
        self.value = value if not self.is_learned else min(self.value, value)
        if not may_grow:
            self._maximum = value

    def document(self) -> list[float | None]:
        """Return the data to store, for `restore`."""
        return [self.value, self.rejected, self.rejected_at_s]

    def restore(self, document: object) -> None:
        """Continue from the result of `document` in an earlier run. Invalid data is ignored."""
        if not (isinstance(document, list) and len(document) == 3):
            return
        value, rejected, rejected_at_s = (each if type(each) in (int, float) else None for each in document)
        if value is None or rejected_at_s is None or not self._minimum <= value <= self._maximum:
            return
        self.value, self.rejected_at_s = value, rejected_at_s
        self.rejected = rejected if rejected is not None and rejected >= value else None
        self._largest_accepted, self._rest = value, self._grow_after

    def copy(self) -> LearnedLimit:
        """Return a copy."""
        return copy(self)

    def _relax(self, now_s: float) -> None:
        """Double the smallest rejected size for each hour since the last rejection."""
        while self.rejected is not None and self.rejected_at_s is not None and now_s - self.rejected_at_s >= _RELAX_S:
            self.rejected, self.rejected_at_s = 2 * self.rejected, self.rejected_at_s + _RELAX_S
            if self.rejected > self._maximum:
                self.rejected = None


class NodeLimits:
    """The limits of one node. `now_s` returns Unix time. Not thread-safe.

    The first `burst` requests are sent regardless of the rate: rates are learned under load, and a single quote need
    not wait for them.
    """

    def __init__(self, now_s: Callable[[], float] = time.time, *, burst: int = 0) -> None:
        self._now_s, self._burst = now_s, burst
        self.requests_per_s = LearnedLimit(inf, _MIN_REQUESTS_PER_S, _MAX_REQUESTS_PER_S, grow_after=12)
        self.batch_requests = LearnedLimit(MAX_BATCH_REQUESTS, 1, MAX_BATCH_REQUESTS, grow_after=256)
        self.log_blocks = LearnedLimit(FIRST_LOG_BLOCKS, 1, MAX_LOG_BLOCKS, grow_after=8, is_constant=False)
        self.aggregate_calls = LearnedLimit(
            MAX_AGGREGATE_CALLS, MIN_AGGREGATE_CALLS, MAX_AGGREGATE_CALLS, grow_after=32, is_constant=False
        )
        self._started_s, self._paused_s = time.monotonic(), 0.0
        self._next_free_s = 0.0
        self._sent: deque[tuple[float, int]] = deque()

    @property
    def now_s(self) -> float:
        """Unix time."""
        return self._now_s()

    @property
    def max_requests(self) -> int:
        """The number of requests to send in one exchange: as many as the node accepts both per batch and per second."""
        return min(self.batch_requests.size, self._burst or self.requests_per_s.size)

    def pause_before(self, count: int, pause: Callable[[float], object], max_pause_s: float) -> None:
        """Call `pause` until `count` requests may be sent, and count them as sent."""
        per_s, start_s = self.requests_per_s.value, self._elapsed_s()
        if self._burst:
            self._burst = max(self._burst - count, 0)
        elif per_s != inf:
            wait_s = min(self._next_free_s - start_s, max_pause_s)
            if wait_s > 0.0:
                self.pause(wait_s, pause)
                start_s += wait_s
            self._next_free_s = start_s + count / per_s
        self._sent.append((start_s, count))

    def pause(self, seconds: float, pause: Callable[[float], object]) -> None:
        """Call `pause`, which may return early in tests, and count all `seconds` as elapsed."""
        self._paused_s += seconds
        pause(seconds)

    def accept_rate(self) -> None:
        """Record that the node has responded to the last requests."""
        per_s = self.requests_per_s.value
        if per_s != inf and self._current_rate() >= per_s * _SATURATION:
            self.requests_per_s.accept(per_s, now_s=self.now_s)
            if self.requests_per_s.value >= _MAX_REQUESTS_PER_S:
                self.requests_per_s.value = inf

    def reject_rate(self) -> bool:
        """Record that the node rejected the last requests as too many. Return whether they were enough to adjust the
        limits."""
        rate, self._burst = self._current_rate(), 0
        if rate < (2.0 * _MIN_REQUESTS_PER_S if self.requests_per_s.is_learned else _MIN_REJECTED_RATE):
            return False
        self.requests_per_s.reject(rate, now_s=self.now_s)
        # Until this second is over, the node would reject even fewer requests, which would say nothing about its limit.
        self._sent.pop()
        self._next_free_s = self._elapsed_s() + _RATE_WINDOW_S
        return True

    def assume(self, documented: PublicNode) -> None:
        """Keep to the limits that the node's operator documents."""
        if documented.requests_per_s is not None:
            self.requests_per_s.assume(documented.requests_per_s)
        if documented.batch_requests is not None:
            self.batch_requests.assume(documented.batch_requests)
        if documented.log_blocks is not None:
            self.log_blocks.assume(documented.log_blocks, may_grow=True)

    def document(self) -> dict[str, list[float | None]]:
        """Return the learned limits, ready for JSON; empty if none has been learned."""
        limits = self._limits().items()
        return {name: limit.document() for name, limit in limits if limit.is_learned and limit.value != inf}

    def restore(self, document: object) -> None:
        """Continue from the result of `document` in an earlier run. Invalid data is ignored."""
        if isinstance(document, Mapping):
            for name, limit in self._limits().items():
                limit.restore(document.get(name))

    def _limits(self) -> dict[str, LearnedLimit]:
        return {
            "requests_per_s": self.requests_per_s,
            "batch_requests": self.batch_requests,
            "log_blocks": self.log_blocks,
            "aggregate_calls": self.aggregate_calls,
        }

    def _elapsed_s(self) -> float:
        return max(time.monotonic() - self._started_s, self._paused_s)

    def _current_rate(self) -> float:
        """Return the requests of the last second."""
        since_s = self._elapsed_s() - _RATE_WINDOW_S
        while len(self._sent) > 1 and self._sent[0][0] < since_s:
            self._sent.popleft()
        return sum(count for _, count in self._sent) / _RATE_WINDOW_S
