"""Reads a JSON object field by field; every fault is an `InvalidInput` that names the field by its path."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import NamedTuple, cast

from swapcli.errors import InvalidInput

MAX_AMOUNT = 2**256 - 1

_DIGITS = re.compile(r"[0-9]{1,78}")


class Fields(NamedTuple):
    """A JSON object and the path that leads to it, such as `route[0].swaps[1][0]`."""

    values: Mapping[str, object]
    path: str

    @classmethod
    def of(cls, document: object, path: str = "") -> Fields:
        """`document` if it is a JSON object."""
        if not isinstance(document, dict):
            raise fault(path or "document", "must be an object")
        return cls(document, path)

    def at(self, key: str) -> str:
        """The path of `key`."""
        return f"{self.path}.{key}" if self.path else key

    def has(self, key: str) -> bool:
        """Is `key` there with a value other than null?"""
        return self.values.get(key) is not None

    def inner(self, key: str) -> Fields:
        """The object under `key`."""
        return Fields.of(self.required(key), self.at(key))

    def items(self, key: str) -> Iterator[tuple[str, object]]:
        """Path and value of each entry of the non-empty array under `key`."""
        return entries(self.required(key), self.at(key))

    def required(self, key: str) -> object:
        """The value under `key`, which must not be missing or null."""
        if not self.has(key):
            raise fault(self.at(key), "is missing")
        return self.values[key]

    def text(self, key: str) -> str:
        """The string under `key`."""
        value = self.required(key)
        if not isinstance(value, str):
            raise fault(self.at(key), "must be a string")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """The boolean under `key`, `default` where it is missing."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise fault(self.at(key), "must be true or false")
        return value

    def integer(self, key: str, low: int, high: int) -> int:
        """The JSON integer under `key`, within `low` and `high`."""
        value = self.required(key)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise fault(self.at(key), f"must be an integer from {low} to {high}")
        return value

    def number(self, key: str) -> float:
        """The finite number under `key`, not below zero; a decimal string counts as one."""
        value = self.required(key)
        try:
            number = float(cast(str, value)) if isinstance(value, str | int | float) else -1.0
        except (ValueError, OverflowError):
            number = -1.0
        if isinstance(value, bool) or not (isfinite(number) and number >= 0):
            raise fault(self.at(key), "must be a number that is not negative")
        return number

    def amount(self, key: str, least: int = 1) -> int:
        """The amount in base units under `key`: a decimal integer string from `least` to 2^256 - 1."""
        value = self.text(key)
        if not _DIGITS.fullmatch(value) or not least <= int(value) <= MAX_AMOUNT:
            raise fault(self.at(key), f"must be a decimal integer string from {least} to 2^256 - 1")
        return int(value)


def entries(value: object, path: str) -> Iterator[tuple[str, object]]:
    """Path and value of each entry of `value`, which must be a non-empty array."""
    if not isinstance(value, list) or not value:
        raise fault(path, "must be a non-empty array")
    return ((f"{path}[{i}]", entry) for i, entry in enumerate(value))


def fault(path: str, problem: str) -> InvalidInput:
    """The error that says what is wrong with one field."""
    return InvalidInput(f"{path} {problem}", details={"field": path, "problem": problem})
