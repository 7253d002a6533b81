"""Read the fields of a pool's state, as in a market file, with errors that name the field.

Whole numbers come as JSON integers or as decimal strings (`-?[0-9]+`); a bool or a float is never one. Every function
raises `InvalidPoolState(field, problem)`; the caller that knows the pool adds its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final, cast

from swapcli.encoding.text import truncate
from swapcli.errors import InvalidPoolState

_MOST_DIGITS = 80
_WHOLE_NUMBER = re.compile(rf"-?[0-9]{{1,{_MOST_DIGITS}}}").fullmatch
_DIGITS_AND_SIGNS = re.compile(r"[-0-9]*").fullmatch
_MISSING: Final = object()
_SHOWN_CHARACTERS = 84


def read_uint(state: Mapping[str, object], field: str, bits: int = 256) -> int:
    """The required number `field`, 0 <= n < 2^bits."""
    return parse_uint(field, state.get(field, _MISSING), bits)


def read_optional_uint(state: Mapping[str, object], field: str, bits: int = 256) -> int | None:
    """Like `read_uint`, or None where the field is absent or null."""
    value = state.get(field)
    return None if value is None else parse_uint(field, value, bits)


def read_int(state: Mapping[str, object], field: str, low: int, high: int) -> int:
    """The required number `field`, low <= n <= high."""
    number = parse_int(field, state.get(field, _MISSING))
    if not low <= number <= high:
        raise InvalidPoolState(field, f"expected a whole number from {low} to {high}, not {shown(number)}")
    return number


def read_uints(state: Mapping[str, object], field: str, count: int, bits: int = 256) -> tuple[int, ...]:
    """The required list `field` of exactly `count` numbers, each 0 <= n < 2^bits. Errors name `field[index]`."""
    values = read_list(state, field)
    if len(values) != count:
        raise InvalidPoolState(field, f"expected {count} entries, not {len(values)}")
    return tuple(parse_uint(f"{field}[{i}]", value, bits) for i, value in enumerate(values))


def read_list(state: Mapping[str, object], field: str) -> Sequence[object]:
    """The required list `field`, its entries unchecked."""
    value = state.get(field, _MISSING)
    if not isinstance(value, list | tuple):
        raise InvalidPoolState(field, _problem("a list", value))
    return value


def read_choice(state: Mapping[str, object], field: str, choices: Sequence[str]) -> str:
    """One of `choices`; the first where the field is absent or null."""
    value = state.get(field)
    if value is None:
        return choices[0]
    if not isinstance(value, str) or value not in choices:
        raise InvalidPoolState(field, _problem(" or ".join(f'"{choice}"' for choice in choices), value))
    return value


def read_flag(state: Mapping[str, object], field: str) -> bool:
    """A JSON boolean; False where the field is absent or null."""
    value = state.get(field)
    if value is not None and not isinstance(value, bool):
        raise InvalidPoolState(field, _problem("true or false", value))
    return bool(value)


def read_optional_hex(state: Mapping[str, object], field: str, length: int) -> str | None:
    """`0x` and 2 * `length` hex digits, in lower case, or None where the field is absent or null."""
    value = state.get(field)
    if value is None:
        return None
    if not isinstance(value, str) or not re.fullmatch(rf"0x[0-9a-fA-F]{{{2 * length}}}", value):
        raise InvalidPoolState(field, _problem(f"0x and {2 * length} hex digits", value))
    return value.lower()


def parse_uint(field: str, value: object, bits: int = 256) -> int:
    """`value` as a number 0 <= n < 2^bits; `field` is the name that an error shows."""
    number = parse_int(field, value)
    if number < 0 or number >> bits:
        raise InvalidPoolState(field, f"expected a whole number from 0 to 2^{bits} - 1, not {shown(value)}")
    return number


def parse_ints(field: str, values: Sequence[object]) -> tuple[int, ...]:
    """Every entry as a whole number; errors name `field[index]`."""
    kinds = set(map(type, values))
    if kinds == {int}:
        return tuple(cast(Sequence[int], values))
    if kinds == {str}:
        texts = cast(Sequence[str], values)
        # One match over all of them instead of one each: long lists are most of what a market file holds.
        if _DIGITS_AND_SIGNS("".join(texts)) and max(map(len, texts)) <= _MOST_DIGITS:
            with suppress(ValueError):
                return tuple(map(int, texts))
    return tuple(parse_int(f"{field}[{i}]", value) for i, value in enumerate(values))


def parse_int(field: str, value: object) -> int:
    """`value` as a whole number of any sign; `field` is the name that an error shows."""
    if type(value) is int:
        return value
    if type(value) is str and _WHOLE_NUMBER(value):
        return int(value)
    raise InvalidPoolState(field, _problem("a whole number", value))


def shown(value: object) -> str:
    """`value` as an error shows it: in JSON, cut where it is long."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int) and value.bit_length() > 512:
        return f"a number of {value.bit_length()} bits"  # printing it could exceed Python's digit limit
    text = json.dumps(value, default=repr)
    return truncate(text, _SHOWN_CHARACTERS)


def _problem(expected: str, value: object) -> str:
    return "missing" if value is _MISSING else f"expected {expected}, not {shown(value)}"
