"""Decide how long to wait before a retry. The clocks, the sleep and the randomness are fields, so that tests can
replace them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from swapcli.core.encoding.retry_after import parse_retry_after
from swapcli.core.records import NamedTuple
from swapcli.state.backoff import backoff_s

FIRST_WAIT_S = 0.25  # each further attempt doubles it
MAX_WAIT_S = 8.0  # however many attempts fail


class RetryPolicy(NamedTuple):
    """The clocks, sleep and randomness of retries.

    `now_s` returns Unix time, `monotonic_s` a monotonic time, and `random` a number from 0 to 1.
    """

    sleep: Callable[[float], None] = time.sleep
    now_s: Callable[[], float] = time.time
    monotonic_s: Callable[[], float] = time.monotonic
    random: Callable[[], float] = random.SystemRandom().random  # the module's own state belongs to the program

    def backoff_s(self, attempt: int) -> float:
        """Return the seconds to wait after attempt number `attempt`, counted from 0.

        The wait doubles with each attempt. Half of it is random, so that clients do not retry at the same time.
        """
        return backoff_s(attempt + 1, FIRST_WAIT_S, MAX_WAIT_S) * (0.5 + self.random() / 2)

    def retry_after_s(self, header: str | None) -> int | None:
        """Return the seconds in a `Retry-After` header, or None if it is neither a number nor an HTTP date."""
        return parse_retry_after(header, self.now_s())
