"""The orders of a backtest, from a CSV."""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import Final

from swapcli.core.encoding.text import printable
from swapcli.core.errors import InvalidInput, SwapcliError
from swapcli.core.model.token import Token
from swapcli.faces.cli.files import STDIN, read_lines
from swapcli.quoting.amounts import parse_amount, parse_raw_amount
from swapcli.quoting.backtest import BacktestOrder

_REQUIRED: Final = ("token_in", "token_out", "amount")
_COLUMNS: Final = (*_REQUIRED, "id")
_EXAMPLE: Final = "the first line is token_in,token_out,amount and the next one perhaps ETH,USDC,1.5"


def read_orders(name: str, find: Callable[[str], Token], *, raw: bool) -> list[BacktestOrder]:
    """Return the orders of a file; one without an id has the number of its line.

    `find` returns a token by its symbol or address; with `raw`, amounts are in base units. Raises `InvalidInput` with
    the number of a malformed line.
    """
    shown = "stdin" if name == STDIN else name
    lines = (line.decode("utf-8", errors="replace") for line in read_lines(name))
    rows = csv.reader(lines, skipinitialspace=True)
    titles = [title.strip().lower() for title in next(rows, [])]
    _check_titles(shown, titles)
    orders: dict[str, BacktestOrder] = {}
    for row in rows:
        number = rows.line_num
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(titles):
            raise _invalid(shown, number, f"has {len(row)} cells instead of {len(titles)}")
        cells = {title: cell.strip() for title, cell in zip(titles, row, strict=True)}
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


def _check_titles(shown: str, titles: list[str]) -> None:
    missing = [title for title in _REQUIRED if title not in titles]
    unknown = [title for title in titles if title not in _COLUMNS]
    if missing:
        raise _invalid(shown, 1, f"has no column {', '.join(missing)}")
    if unknown or len(set(titles)) < len(titles):
        found = f"the column {printable(unknown[0] or 'without a title')}" if unknown else "a column twice"
        raise _invalid(shown, 1, f"has {found}")


def _invalid(shown: str, number: int, problem: str) -> InvalidInput:
    return InvalidInput(f"line {number} of {shown} {problem}", hint=_EXAMPLE, details={"line": number})
