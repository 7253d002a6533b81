"""The view of a list, for all its formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from swapcli.core.records import NamedTuple

READABLE_WIDTH = 12
"""A narrower cell is too short to be useful; this fits a short id, an amount in USD, and most symbols."""


class Column(NamedTuple):
    """A column of a list, and how it changes in a table wider than its terminal.

    First, all columns with `goes_below` become a separate list, together with the first column. Then cells are
    shortened to `readable_width`, unless they are addresses or `is_whole`: at their end, or with `keeps_end` in the
    middle. If that is not enough, columns with a `drop_order` are omitted, 1 first. Addresses are shortened only in
    columns with `has_pool_ids`: pool ids, and others that nobody copies from a list. A column that `is_symbol`
    has a token's symbol as its title.

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
        """The title as a heading, in sentence case; a token's symbol unchanged."""
        return self.title if self.is_symbol else self.title[:1].upper() + self.title[1:]


@dataclass(frozen=True, slots=True)
class ListView:
    """Rows with column titles.

    `links` are the cells' pages in the network's explorer, by column title, for each row; they may be omitted.
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
        """Return the list without columns, except the first, in which all cells are empty or "-"."""
        shown = [
            number
            for number in range(len(self.columns))
            if not number or not self.rows or any(row[number] not in ("", "-") for row in self.rows)
        ]
        if len(shown) == len(self.columns):
            return self
        rows = tuple(tuple(row[number] for number in shown) for row in self.rows)
        return replace(self, columns=tuple(self.columns[number] for number in shown), rows=rows)
