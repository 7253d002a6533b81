"""What simple methods gain over our routes, and answers that contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bench.optimum.simple_methods.figures import MIN_GAINS_BPS, GainFigures
from bench.report.tables import NOTHING, Section, bps
from bench.report.thresholds import MAX_GAINING_PERCENT, MAX_SIMPLE_GAIN_BPS, Check


class ContradictionFigures(NamedTuple):
    """Of one kind: the comparisons, those above the bar, of them those by more than a base unit and by more than 1 bps.

    `worst` repeats the case of the greatest loss; it is empty if there is none.
    """

    kind: str
    bar_bps: float
    compared: int
    above: int
    above_by_units: int
    above_1_bps: int
    worst_bps: float
    worst: str


def simple_section(measured: Sequence[GainFigures]) -> Section:
    """Return the section with a row for each state and gas price."""
    section = Section("Simple methods")
    section.add_paragraph(
        "Random orders of $0.3 to $3,000 on real states; *pushed*: after swaps that move a fifth of the pools by 0.1 "
        "to 5%. The best of a single path of up to 6 hops, a water-fill of 256 and 1,024 chunks, and hill climbs of "
        "3,000 exact replays from our route and from the fill; gains are net of gas. "
        "`python -m bench.optimum.simple_methods` measures more orders, other gas prices and single pairs."
    )
    columns = [f"gain > {each:g} bps" for each in MIN_GAINS_BPS]
    section.add_table(
        ["state", "gas, gwei", "orders", *columns, "worst, bps", "worst order"],
        [_row(section, each) for each in measured],
    )
    return section


def _row(section: Section, row: GainFigures) -> list[str]:
    name = f"simple methods, {row.market}, gas {row.gas_gwei:g} gwei"
    percent = 100.0 * row.above[0] / row.orders
    share = Check(f"{name}, orders with a gain, %", percent, MAX_GAINING_PERCENT[row.is_pushed])
    worst = Check(f"{name}, worst, bps", row.worst_bps, MAX_SIMPLE_GAIN_BPS[row.is_pushed])
    first, *others = (str(count) for count in row.above)
    return [
        row.market,
        f"{row.gas_gwei:g}",
        str(row.orders),
        section.check(first, share),
        *others,
        section.check(bps(row.worst_bps), worst),
        f"`{row.worst}`",
    ]


def contradictions_section(measured: Sequence[ContradictionFigures]) -> Section:
    """Return the section with a row for each kind."""
    section = Section("Contradictions")
    section.add_paragraph(
        "Random orders from dust to draining on random markets of every family and on real states, as they are, pushed "
        "out of line, or with one dumped pool: how often an answer that can pay no more pays more. "
        "`python -m bench.optimum.contradictions` measures more cases, and single ones."
    )
    section.add_table(
        ["other answer", "compared", "bar, bps", "above it", "by > 1 unit", "> 1 bps", "worst, bps", "worst case"],
        [
            [
                each.kind,
                str(each.compared),
                f"{each.bar_bps:g}",
                section.check(str(each.above), Check(f"contradictions, {each.kind}", each.above, 0)),
                str(each.above_by_units),
                str(each.above_1_bps),
                bps(each.worst_bps),
                f"`{each.worst}`" if each.worst else NOTHING,
            ]
            for each in measured
        ],
    )
    return section
