"""Markdown sections, tables and figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import floor, log10

from bench.report.thresholds import Check

MISSED = " ✗"
NOTHING = "–"
NOISE_BPS = 5e-6
"""Bounds are known to about eleven digits, gaps therefore to about six decimals."""


@dataclass(slots=True)
class Section:
    """A section of the report: a title, paragraphs, tables, and the checks of its figures."""

    title: str
    parts: list[str] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)

    def add_paragraph(self, text: str) -> None:
        """Add a paragraph."""
        self.parts.append(text)

    def add_list(self, items: Iterable[str]) -> None:
        """Add a list."""
        self.parts.append("\n".join(f"* {item}" for item in items))

    def add_table(self, header: Sequence[str], rows: Iterable[Sequence[str]], *, text_columns: int = 1) -> None:
        """Add a table; the first columns are text, the others figures."""
        self.parts.append(markdown_table(header, rows, text_columns=text_columns))

    def check(self, shown: str, *checks: Check) -> str:
        """Record checks and return `shown`, marked if one of them fails."""
        self.checks.extend(checks)
        return shown if all(check.is_met for check in checks) else shown + MISSED

    @property
    def text(self) -> str:
        """Return the section in Markdown."""
        return "\n\n".join([f"## {self.title}", *self.parts])


def markdown_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, text_columns: int = 1, is_aligned: bool = False
) -> str:
    """Return a table whose first columns are text, the others figures; aligned ones are for a terminal."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) if is_aligned else 0 for column in range(len(header))]
    marks = [
        "-" * max(3, width) if column < text_columns else "-" * max(3, width - 1) + ":"
        for column, width in enumerate(widths)
    ]
    shown = [
        [
            f"{cell:<{width}}" if column < text_columns else f"{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        for line in lines
    ]
    return "\n".join(map(_row, [shown[0], marks, *shown[1:]]))


def bps(value: float | None) -> str:
    """Format basis points with three decimals, or as many as show two digits; noise is zero."""
    if value is None or abs(value) < NOISE_BPS:
        return number(value, 3)
    return number(value, max(3, 1 - floor(log10(abs(value)))))


def ms(value: float | None) -> str:
    """Format milliseconds."""
    return number(value, 1)


def number(value: float | None, digits: int) -> str:
    """Format a figure with `digits` decimals, without a minus sign for zero."""
    if value is None:
        return NOTHING
    shown = f"{value:,.{digits}f}"
    return shown.lstrip("-") if not shown.strip("-0.,") else shown


def format_limit(limit: float | None) -> str:
    """Format a threshold; a dash if there is none."""
    return NOTHING if limit is None else f"≤ {limit:g}"


def format_figure(value: float) -> str:
    """Format a figure of any unit with three digits, or as a whole number."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 or value == 0 else bps(value)


def ratio(ours: float, theirs: float) -> str:
    """Return ours as a multiple of theirs; a dash if theirs is below the noise."""
    return number(ours / theirs, 2) if theirs > NOISE_BPS else NOTHING


def pair(left: str, right: str) -> str:
    """Join two figures in one cell."""
    return f"{left} / {right}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
