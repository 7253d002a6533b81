"""Measure the tail of the times of the core: CPU milliseconds of random orders, beside those of another revision.

    python -m bench.speed.tail [--sizes 1000,10000] [--orders 500] [--seed 7] [--against REVISION]

generates the markets, and quotes each order in this revision and in a checkout of the other one (by default the parent
of the present commit), some orders at a time in turn. Each order counts with its least time over the rounds, each of
which has new processes. Bare starts of Python in the same run say how fast the machine was.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.optimum.cases import generated_case
from bench.plan import ROOT
from bench.report.figures import ahead_bps
from bench.running import BenchmarkFailed, run
from bench.speed.random_orders import RandomOrder, random_orders

_IN_TURN = 10  # orders quoted by one revision before the other quotes the same
_WORKER = Path(__file__).with_name("tail_worker.py")
PARTS = (0.5, 0.95, 0.99, 1.0)


class Row(NamedTuple):
    """One order in one revision: the least CPU milliseconds, and the amounts; 0 without a route."""

    ms: float
    amount_in: int
    amount_out: int
    gas_units: int


class TailFigures(NamedTuple):
    """The orders on one market with the rows of this and the other revision, and milliseconds of a bare Python."""

    pools: int
    orders: Sequence[RandomOrder]
    ours: Sequence[Row]
    theirs: Sequence[Row]
    bare_ms: float
    other: str

    def percentiles(self, rows: Sequence[Row]) -> list[float]:
        """Return the milliseconds of `rows` at `PARTS`, by the nearest rank."""
        ordered = sorted(row.ms for row in rows)
        return [ordered[max(0, -int(-len(ordered) * part // 1) - 1)] for part in PARTS]

    def leads(self) -> list[float]:
        """Return how far each order's output less gas is above that of the other revision, in basis points.

        For exact output it is how far the input and gas are below. Only orders with a route in both count, and no order
        that is worth less than its gas.
        """
        leads = []
        for order, ours, theirs in zip(self.orders, self.ours, self.theirs, strict=True):
            if ours.amount_out and theirs.amount_out:
                if order.reverse:
                    own, other = (row.amount_in + order.gas_value * row.gas_units for row in (ours, theirs))
                    leads.append(ahead_bps(other, own))
                    continue
                own, other = (row.amount_out - order.gas_value * row.gas_units for row in (ours, theirs))
                if other > theirs.amount_out / 2:
                    leads.append(ahead_bps(own, other))
        return leads

    def lost_routes(self) -> int:
        """Return the orders that only the other revision routes."""
        return sum(a.amount_out == 0 < b.amount_out for a, b in zip(self.ours, self.theirs, strict=True))


def measure_tail(
    sizes: Sequence[int], count: int, seed: int, rounds: int, against: str, folder: Path
) -> list[TailFigures]:
    """Generate markets of these sizes in `folder` and measure them. Raises `BenchmarkFailed`."""
    with checkout(against, folder) as other:
        return [_measure(pools, count, seed, rounds, (other, against), folder) for pools in sizes]


def _measure(pools: int, count: int, seed: int, rounds: int, other: tuple[Path, str], folder: Path) -> TailFigures:
    case = generated_case(pools, seed, folder)
    orders = random_orders(json.loads(case.market.read_bytes()), count, seed)
    file = folder / f"random_{case.name}.json"
    file.write_text(json.dumps([order._asdict() for order in orders]))
    bare: list[float] = []
    results = [_round((ROOT, other[0]), case.market, file, count, bare) for _ in range(rounds)]
    ours, theirs = ([_least(rows) for rows in zip(*side, strict=True)] for side in zip(*results, strict=True))
    return TailFigures(pools, orders, ours, theirs, median(bare), other[1])


def _least(rows: Sequence[Row]) -> Row:
    """Return an order's row with its least time. Raises `BenchmarkFailed` if its amounts differ between rounds."""
    if len({row[1:] for row in rows}) > 1:
        raise BenchmarkFailed(f"an order has different amounts in different processes: {rows}")
    return min(rows)


