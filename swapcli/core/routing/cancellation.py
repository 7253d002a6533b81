"""How long work in the routing core stops early: because the caller cancelled it, or because its time is up."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

CancelCheck = Callable[[], None]
"""Called regularly during long work; raises `Cancelled` or `SearchTimeUp` to stop it."""


class SearchTimeUp(Exception):
    """Stops a search whose time is up. Never leaves the routing core: the best route so far is the answer."""


def no_cancellation() -> None:
    """Let the work run to its end: the `CancelCheck` of work that never stops early."""


def without_time_limit(check: CancelCheck) -> CancelCheck:
    """Return the check that still stops cancelled work."""

    def cancelled() -> None:
        with suppress(SearchTimeUp):
            check()

    return cancelled
