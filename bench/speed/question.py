"""How long does a quote take?"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.optimum.cases import generated_case, real_case
from bench.optimum.measure import Note
from bench.optimum.real_market import REAL_MARKET
from bench.optimum.select import by_pools
from bench.plan import Plan
from bench.report.answer import Answer, Row, Table, row
from bench.report.figures import Spread
from bench.report.tables import ms
from bench.report.thresholds import (
    MAX_NEIGHBOURHOOD_GAP_BPS,
    MAX_QUOTE_BYTES,
    MAX_QUOTE_RATIO,
    MAX_STORE_RATIO,
    Check,
    time_threshold,
)
from bench.speed.store import StoreFigures, measure_store
from bench.speed.store_section import store_section
from bench.speed.time_section import process_section, time_section
from bench.speed.times import Timed, measure_times
from bench.speed.whole_process import QUOTE, WholeProcess, measure_processes


class SpeedFigures(NamedTuple):
    """All results."""

    made_up: Sequence[Timed]
    real: Sequence[Timed]
    processes: WholeProcess
    store: StoreFigures


def measure(plan: Plan, folder: Path, note: Note) -> Answer:
    """Answer the question, with files in `folder`. Raises `BenchmarkFailed`."""
    made_up = [
        measure_times(generated_case(pools, seed, folder), plan, note) for pools in plan.sizes for seed in plan.seeds
    ]
    markets = plan.markets or (REAL_MARKET,)
    real = [measure_times(real_case(market, folder, plan.real_orders), plan, note) for market in markets]
    note("one-shot commands")
    processes = measure_processes(plan.runs, folder)
    note("stores")
    stores = measure_store(folder, plan.seeds[-1], plan.store_runs, plan.stores)
    return answer(SpeedFigures(made_up, real, processes, stores))


def answer(found: SpeedFigures) -> Answer:
    """Return the tables and sections of the figures."""
    sections = [time_section(found.made_up, found.real), process_section(found.processes), store_section(found.store)]
    return Answer([time_table(found)], sections)


def time_table(found: SpeedFigures) -> Table:
    """Return the times in the core next to the peer's, and those of whole commands."""
    rows = [_time_row(f"{pools:,} pools", pools, group) for pools, group in by_pools(found.made_up)]
    rows += [_time_row(timed.case.name, 0, [timed]) for timed in found.real]
    bare, quote = found.processes.bare, found.processes.quote
    quote_check = Check("quote", quote.ratio_to(bare), MAX_QUOTE_RATIO)
    rows.append(row(f"`swapcli {' '.join(QUOTE)}` to a bare start of Python", quote_check))
    rows.append(row("memory of such a quote, MB", Check("memory", quote.peak_bytes / 1e6, MAX_QUOTE_BYTES / 1e6)))
    least, most = found.store[0], found.store[-1]
    growth = Check("store", most.time_s() / least.time_s(), MAX_STORE_RATIO)
    rows.append(row(f"such a quote from a store of {most.pools:,} pools to one of {least.pools:,}", growth))
    rows.append(_neighbourhood_row(found.store))
    return Table(
        "Time",
        "Milliseconds per order in the core, median / p95, alternating with Tines on the same orders. Tines' time is "
        "the bar if it is lower. Tines runs as compiled JavaScript and builds its graph for each order; swapcli runs "
        "in plain CPython and keeps its graph. Whole commands alternate with `python -c pass`. Milliseconds vary "
        "between machines and runs, ratios less: [how to read them](bench/README.md).",
        rows,
    )


def _time_row(what: str, pools: int, group: Sequence[Timed]) -> Row:
    warm = Spread.of(value for timed in group for value in timed.times.warm)
    theirs = Spread.of(value for timed in group for value in timed.times.theirs)
    bar = time_threshold(pools)
    checks = (
        Check("median", warm.median, min(bar.median or inf, theirs.median)),
        Check("p95", warm.p95, min(bar.p95 or inf, theirs.p95)),
    )
    return row(f"ms of an order, {what}", *checks, show=ms, peer=(theirs.median, theirs.p95))


def _neighbourhood_row(stores: StoreFigures) -> Row:
    """Return the largest median loss of small and medium orders."""
    losses = [
        median(part.gap_bps for part in store.parts if part.size == size and part.gap_bps is not None)
        for store in stores
        for size in MAX_NEIGHBOURHOOD_GAP_BPS
    ]
    limit = max(MAX_NEIGHBOURHOOD_GAP_BPS.values())
    return row("what it loses to the whole market, small and medium orders, bps", Check("loss", max(losses), limit))
