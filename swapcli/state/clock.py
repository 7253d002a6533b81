"""Time, passed in by the caller of a use case."""

from __future__ import annotations

import time
from collections.abc import Callable

from swapcli.core.records import NamedTuple


class Clock(NamedTuple):
    """The two clocks of a process, in seconds: `now_s` is Unix time, `monotonic_s` measures durations."""

    now_s: Callable[[], float]
    monotonic_s: Callable[[], float]


SYSTEM_CLOCK = Clock(time.time, time.perf_counter)
