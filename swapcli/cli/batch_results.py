"""The file with the results of a batch, to which an interrupted batch adds those that are missing."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeAlias

from swapcli.cli.render.csv_text import csv_lines
from swapcli.encoding.disk_errors import write_error
from swapcli.errors import InvalidInput, InvalidOption

Entry: TypeAlias = dict[str, object]
"""An order of a batch as its line has it; only its id has been checked."""

_ID_AT = len('{"id": ')


class BatchResults:
    """An open file of results, one on a line. `has_results` says whether it had some already."""

    def __init__(self, name: str, file: BinaryIO, *, is_csv: bool) -> None:
        self._name, self._file, self._is_csv = name, file, is_csv
        self.has_results = file.tell() > 0

    def write_line(self, text: str) -> None:
        """Write a result, and pass it on to the system, so that only a line can be lost. Raises `InputOutputError`."""
        try:
            self._file.write(f"{text}\n".encode())
            self._file.flush()
        except OSError as error:
            raise write_error(self._name, error) from None

    def skip_answered(self, orders: Iterable[Entry]) -> Iterator[Entry]:
        """Yield the orders that have no result in the file yet.

        Raises `InvalidInput` if the results are not those of the first orders.
        """
        rest = iter(orders)
        with Path(self._name).open(encoding="utf-8", newline="") as earlier:
            for number, found in enumerate(self._ids(earlier), start=1):
                order = next(rest, None)
                expected = None if order is None else _csv_id(order) if self._is_csv else order["id"]
                if found != expected:
                    of_batch = "the batch is shorter" if order is None else f"that order of the batch is {expected!r}"
                    raise InvalidInput(
                        f"result {number} of {self._name} is of order {found!r}, but {of_batch}",
                        hint="resume with the same batch, or write to another file",
                        details={"result": number},
                    )
        yield from rest

    def _ids(self, lines: Iterable[str]) -> Iterator[object]:
        """Yield the ids of the results in the file."""
        if self._is_csv:
            rows = csv.reader(lines)
            next(rows, None)
            yield from (row[0] if row else None for row in rows)
            return
        decode = json.JSONDecoder().raw_decode
        for line in lines:
            try:
                yield decode(line, _ID_AT)[0]
            except ValueError:
                raise InvalidInput(f"{self._name} has lines that are no results of a batch") from None


def _csv_id(order: Entry) -> str:
    return next(csv.reader([csv_lines(("id",), [order], header=False)]))[0]


@contextmanager
def open_results(name: str, *, resume: bool, is_csv: bool) -> Iterator[BatchResults]:
    """Open a file of results at its end, which is made if it is missing.

    With `resume`, what a killed process has left of a last line is removed. Raises `InvalidOption` if the file has
    results and they are not to be resumed, `InputOutputError`.
    """
    try:
        file = Path(name).open("ab+")  # noqa: SIM115 (closed below)
    except (OSError, ValueError) as error:
        raise write_error(name, error) from None
    with file:
        if file.tell() and not resume:
            raise InvalidOption(f"{name} is not empty", hint="--resume goes on after its results")
        if resume:
            _remove_partial_line(file)
        yield BatchResults(name, file, is_csv=is_csv)


def _remove_partial_line(file: BinaryIO) -> None:
    """Cut the file after its last newline."""
    block = 1 << 16
    end = file.seek(0, 2)
    while end:
        start = max(end - block, 0)
        file.seek(start)
        newline = file.read(end - start).rfind(b"\n")
        if newline >= 0:
            file.truncate(start + newline + 1)
            break
        end = start
    else:
        file.truncate(0)
    file.seek(0, 2)
