"""`--get`: select fields of a JSON document by their dotted paths."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from swapcli import InvalidOption
from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.encoding.json_text import to_json
from swapcli.core.encoding.text import printable, truncate

if TYPE_CHECKING:
    from swapcli.interface.result import Result

WHOLE = "."
"""The path of the document itself, as in jq."""
MAX_SHOWN_FIELDS = 30


def select_field(document: object, path: str, *, option: str = "--get", result: Result | None = None) -> str:
    """Return the value at a dotted path, with list entries by number: strings unchanged, anything else as JSON.

    The path `WHOLE` is the document itself. A field that the document of `result` may have but does not have is empty.
    For an unknown field, raises `InvalidOption` for `option`, with the closest fields, or all fields.
    """
    if path == WHOLE:
        return to_json(document)
    value = document
    for depth, name in enumerate(names := path.split(".")):
        subfields = _subfields(value)
        if name not in subfields:
            if result is not None and isinstance(value, dict) and _may_be_empty(result, names):
                return ""
            parent, fields = ".".join(names[:depth]), list(subfields)
            raise _unknown_field(option, path, parent, name, fields, is_list=isinstance(value, list))
        value = subfields[name]
    return value if isinstance(value, str) else to_json(value)


def _may_be_empty(result: Result, names: list[str]) -> bool:
    from swapcli.interface.document_fields import may_have_field

    return may_have_field(result, names)


def _unknown_field(
    option: str, path: str, parent: str, name: str, fields: list[str], *, is_list: bool
) -> InvalidOption:
    if not fields:
        hint = f"{parent or 'the JSON'} is empty" if is_list or not parent else f"{parent} is a single value"
    elif "[" in name:
        dotted = re.sub(r"\[(\d+)\]", r".\1", truncate(path, 80))
        hint = f"use numbers between dots for list entries: {dotted}"
    elif is_list:
        hint = f"the list has entries 0 to {len(fields) - 1}" if len(fields) > 1 else "the list has one entry: 0"
    else:
        closest = closest_names(name, fields)
        hint = did_you_mean(closest) or f"it has {', '.join(fields[:MAX_SHOWN_FIELDS])}"
    return InvalidOption(
        f'{option}: {parent or "the JSON"} has no field "{printable(truncate(name, 40))}"',
        hint=printable(hint),
        details={"field": path, "fields": fields},
    )


def _subfields(value: object) -> dict[str, object]:
    if isinstance(value, list):
        return {str(number): entry for number, entry in enumerate(value)}
    return value if isinstance(value, dict) else {}
