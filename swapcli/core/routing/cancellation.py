"""Stop long work in the routing core early: when the caller cancels it, or when its time is up."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

CancelCheck = Callable[[], None]
"""Called regularly during long work; raises `Cancelled` or `SearchTimeUp` to stop it."""


class SearchTimeUp(Exception):
    """The signal that a search's time is up. It never leaves the routing core: the search returns its best route so
    far."""


def no_cancellation() -> None:
    """Let the work run to its end: the `CancelCheck` for work that never stops early."""


def without_time_limit(check: CancelCheck) -> CancelCheck:
    """Return a check that still stops cancelled work, but has no time limit."""

    def cancelled() -> None:
        with suppress(SearchTimeUp):
            check()

    return cancelled
