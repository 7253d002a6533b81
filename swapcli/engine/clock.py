"""Time, passed in by whoever starts a use case."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple


class Clock(NamedTuple):
    """`now_s` is Unix time; `monotonic_s` only measures differences. Both in seconds."""

    now_s: Callable[[], float]
    monotonic_s: Callable[[], float]


SYSTEM_CLOCK = Clock(time.time, time.perf_counter)
