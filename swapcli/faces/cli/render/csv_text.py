"""Lists as CSV (RFC 4180): the fields of the JSON as columns."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO

from swapcli.core.encoding.json_text import to_json
from swapcli.core.encoding.text import printable

_FORMULA_STARTS = ("=", "+", "@", "-")


def csv_columns(documents: Iterable[Mapping[str, object]], fields: Iterable[str] = ()) -> list[str]:
    """Return `fields`, followed by other fields that occur in any document, in order."""
    return list(dict.fromkeys([*fields, *(name for document in documents for name in document)]))


def csv_lines(columns: Sequence[str], documents: Iterable[Mapping[str, object]], *, header: bool = True) -> str:
    """Return documents as lines, after a line with the column titles. Unknown values are empty, and nested values are
    JSON."""
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    if header:
        writer.writerow(columns)
    writer.writerows([cell_text(document.get(name)) for name in columns] for document in documents)
    return stream.getvalue().removesuffix("\n")


def cell_text(value: object) -> str:
    """Return the text of a value's cell, before any quoting."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return to_json(value)
    # Spreadsheets evaluate such text, and anybody can name a token: an apostrophe keeps it text.
    is_formula = value.startswith(_FORMULA_STARTS) and not value[1:].replace(".", "", 1).isdecimal()
    return printable(f"'{value}" if is_formula else value)
