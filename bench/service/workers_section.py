"""A service with several workers."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from bench.report.tables import NOTHING, Section, number
from bench.report.thresholds import MAX_WORKER_BYTES, MIN_OVERLOAD_PERCENT, MIN_WORKERS_SPEEDUP, Check

FEW, MANY = 8, 256
"""Numbers of connections whose good responses are compared."""


class Throughput(NamedTuple):
    """Good responses per second, and the CPU time of all of the service's processes for each."""

    good_per_s: float
    cpu_ms: float


class WorkersRound(NamedTuple):
    """Loads in turn: one process and the workers over few connections, and the workers over many."""

    one: Throughput
    few: Throughput
    many: Throughput


@dataclass(frozen=True, slots=True)
class WorkersFigures:
    """Rounds with a number of workers; `memory` is the PSS in bytes of the parent and of each worker afterwards."""

    workers: int
    rounds: tuple[WorkersRound, ...]
    memory: tuple[int, ...]

    @property
    def speedup(self) -> float:
        """The workers' responses as a multiple of one process's: the median of the rounds."""
        return median(each.few.good_per_s / each.one.good_per_s for each in self.rounds)

    @property
    def speedup_by_cpu(self) -> float:
        """The speedup expected on as many idle processors as workers, from the CPU time per response."""
        return self.workers * median(each.one.cpu_ms / each.few.cpu_ms for each in self.rounds)

    @property
    def overload_percent(self) -> float:
        """The good responses over many connections, in percent of those over few: the median of the rounds."""
        return 100 * median(each.many.good_per_s / each.few.good_per_s for each in self.rounds)

    @property
    def bytes_per_worker(self) -> float:
        """The memory of all processes, shared pages counted once, divided by the number of workers."""
        return sum(self.memory) / self.workers


def workers_section(found: WorkersFigures) -> Section:
    """Return the section on a service with several workers."""
    section = Section("Workers")
    section.add_paragraph(
        f"`swapcli serve --workers {found.workers}` and `swapcli serve` on all embedded markets, loaded in turn by "
        f"`wrk` with V2 routes on Base, {len(found.rounds)} rounds; figures are medians of the rounds. *Speedup*: good "
        f"answers of the workers against those of one process, over {FEW} connections; other programs of the machine, "
        "and wrk, take their part of its processors. *Speedup by CPU time*: from the CPU time that all processes of a "
        "service spend on an answer, as on idle processors. *Overload*: good answers of the workers over "
        f"{MANY} connections against those over {FEW}. *Memory*: PSS of all processes after the load, divided by the "
        "number of workers; a page that processes share counts once. To measure only this: "
        '`make bench ARGS="--only workers --out BENCHMARKS.md"`.'
    )
    one, few, many = (
        _median([each.one for each in found.rounds]),
        _median([each.few for each in found.rounds]),
        _median([each.many for each in found.rounds]),
    )
    section.add_table(
        ["load", "good answers a second", "CPU ms an answer"],
        [
            _load_row(f"one process, {FEW} connections", one),
            _load_row(f"{found.workers} workers, {FEW} connections", few),
            _load_row(f"{found.workers} workers, {MANY} connections", many),
        ],
    )
    speedup = Check("workers, speedup", found.speedup, MIN_WORKERS_SPEEDUP, is_floor=True)
    overload = Check("workers, good answers in overload, %", found.overload_percent, MIN_OVERLOAD_PERCENT, True)
    memory = Check("workers, memory, MB", found.bytes_per_worker / 1e6, MAX_WORKER_BYTES / 1e6)
    section.add_table(
        ["figure", "reached", "bar"],
        [
            ["speedup", section.check(number(found.speedup, 2), speedup), f"≥ {MIN_WORKERS_SPEEDUP:g}"],
            ["speedup by CPU time", number(found.speedup_by_cpu, 2), NOTHING],
            [
                "good answers kept in overload, %",
                section.check(number(found.overload_percent, 0), overload),
                f"≥ {MIN_OVERLOAD_PERCENT:g}",
            ],
            [
                "memory a worker, MB",
                section.check(number(found.bytes_per_worker / 1e6, 0), memory),
                f"≤ {MAX_WORKER_BYTES / 1e6:g}",
            ],
        ],
    )
    return section


def _median(loads: list[Throughput]) -> Throughput:
    return Throughput(median(each.good_per_s for each in loads), median(each.cpu_ms for each in loads))


def _load_row(what: str, load: Throughput) -> list[str]:
    return [what, number(load.good_per_s, 0), number(load.cpu_ms, 2)]
