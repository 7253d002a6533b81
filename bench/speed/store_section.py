"""Section on one-shot quotes from stores: time, memory, and the loss of quoting on candidate pools."""

from __future__ import annotations

from statistics import median

from bench.optimum.cases import SIZES
from bench.report.figures import Spread
from bench.report.tables import Section, bps, format_limit, ms, number
from bench.report.thresholds import MAX_NEIGHBOURHOOD_GAP_BPS, MAX_STORE_BYTES, MAX_STORE_RATIO, Check
from bench.speed.store import StoreFigures, StoreResult


def store_section(found: StoreFigures) -> Section:
    """Return the section on one-shot quotes by the size of the store."""
    section = Section("One-shot quotes from a store")
    section.add_paragraph(
        "`swapcli route NETWORK ... --json --store DIR`, the installed command in fresh processes. *Time*: the median "
        "over the orders of their median times; *ratio* to the smallest store, also by the size of the order."
    )
    header = ["store", "file MB", "import s", "time ms", "ratio", "bar", *SIZES, "peak MB", "bar"]
    section.add_table(header, [_time_row(section, result, found[0]) for result in found])
    section.add_paragraph(
        "What the neighbourhood's quote pays less than the quote over the whole market, in basis points, with gas for "
        "nothing; and the pools that were read for it, and how long that took."
    )
    header = ["store, size", "orders", "median", "bar", "p95", "max", "pools: median", "max", "read ms"]
    section.add_table(header, [_gap_row(section, result, size) for result in found for size in SIZES])
    return section


def _time_row(section: Section, result: StoreResult, base: StoreResult) -> list[str]:
    ratio = result.time_s() / base.time_s()
    what = f"{result.pools:,} pools"
    memory = Check(f"bytes of a quote, {what}", result.peak_bytes, MAX_STORE_BYTES)
    return [
        what,
        number(result.file_bytes / 1e6, 1),
        number(result.import_s, 1),
        ms(result.time_s() * 1e3),
        section.check(number(ratio, 2), Check(f"quote from a store of {what}, ratio", ratio, MAX_STORE_RATIO)),
        format_limit(MAX_STORE_RATIO),
        *(number(result.time_s(size) / base.time_s(size), 2) for size in SIZES),
        section.check(number(result.peak_bytes / 1e6, 1), memory),
        format_limit(MAX_STORE_BYTES / 1e6),
    ]


def _gap_row(section: Section, result: StoreResult, size: str) -> list[str]:
    parts = [part for part in result.parts if part.size == size]
    gaps = Spread.of(part.gap_bps for part in parts if part.gap_bps is not None)
    bar = MAX_NEIGHBOURHOOD_GAP_BPS.get(size)
    what = f"{result.pools:,} pools, {size}"
    checks = [Check(f"gap of the neighbourhood, {what}", gaps.median, bar)] if bar is not None else []
    return [
        what,
        str(gaps.count),
        section.check(bps(gaps.median), *checks),
        format_limit(bar),
        bps(gaps.p95),
        bps(gaps.maximum),
        f"{median(part.pools for part in parts):,.0f}",
        f"{max(part.pools for part in parts):,}",
        ms(median(part.read_ms for part in parts)),
    ]
