"""How long to wait before another attempt. Time, sleep and chance are given, so that tests need none of them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import NamedTuple

from swapcli.backoff import backoff_s
from swapcli.encoding.retry_after import parse_retry_after

FIRST_WAIT_S = 0.25
MAX_WAIT_S = 8.0


class RetryPolicy(NamedTuple):
    """`now_s` is Unix time, `monotonic_s` measures differences; `chance` gives a number from 0 to 1."""

    sleep: Callable[[float], None] = time.sleep
    now_s: Callable[[], float] = time.time
    monotonic_s: Callable[[], float] = time.monotonic
    random: Callable[[], float] = random.random

    def backoff_s(self, attempt: int) -> float:
        """The wait after the attempt of that number, counted from 0: twice as long each time, half of it by chance, so
        that clients which failed together do not come back together."""
        return backoff_s(attempt + 1, FIRST_WAIT_S, MAX_WAIT_S) * (0.5 + self.random() / 2)

    def retry_after_s(self, header: str | None) -> int | None:
        """The seconds that a `Retry-After` asks for, given in seconds or as an HTTP date; None where it is neither."""
        return parse_retry_after(header, self.now_s())
