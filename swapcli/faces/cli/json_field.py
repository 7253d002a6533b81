"""`--get`: select fields of a JSON document by their dotted paths."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
MAX_SUGGESTIONS = 3


def select_field(document: object, path: str, *, option: str = "--get", result: Result | None = None) -> str:
    """Return the value at a dotted path: a string unchanged, any other value as JSON. Numbers in the path select list
    entries.

    The path `WHOLE` selects the document itself. A field that `result` may have but does not have is returned as an
    empty text. Raises `InvalidOption` for `option` if the field is unknown. The error suggests fields of this name in
    nested objects, otherwise the closest fields, otherwise all fields.
    """
    if path == WHOLE:
        return to_json(document)
    value = document
    for depth, name in enumerate(names := path.split(".")):
        subfields = _subfields(value)
        if name not in subfields:
            if result is not None and isinstance(value, dict) and _may_be_empty(result, names):
                return ""
            raise _unknown_field(option, path, names[: depth + 1], value, result)
        value = subfields[name]
    return value if isinstance(value, str) else to_json(value)


def _may_be_empty(result: Result, names: list[str]) -> bool:
    from swapcli.interface.document_fields import may_have_field

    return may_have_field(result, names)


def _unknown_field(option: str, path: str, names: list[str], value: object, result: Result | None) -> InvalidOption:
    """Return the error of a path whose first `names` lead to `value`, but for the last of them."""
    parent, name = ".".join(names[:-1]), names[-1]
    fields, is_list = list(_subfields(value)), isinstance(value, list)
    if not fields:
        hint = f"{parent or 'the JSON'} is empty" if is_list or not parent else f"{parent} is a single value"
    elif "[" in name:
        dotted = re.sub(r"\[(\d+)\]", r".\1", truncate(path, 80))
        hint = f"use numbers between dots for list entries: {dotted}"
    elif is_list:
        hint = f"the list has entries 0 to {len(fields) - 1}" if len(fields) > 1 else "the list has one entry: 0"
    else:
        nested = [".".join([*names[:-1], each]) for each in _nested_paths(value, name)]
        closest = _renamed(names, fields, result) or nested[:MAX_SUGGESTIONS] or closest_names(name, fields)
        hint = did_you_mean(closest) or f"it has {', '.join(fields[:MAX_SHOWN_FIELDS])}"
    return InvalidOption(
        f'{option}: {parent or "the JSON"} has no field "{printable(truncate(name, 40))}"',
        hint=printable(hint),
        details={"field": path, "fields": fields},
    )


def _renamed(names: list[str], fields: list[str], result: Result | None) -> list[str]:
    """Return the present name of a field that had a different one before 0.1.0."""
    from swapcli.faces.cli.synonyms import FIELDS

    return [
        each
        for each in FIELDS.get(names[-1], ())
        if each in fields or (result is not None and _may_be_empty(result, [*names[:-1], each]))
    ]


def _nested_paths(value: object, name: str) -> Iterator[str]:
    """Yield the paths of the fields of this name in nested objects, but not in entries of lists."""
    for parent, nested in value.items() if isinstance(value, dict) else ():
        if isinstance(nested, dict):
            if name in nested:
                yield f"{parent}.{name}"
            yield from (f"{parent}.{path}" for path in _nested_paths(nested, name))


def _subfields(value: object) -> dict[str, object]:
    if isinstance(value, list):
        return {str(number): entry for number, entry in enumerate(value)}
    return value if isinstance(value, dict) else {}
