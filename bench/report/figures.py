"""Statistics of the benchmark. Gaps and differences are in basis points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of a non-empty set of values."""

    count: int
    median: float
    p95: float
    minimum: float
    maximum: float
    mean: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Return the spread of `values`. Raises `ValueError` if there are none."""
        ordered = sorted(values)
        if not ordered:
            raise ValueError("no values")
        return cls(len(ordered), median(ordered), p95(ordered), ordered[0], ordered[-1], fmean(ordered))


def p95(ordered: Sequence[float]) -> float:
    """Return the 95th percentile of sorted values without interpolation."""
    return ordered[int(0.95 * (len(ordered) - 1))]


def gap_bps(amount_out: float, bound: float) -> float:
    """Return the gap to `bound`, in basis points of the bound."""
    return (1.0 - amount_out / bound) * 1e4


def ahead_bps(ours: float, theirs: float) -> float:
    """Return how far our output is above theirs, in basis points of theirs; negative if it is below."""
    return (ours / theirs - 1.0) * 1e4
