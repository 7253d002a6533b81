"""Fit columns to a width: words and addresses stay whole, and columns that do not fit get separate lines.

`cell_width` measures everything; it knows that some characters take two terminal cells.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import zip_longest

from swapcli.core.records import NamedTuple

COMFORTABLE_WIDTH = 24  # prose in a narrower column is hard to read


class Cell(NamedTuple):
    """A part of a line: its column, the number of blanks before it, and its text."""

    column: int
    blanks: int
    text: str


class Line(NamedTuple):
    """A line of a row. `row` counts from zero; a row has several lines if it does not fit on one."""

    row: int
    cells: tuple[Cell, ...]


def lay_out(
    rows: Sequence[Sequence[str]],
    width: int,
    cell_width: Callable[[str], int] = len,
    *,
    right: Collection[int] = (),
    gap: int = 1,
    indent: int = 2,
    first_width: int = 0,
) -> Iterator[Line]:
    """Yield the lines of rows in columns that are at most `width` wide, unless a single word is wider.

    Columns in `right` are aligned to the right. Columns that do not fit into `width` go below the others, `indent`
    further right. `gap` is the number of blanks between columns, and `first_width` the minimum width of the first
    column.
    """
    columns = list(zip(*rows, strict=True))
    natural = [max(map(cell_width, column), default=0) for column in columns]
    if natural:
        natural[0] = max(natural[0], first_width)
    longest = [max((cell_width(word) for cell in column for word in cell.split(" ")), default=0) for column in columns]
    least = [min(whole, max(word, COMFORTABLE_WIDTH)) for whole, word in zip(natural, longest, strict=True)]
    groups = _groups(least, width, gap, indent)
    for number, row in enumerate(rows):
        for position, group in enumerate(groups):
            room, shift = (width - indent, indent) if position else (width, 0)
            widths = dict(
                zip(group, _shrunk([natural[c] for c in group], [least[c] for c in group], room, gap), strict=True)
            )
            cells = [wrap_words(row[column], widths[column], cell_width) for column in group]
            for texts in zip_longest(*cells, fillvalue=""):
                if any(texts) or not position:
                    placed = _placed(dict(zip(group, texts, strict=True)), widths, right, gap, shift, cell_width)
                    yield Line(number, tuple(_within(placed, width, cell_width)))


def wrap_words(text: str, width: int, cell_width: Callable[[str], int] = len) -> list[str]:
    """Break a text between words into lines of at most `width`. A wider word is a line of its own."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and cell_width(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _groups(least: Sequence[int], width: int, gap: int, indent: int) -> list[list[int]]:
    """Split the columns, without empty ones, into groups that fit on a line."""
    groups: list[list[int]] = [[]]
    used = 0
    for column, needed in enumerate(least):
        if not needed:
            continue
        room = width - indent if len(groups) > 1 else width
        if groups[-1] and used + gap + needed > room:
            groups.append([])
        used = used + gap + needed if groups[-1] else needed
        groups[-1].append(column)
    return groups


def _shrunk(natural: Sequence[int], least: Sequence[int], room: int, gap: int) -> list[int]:
    """Return widths between `least` and `natural` that fit into `room`; the widest columns shrink first."""
    widths = list(natural)
    excess = sum(widths) + gap * (len(widths) - 1) - room
    for column in sorted(range(len(widths)), key=lambda column: least[column] - natural[column]):
        cut = min(max(excess, 0), widths[column] - least[column])
        widths[column] -= cut
        excess -= cut
    return [min(width, room) if len(widths) == 1 else width for width in widths]


def _placed(
    texts: dict[int, str],
    widths: dict[int, int],
    right: Collection[int],
    gap: int,
    shift: int,
    cell_width: Callable[[str], int],
) -> Iterator[Cell]:
    """Yield the cells of a line with the blanks that align them, without trailing blanks."""
    blanks = shift
    for column, text in texts.items():
        padding = max(widths[column] - cell_width(text), 0)
        if text:
            yield Cell(column, blanks + (padding if column in right else 0), text)
            blanks = gap + (0 if column in right else padding)
        else:
            blanks += widths[column] + gap


def _within(cells: Iterator[Cell], width: int, cell_width: Callable[[str], int]) -> Iterator[Cell]:
    """Drop the indentation of a word that is alone on its line and fits only without it."""
    placed = list(cells)
    if len(placed) == 1 and placed[0].blanks + cell_width(placed[0].text) > width:
        placed = [placed[0]._replace(blanks=0)]
    yield from placed
