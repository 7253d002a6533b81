"""Read the orders of a backtest from a CSV."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from swapcli import BacktestOrder, InvalidInput, SwapcliError, Token
from swapcli.core.encoding.text import printable
from swapcli.faces.cli.files import read_text_lines, shown_name
from swapcli.quoting.amounts import parse_amount, parse_raw_amount
from swapcli.quoting.order_keys import AMOUNT, TOKEN_IN, TOKEN_OUT, other_spelling, with_current_keys

_REQUIRED: Final = (TOKEN_IN, TOKEN_OUT, AMOUNT)
_COLUMNS: Final = (*_REQUIRED, "id")
_COLUMN_BY_LOWER: Final = {column.lower(): column for column in _COLUMNS}
"""Spreadsheets may change the case of titles."""
_SEPARATORS: Final = {";": "semicolons", "\t": "tabs", "|": "vertical bars", ":": "colons", " ": "spaces"}
"""Separators of tables other than CSV. They are not read: with semicolons, 1,5 often means one and a half."""
_EXAMPLE: Final = "the first line must be tokenIn,tokenOut,amount; an example of an order is ETH,USDC,1.5"


def read_orders(name: str, find: Callable[[str], Token], *, raw: bool) -> list[BacktestOrder]:
    """Return the orders in a file; an order without an id is numbered by its position, from 1.

    `find` returns a token by its symbol or address; with `raw`, amounts are in base units. Raises `InvalidInput` with
    the number of a malformed line.
    """
    shown = shown_name(name)
    rows = _read_rows(read_text_lines(name), shown)
    number, row = next(rows, (1, []))
    titles = [_COLUMN_BY_LOWER.get(title.lower(), title) for title in row]
    if len(set(titles)) == len(titles):
        titles = [*with_current_keys(dict.fromkeys(titles))]
    _check_titles(shown, number, titles)
    orders: dict[str, BacktestOrder] = {}
    for number, row in rows:
        if len(row) != len(titles):
            raise _invalid(shown, number, _separated(row) or f"has {len(row)} cells instead of {len(titles)}")
        cells = dict(zip(titles, row, strict=True))
        order_id = cells.get("id") or str(len(orders) + 1)
        if order_id in orders:
            raise _invalid(shown, number, f'repeats the id "{printable(order_id)}" of an earlier line')
        try:
            token_in, token_out = find(cells[TOKEN_IN]), find(cells[TOKEN_OUT])
            amount = (
                parse_raw_amount(cells[AMOUNT])
                if raw
                else parse_amount(cells[AMOUNT], token_in.decimals, token_in.symbol)
            )
        except SwapcliError as error:
            error.place = f"line {number} of {shown}"
            raise
        orders[order_id] = BacktestOrder(order_id, token_in, token_out, amount)
    if not orders:
        raise InvalidInput(f"{shown} contains no orders", hint=_EXAMPLE)
    return list(orders.values())


def _read_rows(lines: Iterable[str], shown: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the stripped cells of each row that is not blank, with the number of its last line."""
    rows = csv.reader(lines, skipinitialspace=True)
    try:
        for row in rows:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield rows.line_num, cells
    except csv.Error as error:
        limit = csv.field_size_limit()
        is_long = "field limit" in str(error)
        problem = f"has a cell with more than {limit:,} characters" if is_long else f"is not CSV: {error}"
        raise _invalid(shown, rows.line_num, problem) from None


def _check_titles(shown: str, number: int, titles: list[str]) -> None:
    other = other_spelling(titles)
    if other is not None:
        raise _invalid(shown, number, f"has the column {other[0]}, which must be named {other[1]}")
    missing = [title for title in _REQUIRED if title not in titles]
    unknown = [title for title in titles if title not in _COLUMNS]
    if missing:
        raise _invalid(shown, number, _separated(titles) or f"has no column {', '.join(missing)}")
    if unknown or len(set(titles)) < len(titles):
        found = f"the column {printable(unknown[0] or 'without a title')}" if unknown else "the same column twice"
        raise _invalid(shown, number, f"has {found}")


def _separated(row: list[str]) -> str:
    """Return how a row's cells are separated if not by commas; empty if that is not the fault."""
    text = ",".join(row)
    commas = text.count(",")
    found = next((name for sign, name in _SEPARATORS.items() if text.count(sign) > max(commas, 1)), "")
    return found and f"is separated by {found}, not by commas"


def _invalid(shown: str, number: int, problem: str) -> InvalidInput:
    return InvalidInput(f"line {number} of {shown} {problem}", hint=_EXAMPLE, details={"line": number})
