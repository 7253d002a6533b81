"""Figures of routes that meet every bar."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bench.optimum.cases import OTHER_PROTOCOLS, SIZES, Case
from bench.optimum.judged import Exactness, Judged, Measured
from bench.optimum.question import OptimumFigures
from bench.optimum.simple_methods.figures import GainFigures
from bench.optimum.simple_section import ContradictionFigures


def orders(out: int = 999_999_999) -> tuple[Judged, ...]:
    """Return one order of each class, by default almost optimal and 10 bps ahead of the peer."""
    return tuple(Judged(number, size, out, 999_000_000.0, 1e9, 1e9 + 1) for number, size in enumerate(SIZES))


def measured(case: Case, *, out: int = 999_999_999) -> Measured:
    return Measured(case, Exactness(4, 4, 4, 0, ()), orders(out))


def made_up_case(pools: int, seed: int, folder: Path) -> Case:
    """Return a generated case without its files."""
    return Case(f"{pools}_s{seed}", folder, "synthetic", OTHER_PROTOCOLS, pools, seed)


def made_up_measured(pools: int, seed: int, folder: Path, *, out: int = 999_999_999) -> Measured:
    all_families = Exactness(4, 4, 1, 3, ())
    return replace(
        measured(made_up_case(pools, seed, folder), out=out), all_exactness=all_families, all_orders=orders()
    )


def real_measured(folder: Path) -> Measured:
    return measured(Case("somewhere_1", folder, "somewhere", ()))


GAINS = GainFigures("real", "somewhere", 0.01, 200, (2, 0, 0), 0.9, "$1.00: --pair a,b,1 --gas 0.01")


NO_LOSS = ContradictionFigures("hops", 0.05, 100, 0, 0, 0, 0.0, "")


def optimum_figures(folder: Path) -> OptimumFigures:
    """Return figures of routes that meet every bar."""
    made_up = [made_up_measured(pools, seed, folder) for pools in (100, 10_000) for seed in (7, 1)]
    pushed = GAINS._replace(kind="pushed")
    return OptimumFigures(made_up, [real_measured(folder)], [GAINS, pushed], [NO_LOSS])
