"""The results file of a batch. An interrupted batch can resume and append the missing results."""

from __future__ import annotations

import csv
import json
import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Final

from swapcli import InvalidInput
from swapcli.core.encoding.disk_errors import write_error
from swapcli.core.records import NamedTuple
from swapcli.faces.cli.order_entries import Entry
from swapcli.faces.cli.render.csv_order import ORDER_COLUMNS
from swapcli.faces.cli.render.csv_text import cell_text
from swapcli.faces.cli.render.state_wording import warning_codes
from swapcli.faces.cli.results_file import open_results_file

QUOTE_COLUMNS = (
    *ORDER_COLUMNS, "success", "inputAmount", "outputAmount", "minReceived", "priceImpact", "gasUnits", "gasUsd",
    "outputAfterGas", "gasValueSource", "expiresAt", "state", "warnings", "errorCode", "errorMessage",
)  # fmt: skip
"""The CSV columns of a quote: the order, and fields of its result."""
CSV_COLUMNS = ("id", *QUOTE_COLUMNS)
"""The CSV columns of a batch."""


def csv_row(order: Mapping[str, object], result: Mapping[str, object]) -> dict[str, object]:
    """Return an order and its result as one CSV row. The state is written as its kind, and the warnings as their
    codes."""
    state, warnings = result.get("state"), result.get("warnings")
    kind = state.get("kind") if isinstance(state, dict) else None
    codes = warning_codes(each["code"] for each in warnings) if isinstance(warnings, list) else None
    return {**result, **order, "state": kind, "warnings": codes}


_CSV_HEADER: Final = ",".join(CSV_COLUMNS)
_JSON_START: Final = '{"id": '
_MAX_LINE_BYTES: Final = 1 << 24
"""Longer than any result. A route with hundreds of pools takes 100 KB."""
_LATEST: Final = 64
"""Number of results at the end of the file to parse completely. Parsing all results would take as long as some
quotes."""
_MAX_SHOWN_CHARACTERS: Final = 60


class EarlierResult(NamedTuple):
    """An order with its result from an earlier run: the whole JSON result, or the CSV row's cells as text."""

    number: int
    order: Entry
    result: dict[str, Any]


class BatchResults:
    """An open results file, with one result per line.

    `has_results` is true if the file already had results when opened, and `answered_count` is how many of them belong
    to this batch's orders. `failed_codes` are the error codes of the failed ones.
    """

    def __init__(self, name: str, file: BinaryIO, *, is_csv: bool) -> None:
        self._name, self._file, self._is_csv = name, file, is_csv
        self.has_results = file.tell() > 0
        self.answered_count = 0
        self.failed_codes: list[str] = []

    def write_line(self, text: str) -> None:
        """Write a result and flush it to the system, so that at most one line can be lost. Raises
        `InputOutputError`."""
        try:
            self._file.write(f"{text}\n".encode())
            self._file.flush()
        except OSError as error:
            raise write_error(self._name, error) from None

    def skip_answered(self, orders: Iterator[Entry]) -> Sequence[EarlierResult]:
        """Consume the orders that already have a result in the file, and return the last successful ones.

        An incomplete last line, left by a killed process, is removed. Raises `InvalidInput` if the results do not
        belong to the first orders, and leaves the file unchanged.
        """
        latest: deque[tuple[int, Entry, str]] = deque(maxlen=_LATEST)
        self._file.seek(0)
        lines = self._read_lines()
        if self._is_csv and next(lines, _CSV_HEADER) != _CSV_HEADER:
            raise self._not_results(1)
        for number, line in enumerate(lines, start=1):
            found = self._parse_id(line, number)
            order = next(orders, None)
            expected = None if order is None else cell_text(order["id"]) if self._is_csv else order["id"]
            if order is None or found != expected:
                of_batch = (
                    "the batch has fewer orders"
                    if order is None
                    else f"the batch has order {_shown(expected)} in that place"
                )
                raise InvalidInput(
                    f"result {number} of {self._name} belongs to order {_shown(found)}, but {of_batch}",
                    hint="use the same batch, or write to a new file",
                    details={"result": number},
                )
            latest.append((number, order, line))
            self.answered_count = number
            if self._is_failure(line):
                self.failed_codes.append(str(self._parse_result(line, number).get("errorCode") or ""))
        results = [EarlierResult(number, order, self._parse_result(line, number)) for number, order, line in latest]
        self._file.truncate(self._whole_bytes)
        self.has_results = self._file.seek(0, os.SEEK_END) > 0
        return [each for each in results if each.result.get("success") in (True, "true")]

    def _read_lines(self) -> Iterator[str]:
        """Yield the complete lines of the file, without their ends, and count their bytes."""
        self._whole_bytes = 0
        number = 0
        while line := self._file.readline(_MAX_LINE_BYTES):
            number += 1
            if not line.endswith(b"\n"):
                start = (_CSV_HEADER if self._is_csv else _JSON_START).encode()
                if len(line) == _MAX_LINE_BYTES or (number == 1 and line[: len(start)] != start[: len(line)]):
                    raise self._not_results(number)
                return
            self._whole_bytes += len(line)
            try:
                text = line.decode().removesuffix("\n")
            except UnicodeDecodeError:
                raise self._not_results(number) from None
            yield text

    def _parse_id(self, line: str, number: int) -> object:
        try:
            if self._is_csv:
                cells = next(csv.reader([line]))
                if len(cells) == len(CSV_COLUMNS):
                    return cells[0]
            elif line.startswith(_JSON_START):
                found, end = json.JSONDecoder().raw_decode(line, len(_JSON_START))
                if line.startswith(', "result": {', end) and line.endswith("}}"):
                    return found
        except (ValueError, csv.Error, StopIteration):
            pass
        raise self._not_results(number + self._is_csv)

    def _is_failure(self, line: str) -> bool:
        """Return whether a line has a failed result, without parsing whole routes: that would take as long as some
        quotes."""
        if self._is_csv:
            cells = dict(zip(CSV_COLUMNS, next(csv.reader([line])), strict=True))
            return cells["success"] == "false"
        # Quotation marks inside a text are escaped, so this cannot be part of an id.
        return ', "result": {"success": false, ' in line

    def _parse_result(self, line: str, number: int) -> dict[str, Any]:
        if self._is_csv:
            return dict(zip(CSV_COLUMNS, next(csv.reader([line])), strict=True))
        try:
            result = json.loads(line)["result"]
        except ValueError:
            raise self._not_results(number) from None
        assert isinstance(result, dict)
        return result

    def _not_results(self, line_number: int) -> InvalidInput:
        return InvalidInput(
            f"line {line_number} of {self._name} is not a batch result in this format",
            hint="write to a new file",
            details={"line": line_number},
        )


def _shown(order_id: object) -> str:
    text = repr(order_id)
    return text if len(text) <= _MAX_SHOWN_CHARACTERS else f"{text[:_MAX_SHOWN_CHARACTERS]}..."


@contextmanager
def open_results(name: str, *, resume: bool, is_csv: bool) -> Iterator[BatchResults]:
    """Open a results file to append to it. Raises the same errors as `open_results_file`."""
    with open_results_file(name, resume=resume, hint_without_file="without --results, results go to stdout") as file:
        yield BatchResults(name, file, is_csv=is_csv)
