"""What misses its bar."""

from __future__ import annotations

from bench.report.answer import Answer
from bench.report.tables import Section


def missed(section: Section) -> list[str]:
    """Return the figures of a section that miss their bars."""
    return [check.figure for check in section.checks if not check.is_met]


def missed_rows(answer: Answer) -> list[str]:
    """Return the figures of the page that miss their bars."""
    return [row.figure for table in answer.tables for row in table.rows if not row.is_met]
