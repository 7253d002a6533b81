"""What a run measures, from the command line."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FEW_PASSES = 2

_FULL, _QUICK = ((100, 1_000, 10_000), (7, 1)), ((100,), (7,))


@dataclass(frozen=True, slots=True)
class Plan:
    """`rounds` times ours and the peer are timed in turn, each over all orders `passes` times (the first is not warm)
    on markets that are quick to route, `FEW_PASSES` times on others; one-shot commands run `runs` times. The service is
    kept busy for `service_s` seconds and soaked with `soaked` requests, twice. `work` keeps markets and raw results,
    None a folder that is thrown away.
    """

    sizes: tuple[int, ...]
    seeds: tuple[int, ...]
    rounds: int
    passes: int
    runs: int
    service_s: float
    soaked: int
    out: Path
    work: Path | None
    yardsticks: Path | None

    @property
    def command(self) -> str:
        """The command line that repeats the run, without what is true of one machine only."""
        sizes, seeds = (",".join(map(str, values)) for values in (self.sizes, self.seeds))
        quick = " --quick" if self.rounds == 1 else ""
        return f'make bench YARDSTICKS=DIR ARGS="--sizes {sizes} --seeds {seeds}{quick}"'


def parse(arguments: Sequence[str] | None = None) -> Plan:
    """The plan that a command line asks for; ends the process with status 2 where it makes no sense."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measures routes and writes a report.")
    parser.add_argument("--sizes", type=_numbers, metavar="N,..", help="pools in the made-up markets")
    parser.add_argument("--seeds", type=_numbers, metavar="N,..", help="seeds of the made-up markets")
    parser.add_argument("--quick", action="store_true", help="one small market and few repetitions, unless told")
    parser.add_argument("--out", type=Path, default=ROOT / "BENCHMARKS.md", help="where the report goes")
    parser.add_argument("--work", type=Path, help="where markets and raw results are kept")
    parser.add_argument("--yardsticks", type=Path, help="folder of the yardsticks; else $YARDSTICKS, else a sibling's")
    given = parser.parse_args(arguments)
    sizes, seeds = _QUICK if given.quick else _FULL
    named = given.yardsticks or os.environ.get("YARDSTICKS")
    return Plan(
        sizes=given.sizes or sizes,
        seeds=given.seeds or seeds,
        rounds=1 if given.quick else 3,
        passes=FEW_PASSES if given.quick else 5,
        runs=5 if given.quick else 25,
        service_s=3.0 if given.quick else 20.0,
        soaked=1_000 if given.quick else 20_000,
        out=given.out,
        work=given.work,
        yardsticks=Path(named) if named else None,
    )


def _numbers(text: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 0:
        raise argparse.ArgumentTypeError(f"expected numbers with commas between them, not {text!r}")
    return tuple(dict.fromkeys(numbers))
