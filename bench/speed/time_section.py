"""Sections on time in the core compared with Tines, and on one-shot commands."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from bench.optimum.select import by_pools, title
from bench.report.figures import Spread
from bench.report.tables import Section, format_limit, ms, number, pair, ratio
from bench.report.thresholds import (
    MAX_QUOTE_BYTES,
    MAX_QUOTE_RATIO,
    MAX_VERSION_RATIO,
    Check,
    TimeThreshold,
    time_threshold,
)
from bench.speed.times import Timed
from bench.speed.whole_process import QUOTE, Runs, WholeProcess


def time_section(cases: Sequence[Timed], real_cases: Sequence[Timed]) -> Section:
    """Return the section on time in the core compared with Tines."""
    section = Section("Time in the core")
    section.add_paragraph(
        "Milliseconds an order, wall time in process on a loaded market, orders of all sizes together, in turn with "
        "Tines (100 flows) on the same machine. *Warm*: the router has seen the orders before, and keeps the graph "
        "and the prices of tokens at size zero, never a route. *First seen*: the order comes for the first time. "
        "*First of all*: the very first order after loading, which builds the graph. Each order counts with its "
        "median over the rounds."
    )
    groups = [(f"{pools:,} pools", pools, group) for pools, group in by_pools(cases)]
    groups += [(title(measured), 0, [measured]) for measured in real_cases]
    header = ["market", "first of all", "first seen", "warm: median", "p95", "bar", "Tines: median", "p95", "ratios"]
    section.add_table(header, [_time_row(section, what, pools, group) for what, pools, group in groups])
    section.add_paragraph("Besides its own bar, each median and p95 has to stay below that of Tines.")
    return section


def _time_row(section: Section, what: str, pools: int, group: Sequence[Timed]) -> list[str]:
    warm = Spread.of(value for measured in group for value in measured.times.warm)
    theirs = Spread.of(value for measured in group for value in measured.times.theirs)
    bar = time_threshold(pools)
    return [
        what,
        ms(max(measured.times.first for measured in group)),
        ms(median(value for measured in group for value in measured.times.cold or [measured.times.first])),
        _checked_time(section, f"{what}, median", warm.median, bar.median, theirs.median),
        _checked_time(section, f"{what}, p95", warm.p95, bar.p95, theirs.p95),
        _limits(bar),
        ms(theirs.median),
        ms(theirs.p95),
        pair(ratio(warm.median, theirs.median), ratio(warm.p95, theirs.p95)),
    ]


def _checked_time(section: Section, what: str, value: float, limit: float | None, peer: float) -> str:
    own = [Check(f"time in the core, {what}", value, limit)] if limit is not None else []
    return section.check(ms(value), Check(f"time in the core against Tines, {what}", value, peer), *own)


def _limits(bar: TimeThreshold) -> str:
    return pair(format_limit(bar.median), format_limit(bar.p95))


def process_section(found: WholeProcess) -> Section:
    """Return the section on one-shot commands."""
    section = Section("Whole process")
    section.add_paragraph(
        f"The installed command, compiled to bytecode, {len(found.bare.times_s)} runs in turn with an interpreter "
        "that does nothing. *Ratio* is the median ratio of neighbouring runs; peak memory is the highest resident "
        "set of any run."
    )
    header = ["command", "median ms", "ratio", "bar", "peak memory", "bar"]
    quote = _process_row(section, f"swapcli {' '.join(QUOTE)}", found.quote, found.bare, MAX_QUOTE_RATIO)
    memory = Check("bytes of a quote", found.quote.peak_bytes, MAX_QUOTE_BYTES)
    quote[4:] = [section.check(quote[4], memory), f"{format_limit(MAX_QUOTE_BYTES / 1e6)} MB"]
    version = _process_row(section, "swapcli --version", found.version, found.bare, MAX_VERSION_RATIO)
    section.add_table(header, [_process_row(section, "python -c pass", found.bare, found.bare, None), quote, version])
    banned = section.check(", ".join(found.banned) or "none", Check("banned modules in a quote", len(found.banned), 0))
    section.add_paragraph(
        f"A quote for programs loads {found.modules} modules; of those that it must not load: {banned}."
    )
    return section


def _process_row(section: Section, command: str, runs: Runs, bare: Runs, limit: float | None) -> list[str]:
    times = runs.ratio_to(bare)
    checks = [Check(f"{command} against a bare interpreter", times, limit)] if limit is not None else []
    shown = section.check(number(times, 2), *checks)
    memory = f"{runs.peak_bytes / 1e6:.1f} MB"
    return [f"`{command}`", ms(median(runs.times_s) * 1e3), shown, format_limit(limit), memory, format_limit(None)]
