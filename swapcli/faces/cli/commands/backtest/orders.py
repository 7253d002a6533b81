"""The orders of a backtest, from a CSV."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from swapcli import BacktestOrder, InvalidInput, SwapcliError, Token
from swapcli.core.encoding.text import printable
from swapcli.faces.cli.files import read_text_lines, shown_name
from swapcli.quoting.amounts import parse_amount, parse_raw_amount

_REQUIRED: Final = ("token_in", "token_out", "amount")
_COLUMNS: Final = (*_REQUIRED, "id")
_SEPARATORS: Final = {";": "semicolons", "\t": "tabs", "|": "vertical bars", ":": "colons", " ": "spaces"}
"""Of other tables than CSV. They are not read: with semicolons, 1,5 is often one and a half."""
_EXAMPLE: Final = "the first line is token_in,token_out,amount and the next one perhaps ETH,USDC,1.5"


def read_orders(name: str, find: Callable[[str], Token], *, raw: bool) -> list[BacktestOrder]:
    """Return the orders of a file; one without an id has the number of its line.

    `find` returns a token by its symbol or address; with `raw`, amounts are in base units. Raises `InvalidInput` with
    the number of a malformed line.
    """
    shown = shown_name(name)
    rows = _read_rows(read_text_lines(name), shown)
    number, row = next(rows, (1, []))
    titles = [title.lower() for title in row]
    _check_titles(shown, number, titles)
    orders: dict[str, BacktestOrder] = {}
    for number, row in rows:
        if len(row) != len(titles):
            raise _invalid(shown, number, _separated(row) or f"has {len(row)} cells instead of {len(titles)}")
        cells = dict(zip(titles, row, strict=True))
        order_id = cells.get("id") or str(number)
        if order_id in orders:
            raise _invalid(shown, number, f'has the id "{printable(order_id)}" of an earlier line')
        try:
            token_in, token_out = find(cells["token_in"]), find(cells["token_out"])
            amount = (
                parse_raw_amount(cells["amount"])
                if raw
                else parse_amount(cells["amount"], token_in.decimals, token_in.symbol)
            )
        except SwapcliError as error:
            error.place = f"line {number} of {shown}"
            raise
        orders[order_id] = BacktestOrder(order_id, token_in, token_out, amount)
    if not orders:
        raise InvalidInput(f"{shown} has no orders", hint=_EXAMPLE)
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
        problem = f"has a cell of over {limit:,} characters" if is_long else f"is not CSV: {error}"
        raise _invalid(shown, rows.line_num, problem) from None


def _check_titles(shown: str, number: int, titles: list[str]) -> None:
    missing = [title for title in _REQUIRED if title not in titles]
    unknown = [title for title in titles if title not in _COLUMNS]
    if missing:
        raise _invalid(shown, number, _separated(titles) or f"has no column {', '.join(missing)}")
    if unknown or len(set(titles)) < len(titles):
        found = f"the column {printable(unknown[0] or 'without a title')}" if unknown else "a column twice"
        raise _invalid(shown, number, f"has {found}")


def _separated(row: list[str]) -> str:
    """Return how the cells of a row are separated if it is not by commas, empty if that is not the fault."""
    text = ",".join(row)
    commas = text.count(",")
    found = next((name for sign, name in _SEPARATORS.items() if text.count(sign) > max(commas, 1)), "")
    return found and f"is separated by {found}, not by commas"


def _invalid(shown: str, number: int, problem: str) -> InvalidInput:
    return InvalidInput(f"line {number} of {shown} {problem}", hint=_EXAMPLE, details={"line": number})
