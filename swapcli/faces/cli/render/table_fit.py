"""Tables with one line per row: cells are shortened, and columns omitted, until they fit the terminal.

`Column` defines what happens to each column, and in which order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from swapcli.core.encoding.text import ELLIPSIS, shorten_id
from swapcli.core.records import NamedTuple
from swapcli.faces.cli.render.list_view import Column, ListView

LEAST_WIDTH = 5
"""Room for two characters and the three dots of an ASCII ellipsis."""
TITLE_WIDTH = 18
"""The length of the longest column title in this program. Titles that are token symbols can be longer."""
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40,64}")
_NUMBER = re.compile(r"([-+<~$]*)([0-9][0-9,]*)(?:\.([0-9]+))?(%?(?: \S+)?)")


class FittedTable(NamedTuple):
    """A table that fits: the numbers of its columns, and its rows, titles first.

    `dropped` and `shortened` are the titles of omitted and of shortened columns.
    """

    columns: tuple[int, ...]
    rows: tuple[tuple[str, ...], ...]
    dropped: tuple[str, ...] = ()
    shortened: tuple[str, ...] = ()


def fit_list(
    listing: ListView, width: int, gap: int, cell_width: Callable[[str], int] = len
) -> tuple[FittedTable, ...] | None:
    """Fit a list into `width`, as one table, or as two tables if some columns go below the others. Return None if the
    width is too small."""
    widths = {number: _measure(listing, number, cell_width) for number in range(len(listing.columns))}
    parts = [widths]
    below = [number for number, each in widths.items() if each.column.goes_below]
    if below and _total([each.natural for each in widths.values()], gap) > width:
        parts = [
            {number: each for number, each in widths.items() if number not in below},
            {number: each for number, each in widths.items() if number in (0, *below)},
        ]
    fitted = [_fit(listing, part, width, gap, cell_width) for part in parts]
    return tuple(table for table in fitted if table) if all(fitted) else None


def shorten_cell(text: str, width: int, cell_width: Callable[[str], int] = len, *, keeps_end: bool = False) -> str:
    """Shorten a text to `width` with an ellipsis.

    Addresses in the text first become short ids. Numbers keep all digits before the decimal point, or become powers of
    ten: a number with missing digits would look like a smaller one.
    """
    if cell_width(text) <= width:
        return text
    text = _ADDRESS.sub(lambda found: shorten_id(found[0]), text)
    if cell_width(text) <= width:
        return text
    room = width - cell_width(ELLIPSIS)
    if number := _NUMBER.fullmatch(text):
        return _shorten_number(number, width, cell_width)
    end = _last(text, room // 2, cell_width) if keeps_end else ""
    return _first(text, room - cell_width(end), cell_width).rstrip() + ELLIPSIS + end


def _shorten_number(number: re.Match[str], width: int, cell_width: Callable[[str], int]) -> str:
    sign, whole, decimals, unit = number.groups()
    room = width - cell_width(f"{sign}{whole}.{ELLIPSIS}{unit}")
    if decimals and room >= 0:
        return f"{sign}{whole}.{decimals[:room]}{ELLIPSIS}{unit}"
    value = Decimal(whole.replace(",", ""))
    for text in (f"{sign}{value:.3e}{unit}", f"{sign}{value:.3e}", f"{sign}{value:.0e}"):
        if value and cell_width(text) <= width:
            return text
    return ELLIPSIS


class _Widths(NamedTuple):
    """The widths of a column: of its title, its widest cell, and its widest address."""

    column: Column
    title: int
    cells: int
    addresses: int

    @property
    def natural(self) -> int:
        """The width with nothing shortened."""
        return max(self.title, self.cells)

    def least(self, *, is_readable: bool) -> int:
        """Return how narrow the column may become, with or without readable cells."""
        if self.column.is_whole:
            return self.natural
        addresses = 0 if self.column.has_pool_ids else self.addresses
        if not is_readable:
            return min(self.natural, max(LEAST_WIDTH, addresses))
        return min(self.natural, max(self.column.readable_width, min(self.title, TITLE_WIDTH), addresses))


def _measure(listing: ListView, number: int, cell_width: Callable[[str], int]) -> _Widths:
    cells = [row[number] for row in listing.rows]
    widths = [cell_width(cell) for cell in cells]
    addresses = (width for cell, width in zip(cells, widths, strict=True) if _ADDRESS.fullmatch(cell))
    column = listing.columns[number]
    return _Widths(column, cell_width(column.title), max(widths, default=0), max(addresses, default=0))


def _fit(
    listing: ListView, widths: Mapping[int, _Widths], width: int, gap: int, cell_width: Callable[[str], int]
) -> FittedTable | None:
    """Fit the measured columns; None if they are too wide even with everything dropped and shortened."""
    droppable = sorted(
        (number for number, each in widths.items() if each.column.drop_order),
        key=lambda number: widths[number].column.drop_order,
    )
    attempts = [(droppable[:count], True) for count in range(len(droppable) + 1)]
    for dropped, is_readable in [*attempts, (droppable, False)]:
        shown = [number for number in widths if number not in dropped]
        least = [widths[number].least(is_readable=is_readable) for number in shown]
        if _total(least, gap) <= width:
            room = _widened(least, [widths[number].natural for number in shown], width - _total(least, gap))
            break
    else:
        return None
    rows = tuple(
        tuple(
            shorten_cell(row[number], most, cell_width, keeps_end=listing.columns[number].keeps_end)
            for number, most in zip(shown, room, strict=True)
        )
        for row in (listing.headings, *listing.rows)
    )
    return FittedTable(
        tuple(shown),
        rows,
        tuple(each.column.title for number, each in widths.items() if number in dropped),
        tuple(widths[n].column.title for n, most in zip(shown, room, strict=True) if most < widths[n].cells),
    )


def _total(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _widened(least: Sequence[int], natural: Sequence[int], room: int) -> list[int]:
    """Return widths between `least` and `natural` that use the room; the narrowest columns grow first."""
    widths = list(least)
    for _ in range(room):
        growing = [number for number, width in enumerate(widths) if width < natural[number]]
        if not growing:
            break
        widths[min(growing, key=lambda number: widths[number])] += 1
    return widths


def _first(text: str, width: int, cell_width: Callable[[str], int]) -> str:
    """Return as much of a text's beginning as fits."""
    end = len(text)
    while end and cell_width(text[:end]) > width:
        end -= 1
    return text[:end]


def _last(text: str, width: int, cell_width: Callable[[str], int]) -> str:
    """Return as much of a text's end as fits."""
    start = 0
    while start < len(text) and cell_width(text[start:]) > width:
        start += 1
    return text[start:]
