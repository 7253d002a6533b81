"""`swapcli route --batch`: read one order per line and print one result per line, in order, on one market."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from swapcli.api.route import render_no_route
from swapcli.cli import exit_codes
from swapcli.cli.errors import report_of
from swapcli.engine.amounts import parse_raw_amount
from swapcli.errors import InvalidInput, SwapcliError
from swapcli.startup import enable_garbage_collection

KEYS = ("id", "token_in", "token_out", "amount_in")
EXAMPLE = 'example of a line: {"id": 1, "token_in": "ETH", "token_out": "USDC", "amount_in": "1500000"}'

CSV_COLUMNS = (
    "id", "success", "inputAmount", "outputAmount", "minReceived", "priceImpact", "gasUnits", "gasUsd",
    "outputNetOfGas", "expiresAt", "errorMessage",
)  # fmt: skip
"""The columns of a batch as CSV: the order's id, and fields of its result."""


@dataclass(frozen=True, slots=True)
class BatchOrder:
    """An order of the batch: tokens by symbol or address, the amount in base units."""

    token_in: str
    token_out: str
    amount: int


def run_batch(
    lines: Iterable[bytes],
    answer: Callable[[BatchOrder], Mapping[str, object]],
    print_line: Callable[[Mapping[str, object]], None],
) -> int:
    """Print `{"id", "result"}` for each line as soon as its quote is ready; return the worst exit status.

    The result of an order that fails contains its error. Raises `InvalidInput` with the number of a malformed line.
    """
    enable_garbage_collection()
    statuses = set()
    for number, line in _numbered_lines(lines):
        entry = _parse_entry(line, number)
        status, result = _answer_entry(entry, answer)
        statuses.add(status)
        print_line({"id": entry["id"], "result": result})
    return exit_codes.worst(statuses)


def format_csv_line(document: Mapping[str, object]) -> str:
    """Return a line of `run_batch` as CSV."""
    from swapcli.cli.render.csv_text import csv_lines

    result = document["result"]
    assert isinstance(result, Mapping)
    return csv_lines(CSV_COLUMNS, [{"id": document["id"], **result}], header=False)


def _numbered_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    return ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def _answer_entry(
    entry: dict[str, object], answer: Callable[[BatchOrder], Mapping[str, object]]
) -> tuple[int, Mapping[str, object]]:
    try:
        return exit_codes.OK, answer(_parse_order(entry))
    except SwapcliError as error:
        return exit_codes.status_of(error), render_no_route(error.message)
    except Exception as error:
        # A bug that one order triggers must not stop the others.
        return exit_codes.INTERNAL, render_no_route(report_of(error).message)


def _parse_entry(line: bytes, number: int) -> dict[str, object]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        # Only `msg`: the whole message of Python names line 1 of this line.
        raise _invalid_line(number, f"is not JSON: {getattr(error, 'msg', error)}") from error
    if not isinstance(entry, dict):
        raise _invalid_line(number, "is not a JSON object")
    missing = [key for key in KEYS if key not in entry]
    if missing:
        raise _invalid_line(number, f"has no {', '.join(missing)}")
    if not isinstance(entry["id"], str | int) or isinstance(entry["id"], bool):
        raise _invalid_line(number, "has an id that is neither a string nor an integer")
    return entry


def _invalid_line(number: int, problem: str) -> InvalidInput:
    return InvalidInput(f"line {number} of the batch {problem}", hint=EXAMPLE, details={"line": number})


def _parse_order(entry: dict[str, object]) -> BatchOrder:
    token_in, token_out, amount = entry["token_in"], entry["token_out"], entry["amount_in"]
    if not isinstance(token_in, str) or not isinstance(token_out, str):
        raise InvalidInput("token_in and token_out must be strings")
    if not isinstance(amount, str | int) or isinstance(amount, bool):
        raise InvalidInput("amount_in must be a decimal integer, as a string or a number")
    return BatchOrder(token_in, token_out, parse_raw_amount(str(amount)))
