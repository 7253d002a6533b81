"""What a run measures, from the command line."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "BENCHMARKS.md"
PARTS = ("routes", "process", "service", "store", "chain")
FEW_PASSES = 2

_FULL, _QUICK = ((100, 1_000, 10_000), (7, 1)), ((100,), (7,))


class ChainPlan(NamedTuple):
    """First syncs of `pairs` of V2 and `pools` of V3, `syncs` times each; live quotes, `runs` times each; `blocks` of
    so many `swaps` are followed, so many `routes` mined."""

    pairs: int
    pools: int
    syncs: int
    runs: int
    blocks: int
    swaps: int
    routes: int


_CHAIN, _QUICK_CHAIN = ChainPlan(1_000, 200, 5, 15, 1_000, 50, 600), ChainPlan(200, 40, 2, 3, 30, 50, 40)
_STORES, _QUICK_STORES = (1_000, 10_000, 100_000), (1_000, 10_000)


@dataclass(frozen=True, slots=True)
class Plan:
    """`rounds` times ours and the peer are timed in turn, each over all orders `passes` times (the first is not warm)
    on markets that are quick to route, `FEW_PASSES` times on others; one-shot commands run `runs` times. The service is
    kept busy for `service_s` seconds and soaked with `soaked` requests, twice. Of `stores`, which have so many pools,
    each order is quoted `store_runs` times. `work` keeps markets and raw results, None a folder that is thrown away.

    Only `parts` are measured, of those in `PARTS`. `out` is the page that is written, or of which those parts are
    written anew; None prints them.
    """

    parts: tuple[str, ...]
    sizes: tuple[int, ...]
    seeds: tuple[int, ...]
    rounds: int
    passes: int
    runs: int
    service_s: float
    soak_requests: int
    stores: tuple[int, ...]
    store_runs: int
    chain: ChainPlan
    out: Path | None
    work: Path | None
    baselines: Path | None

    @property
    def is_whole(self) -> bool:
        """Is every part measured?"""
        return self.parts == PARTS

    @property
    def command(self) -> str:
        """The command line that repeats a whole run, without what is true of one machine only."""
        sizes, seeds = (",".join(map(str, values)) for values in (self.sizes, self.seeds))
        quick = " --quick" if self.rounds == 1 else ""
        return f'make bench BASELINES=DIR ARGS="--sizes {sizes} --seeds {seeds}{quick}"'


def parse_plan(arguments: Sequence[str] | None = None) -> Plan:
    """The plan that a command line asks for; ends the process with status 2 where it makes no sense."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measures routes and writes a report.")
    parser.add_argument("--sizes", type=_numbers, metavar="N,..", help="pools in the made-up markets")
    parser.add_argument("--seeds", type=_numbers, metavar="N,..", help="seeds of the made-up markets")
    parser.add_argument("--quick", action="store_true", help="one small market and few repetitions, unless told")
    parser.add_argument("--only", type=_parts, metavar="PART,..", help=f"measure only these, of {', '.join(PARTS)}")
    parser.add_argument(
        "--out", type=Path, help=f"the report; with --only its page, of which those parts change  [{PAGE.name}, stdout]"
    )
    parser.add_argument("--work", type=Path, help="where markets and raw results are kept")
    parser.add_argument("--baselines", type=Path, help="folder of the baselines; else $BASELINES, else a sibling's")
    given = parser.parse_args(arguments)
    sizes, seeds = _QUICK if given.quick else _FULL
    named = given.baselines or os.environ.get("BASELINES")
    parts = given.only or PARTS
    return Plan(
        parts=parts,
        sizes=given.sizes or sizes,
        seeds=given.seeds or seeds,
        rounds=1 if given.quick else 3,
        passes=FEW_PASSES if given.quick else 5,
        runs=5 if given.quick else 25,
        service_s=3.0 if given.quick else 20.0,
        soak_requests=1_000 if given.quick else 20_000,
        stores=_QUICK_STORES if given.quick else _STORES,
        store_runs=1 if given.quick else 5,
        chain=_QUICK_CHAIN if given.quick else _CHAIN,
        out=given.out or (PAGE if parts == PARTS else None),
        work=given.work,
        baselines=Path(named) if named else None,
    )


def _parts(text: str) -> tuple[str, ...]:
    """In the order of `PARTS`."""
    named = set(text.split(","))
    if not named <= set(PARTS):
        raise argparse.ArgumentTypeError(f"expected some of {', '.join(PARTS)}, not {text!r}")
    return tuple(part for part in PARTS if part in named)


def _numbers(text: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 0:
        raise argparse.ArgumentTypeError(f"expected numbers with commas between them, not {text!r}")
    return tuple(dict.fromkeys(numbers))
