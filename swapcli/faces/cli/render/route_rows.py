"""Lay out a route in lines of a given width: its head, and one line for each pool or path.

If a row has no room for its pool's address, all addresses go to a legend below the rows. On a terminal too narrow for a
pool's name, the parts of the row are stacked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from swapcli.core.records import NamedTuple
from swapcli.faces.cli.render.columns import Cell, Line, wrap_words
from swapcli.faces.cli.render.quote_facts import HeadRow
from swapcli.faces.cli.render.route_view import SwapRow
from swapcli.faces.cli.render.table_fit import shorten_cell

SEGMENT, PATH, SHARE, POOL, MARK, AMOUNT = range(6)
"""The column indexes of the route table."""
HEAD_NAME, HEAD_VALUE, HEAD_BESIDE, HEAD_LAST = range(4)
"""The column indexes of the head."""
_GAP, _WIDE_GAP = 2, 3
_MIN_WIDTH = 60
"""The minimum width of a row. On a narrower terminal, its parts are stacked."""
_MIN_POOL_WIDTH = 18
_LAST_START = 47
"""The column at which the head's last facts begin, if there is room."""


class RouteRows(NamedTuple):
    """The lines of rows, and the entries of the legend: addresses that have no room in the rows."""

    lines: tuple[Line, ...]
    legend: tuple[str, ...] = ()


def lay_out_head(head: Sequence[HeadRow], width: int | None, cell_width: Callable[[str], int] = len) -> list[Line]:
    """Return the lines of the head, aligned in columns; parts that do not fit go below."""
    widths = [max(cell_width(row[column]) for row in head) for column in range(4)]
    start = 2 + widths[HEAD_NAME] + 1 + widths[HEAD_VALUE] + _WIDE_GAP
    last = max(widths[HEAD_LAST], 1)
    natural = start + widths[HEAD_BESIDE] + _WIDE_GAP
    if width is None or natural + last <= width:
        last_start = max(natural, _LAST_START if width is None else min(_LAST_START, width - last))
        starts = (2, 3 + widths[HEAD_NAME], start, last_start)
        return [Line(number, tuple(place(row, starts, cell_width))) for number, row in enumerate(head)]
    return [
        Line(number, (Cell(column, 2, f"{row.name} {text}" if column == HEAD_VALUE else text),))
        for number, row in enumerate(head)
        for column, text in enumerate(row)
        if column != HEAD_NAME and text
    ]


def place(texts: Sequence[str], starts: Sequence[int], cell_width: Callable[[str], int]) -> Iterator[Cell]:
    """Yield the cells of a line, which begin at `starts`."""
    end = 0
    for column, (text, start) in enumerate(zip(texts, starts, strict=True)):
        if text:
            yield Cell(column, start - end, text)
            end = start + cell_width(text)


def lay_out_rows(rows: Sequence[SwapRow], width: int | None, cell_width: Callable[[str], int] = len) -> RouteRows:
    """Return the lines of a route's rows, at most `width` wide unless a single word is wider."""
    if not rows:
        return RouteRows(())
    if width is None or width >= _MIN_WIDTH:
        if lines := _fitted(rows, width, cell_width):
            return RouteRows(tuple(lines))
        assert width is not None
        addresses = dict.fromkeys(row.mark for row in rows if row.link or "0x" in row.mark)
        numbers = {address: f"#{number}" for number, address in enumerate(addresses, start=1)}
        marked = [replace(row, mark=numbers.get(row.mark, row.mark)) for row in rows]
        if lines := _fitted(marked, width, cell_width, least=_MIN_POOL_WIDTH):
            return RouteRows(tuple(lines), tuple(f"{number} {address}" for address, number in numbers.items()))
    return RouteRows(tuple(_stacked(rows, width or _MIN_WIDTH, cell_width)))


