"""Fill in the templates of an adapter's requests, and read fields in JSON responses by their paths.

A placeholder is a name in braces, such as `{amount_in}`, or `{first.PATH}` for a field in the first response. A text
that consists of a single placeholder is replaced with the value itself, such as a number or an object, so that bodies
keep their types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from swapcli.core.encoding.strict_json import WrittenFloat
from swapcli.core.validation.values import MISSING
from swapcli.quoting.aggregators.aggregator_adapter import FIRST

_PLACEHOLDER: Final = re.compile(r"\{([a-z_]+(?:\.[^{}\s]+)?)\}")
_FRACTION_DIGITS: Final = 6
"""Decimal places of a slippage, which is an integer in parts per million."""


class MissingField(Exception):
    """Raised if a template names a field that the first response does not have. The message is the field's path."""


def placeholders(template: object) -> Iterator[str]:
    """Yield the placeholders in a template, including those inside its lists and objects."""
    if isinstance(template, str):
        yield from _PLACEHOLDER.findall(template)
    elif isinstance(template, Mapping):
        for value in template.values():
            yield from placeholders(value)
    elif isinstance(template, list | tuple):
        for value in template:
            yield from placeholders(value)


def fill(template: object, values: Mapping[str, object]) -> object:
    """Return a template with its placeholders replaced. Raises `MissingField`.

    A text that consists of a single placeholder is replaced with the value itself, such as a number. In longer texts,
    values are inserted as text.
    """
    if isinstance(template, str):
        only_placeholder = _PLACEHOLDER.fullmatch(template)
        return _value(only_placeholder[1], values) if only_placeholder else fill_text(template, values)
    if isinstance(template, Mapping):
        return {str(name): fill(value, values) for name, value in template.items()}
    if isinstance(template, list | tuple):
        return [fill(value, values) for value in template]
    return template


def fill_text(template: str, values: Mapping[str, object], encode: Callable[[str], str] = str) -> str:
    """Return a template as text, with each value encoded by `encode`. Raises `MissingField`, also for a field that
    cannot be written as text."""

    def replace(found: re.Match[str]) -> str:
        text = text_of(_value(found[1], values))
        if text is None:
            raise MissingField(found[1])
        return encode(text)

    return _PLACEHOLDER.sub(replace, template)


def find(document: object, path: str) -> object:
    """Return the value at a path of names and indices, or `MISSING` if there is none."""
    for part in path.split("."):
        if isinstance(document, Mapping):
            document = document.get(part, MISSING)
        elif isinstance(document, Sequence) and not isinstance(document, str) and part.isdecimal():
            document = document[int(part)] if int(part) < len(document) else MISSING
        else:
            return MISSING
    return document


def text_of(value: object) -> str | None:
    """Return a string, number or boolean as it is written in a URL; None for other values."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, WrittenFloat):
        return value.text
    if isinstance(value, float):
        return f"{value:.{_FRACTION_DIGITS}f}".rstrip("0").rstrip(".")
    return str(value) if isinstance(value, str | int) else None


def _value(name: str, values: Mapping[str, object]) -> object:
    root, _, path = name.partition(".")
    value = values.get(root, MISSING) if not path or root == FIRST else MISSING
    if path:
        value = find(value, path)
    if value is MISSING:
        raise MissingField(name)
    return value
