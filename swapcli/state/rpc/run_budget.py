"""Limit the requests to nodes and the time that one run may use."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import Final

from swapcli.core.errors import RequestBudgetSpent

_MIN_TIMEOUT_S: Final = 0.001
"""Lower limit: sockets treat a timeout of 0 as non-blocking."""


class RunBudget:
    """A limit on the requests and the seconds of a whole run, over all its connections to nodes. Any thread may use it.

    `limit` begins a part of the run that may use a share of what is left. Later parts may use the rest.
    """

    def __init__(self, max_requests: int, time_s: float, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self.max_requests, self.time_s = max_requests, time_s
        self._monotonic_s, self._lock = monotonic_s, Lock()
        self._ends_s = monotonic_s() + time_s
        self._sent, self._part_sent, self._part_ends_s = 0, max_requests, self._ends_s

    @property
    def sent(self) -> int:
        """The number of requests that the run has sent so far."""
        return self._sent

    @property
    def left_s(self) -> float:
        """The seconds left for the run."""
        return max(self._ends_s - self._monotonic_s(), 0.0)

    @property
    def part_left(self) -> int:
        """The number of requests that the current part may still send."""
        return max(self._part_sent - self._sent, 0)

    @property
    def part_left_s(self) -> float:
        """The seconds left for the current part."""
        return max(self._part_ends_s - self._monotonic_s(), 0.0)

    @property
    def spent(self) -> str:
        """The limit that the current part has reached, "requests" or "time"; empty if it has reached neither."""
        if not self.part_left:
            return "requests"
        return "" if self.part_left_s else "time"

    def limit(self, requests_share: float, time_share: float) -> None:
        """Begin a part that may use a share, from 0 to 1, of the run's remaining requests and of its remaining time."""
        with self._lock:
            self._part_sent = self._sent + round((self.max_requests - self._sent) * requests_share)
            self._part_ends_s = self._monotonic_s() + self.left_s * time_share

    def spend(self, redacted_url: str) -> float:
        """Count one request, and return the number of seconds that it may take. Raises `RequestBudgetSpent`."""
        with self._lock:
            spent = self.spent
            if not spent:
                self._sent += 1
                return max(self.part_left_s, _MIN_TIMEOUT_S)
        raise RequestBudgetSpent(
            f"this stage has no {spent} left for {redacted_url}",
            hint="raise --max-requests" if spent == "requests" else "raise --time",
            details={"requests": self._sent, "of": self.max_requests},
        )
