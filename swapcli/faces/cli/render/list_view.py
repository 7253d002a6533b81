"""The view of a list, for all its formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from swapcli.core.records import NamedTuple

READABLE_WIDTH = 12
"""The width below which cells are too short to be useful. It fits a short id, an amount in USD, and most symbols."""


class Column(NamedTuple):
    """A column of a list, and what happens to it if the table is wider than the terminal.

    First, all columns with `goes_below` become a separate list, together with the first column. Then cells are
    shortened to `readable_width` at their end, or in the middle with `keeps_end`. Columns that are `is_whole` are not
    shortened, and addresses only in columns with `has_pool_ids`, whose ids nobody copies from a list. If that is not
    enough, columns with a `drop_order` are omitted, 1 first. A column that `is_symbol` has a token's symbol as its
    title.

    Example: `Column("decimals", is_whole=True, drop_order=1)`.
    """

    title: str
    readable_width: int = READABLE_WIDTH
    is_whole: bool = False
    drop_order: int = 0
    goes_below: bool = False
    keeps_end: bool = False
    has_pool_ids: bool = False
    is_symbol: bool = False

    @property
    def heading(self) -> str:
        """The title as a heading, in sentence case. A token's symbol stays unchanged."""
        return self.title if self.is_symbol else self.title[:1].upper() + self.title[1:]


@dataclass(frozen=True, slots=True)
class ListView:
    """Rows with column titles.

    `links` has, for each row, the explorer pages of its cells by column title. It may be empty.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    links: tuple[Mapping[str, str], ...] = ()

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the columns."""
        return tuple(column.title for column in self.columns)

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings of the columns, the same in every format for people."""
        return tuple(column.heading for column in self.columns)

    def without_empty_columns(self) -> ListView:
        """Return the list without the columns in which every cell is empty or "-". The first column is kept."""
        shown = [
            number
            for number in range(len(self.columns))
            if not number or not self.rows or any(row[number] not in ("", "-") for row in self.rows)
        ]
        if len(shown) == len(self.columns):
            return self
        rows = tuple(tuple(row[number] for number in shown) for row in self.rows)
        return replace(self, columns=tuple(self.columns[number] for number in shown), rows=rows)
