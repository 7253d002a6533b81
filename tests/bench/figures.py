"""Statistics of the benchmark. Gaps and differences are in basis points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median


@dataclass(frozen=True, slots=True)
class Spread:
    """How a non-empty set of values is spread."""

    count: int
    median: float
    p95: float
    minimum: float
    maximum: float
    mean: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """The spread of `values`. Raises `ValueError` where there are none."""
        ordered = sorted(values)
        if not ordered:
            raise ValueError("no values")
        return cls(len(ordered), median(ordered), p95(ordered), ordered[0], ordered[-1], fmean(ordered))


def p95(ordered: Sequence[float]) -> float:
    """The value that 95 % of the sorted values do not exceed, counted as the baselines count it: without
    interpolation, and of few values the one before the last."""
    return ordered[int(0.95 * (len(ordered) - 1))]


def gap_bps(amount_out: float, bound: float) -> float:
    """What is missing to `bound`, in basis points of it."""
    return (1.0 - amount_out / bound) * 1e4


def ahead_bps(ours: float, theirs: float) -> float:
    """How far our output lies above theirs, in basis points of theirs; negative where it lies below."""
    return (ours / theirs - 1.0) * 1e4
