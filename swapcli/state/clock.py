"""The clocks of a process, which callers pass to each use case."""

from __future__ import annotations

import time
from collections.abc import Callable

from swapcli.core.records import NamedTuple


class Clock(NamedTuple):
    """A process's clocks, in seconds. `now_s` returns Unix time, and `monotonic_s` measures durations.

    `work_s` is the processor time of the current thread, which does not include other work on the machine. It is None
    if only durations are known.
    """

    now_s: Callable[[], float]
    monotonic_s: Callable[[], float]
    work_s: Callable[[], float] | None = None


_thread_time = getattr(time, "thread_time", time.process_time)  # browsers have neither threads nor a thread clock

SYSTEM_CLOCK = Clock(time.time, time.perf_counter, _thread_time)
