"""Repeat the same measurements, and print the spread of their figures: the accuracy of a single run of `make bench`.

python -m bench.speed.noise [--times 10] [--pools 1000] [--runs 25] [--work DIR]

Each time, all orders of a market are timed in the core, in turn with the peer, and whole commands in turn with a bare
start of Python, as `make bench` does it. The spread is what lies between the least and the most, in percent of the
median.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.optimum.cases import generated_case
from bench.optimum.measure import time_peer
from bench.optimum.peer import install
from bench.report.figures import Spread
from bench.report.tables import format_figure, markdown_table
from bench.running import BenchmarkFailed
from bench.speed.core_time import time_in_core
from bench.speed.whole_process import measure_processes

_PASSES = 5


def measure(pools: int, runs: int, folder: Path) -> dict[str, float]:
    """Return the figures of one run. Raises `BenchmarkFailed`."""
    case = generated_case(pools, 7, folder)
    passes = time_in_core(case, _PASSES)
    ours = Spread.of(median(column) for column in zip(*passes[1:], strict=True))
    theirs = Spread.of(time_peer(case, _PASSES))
    found = measure_processes(runs, folder)
    bare_ms, quote_ms = (median(each.times_s) * 1e3 for each in (found.bare, found.quote))
    name = f"order, {pools:,} pools"
    return {
        f"ms of an {name}, median": ours.median,
        "the same, p95": ours.p95,
        f"Tines, ms of an {name}, median": theirs.median,
        "Tines, the same, p95": theirs.p95,
        "ours to Tines, medians": ours.median / theirs.median,
        "ours to Tines, p95": ours.p95 / theirs.p95,
        "ms of a bare start of Python": bare_ms,
        "ms of `swapcli route`": quote_ms,
        "`swapcli route` to a bare start, neighbouring runs": found.quote.ratio_to(found.bare),
    }


def table(found: Sequence[Mapping[str, float]]) -> str:
    """Return the spread of each figure over the runs."""
    rows = []
    for name in found[0]:
        spread = Spread.of(each[name] for each in found)
        parts = (spread.median, spread.minimum, spread.maximum)
        percent = 100.0 * (spread.maximum - spread.minimum) / spread.median
        rows.append([name, *map(format_figure, parts), f"{percent:.0f}%"])
    return markdown_table(["figure", "median", "least", "most", "spread"], rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if something needed is missing."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed.noise", description="Measures the noise.")
    parser.add_argument("--times", type=int, default=10, help="how often each figure is measured  [10]")
    parser.add_argument("--pools", type=int, default=1_000, help="pools of the market  [1000]")
    parser.add_argument("--runs", type=int, default=25, help="runs of whole commands each time  [25]")
    parser.add_argument("--work", type=Path, help="folder of the market  [temporary]")
    options = parser.parse_args(arguments)
    try:
        with ExitStack() as stack:
            folder = options.work or Path(stack.enter_context(TemporaryDirectory(prefix="bench-")))
            install()
            before = os.getloadavg()[0]
            found = []
            for number in range(options.times):
                print(f"run {number + 1} of {options.times}", file=sys.stderr, flush=True)
                found.append(measure(options.pools, options.runs, folder))
    except BenchmarkFailed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    print(table(found))
    print(f"\n{options.times} runs, load average {before:.2f} before and {os.getloadavg()[0]:.2f} after")
    return 0


if __name__ == "__main__":
    sys.exit(main())
