"""Figures of a service that meet every bar."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bench.service.abuse import AbuseFigures, Load
from bench.service.service import ServiceFigures
from bench.service.workers_section import Throughput, WorkersFigures, WorkersRound
from tests.faces.service.soak import Outcome


def service_figures(*, health_ms: float = 9.0, lost: str = "") -> ServiceFigures:
    """Return service figures that meet every threshold by default."""
    quiet, stopped = (Outcome(sent=["0", "1"], answered={"0": 200}, left={"1"}, exit_status=0) for _ in range(2))
    quiet.warm_bytes, quiet.end_bytes = 40_000_000, 41_000_000
    stopped.before_signal = {"0", "1", *lost}
    return ServiceFigures(36, 5_000, 500.0, 0.9, 0.6, (1.0,) * 98 + (health_ms,) * 2, quiet, stopped)


def workers_figures(*, few_per_s: float = 400.0, many_per_s: float = 390.0, worker_mb: int = 40) -> WorkersFigures:
    """Return figures of workers that meet every threshold by default."""
    few, many = Throughput(few_per_s, 4.0), Throughput(many_per_s, 4.0)
    memory = (20_000_000, *[worker_mb * 10**6] * 2)
    return WorkersFigures(2, (WorkersRound(Throughput(230.0, 3.8), few, many),) * 3, memory)


def abuse_figures(**others: Any) -> AbuseFigures:
    """Return figures of abuse that meet every threshold by default."""
    few, many, mega = Load(200.0, 0.0), Load(180.0, 100.0), 10**6
    figures = AbuseFigures(2_000.0, (5.0,) * 200, (9.0,) * 200, 7, few, many, 50, 0, 45 * mega, 60 * mega)
    return replace(figures, **others)
