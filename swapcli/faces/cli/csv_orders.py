"""Read orders from a CSV file, whose first line has the keys of an order as column titles."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from swapcli import InvalidInput
from swapcli.core.encoding.text import printable
from swapcli.quoting.order_keys import (
    AMOUNT,
    INPUT_AMOUNT,
    OUTPUT_AMOUNT,
    TOKEN_IN,
    TOKEN_OUT,
    other_spelling,
    with_current_keys,
)

AMOUNTS: Final = (AMOUNT, INPUT_AMOUNT, OUTPUT_AMOUNT)
"""The amount columns, of which each order has exactly one."""
_TOKENS: Final = (TOKEN_IN, TOKEN_OUT)
_COLUMNS: Final = (*_TOKENS, *AMOUNTS, "id")
_COLUMN_BY_LOWER: Final = {column.lower(): column for column in _COLUMNS}
"""Columns by lowercase title, because spreadsheets may change the case of titles."""
_SEPARATORS: Final = {";": "semicolons", "\t": "tabs", "|": "vertical bars", ":": "colons", " ": "spaces"}
"""Separators of tables that are not CSV. They are not accepted: where semicolons separate cells, 1,5 often means one
and a half."""
EXAMPLE: Final = "the first line must be tokenIn,tokenOut,amount; an example of an order is ETH,USDC,1.5"

_parse_cells: Final = partial(csv.reader, skipinitialspace=True)


def has_titles(line: str) -> bool:
    """Return whether a line is the title line of a CSV file of orders, even with a separator that is not accepted."""
    for separator in _SEPARATORS.keys() & set(line) if "," not in line else ():
        line = line.replace(separator, ",")
    try:
        row = next(_parse_cells([line]), [])
    except csv.Error:
        return False
    return TOKEN_IN in with_current_keys(dict.fromkeys(_titles(row)))


def read_csv_orders(lines: Iterable[str], shown: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the cells of each order by key, with the number of the order's last line. An empty id is omitted.

    Raises `InvalidInput` with the number of a malformed line. `shown` is the file's name in messages.
    """
    rows = _read_rows(lines, shown)
    number, row = next(rows, (1, []))
    titles = _titles(row)
    if len(set(titles)) == len(titles):
        titles = [*with_current_keys(dict.fromkeys(titles))]
    _check_titles(shown, number, titles)
    for number, row in rows:
        if len(row) != len(titles):
            raise invalid_line(shown, number, _separated(row) or f"has {len(row)} cells instead of {len(titles)}")
        cells = dict(zip(titles, row, strict=True))
        yield number, {key: cell for key, cell in cells.items() if cell or key != "id"}


def invalid_line(shown: str, number: int, problem: str) -> InvalidInput:
    """Return the error for a malformed line. `shown` is the file's name in the message."""
    return InvalidInput(f"line {number} of {shown} {problem}", hint=EXAMPLE, details={"line": number})


def _titles(row: list[str]) -> list[str]:
    return [_COLUMN_BY_LOWER.get(title.strip().lower(), title.strip()) for title in row]


def _read_rows(lines: Iterable[str], shown: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the stripped cells of each row that is not blank, with the number of its last line."""
    rows = _parse_cells(lines)
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield rows.line_num, cells
    except csv.Error as error:
        limit = csv.field_size_limit()
        is_long = "field limit" in str(error)
        problem = f"has a cell with more than {limit:,} characters" if is_long else f"is not CSV: {error}"
        raise invalid_line(shown, rows.line_num, problem) from None


def _check_titles(shown: str, number: int, titles: list[str]) -> None:
    other = other_spelling(titles)
    if other is not None:
        raise invalid_line(shown, number, f"has the column {other[0]}, which must be named {other[1]}")
    amounts = [title for title in titles if title in AMOUNTS]
    missing = [title for title in _TOKENS if title not in titles] + ([] if amounts else [AMOUNT])
    unknown = [title for title in titles if title not in _COLUMNS]
    if missing:
        raise invalid_line(shown, number, _separated(titles) or f"has no column {', '.join(missing)}")
    if unknown or len(set(titles)) < len(titles):
        found = f"the column {printable(unknown[0] or 'without a title')}" if unknown else "the same column twice"
        raise invalid_line(shown, number, f"has {found}")
    if len(amounts) > 1:
        raise invalid_line(shown, number, f"has two amounts: {' and '.join(amounts)}")


def _separated(row: list[str]) -> str:
    """Return how a row's cells are separated if not by commas; empty if that is not the fault."""
    text = ",".join(row)
    commas = text.count(",")
    found = next((name for sign, name in _SEPARATORS.items() if text.count(sign) > max(commas, 1)), "")
    return found and f"is separated by {found}, not by commas"
