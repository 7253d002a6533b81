"""The gains of rivals over our routes, and quotes that contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bench.optimum.simple_methods.figures import MIN_GAINS_BPS, GainFigures
from bench.report.tables import NOTHING, Section, bps
from bench.report.thresholds import MAX_RIVAL_GAIN_BPS, Check


class ContradictionFigures(NamedTuple):
    """The figures for one kind: the comparisons, those above the threshold, and how many of these exceed it by more
    than a base unit and by more than 1 bps.

    `worst` describes the case with the largest loss; it is empty if there is none.
    """

    kind: str
    bar_bps: float
    compared: int
    above: int
    above_by_units: int
    above_1_bps: int
    worst_bps: float
    worst: str


def rivals_section(measured: Sequence[GainFigures]) -> Section:
    """Return the section with a row for each world, state and gas price."""
    section = Section("Rivals")
    section.add_paragraph(
        "Orders of users on a real state, also after 30% of its pools were pushed by 0.1 to 5%, and of a hundred times "
        "the amounts (at least $100 million), and random pairs of $0.3 to $100,000. Rivals are the best single path of "
        "up to 6 hops, a water-fill of 256 chunks, hill climbs of 1,000 exact replays from our route and the fill, and "
        "Tines' route; all are replayed exactly, net of gas. Gains of less than a cent do not count. "
        "`python -m bench.optimum.simple_methods` measures more orders, other gas prices and single pairs."
    )
    columns = [f"gain > {each:g} bps" for each in MIN_GAINS_BPS]
    section.add_table(
        ["orders", "state", "gas, gwei", "number", *columns, "worst, bps", "worst order"],
        [_row(section, each) for each in measured],
        text_columns=2,
    )
    return section


def _row(section: Section, row: GainFigures) -> list[str]:
    name = f"rivals, {row.kind} orders, {row.market}, gas {row.gas_gwei:g} gwei"
    worst = Check(f"{name}, worst, bps", row.worst_bps, MAX_RIVAL_GAIN_BPS)
    return [
        row.kind,
        row.market,
        f"{row.gas_gwei:g}",
        str(row.orders),
        *(str(count) for count in row.above),
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
