"""The summary: how many figures meet their thresholds, and which do not.

It is rendered from checks, and read back from a page when only some of its sections are measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tests.bench.report.tables import Section, bps

TITLE = "Summary"


class Counts(NamedTuple):
    """Of a section: the number of checked figures, of those that meet their thresholds, and rows of the others."""

    checked: str
    met: str
    missed: Sequence[Sequence[str]]


def count_checks(sections: Iterable[Section]) -> dict[str, Counts]:
    """Return the counts by title, of the sections that check any figure."""
    return {
        section.title: Counts(
            str(len(section.checks)), str(sum(check.is_met for check in section.checks)), list(_missed(section))
        )
        for section in sections
        if section.checks
    }


def _missed(section: Section) -> Iterator[Sequence[str]]:
    for check in section.checks:
        if not check.is_met:
            yield check.figure, bps(check.value), f"{'≥' if check.is_floor else '≤'} {bps(check.limit)}"


def summary_section(counts: Mapping[str, Counts]) -> Section:
    """Return the section that summarises all others."""
    section = Section(TITLE)
    rows = [[title, count.checked, count.met] for title, count in counts.items()]
    section.add_table(["section", "figures", "met"], rows)
    missed = [[title, *row] for title, count in counts.items() for row in count.missed]
    if missed:
        section.add_paragraph("Missed:")
        section.add_table(["section", "figure", "measured", "threshold"], missed)
    return section


def read_summary(text: str) -> dict[str, Counts]:
    """Parse the text of `summary_section`."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    counts: dict[str, Counts] = {}
    for title, *cells in rows:
        if cells[0].isdecimal():
            counts[title] = Counts(cells[0], cells[1], [])
        elif title in counts:
            counts[title] = counts[title]._replace(missed=[*counts[title].missed, cells])
    return counts
