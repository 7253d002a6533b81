"""JSON as it arrives from strangers: strict, and bounded in what it may cost."""

from __future__ import annotations

import json
import re
from itertools import accumulate
from math import isfinite

from swapcli.errors import InvalidInput

MAX_DEPTH = 64
MAX_DIGITS = 400
"""More than a finite float has when it is written out."""

_BRACKETS = b"[]{}"
_ALL_BUT_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_STEPS = bytes.maketrans(_BRACKETS, b"\x01\xff\x01\xff")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class WrittenFloat(float):
    """A number that was written with a point or an exponent, and how."""

    __slots__ = ("text",)
    text: str


def parse_json(body: bytes) -> object:
    """The value of a JSON text in UTF-8. Raises `InvalidInput` for anything that is not exactly that.

    Refused too: a key given twice, NaN and Infinity, numbers too great for a float or of more than 400 digits, half
    of a surrogate pair, nesting deeper than 64. Numbers with a point or an exponent are `WrittenFloat`s.
    """
    if not body.strip():
        raise _not_json("is empty")
    if _depth(body) > MAX_DEPTH:
        raise _not_json(f"is nested deeper than {MAX_DEPTH} levels")
    try:
        text = body.decode()
        document = _DECODER.decode(text)
        if _SURROGATE.search(body):
            json.dumps(document, ensure_ascii=False).encode()
    except UnicodeError:
        raise _not_json("is not valid UTF-8") from None
    except json.JSONDecodeError as error:
        raise _not_json(f"is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise _not_json("is nested too deep") from None
    return document


def _depth(body: bytes) -> int:
    """How deep brackets nest outside strings; exact for valid JSON."""
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return 0
    brackets = _STRING.sub(b"", body).translate(_STEPS, _ALL_BUT_BRACKETS)
    return max(accumulate(memoryview(brackets).cast("b")), default=0)


def _float(text: str) -> WrittenFloat:
    number = WrittenFloat(text) if len(text) <= MAX_DIGITS else WrittenFloat("inf")
    if not isfinite(number):
        raise _not_json("holds a number out of range")
    number.text = text
    return number


def _int(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise _not_json("holds a number out of range")
    return int(text)


def _constant(text: str) -> float:
    raise _not_json(f"is not valid JSON: {text} is not a number")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _not_json("has a key twice in one object")
    return members


def _not_json(problem: str) -> InvalidInput:
    return InvalidInput(f"the body {problem}", details={"field": "body", "problem": problem})


_DECODER = json.JSONDecoder(
    parse_float=_float, parse_int=_int, parse_constant=_constant, object_pairs_hook=_object, strict=True
)
