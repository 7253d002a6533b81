"""Markdown: tables, and how figures are written in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import floor, log10

from tests.bench.thresholds import Check

MISSED = " ✗"
NOTHING = "–"
NOISE_BPS = 5e-6
"""Bounds are known to about eleven digits, gaps therefore to about six decimals."""


@dataclass(slots=True)
class Section:
    """A part of the report: a title, paragraphs and tables, and the checks that its figures went through."""

    title: str
    parts: list[str] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)

    def add_paragraph(self, text: str) -> None:
        """Adds a paragraph."""
        self.parts.append(text)

    def add_list(self, items: Iterable[str]) -> None:
        """Adds a list."""
        self.parts.append("\n".join(f"* {item}" for item in items))

    def add_table(self, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Adds a table; the first column is text, the others figures."""
        lines = [_row(header), _row(["---", *["---:"] * (len(header) - 1)]), *map(_row, rows)]
        self.parts.append("\n".join(lines))

    def check(self, shown: str, *checks: Check) -> str:
        """`shown`, marked where a check fails. The checks are kept."""
        self.checks.extend(checks)
        return shown if all(check.is_met for check in checks) else shown + MISSED

    @property
    def text(self) -> str:
        """The section in Markdown."""
        return "\n\n".join([f"## {self.title}", *self.parts])


def bps(value: float | None) -> str:
    """A gap or difference in basis points: three decimals, or as many as show two digits; noise is zero."""
    if value is None or abs(value) < NOISE_BPS:
        return number(value, 3)
    return number(value, max(3, 1 - floor(log10(abs(value)))))


def ms(value: float | None) -> str:
    """Milliseconds."""
    return number(value, 1)


def number(value: float | None, digits: int) -> str:
    """A figure with that many decimals, without a minus before zero."""
    if value is None:
        return NOTHING
    shown = f"{value:,.{digits}f}"
    return shown.lstrip("-") if not shown.strip("-0.,") else shown


def format_limit(limit: float | None) -> str:
    """A bar; a dash where there is none."""
    return NOTHING if limit is None else f"≤ {limit:g}"


def pair(left: str, right: str) -> str:
    """Two figures in one cell."""
    return f"{left} / {right}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