def _fitted(
    rows: Sequence[SwapRow], width: int | None, cell_width: Callable[[str], int], *, least: int | None = None
) -> list[Line] | None:
    """Return one line for each row, and more for the pools of a long path; None if a row is wider than `width`.

    Long paths may use a share's room, and gaps become narrower. Pool names are shortened to no less than `least`.
    """
    has_share = [row for row in rows if row.share] or rows
    for path_rows, gap, wide_gap in ((rows, _GAP, _WIDE_GAP), (has_share, _GAP, _WIDE_GAP), (has_share, 1, 1)):
        path_width = max(cell_width(row.path) for row in path_rows)
        columns = _Columns.of(rows, path_width, gap, wide_gap, cell_width)
        if width is None or columns.end <= width:
            return list(columns.lines(rows, width, cell_width))
    excess = columns.end - (width or 0)
    if least is None or columns.pool_width - excess < least:
        return None
    room = columns.pool_width - excess
    cut = [
        replace(row, pool=shorten_cell(row.pool, room, cell_width, keeps_end=True)) if _is_tabular(row) else row
        for row in rows
    ]
    return list(_Columns.of(cut, path_width, gap, wide_gap, cell_width).lines(cut, width, cell_width))


def _is_tabular(row: SwapRow) -> bool:
    """Return whether a row's pool is in a column; names of several pools may take all the room."""
    return bool(row.mark or row.amount)


class _Columns(NamedTuple):
    """The columns at which a route's parts begin, and the end of the widest row."""

    segment_width: int
    path: int
    share: int
    share_width: int
    pool: int
    pool_width: int
    mark: int
    amount: int
    amount_width: int

    @property
    def end(self) -> int:
        return self.amount + self.amount_width

    @classmethod
    def of(
        cls, rows: Sequence[SwapRow], path_width: int, gap: int, wide_gap: int, cell_width: Callable[[str], int]
    ) -> _Columns:
        """Measure the rows."""

        def widest(texts: Iterable[str]) -> int:
            return max(map(cell_width, texts), default=0)

        segment_width, share_width = widest(row.segment for row in rows), widest(row.share for row in rows)
        path = segment_width + gap
        share = path + path_width + gap
        pool = share + share_width + gap * bool(share_width)
        pool_width = widest(row.pool for row in rows if _is_tabular(row))
        mark = pool + pool_width + wide_gap * bool(pool_width)
        mark_width, amount_width = widest(row.mark for row in rows), widest(row.amount for row in rows)
        amount = mark + mark_width + gap * bool(amount_width)
        return cls(segment_width, path, share, share_width, pool, pool_width, mark, amount, amount_width)

    def lines(self, rows: Sequence[SwapRow], width: int | None, cell_width: Callable[[str], int]) -> Iterator[Line]:
        """Yield the lines of the rows."""
        for number, row in enumerate(rows):
            pools, starts = [row.pool], self._starts(row, cell_width)
            if not _is_tabular(row) and width is not None:
                if width - starts[POOL] < min(_MIN_POOL_WIDTH, cell_width(row.pool)):
                    starts[POOL] = self.path + _GAP
                    pools = ["", *wrap_words(row.pool, width - starts[POOL], cell_width)]
                else:
                    pools = wrap_words(row.pool, width - starts[POOL], cell_width)
            for position, pool in enumerate(pools):
                whole = (row.segment, row.path, row.share, pool, row.mark, row.amount)
                texts = ("", "", "", pool, "", "") if position else whole
                yield Line(number, tuple(place(texts, starts, cell_width)))

    def _starts(self, row: SwapRow, cell_width: Callable[[str], int]) -> list[int]:
        pool = max(self.pool, self.path + cell_width(row.path) + _GAP) if not row.share else self.pool
        return [
            self.segment_width - cell_width(row.segment),
            self.path,
            self.share + self.share_width - cell_width(row.share),
            pool,
            self.mark,
            self.end - cell_width(row.amount),
        ]


def _stacked(rows: Sequence[SwapRow], width: int, cell_width: Callable[[str], int]) -> Iterator[Line]:
    """Yield the lines of rows, with the path on one line and each pool below it."""
    for number, row in enumerate(rows):
        if row.path:
            segment = [row.segment] * bool(row.segment)
            for text in wrap_words(" ".join([*segment, row.path]), width, cell_width):
                yield Line(number, (Cell(PATH, 0, text),))
        pool = " ".join(filter(None, [row.share, row.pool, row.mark, row.amount]))
        for position, text in enumerate(wrap_words(pool, width - 4, cell_width) if pool else ()):
            yield Line(number, (Cell(POOL, 4 if position else 2, text),))
