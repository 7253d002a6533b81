"""Read the orders of a backtest: a CSV, or one JSON order per line as for `swapcli route --batch`."""

from __future__ import annotations

from collections.abc import Callable

from swapcli import BacktestOrder, InvalidInput, SwapcliError, Token
from swapcli.core.encoding.text import printable
from swapcli.faces.cli.csv_orders import EXAMPLE, invalid_line
from swapcli.faces.cli.files import read_lines, shown_name
from swapcli.faces.cli.order_entries import parse_order, read_entries
from swapcli.quoting.amounts import parse_amount, parse_raw_amount


def read_orders(name: str, find: Callable[[str], Token], *, raw: bool) -> list[BacktestOrder]:
    """Return the orders in a file. An order without an id gets a number, as in `read_entries`.

    `find` returns a token by its symbol or address. With `raw`, amounts are in base units. Raises `InvalidInput` with
    the number of a malformed line.
    """
    shown = shown_name(name)
    orders: dict[str, BacktestOrder] = {}
    for number, entry in read_entries(read_lines(name), shown, expects_csv=True):
        order_id = str(entry["id"])
        if order_id in orders:
            raise invalid_line(shown, number, f'repeats the id "{printable(order_id)}" of an earlier line')
        try:
            order = parse_order(entry)
            token_in, token_out = find(order.token_in), find(order.token_out)
            if isinstance(order.amount, int):
                amount = order.amount
            elif raw:
                amount = parse_raw_amount(order.amount)
            else:
                amount = parse_amount(order.amount, token_in.decimals, token_in.symbol)
        except SwapcliError as error:
            error.place = f"line {number} of {shown}"
            raise
        orders[order_id] = BacktestOrder(order_id, token_in, token_out, amount)
    if not orders:
        raise InvalidInput(f"{shown} contains no orders", hint=EXAMPLE)
    return list(orders.values())
