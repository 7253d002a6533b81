"""Reads a JSON object field by field; every fault is an `InvalidInput` that names the field by its path."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import NamedTuple, cast

from swapcli.encoding.text import single_line, truncate
from swapcli.errors import InvalidAddress, InvalidInput
from swapcli.model.network import Kind
from swapcli.model.order import ZERO_ADDRESS
from swapcli.networks.address import is_native, parse_address

MAX_AMOUNT = 2**256 - 1
MAX_TEXT = 400
"""Characters of a name or a number; more than any float has when it is written out."""

_DIGITS = re.compile(r"[0-9]{1,78}")
_HEX = re.compile(r"0x(?:[0-9a-fA-F]{2})*")
_MAX_HEX = 2**21
_MAX_SAID = 300


class Fields(NamedTuple):
    """A JSON object and the path that leads to it, such as `route[0].swaps[1][0]`."""

    values: Mapping[str, object]
    path: str

    @classmethod
    def of(cls, document: object, path: str = "") -> Fields:
        """`build_document` if it is a JSON object."""
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

    def items(self, key: str, most: int) -> Iterator[tuple[str, object]]:
        """Path and value of each entry of the array under `key`, which has from 1 to `most` of them."""
        return entries(self.required(key), self.at(key), most)

    def required(self, key: str) -> object:
        """The value under `key`, which must not be missing or null."""
        if not self.has(key):
            raise fault(self.at(key), "is missing")
        return self.values[key]

    def text(self, key: str) -> str:
        """The string under `key`, of at most 400 characters."""
        return checked_text(self.required(key), self.at(key))

    def text_or(self, key: str, default: str) -> str:
        """The string under `key`, `default` where it is missing."""
        return self.text(key) if self.has(key) else default

    def address(self, key: str, kind: Kind) -> str:
        """The address under `key`, canonical. Raises `InvalidAddress`."""
        try:
            return parse_address(self.text(key), kind)
        except InvalidAddress as error:
            error.details["field"] = self.at(key)
            raise

    def token_address(self, key: str, kind: Kind) -> str:
        """The same of a token: the zero address where it stands for the native one, however that is written."""
        return ZERO_ADDRESS if is_native(self.text(key), kind) else self.address(key, kind)

    def octets(self, key: str) -> bytes:
        """The bytes that the hex string under `key` gives; none where it is missing."""
        value = self.values.get(key)
        if value is None:
            return b""
        if not isinstance(value, str) or len(value) > _MAX_HEX or not _HEX.fullmatch(value):
            raise fault(self.at(key), "must be 0x and an even number of hexadecimal digits")
        return bytes.fromhex(value[2:])

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
        if isinstance(value, str):
            value = checked_text(value, self.at(key))
        try:
            number = float(cast(str, value)) if isinstance(value, str | int | float) else -1.0
        except (ValueError, OverflowError):
            number = -1.0
        if isinstance(value, bool) or not (isfinite(number) and number >= 0):
            raise fault(self.at(key), "must be a number that is not negative")
        return number

    def amount(self, key: str, least: int = 1) -> int:
        """The amount in base units under `key`: a decimal integer string from `least` to 2^256 - 1."""
        return self.digits(key, least, MAX_AMOUNT)

    def digits(self, key: str, least: int, most: int) -> int:
        """The decimal integer string under `key`, within `least` and `most`."""
        return checked_digits(self.required(key), self.at(key), least, most)


def checked_text(value: object, path: str) -> str:
    """`value` if it is a string that UTF-8 can carry, of at most 400 characters."""
    if not isinstance(value, str):
        raise fault(path, "must be a string")
    if len(value) > MAX_TEXT:
        raise fault(path, f"must have at most {MAX_TEXT} characters")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise fault(path, "must not hold half of a surrogate pair") from None
    return value


def checked_digits(value: object, path: str, least: int = 0, most: int = MAX_AMOUNT) -> int:
    """The integer that the decimal string `value` gives, within `least` and `most`."""
    if not isinstance(value, str) or not _DIGITS.fullmatch(value) or not least <= int(value) <= most:
        shown = "2^256 - 1" if most == MAX_AMOUNT else most
        raise fault(path, f"must be a decimal integer string from {least} to {shown}")
    return int(value)


def entries(value: object, path: str, most: int) -> Iterator[tuple[str, object]]:
    """Path and value of each entry of `value`, which must be an array of 1 to `most`."""
    if not isinstance(value, list) or not value:
        raise fault(path, "must be a non-empty array")
    if len(value) > most:
        raise fault(path, f"must have at most {most} entries")
    return ((f"{path}[{i}]", entry) for i, entry in enumerate(value))


def fault(path: str, problem: str) -> InvalidInput:
    """The error that says what is wrong with one field."""
    return InvalidInput(f"{path} {problem}", details={"field": path, "problem": problem})


def plain(value: object) -> str:
    """What a stranger says, for people to read: one line of at most 300 characters that can be printed.

    The entries of an array are joined; what is neither text nor an array of texts says nothing.
    """
    if isinstance(value, list):
        return plain("; ".join(entry for entry in value[:_MAX_SAID] if isinstance(entry, str)))
    if not isinstance(value, str):
        return ""
    return truncate(single_line(value[: 4 * _MAX_SAID]), _MAX_SAID - 1)
