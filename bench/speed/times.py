"""The times of a case in the core, ours and the peer's in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from bench.optimum.cases import Case
from bench.optimum.measure import Note, time_peer
from bench.plan import FEW_PASSES, Plan
from bench.speed.core_time import time_in_core

Passes = list[list[float]]

_QUICK_TO_ROUTE = 1_000
"""Generated markets with more pools take the peer a second per order, a hundred times our time: one round."""


@dataclass(slots=True)
class Times:
    """Milliseconds of one case: ours by round, pass and order; the peer's by round and order, warm."""

    ours: list[Passes] = field(default_factory=list)
    peer: list[list[float]] = field(default_factory=list)

    @property
    def first(self) -> float:
        """Return our time for the very first order after loading, which builds the graph: the median over the
        rounds."""
        return median(passes[0][0] for passes in self.ours)

    @property
    def cold(self) -> list[float]:
        """Return our times of first-seen orders except the very first: medians over the rounds."""
        return _by_order([passes[0] for passes in self.ours])[1:]

    @property
    def warm(self) -> list[float]:
        """Return our times by order: medians over all rounds and passes except the first."""
        return _by_order([row for passes in self.ours for row in passes[1:]])

    @property
    def theirs(self) -> list[float]:
        """Return the peer's times by order: medians over the rounds."""
        return _by_order(self.peer)


@dataclass(frozen=True, slots=True)
class Timed:
    """A case with its times."""

    case: Case
    times: Times


def measure_times(case: Case, plan: Plan, note: Note) -> Timed:
    """Time ours and the peer in turn, so that both experience the same load. Raises `BenchmarkFailed`."""
    times, passes = Times(), plan.passes if case.pools and case.pools <= _QUICK_TO_ROUTE else FEW_PASSES
    rounds = 1 if case.pools and case.pools > _QUICK_TO_ROUTE else plan.rounds
    for number in range(rounds):
        note(f"{case.name}: times, round {number + 1} of {rounds}")
        times.ours.append(time_in_core(case, passes))
        times.peer.append(time_peer(case, passes))
    return Timed(case, times)


def _by_order(rows: Sequence[Sequence[float]]) -> list[float]:
    return [median(column) for column in zip(*rows, strict=True)]
