"""Parse JSON more strictly than `json.loads`, so that no two parsers can interpret a text differently."""

from __future__ import annotations

import json
import re
from itertools import accumulate
from math import isfinite
from typing import NoReturn

from swapcli.core.encoding.text import SHOWN_VALUE_CHARACTERS, truncate
from swapcli.core.errors import InvalidInput

MAX_DEPTH = 64  # a bound against hostile input; chosen
MAX_DIGITS = 400
"""No finite float has more characters when written out in full."""

_BRACKETS = b"[]{}"
_ALL_BUT_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_STEPS = bytes.maketrans(_BRACKETS, b"\x01\xff\x01\xff")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class WrittenFloat(float):
    """A number written with a decimal point or an exponent. `text` is the number as written."""

    __slots__ = ("text",)
    text: str


class InvalidJson(ValueError):
    """The text is not strict JSON.

    `problem` continues a sentence that begins with the name of the text; lines and columns count from 1.
    """

    def __init__(self, problem: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(problem)
        self.problem, self.line, self.column = problem, line, column


def parse_json(body: bytes, name: str = "the body") -> object:
    """Parse untrusted JSON text in UTF-8; errors call it `name`. Raises `InvalidInput`.

    A byte order mark is skipped. The parser also rejects duplicate keys, NaN and Infinity, numbers too large for a
    float or longer than 400 digits, half of a surrogate pair, and more than 64 levels of nesting. Numbers with a point
    or an exponent become `WrittenFloat`s.
    """
    try:
        if _depth(body) > MAX_DEPTH:
            raise InvalidJson(f"is nested deeper than {MAX_DEPTH} levels")
        document = _decode(body, _BOUNDED_DECODER)
        if _SURROGATE.search(body):
            json.dumps(document, ensure_ascii=False).encode()
    except UnicodeError:
        raise _invalid_input(name, "is not valid UTF-8") from None
    except InvalidJson as error:
        raise _invalid_input(name, error.problem) from None
    return document


def parse_json_file(document: bytes | str) -> object:
    """Parse a JSON file that the user chose. Unlike `parse_json`, it sets no size limits and takes about half the time.

    A byte order mark is skipped. Raises `InvalidJson`.
    """
    try:
        return _decode(document, _DECODER)
    except UnicodeDecodeError as error:
        raise InvalidJson(f"is not valid UTF-8 at byte {error.start}") from None


def _decode(document: bytes | str, decoder: json.JSONDecoder) -> object:
    text = document if isinstance(document, str) else document.decode("utf-8-sig")
    if not text or text.isspace():
        raise InvalidJson("is empty")
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        problem = (
            f"is not valid JSON: {error.msg.removesuffix(' starting at')} at line {error.lineno}, column {error.colno}"
        )
        raise InvalidJson(problem, error.lineno, error.colno) from None
    except RecursionError:
        raise InvalidJson("is nested too deeply") from None
    except InvalidJson:
        raise
    except ValueError:  # the only other cause is Python's limit on the digits of an integer
        raise InvalidJson("contains a number that is out of range") from None


def _depth(body: bytes) -> int:
    """Return the depth of nested brackets outside strings; exact for valid JSON."""
    if body.count(b"[") + body.count(b"{") <= MAX_DEPTH:
        return 0
    brackets = _STRING.sub(b"", body).translate(_STEPS, _ALL_BUT_BRACKETS)
    return max(accumulate(memoryview(brackets).cast("b")), default=0)


def _float(text: str) -> WrittenFloat:
    number = WrittenFloat(text) if len(text) <= MAX_DIGITS else WrittenFloat("inf")
    if not isfinite(number):
        raise InvalidJson("contains a number that is out of range")
    number.text = text
    return number


def _int(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise InvalidJson("contains a number that is out of range")
    return int(text)


def _constant(text: str) -> NoReturn:
    raise InvalidJson(f"is not valid JSON: {text} is not a number")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        repeated = truncate(json.dumps(next(name for name in names if names.count(name) > 1)), SHOWN_VALUE_CHARACTERS)
        raise InvalidJson(f"has the key {repeated} twice in one object")
    return members


def _invalid_input(name: str, problem: str) -> InvalidInput:
    return InvalidInput(f"{name} {problem}", details={"field": "body", "problem": problem})


_DECODER = json.JSONDecoder(parse_constant=_constant, object_pairs_hook=_object, strict=True)
_BOUNDED_DECODER = json.JSONDecoder(
    parse_float=_float, parse_int=_int, parse_constant=_constant, object_pairs_hook=_object, strict=True
)
