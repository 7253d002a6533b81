"""The summary: how many figures of each section meet their thresholds, and those that miss or come nearest to them.

It is rendered from checks, and read back from a page when only some of its sections are measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from bench.report.tables import MISSED, NOTHING, Section, bps
from bench.report.thresholds import Check

TITLE = "Summary"
_KINDS = 3
"""Kinds of figures of a section that the summary shows beside all that miss their thresholds: two pages in all."""
_HEADER = ("section", "met", "figure", "measured", "bar")


class Counts(NamedTuple):
    """Of a section: the number of checked figures, of those that meet their thresholds, and rows of some of them."""

    checked: str
    met: str
    rows: Sequence[Sequence[str]]


def count_checks(sections: Iterable[Section]) -> dict[str, Counts]:
    """Return the counts by title, of the sections that check any figure."""
    return {
        section.title: Counts(
            str(len(section.checks)),
            str(sum(check.is_met for check in section.checks)),
            [_row(check) for check in shown_checks(section.checks)],
        )
        for section in sections
        if section.checks
    }


def shown_checks(checks: Sequence[Check]) -> list[Check]:
    """Return the checks that failed, and of the kinds of figures that come nearest to their limits the nearest one."""
    nearest: dict[str, Check] = {}
    for check in checks:
        kind = re.sub(r"\d[\d,.]*|\b(?:small|medium|large|huge)\b", "", check.figure)
        if kind not in nearest or _nearness(check) > _nearness(nearest[kind]):
            nearest[kind] = check
    met = sorted((check for check in nearest.values() if check.is_met), key=_nearness, reverse=True)
    chosen = {id(check) for check in (*met[:_KINDS], *(check for check in checks if not check.is_met))}
    return [check for check in checks if id(check) in chosen]


def _nearness(check: Check) -> float:
    """Return the share of its limit that a figure takes up: 1 is at the limit, more is beyond it."""
    is_share = check.is_floor and check.limit >= 0
    part, whole = (check.limit, check.value) if is_share else (check.value, check.limit)
    return part / whole if whole else float(part >= whole)


def format_figure(value: float) -> str:
    """Format a figure of any unit with three digits, or as a whole number."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 or value == 0 else bps(value)


def _row(check: Check) -> Sequence[str]:
    mark, sign = "" if check.is_met else MISSED, "≥" if check.is_floor else "≤"
    return check.figure, f"{format_figure(check.value)}{mark}", f"{sign} {format_figure(check.limit)}"


def summary_section(counts: Mapping[str, Counts]) -> Section:
    """Return the section that summarises all others."""
    section = Section(TITLE)
    lines: list[Sequence[str]] = []
    for title, count in counts.items():
        first, *others = count.rows or [(NOTHING,) * 3]
        lines += [(title, f"{count.met} of {count.checked}", *first), *(("", "", *row) for row in others)]
    section.add_table(_HEADER, lines, text_columns=3)
    return section


def read_summary(text: str) -> dict[str, Counts]:
    """Parse the text of `summary_section`."""
    counts: dict[str, Counts] = {}
    title = ""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) != len(_HEADER):
            continue
        if found := re.fullmatch(r"(\d+) of (\d+)", cells[1]):
            title = cells[0]
            counts[title] = Counts(found[2], found[1], [])
        if counts and (found or not cells[0]) and cells[2] != NOTHING:
            counts[title] = counts[title]._replace(rows=[*counts[title].rows, cells[2:]])
    return counts
