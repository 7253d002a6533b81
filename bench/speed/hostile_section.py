"""Hostile markets: the cost of dust pools, and the slowest of many random orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bench.report.tables import Section, number
from bench.report.thresholds import MAX_DUST_LOSS_BPS, MAX_DUST_TIME_RATIO, MAX_SOLVE_S, Check

MIN_ORDER_USD = 100.0
"""A smaller order would gain from dust."""


class DustFigures(NamedTuple):
    """Orders on a market with dust pools, compared with the same orders without. Ratios are of CPU time."""

    dust_pools: int
    orders: int
    worse_orders: int
    worst_loss_bps: float
    best_gain_bps: float
    time_ratio: float
    median_time_ratio: float


class SolveTimes(NamedTuple):
    """Wall times of random orders; `out_of_time` counts searches that were cut short."""

    orders: int
    median_s: float
    p99_s: float
    slowest_s: float
    out_of_time: int
    no_route: int


class HostileFigures(NamedTuple):
    """The measurements of one market."""

    name: str
    dust: tuple[DustFigures, ...]
    times: SolveTimes


TITLE = "Hostile markets"


def hostile_section(markets: Sequence[HostileFigures]) -> Section:
    """Return the section with a row for each market and number of dust pools."""
    section = Section(TITLE)
    section.add_paragraph(
        "Measured with `python -m bench.speed.hostile MARKET...`. Each order is quoted with and without dust pools, in "
        "turn; a dust pool is worth a hundredth of a cent and has an extreme, one-sided or wrong price, a tiny reserve "
        f"or a token with unusual decimals. Orders are worth ${MIN_ORDER_USD:.0f} or more; every tenth is quoted with "
        "a certificate. Times are ratios of CPU time within the run. The thresholds: no order worse by more than "
        f"{MAX_DUST_LOSS_BPS:g} bps, time at most {MAX_DUST_TIME_RATIO:g} times."
    )
    header = ["market", "dust pools", "orders", f"worse by > {MAX_DUST_LOSS_BPS:g} bps", "worst loss, bps"]
    section.add_table(
        [*header, "time, sums", "time, medians"],
        [_dust_row(section, market, index) for market in markets for index in range(len(market.dust))],
    )
    section.add_paragraph(
        "The same command times random orders of $1 to $100 million with the search time of a command. The threshold: "
        f"none takes more than {MAX_SOLVE_S:g} s."
    )
    section.add_table(
        ["market", "orders", "median, s", "p99, s", "slowest, s", "out of time"],
        [_time_row(section, market) for market in markets],
    )
    return section


def _dust_row(section: Section, market: HostileFigures, index: int) -> list[str]:
    dust = market.dust[index]
    name = f"hostile, {market.name}, {dust.dust_pools:,} dust pools"
    return [
        market.name,
        f"{dust.dust_pools:,}",
        str(dust.orders),
        section.check(str(dust.worse_orders), Check(f"{name}, worse orders", dust.worse_orders, 0)),
        number(dust.worst_loss_bps, 4),
        section.check(number(dust.time_ratio, 3), Check(f"{name}, time", dust.time_ratio, MAX_DUST_TIME_RATIO)),
        number(dust.median_time_ratio, 3),
    ]


def _time_row(section: Section, market: HostileFigures) -> list[str]:
    times = market.times
    check = Check(f"hostile, {market.name}, slowest", times.slowest_s, MAX_SOLVE_S)
    return [
        market.name,
        f"{times.orders:,}",
        number(times.median_s, 3),
        number(times.p99_s, 3),
        section.check(number(times.slowest_s, 3), check),
        str(times.out_of_time),
    ]
