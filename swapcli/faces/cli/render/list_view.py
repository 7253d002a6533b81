"""The view of a list, for all its formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from swapcli.core.records import NamedTuple

READABLE_WIDTH = 12
"""Less of a cell says too little; it is enough for a short id, an amount of USD, and most symbols."""


class Column(NamedTuple):
    """A column of a list, and what becomes of it in a table that is wider than its terminal.

    First all columns with `goes_below` become a list of their own, beside the first column. Then cells are shortened to
    `readable_width`, unless they are addresses or `is_whole`: at their end, or with `keeps_end` in the middle. If that
    is not enough, columns with a `drop_order` are left out, 1 first. Addresses are shortened only where they are ids of
    pools, in columns that have `has_pool_ids`.

    Example: `Column("decimals", is_whole=True, drop_order=1)`.
    """

    title: str
    readable_width: int = READABLE_WIDTH
    is_whole: bool = False
    drop_order: int = 0
    goes_below: bool = False
    keeps_end: bool = False
    has_pool_ids: bool = False


@dataclass(frozen=True, slots=True)
class ListView:
    """Rows with column titles.

    `links` are the pages about cells in the explorer of the network, by the title of the column, for each row; they may
    be left out.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    links: tuple[Mapping[str, str], ...] = ()

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the columns."""
        return tuple(column.title for column in self.columns)
