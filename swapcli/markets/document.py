"""Strict JSON and typed access to its members, with errors that name the field.

Stricter than `json.loads`: a key given twice, NaN, Infinity and anything that Python reads beyond JSON are refused, so
two readers of one file cannot disagree on what it says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NoReturn

from swapcli.errors import MarketError
from swapcli.pools.state_fields import shown

MAX_UINT256 = 2**256 - 1
_DIGITS = re.compile(r"[0-9]{1,78}").fullmatch


def load_object(document: bytes | str) -> dict[str, object]:
    """The JSON object in `document` (UTF-8). Raises `MarketError` with line and column where the text goes wrong."""
    text = document if isinstance(document, str) else _decoded(document)
    try:
        value = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise _syntax_error(error) from None
    except RecursionError:
        raise MarketError("not a market file: its lists and objects are nested too deeply") from None
    except ValueError as error:
        # The only other one is Python's limit on the digits of an integer.
        raise MarketError("not a market file: it holds a number with thousands of digits") from error
    if not isinstance(value, dict):
        raise MarketError(f"not a market file: expected a JSON object, not {shown(value)}")
    return value


def refuse(field: str, problem: str, *, hint: str | None = None) -> NoReturn:
    """Raise the `MarketError` for `field`, a path such as `tokens[3].decimals`."""
    raise MarketError(f"{field}: {problem}", hint=hint, details={"field": field})


def member(entry: Mapping[str, object], key: str, where: str = "") -> object:
    """The value of `key`, which must be there. `where` is the path of `entry` with its dot, `""` for the document."""
    if key not in entry:
        refuse(where + key, "missing")
    return entry[key]


def object_in(entry: Mapping[str, object], key: str, where: str = "") -> dict[str, object]:
    """A JSON object."""
    return as_object(member(entry, key, where), where + key)


def as_object(value: object, field: str) -> dict[str, object]:
    """`value` as a JSON object."""
    if not isinstance(value, dict):
        refuse(field, f"expected an object, not {shown(value)}")
    return value


def list_in(entry: Mapping[str, object], key: str, where: str = "") -> list[object]:
    """A JSON list."""
    value = member(entry, key, where)
    if not isinstance(value, list):
        refuse(where + key, f"expected a list, not {shown(value)}")
    return value


def text_in(entry: Mapping[str, object], key: str, where: str = "") -> str:
    """A string that can be printed on one line: no control characters and no halves of surrogate pairs."""
    value = member(entry, key, where)
    if not isinstance(value, str):
        refuse(where + key, f"expected a string, not {shown(value)}")
    if not value.isprintable() and any(_is_control(character) for character in value):
        refuse(where + key, f"holds a control character: {shown(value)}")
    return value


def uint_in(
    entry: Mapping[str, object], key: str, where: str = "", *, minimum: int = 0, maximum: int = MAX_UINT256
) -> int:
    """An integer in a range, as a JSON number or a decimal string."""
    value = member(entry, key, where)
    number = int(value) if isinstance(value, str) and _DIGITS(value) else value
    if isinstance(number, bool) or not isinstance(number, int) or not minimum <= number <= maximum:
        bound = "2^256 - 1" if maximum == MAX_UINT256 else str(maximum)
        refuse(where + key, f"expected an integer from {minimum} to {bound}, not {shown(value)}")
    return number


def _decoded(document: bytes) -> str:
    try:
        return document.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MarketError(f"not a market file: byte {error.start} is not UTF-8") from None


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    entry = dict(pairs)
    if len(entry) != len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise MarketError(f"not a market file: one object has the key {shown(repeated)} twice")
    return entry


def _refuse_constant(name: str) -> NoReturn:
    raise MarketError(f"not a market file: {name} is not JSON")


def _syntax_error(error: json.JSONDecodeError) -> MarketError:
    problem = error.msg.removesuffix(" starting at")
    what = "the JSON ends early" if error.pos >= len(error.doc.rstrip()) else f"not JSON: {problem}"
    return MarketError(
        f"not a market file: {what} at line {error.lineno}, column {error.colno}",
        details={"line": error.lineno, "column": error.colno},
    )


def _is_control(character: str) -> bool:
    return character < " " or "\x7f" <= character <= "\x9f" or "\ud800" <= character <= "\udfff"
