"""The results file of a backtest. An interrupted backtest can resume and append the missing quotes."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, Final

from swapcli import BacktestOrder, BacktestQuote, InvalidInput, Network
from swapcli.core.encoding.disk_errors import write_error
from swapcli.core.encoding.json_text import to_json
from swapcli.core.model.quote import GasValueSource
from swapcli.faces.cli.output import FormatOptions, OutputFormat
from swapcli.faces.cli.output_file import format_of_file
from swapcli.faces.cli.render.csv_order import ORDER_COLUMNS, order_columns
from swapcli.faces.cli.render.csv_text import cell_text, csv_lines
from swapcli.faces.cli.results_file import RESULTS, open_results_file
from swapcli.quoting.backtest import QUOTE_FIELDS

CSV_COLUMNS: Final = (
    *QUOTE_FIELDS[:3], *ORDER_COLUMNS, *(each for each in QUOTE_FIELDS[3:] if each not in ORDER_COLUMNS),
)  # fmt: skip
_FORMATS: Final = (OutputFormat.JSON, OutputFormat.CSV)


def csv_rows(
    quotes: Iterable[BacktestQuote], orders: Iterable[BacktestOrder], network: Network
) -> list[dict[str, object]]:
    """Return quotes as rows of a CSV, with the columns that describe their orders."""
    by_id = {order.id: order for order in orders}
    pairs = ((quote, by_id[quote.order_id]) for quote in quotes)
    return [
        {**quote.document(order), **order_columns(network, order.token_in, order.token_out)} for quote, order in pairs
    ]


class BacktestResults:
    """An open results file for a network. Rows are written one block at a time."""

    def __init__(self, name: str, file: BinaryIO, network: Network) -> None:
        self._name, self._file, self._network = name, file, network
        # The format of the summary on stdout may differ.
        self._is_csv = format_of_file(name, FormatOptions(), _FORMATS, option=RESULTS) == OutputFormat.CSV
        self._is_empty = True

    def read_earlier(
        self, blocks: Sequence[int], orders: Sequence[BacktestOrder], quote: Callable[[int], list[BacktestQuote]]
    ) -> list[BacktestQuote]:
        """Return the quotes of all blocks that are complete in the file, and remove an incomplete block at its end.

        `quote` is called for the last complete block. Raises `InvalidInput` if it returns other results than the file
        has, or if the rows in the file do not match this backtest's orders and blocks.
        """
        found: list[BacktestQuote] = []
        size = 0
        self._file.seek(0)
        header = f"{csv_lines(CSV_COLUMNS, ())}\n".encode() if self._is_csv else b""
        first = self._file.read(len(header))
        if not header.startswith(first):
            raise self._foreign(1)
        end = size = len(header) if first == header else 0
        pending: list[BacktestQuote] = []
        for number, line in enumerate(self._file, start=1 + bool(header)):
            if not line.endswith(b"\n"):
                break
            end += len(line)
            place = len(found) + len(pending)
            if place >= len(blocks) * len(orders):
                raise self._foreign(number)
            block, order = blocks[place // len(orders)], orders[place % len(orders)]
            written_id = cell_text(order.id) if self._is_csv else order.id
            row = self._parse(line, number)
            if (row.block, row.order_id, row.amount_in) != (block, written_id, order.amount_in):
                raise self._foreign(number)
            pending.append(row._replace(order_id=order.id))
            if len(pending) == len(orders):
                found += pending
                pending, size = [], end
        self._file.truncate(size)
        self._file.seek(0, 2)
        self._is_empty = size == 0
        if found and not _are_equal(last := found[-len(orders) :], quote(last[0].block)):
            raise InvalidInput(
                f"the results of block {last[0].block:,} in {self._name} differ from a fresh run: the settings, the "
                "known pools or the orders have changed",
                hint="restore the earlier ones, or write to a new file",
                details={"block": last[0].block},
            )
        return found

    def write(self, quotes: Sequence[BacktestQuote], orders: Sequence[BacktestOrder]) -> None:
        """Append the quotes of a block. Raises `InputOutputError`."""
        if self._is_csv:
            text = csv_lines(CSV_COLUMNS, csv_rows(quotes, orders, self._network), header=self._is_empty)
        else:
            by_id = {order.id: order for order in orders}
            text = "\n".join(to_json(quote.document(by_id[quote.order_id])) for quote in quotes)
        self._is_empty = False
        try:
            self._file.write(f"{text}\n".encode())
            self._file.flush()
        except OSError as error:
            raise write_error(self._name, error) from None

    def _parse(self, line: bytes, number: int) -> BacktestQuote:
        try:
            text = line.decode()
            row = dict(zip(CSV_COLUMNS, next(csv.reader([text])), strict=True)) if self._is_csv else json.loads(text)

            def count(name: str) -> int | None:
                return None if row.get(name) in (None, "") else int(row[name])

            return BacktestQuote(
                int(row["block"]),
                int(row["timestamp"]),
                str(row["id"]),
                int(row["inputAmount"]),
                count("outputAmount"),
                count("outputAfterGas"),
                count("gasUnits"),
                count("singlePathOutputAmount"),
                count("singlePathAfterGas"),
                count("pools"),
                row.get("error") or "",
                GasValueSource(row["gasValueSource"]) if row.get("gasValueSource") else None,
            )
        except (ValueError, KeyError, TypeError, StopIteration, csv.Error):
            raise self._foreign(number) from None

    def _foreign(self, number: int) -> InvalidInput:
        return InvalidInput(
            f"line {number} of {self._name} does not match the blocks and orders of this backtest",
            hint="use the same blocks and orders, or write to a new file",
            details={"line": number},
        )


def _are_equal(before: Sequence[BacktestQuote], now: Sequence[BacktestQuote]) -> bool:
    """Return whether quotes are equal; if there is none, the reason may be worded differently."""
    return [each._replace(error="") for each in before] == [each._replace(error="") for each in now]


@contextmanager
def open_results(name: str, network: Network, *, resume: bool) -> Iterator[BacktestResults]:
    """Open a results file for a network. Raises the same errors as `open_results_file`."""
    with open_results_file(name, resume=resume, hint_without_file="--format csv prints each quote") as file:
        yield BacktestResults(name, file, network)
