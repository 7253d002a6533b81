"""Figures of times that meet every bar."""

from __future__ import annotations

from pathlib import Path

from bench.optimum.cases import OTHER_PROTOCOLS, SIZES, Case
from bench.speed.question import SpeedFigures
from bench.speed.store import Part, StoreResult
from bench.speed.times import Timed, Times
from bench.speed.whole_process import Runs, WholeProcess


def store_result(pools: int, seconds: float, *, peak_bytes: int = 60_000_000, gap: float = 0.01) -> StoreResult:
    """Return store figures that meet every threshold by default."""
    runs = tuple((size, Runs((seconds,) * 3, peak_bytes)) for size in SIZES)
    return StoreResult(pools, 10**6, 1.0, runs, tuple(Part(size, gap, 700, 12.0) for size in SIZES for _ in range(2)))


def made_up_timed(pools: int, seed: int, folder: Path, times: Times | None = None) -> Timed:
    """Return a generated case with times, by default ten times shorter than those of the peer."""
    case = Case(f"{pools}_s{seed}", folder, "synthetic", OTHER_PROTOCOLS, pools, seed)
    return Timed(case, times or Times([[[50.0, 9.0, 9.0, 9.0], [4.0] * 4]], [[40.0] * 4]))


def speed_figures(folder: Path) -> SpeedFigures:
    """Return times that meet every bar."""
    bare, quote, version = (Runs((seconds,) * 3, 20_000_000) for seconds in (0.01, 0.1, 0.02))
    made_up = [made_up_timed(pools, seed, folder) for pools in (100, 10_000) for seed in (7, 1)]
    real = Timed(Case("somewhere_1", folder, "somewhere", ()), made_up[0].times)
    stores = store_result(1_000, 0.2), store_result(100_000, 0.3)
    return SpeedFigures(made_up, [real], WholeProcess(bare, quote, version, 250, ()), stores)
