"""The width of a terminal, and text wrapped between words to fit it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from swapcli.faces.cli.render.columns import wrap_words
from swapcli.state.environment import variable

if TYPE_CHECKING:
    from typing import TextIO

DEFAULT_WIDTH = 80
_WIDTHS = range(1, 10_001)
"""Valid values of `COLUMNS`. Some tools set it to 0 for an unknown width, so 0 counts as not set, like any invalid
value."""
_CODE_ROW = re.compile(r"(  [A-Z][A-Z_]+ {2,})(\S.*)")
_TABLE_ROW = re.compile(r"( +\S+(?: \S+)* {2,})(\S.*)")


def terminal_width(*streams: TextIO) -> int:
    """Return the terminal's width in columns: from `COLUMNS`, otherwise from the first stream with a width, otherwise
    80."""
    columns = variable(os.environ, "COLUMNS")
    if columns.isascii() and columns.isdigit() and len(columns) < 10 and int(columns) in _WIDTHS:
        return int(columns)
    for stream in streams:
        try:
            width = os.get_terminal_size(stream.fileno()).columns
        except (OSError, ValueError):
            continue
        if width:
            return width
    return DEFAULT_WIDTH


def wrap_message(text: str, width: int) -> str:
    """Wrap each line of a message. Continuation lines are indented."""
    lines = (wrap_words(line, width - 2) if len(line) > width else [line] for line in text.splitlines())
    return "\n".join("\n  ".join(parts) for parts in lines)


def reflow(text: str, width: int) -> str:
    """Fit a page's paragraphs and tables to a width, and align lists of codes. Code lines stay unchanged."""
    lines = list(_aligned(text.splitlines()))
    if max(map(len, lines), default=0) > width:
        lines = list(_reflowed(lines, width))
    return "".join(f"{line}\n" for line in lines)


def _aligned(lines: list[str]) -> Iterator[str]:
    """Yield the lines; in a paragraph whose lines begin with codes, their texts start in the same column.

    A topic's texts start after its usual codes; longer ones move the texts of their paragraph.
    """
    for _, paragraph in groupby(lines, key=bool):
        group = list(paragraph)
        starts = {match.end(1) for line in group if (match := _CODE_ROW.fullmatch(line))}
        if len(starts) < 2:
            yield from group
            continue
        column, continued = max(starts), " " * min(starts)
        for line in group:
            row = _CODE_ROW.fullmatch(line)
            text = row[2] if row else line.removeprefix(continued)
            yield line if text == line else (row[1] if row else "").ljust(column) + text


def _reflowed(lines: list[str], width: int) -> Iterator[str]:
    head = block = ""
    for line in lines:
        indented = len(line) - len(line.lstrip())
        row = _TABLE_ROW.fullmatch(line)
        if block and line and indented == len(head) and not row:
            block += f" {line.strip()}"
            continue
        if block:
            yield from _wrapped(head, block, width)
        is_prose = bool(line) and not indented and line != line.upper()
        head, block = (row[1], row[2]) if row else ("", line) if is_prose else ("", "")
        if not block:
            yield line
    if block:
        yield from _wrapped(head, block, width)


def _wrapped(head: str, text: str, width: int) -> Iterator[str]:
    """Yield a paragraph, or the row of a table whose first column is `head`."""
    first, *rest = wrap_words(text, max(width - len(head), 1))
    yield head + first
    yield from (" " * len(head) + line for line in rest)
