"""A service of several workers."""

from __future__ import annotations

from statistics import median

from bench.report.tables import NOTHING, Section, number
from bench.thresholds import MAX_WORKER_BYTES, MIN_OVERLOAD_PERCENT, MIN_WORKERS_SPEEDUP, Check
from bench.workers import FEW, MANY
from bench.workers_figures import Throughput, WorkersFigures


def workers_section(found: WorkersFigures) -> Section:
    """Return the section on a service of several workers."""
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
