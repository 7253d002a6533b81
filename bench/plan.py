"""Parse the command line of the benchmark."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "BENCHMARKS.md"
PARTS = ("routes", "simple", "process", "service", "workers", "store", "chain")
FEW_PASSES = 2

_FULL, _QUICK = ((100, 1_000, 10_000), (7, 1)), ((100,), (7,))


class ChainPlan(NamedTuple):
    """Run first syncs of `pairs` of V2 and `pools` of V3 `syncs` times each, and live quotes `runs` times each; follow
    `blocks` of `swaps` swaps each, and `announced` blocks at each block time; mine `routes` routes."""

    pairs: int
    pools: int
    syncs: int
    runs: int
    blocks: int
    swaps: int
    announced: int
    routes: int


_CHAIN, _QUICK_CHAIN = ChainPlan(1_000, 200, 5, 15, 1_000, 50, 100, 600), ChainPlan(200, 40, 2, 3, 30, 50, 10, 40)
_STORES, _QUICK_STORES = (1_000, 10_000, 100_000), (1_000, 10_000)


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts to measure, with their sizes and repetitions.

    Ours and the peer are timed in turn in `rounds` rounds, each over all orders `passes` times (the first is not warm)
    on markets that are quick to route, `FEW_PASSES` times on others; one-shot commands run `runs` times. The service is
    saturated for `service_s` seconds, and soaked twice with `soak_requests` requests. Workers are loaded in
    `load_rounds` rounds. Simple methods compete on `simple_orders` orders of each state, and answers of
    `contradiction_cases` cases are compared. Each order is quoted `store_runs`
    times on `stores` of so many pools. `work` is the folder of markets and raw results; None is a temporary one.
    `parts` are those of `PARTS` to measure. `out` is the page to write or to update; None prints the sections.
    """

    parts: tuple[str, ...]
    sizes: tuple[int, ...]
    seeds: tuple[int, ...]
    rounds: int
    passes: int
    runs: int
    service_s: float
    soak_requests: int
    load_rounds: int
    simple_orders: int
    contradiction_cases: int
    stores: tuple[int, ...]
    store_runs: int
    chain: ChainPlan
    out: Path | None
    work: Path | None
    baselines: Path | None

    @property
    def is_whole(self) -> bool:
        """Return whether every part is measured."""
        return self.parts == PARTS

    @property
    def command(self) -> str:
        """Return the command line that repeats a whole run, without options that name folders of this machine."""
        sizes, seeds = (",".join(map(str, values)) for values in (self.sizes, self.seeds))
        quick = " --quick" if self.rounds == 1 else ""
        return f'make bench BASELINES=DIR ARGS="--sizes {sizes} --seeds {seeds}{quick}"'


def parse_plan(arguments: Sequence[str] | None = None) -> Plan:
    """Return the plan of a command line; an invalid one ends the process with status 2."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measures routes and writes a report.")
    parser.add_argument("--sizes", type=_numbers, metavar="N,..", help="pools in the generated markets")
    parser.add_argument("--seeds", type=_numbers, metavar="N,..", help="seeds of the generated markets")
    parser.add_argument("--quick", action="store_true", help="one small market and few repetitions by default")
    parser.add_argument("--only", type=_parts, metavar="PART,..", help=f"measure only these, of {', '.join(PARTS)}")
    parser.add_argument(
        "--out", type=Path, help=f"the page to write; with --only, the page to update  [{PAGE.name}, stdout]"
    )
    parser.add_argument("--work", type=Path, help="folder of markets and raw results  [temporary]")
    parser.add_argument(
        "--baselines", type=Path, help="folder of the baselines  [$BASELINES, or bench in a sibling folder]"
    )
    options = parser.parse_args(arguments)
    sizes, seeds = _QUICK if options.quick else _FULL
    baselines = options.baselines or os.environ.get("BASELINES")
    parts = options.only or PARTS
    return Plan(
        parts=parts,
        sizes=options.sizes or sizes,
        seeds=options.seeds or seeds,
        rounds=1 if options.quick else 3,
        passes=FEW_PASSES if options.quick else 5,
        runs=5 if options.quick else 25,
        service_s=3.0 if options.quick else 20.0,
        soak_requests=1_000 if options.quick else 20_000,
        load_rounds=1 if options.quick else 9,
        simple_orders=4 if options.quick else 30,
        contradiction_cases=60 if options.quick else 600,
        stores=_QUICK_STORES if options.quick else _STORES,
        store_runs=1 if options.quick else 5,
        chain=_QUICK_CHAIN if options.quick else _CHAIN,
        out=options.out or (PAGE if parts == PARTS else None),
        work=options.work,
        baselines=Path(baselines) if baselines else None,
    )


def _parts(text: str) -> tuple[str, ...]:
    """Parse part names into the order of `PARTS`."""
    names = set(text.split(","))
    if not names <= set(PARTS):
        raise argparse.ArgumentTypeError(f"expected some of {', '.join(PARTS)}, not {text!r}")
    return tuple(part for part in PARTS if part in names)


def _numbers(text: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 0:
        raise argparse.ArgumentTypeError(f"expected numbers with commas between them, not {text!r}")
    return tuple(dict.fromkeys(numbers))
