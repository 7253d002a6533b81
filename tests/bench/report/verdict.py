"""How many figures meet their bar, and which do not: written from checks, and read back from a page.

So that sections of a page can be measured anew without the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tests.bench.report.tables import Section, bps

TITLE = "Verdict"


class Counts(NamedTuple):
    """Of a section: figures that are held against a bar, those that meet it, and rows of those that do not."""

    held: str
    met: str
    missed: Sequence[Sequence[str]]


def counts_of(sections: Iterable[Section]) -> dict[str, Counts]:
    """By title, of sections that hold anything against a bar."""
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
            yield check.what, bps(check.value), f"{'≥' if check.is_floor else '≤'} {bps(check.limit)}"


def verdict(counts: Mapping[str, Counts]) -> Section:
    """The section that tells of all."""
    section = Section(TITLE)
    rows = [[title, each.held, each.met] for title, each in counts.items()]
    section.table(["figures", "held against a bar", "met"], rows)
    missed = [[title, *row] for title, each in counts.items() for row in each.missed]
    if missed:
        section.say("Missed:")
        section.table(["section", "figure", "reached", "bar"], missed)
    return section


def read_verdict(text: str) -> dict[str, Counts]:
    """What `verdict` wrote."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    counts: dict[str, Counts] = {}
    for title, *cells in rows:
        if cells[0].isdecimal():
            counts[title] = Counts(cells[0], cells[1], [])
        elif title in counts:
            counts[title] = counts[title]._replace(missed=[*counts[title].missed, cells])
    return counts
