"""The distribution of values: their number and quantiles."""

from __future__ import annotations

from collections.abc import Iterable
from math import floor

from swapcli.core.records import NamedTuple

_MIN_TAIL_SIZE = 20
"""With fewer values, none lies beyond the 5% and 95% quantiles but the extremes."""


class Distribution(NamedTuple):
    """The number of values (`size`), and their quantiles: `p05` is the 5% quantile.

    Example: `distribution_of([1.0, 2.0, 4.0]).median` is 2.
    """

    size: int
    p05: float
    p25: float
    median: float
    p75: float
    p95: float

    @property
    def has_tails(self) -> bool:
        """Whether there are enough values for the 5% and 95% quantiles to mean more than the extremes."""
        return self.size >= _MIN_TAIL_SIZE


def distribution_of(values: Iterable[float]) -> Distribution | None:
    """Return the distribution of values, with quantiles interpolated linearly; None if there are no values."""
    ordered = sorted(values)
    if not ordered:
        return None
    p05, p25, median, p75, p95 = (_quantile(ordered, part) for part in (0.05, 0.25, 0.5, 0.75, 0.95))
    return Distribution(len(ordered), p05, p25, median, p75, p95)


def _quantile(ordered: list[float], part: float) -> float:
    place = part * (len(ordered) - 1)
    low = floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])
