"""Wait for what another thread or process does."""

from __future__ import annotations

import time
from collections.abc import Callable

_PAUSE_S = 0.005


def until(is_so: Callable[[], object], timeout_s: float = 10.0) -> None:
    """Return as soon as `is_so` returns something true; fail after `timeout_s`."""
    deadline_s = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < deadline_s
        time.sleep(_PAUSE_S)
