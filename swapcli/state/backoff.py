"""The pause before another attempt, which doubles with every consecutive failure."""

from __future__ import annotations

_MAX_DOUBLINGS = 32
"""Keeps the power of two within the range of a float for any number of failures."""


def backoff_s(failures: int, first_s: float, max_s: float) -> float:
    """Return the seconds to wait after `failures` (>= 1) consecutive failures: `first_s` after the first one.

    Example: `[backoff_s(n, 0.25, 1.5) for n in (1, 2, 3, 4)]` is `[0.25, 0.5, 1.0, 1.5]`.
    """
    return min(first_s * 2.0 ** min(failures - 1, _MAX_DOUBLINGS), max_s)
