"""What load can the service carry?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bench.plan import Plan
from bench.report.answer import Answer, Row, Table, row
from bench.report.thresholds import (
    MAX_DELAY_BESIDE_ABUSE,
    MAX_GROWTH,
    MAX_HEALTH_MS,
    MAX_OVERHEAD_MS,
    MIN_OVERLOAD_PERCENT,
    MIN_ROUTES_PER_S,
    MIN_WORKERS_SPEEDUP,
    Check,
)
from bench.running import BenchmarkFailed
from bench.service.abuse import AbuseFigures, measure_abuse
from bench.service.service import ServiceFigures, measure_service
from bench.service.service_section import service_section, wrong_answers
from bench.service.workers import measure_workers
from bench.service.workers_section import WorkersFigures, workers_section


def measure(plan: Plan, folder: Path, note: Callable[[str], None]) -> Answer:
    """Answer the question. Raises `BenchmarkFailed`."""
    del folder
    note("service")
    service = measure_service(plan.service_s, plan.soak_requests)
    note("service among abusive clients")
    abuse = measure_abuse(plan.service_s)
    note("workers")
    workers, omitted = None, []
    try:
        workers = measure_workers(plan.load_rounds, max(1, round(plan.service_s / 4)))
    except BenchmarkFailed as failure:
        omitted.append(f"several workers ({failure})")
    return answer(replace(service, abuse=abuse), workers)._replace(omitted=omitted)


def answer(service: ServiceFigures, workers: WorkersFigures | None) -> Answer:
    """Return the tables and sections of the figures."""
    abuse = _abuse_rows(service.abuse) if service.abuse else []
    rows = [*_service_rows(service), *abuse, *(_workers_rows(workers) if workers else [])]
    table = Table(
        "Service",
        "`swapcli serve` on the embedded Base market, over loopback. The clients share its processors. Abusive clients "
        "repeat slow orders over many connections, or send endless header lines.",
        rows,
    )
    return Answer([table], [service_section(service), *([workers_section(workers)] if workers else [])])


def _service_rows(found: ServiceFigures) -> list[Row]:
    return [
        row("routes a second, one process", Check("routes", found.routes_per_s, MIN_ROUTES_PER_S, is_floor=True)),
        row("what HTTP adds to a quote, median ms", Check("overhead", found.overhead_ms, MAX_OVERHEAD_MS)),
        row("health checks under load, p99 ms", Check("health", found.health_p99_ms, MAX_HEALTH_MS)),
        row(
            f"wrong or missing answers in {2 * len(found.quiet.sent):,} requests, a restart among them",
            Check("wrong", wrong_answers(found), 0),
        ),
        row("growth of memory meanwhile, %", Check("growth", found.quiet.growth * 100, MAX_GROWTH * 100)),
    ]


def _abuse_rows(found: AbuseFigures) -> list[Row]:
    return [
        row("times longer beside abusive clients, p99", Check("delay", found.delay, MAX_DELAY_BESIDE_ABUSE)),
        row(
            "good answers kept in overload, %",
            Check("overload", found.overload_percent, MIN_OVERLOAD_PERCENT, is_floor=True),
        ),
        row("requests lost while the service reloads", Check("lost", found.lost, 0)),
    ]


def _workers_rows(found: WorkersFigures) -> list[Row]:
    return [
        row(
            f"routes of {found.workers} workers to those of one process",
            Check("speedup", found.speedup, MIN_WORKERS_SPEEDUP, is_floor=True),
        ),
    ]