def _round(trees: Sequence[Path], market: Path, orders: Path, count: int, bare: list[float]) -> list[list[Row]]:
    """Return the rows of all orders by tree, quoted in turn."""
    rows: list[list[Row]] = [[] for _ in trees]
    with ExitStack() as stack:
        workers = [stack.enter_context(_worker(tree, market, orders)) for tree in trees]
        for turn, start in enumerate(range(0, count, _IN_TURN)):
            bare.append(bare_start_ms())
            for k in (0, 1) if turn % 2 else (1, 0):
                rows[k] += _ask(workers[k], f"{start} {start + _IN_TURN}")
    return rows


@contextmanager
def _worker(tree: Path, market: Path, orders: Path) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-P", str(_WORKER), str(market), str(orders)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as worker:
        try:
            assert worker.stdout
            if worker.stdout.readline() != "ready\n":
                raise BenchmarkFailed(f"{' '.join(command)} did not start")
            yield worker
        finally:
            worker.kill()


def _ask(worker: subprocess.Popen[str], line: str) -> list[Row]:
    assert worker.stdin
    assert worker.stdout
    worker.stdin.write(line + "\n")
    worker.stdin.flush()
    printed = worker.stdout.readline()
    if not printed:
        raise BenchmarkFailed(f"the worker ended at orders {line}")
    return [Row(*row) for row in json.loads(printed)]


def bare_start_ms() -> float:
    """Return the CPU milliseconds of a Python that does nothing."""
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", "pass"], os.environ)
    _, _, usage = os.wait4(child, 0)
    return (usage.ru_utime + usage.ru_stime) * 1e3


@contextmanager
def checkout(revision: str, folder: Path) -> Iterator[Path]:
    """Give a tree of `revision`, or the folder of that name if there is one. Raises `BenchmarkFailed`."""
    if Path(revision).is_dir():
        yield Path(revision).resolve()
        return
    tree = folder / f"tree_{revision.replace('/', '_')}"
    archive = folder / "tree.tar"
    run(["git", "-C", ROOT, "archive", "--output", archive, revision, "swapcli"])
    tree.mkdir(exist_ok=True)
    run(["tar", "-xf", archive, "-C", tree])
    yield tree


def main() -> int:
    """Measure and print the figures; 1 if something that is needed is missing."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed.tail", description="Measures the tail of times.")
    parser.add_argument("--sizes", default="1000,10000", help="pools in the markets, with commas  [1000,10000]")
    parser.add_argument("--orders", type=int, default=500)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--against", default="HEAD^", help="revision, or folder with a checkout of it  [HEAD^]")
    parser.add_argument("--work", type=Path, help="folder of markets  [temporary]")
    parser.add_argument("--slowest", type=int, default=0, metavar="N", help="print the slowest orders as well")
    options = parser.parse_args()
    sizes = [int(each) for each in options.sizes.split(",")]
    try:
        with ExitStack() as stack:
            folder = options.work or Path(stack.enter_context(TemporaryDirectory(prefix="bench-")))
            folder.mkdir(parents=True, exist_ok=True)
            for figures in measure_tail(sizes, options.orders, options.seed, options.rounds, options.against, folder):
                _print(figures, options.slowest)
    except BenchmarkFailed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    return 0


def _print(figures: TailFigures, slowest: int) -> None:
    shown = " / ".join(f"p{part * 100:g}" for part in PARTS)
    print(
        f"{figures.pools:,} pools, {len(figures.orders)} orders, CPU ms: {shown}; bare start {figures.bare_ms:.1f} ms"
    )
    for name, rows in (("this revision", figures.ours), (figures.other, figures.theirs)):
        print(f"  {name:16} " + " / ".join(f"{value:.1f}" for value in figures.percentiles(rows)))
    leads = sorted(figures.leads())
    worst, best = ", ".join(f"{lead:.3f}" for lead in leads[:5]), ", ".join(f"{lead:.3f}" for lead in leads[-3:])
    behind = sum(lead < -0.01 for lead in leads)
    ahead = sum(lead > 0.01 for lead in leads)
    print(f"  ahead in bps: mean {sum(leads) / len(leads):.4f}, worst {worst}, best {best}")
    print(f"  behind by more than 0.01 bps {behind}, ahead {ahead}; routes lost {figures.lost_routes()}")
    order = sorted(range(len(figures.orders)), key=lambda k: -figures.ours[k].ms)
    for k in order[:slowest]:
        print(f"    {k} {figures.ours[k].ms:.0f} ({figures.theirs[k].ms:.0f}) {figures.orders[k]}")


if __name__ == "__main__":
    sys.exit(main())
