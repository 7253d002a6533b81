"""Wait for file descriptors of any number; `select.select` refuses those from 1,024 on."""

from __future__ import annotations

import select
from collections.abc import Iterable
from math import ceil


def wait_until_readable(descriptors: Iterable[int], timeout_s: float | None) -> set[int]:
    """Wait until one of the file descriptors is readable or at its end, and return those that are.

    The result is empty after `timeout_s`; None waits without a limit.
    """
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    timeout_ms = None if timeout_s is None else ceil(max(0.0, timeout_s) * 1_000)
    return {descriptor for descriptor, _ in poll.poll(timeout_ms)}


def wait_until_writable(descriptor: int) -> None:
    """Wait until a file descriptor is writable, or its reader is gone."""
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    poll.poll()
