"""The figures of a service of several workers."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import NamedTuple


class Throughput(NamedTuple):
    """Good answers a second, and the CPU time of all processes of the service for each."""

    good_per_s: float
    cpu_ms: float


class WorkersRound(NamedTuple):
    """Loads in turn: of one process and of the workers over few connections, and of the workers over many."""

    one: Throughput
    few: Throughput
    many: Throughput


@dataclass(frozen=True, slots=True)
class WorkersFigures:
    """Rounds with a number of workers; `memory` is the PSS in bytes of the parent and of each worker after them."""

    workers: int
    rounds: tuple[WorkersRound, ...]
    memory: tuple[int, ...]

    @property
    def speedup(self) -> float:
        """How many times the answers of one process the workers give: median of the rounds."""
        return median(each.few.good_per_s / each.one.good_per_s for each in self.rounds)

    @property
    def speedup_by_cpu(self) -> float:
        """What the speedup would be on as many idle processors as workers, from the CPU time of an answer."""
        return self.workers * median(each.one.cpu_ms / each.few.cpu_ms for each in self.rounds)

    @property
    def overload_percent(self) -> float:
        """The good answers over many connections, in percent of those over few: median of the rounds."""
        return 100 * median(each.many.good_per_s / each.few.good_per_s for each in self.rounds)

    @property
    def bytes_per_worker(self) -> float:
        """The memory of all processes, shared pages counted once, divided by the number of workers."""
        return sum(self.memory) / self.workers
