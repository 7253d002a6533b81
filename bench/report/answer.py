"""The answer to a question of the benchmark: rows for the page, and sections with all values for the history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from bench.report.tables import MISSED, NOTHING, Section, format_figure, ratio
from bench.report.thresholds import Check

_BETWEEN = " / "


class Row(NamedTuple):
    """A figure on the page: its threshold, the value reached, and the peer's value in the same run."""

    figure: str
    bar: str
    reached: str
    peer: str = NOTHING
    to_peer: str = NOTHING
    """Ours as a multiple of the peer's."""

    @property
    def is_met(self) -> bool:
        """Whether no part of the figure misses its threshold."""
        return MISSED not in self.reached


class Table(NamedTuple):
    """A section of the page. `text` explains its figures."""

    title: str
    text: str
    rows: Sequence[Row]

    @property
    def has_peer(self) -> bool:
        """Whether any of the figures has a value for the peer."""
        return any(row.peer != NOTHING for row in self.rows)


class Answer(NamedTuple):
    """The page's tables and the history's sections; `omitted` says what could not be measured, and why."""

    tables: Sequence[Table]
    sections: Sequence[Section]
    omitted: Sequence[str] = ()


def row(
    figure: str,
    *values: Check | float,
    show: Callable[[float], str] = format_figure,
    peer: Sequence[float] = (),
) -> Row:
    """Return the row for a figure with one or more values; values that are not checks have no threshold."""
    checks = [value if isinstance(value, Check) else None for value in values]
    plain = [value.value if isinstance(value, Check) else value for value in values]
    marks = [MISSED if check and not check.is_met else "" for check in checks]
    bars = [f"{'≥' if check.is_floor else '≤'} {_limit(check.limit)}" if check else NOTHING for check in checks]
    return Row(
        figure,
        _BETWEEN.join(bars) if any(checks) else NOTHING,
        _BETWEEN.join(show(value) + mark for value, mark in zip(plain, marks, strict=True)),
        _BETWEEN.join(map(show, peer)) or NOTHING,
        _BETWEEN.join(ratio(ours, theirs) for ours, theirs in zip(plain, peer, strict=False)) or NOTHING,
    )


def counted(what: str, count: int, of: int) -> Row:
    """Return the row for a count that must reach its total."""
    return Row(what, f"all of {of:,}", f"{count:,}{'' if count == of else MISSED}")


def _limit(limit: float) -> str:
    """Format a threshold, which is a round number unless it is one of the peer's figures."""
    return f"{limit:,.10g}" if limit == round(limit, 3) else format_figure(limit)
