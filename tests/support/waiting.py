"""Wait for an effect of another thread or process."""

from __future__ import annotations

import time
from collections.abc import Callable

_PAUSE_S = 0.005
_TIMEOUT_S = 40.0
"""For machines so busy that a process takes seconds to start."""


def until(is_so: Callable[[], object], timeout_s: float = _TIMEOUT_S) -> None:
    """Return as soon as `is_so` returns a true value; fail after `timeout_s`."""
    deadline_s = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < deadline_s, "it did not happen"
        time.sleep(_PAUSE_S)
