"""Read orders from a file: one JSON object per line, or a CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TypeAlias

from swapcli import InvalidInput
from swapcli.core.encoding.strict_json import InvalidJson, parse_json_file
from swapcli.core.records import NamedTuple
from swapcli.core.validation.values import describe
from swapcli.faces.cli.csv_orders import AMOUNTS, has_titles, read_csv_orders
from swapcli.faces.cli.files import decode_lines
from swapcli.quoting.order_amount_values import base_units, whole_tokens
from swapcli.quoting.order_keys import (
    AMOUNT,
    INPUT_AMOUNT,
    LABELS,
    OUTPUT_AMOUNT,
    TOKEN_IN,
    TOKEN_OUT,
    other_spelling,
    with_current_keys,
)

Entry: TypeAlias = dict[str, object]
"""An order as written in its file. Only its keys and its id have been checked."""
KEYS = ("id", TOKEN_IN, TOKEN_OUT, *AMOUNTS)
EXAMPLE = 'example of a line: {"id": 1, "tokenIn": "ETH", "tokenOut": "USDC", "amount": "1.5"}'


class BatchOrder(NamedTuple):
    """An order in a batch: tokens by symbol or address, and the amount in base units, or as text in whole tokens."""

    token_in: str
    token_out: str
    amount: int | str


def read_entries(lines: Iterable[bytes], shown: str, *, expects_csv: bool = False) -> Iterator[tuple[int, Entry]]:
    """Yield the orders in a file's lines as they arrive, each with its line number.

    The first line that is not blank decides the format: CSV if it has the titles of a CSV, one JSON object per line if
    it begins with a brace. Otherwise the error describes the format that `expects_csv` selects. A CSV order without an
    id is numbered by its position from 1, and a JSON order by its line. Raises `InvalidInput` with the number of a
    malformed line. `shown` is the file's name in messages.
    """
    lines = iter(lines)
    start = list(_through_first(lines))
    first = start[-1].decode(errors="replace").strip() if start else ""
    lines = chain(start, lines)
    is_json = first.startswith("{")
    # A title in a line that is not CSV shows a different separator, which the error names.
    if has_titles(first) or (not is_json and (expects_csv or TOKEN_IN.lower() in first.lower())):
        orders = read_csv_orders(decode_lines(lines, shown), shown)
        return ((number, {"id": place, **cells}) for place, (number, cells) in enumerate(orders, start=1))
    numbered = enumerate(lines, start=1)
    return ((number, _parse_entry(line, number, shown)) for number, line in numbered if line.strip())


def is_named_csv(name: str) -> bool:
    """Return whether the name of a file of orders is that of a CSV."""
    return name.lower().endswith(".csv")


def _through_first(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the blank lines and the first other one."""
    for line in lines:
        yield line
        if line.strip():
            return


def _parse_entry(line: bytes, number: int, shown: str) -> Entry:
    try:
        entry = parse_json_file(line)
    except InvalidJson as error:
        # The problem is always on the first line here.
        raise _invalid_line(shown, number, error.problem.replace(f"line {error.line}, column", "column")) from error
    if not isinstance(entry, dict):
        raise _invalid_line(shown, number, "is not a JSON object")
    entry = with_current_keys(entry)
    other = other_spelling(entry)
    if other is not None:
        raise _invalid_line(shown, number, f"has the key {other[0]}, which must be named {other[1]}")
    unknown = next((key for key in entry if key not in KEYS and key not in LABELS), None)
    if unknown is not None:
        raise _invalid_line(shown, number, f"has the unknown key {describe(unknown)}")
    missing = [key for key in (TOKEN_IN, TOKEN_OUT) if key not in entry]
    amounts = [key for key in AMOUNTS if key in entry]
    if missing or not amounts:
        raise _invalid_line(shown, number, f"has no {', '.join([*missing, *([] if amounts else [AMOUNT])])}")
    if len(amounts) > 1:
        raise _invalid_line(shown, number, f"has two amounts: {' and '.join(amounts)}")
    entry = entry if "id" in entry else {"id": number, **entry}
    if not isinstance(entry["id"], str | int) or isinstance(entry["id"], bool):
        raise _invalid_line(shown, number, "has an id that is neither a string nor an integer")
    return entry


def _invalid_line(shown: str, number: int, problem: str) -> InvalidInput:
    return InvalidInput(f"line {number} of {shown} {problem}", hint=EXAMPLE, details={"line": number})


def parse_order(entry: Entry, *, is_reverse: bool = False) -> BatchOrder:
    """Return the order of an entry. With `is_reverse`, its amount is the amount to buy. Raises `InvalidInput`."""
    token_in, token_out = entry[TOKEN_IN], entry[TOKEN_OUT]
    if not isinstance(token_in, str) or not isinstance(token_out, str):
        raise InvalidInput(f"{TOKEN_IN} and {TOKEN_OUT} must be strings")
    if AMOUNT in entry:
        return BatchOrder(token_in, token_out, whole_tokens(entry[AMOUNT]))
    key = OUTPUT_AMOUNT if OUTPUT_AMOUNT in entry else INPUT_AMOUNT
    if is_reverse != (key == OUTPUT_AMOUNT):
        hint = f"use {OUTPUT_AMOUNT}" if is_reverse else "add --reverse"
        raise InvalidInput(
            f"{key} cannot be the amount of an order {'with' if is_reverse else 'without'} --reverse", hint=hint
        )
    return BatchOrder(token_in, token_out, base_units(key, entry[key]))
