"""The contract ABI's smallest parts: words of 32 bytes, written as 64 hex digits and read from bytes.

Writing checks the range of each value; reading accepts only what writing gives, so that one value has one encoding.
Both raise `InvalidInput` with a sentence that begins with the field's name, which is in the details too.
"""

from __future__ import annotations

import re
from binascii import Error, unhexlify
from typing import Final, NoReturn

from swapcli.errors import InvalidInput

WORD: Final = 32
"""Bytes of a word."""

_WRAP: Final = 1 << 256
_ADDRESS_BITS: Final = 160
_ADDRESS_PADDING: Final = "0" * 24
_SHOWN_BITS: Final = 264
_SHOWN_CHARACTERS: Final = 84
_is_address = re.compile(r"0x[0-9a-f]{40}").fullmatch


def uint_word(value: int, bits: int, field: str) -> str:
    """`value`, 0 <= value < 2^bits."""
    if value < 0 or value >> bits:
        refuse(field, f"{_shown(value)} does not fit uint{bits}")
    return f"{value:064x}"


def int_word(value: int, bits: int, field: str) -> str:
    """`value`, -2^(bits-1) <= value < 2^(bits-1), in two's complement."""
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        refuse(field, f"{_shown(value)} does not fit int{bits}")
    return f"{value % _WRAP:064x}"


def address_word(address: str, field: str) -> str:
    """A canonical address."""
    if not _is_address(address):
        refuse(field, f'expected 0x and 40 lower-case hexadecimal digits, not "{address[:_SHOWN_CHARACTERS]}"')
    return _ADDRESS_PADDING + address[2:]


def bytes32_word(value: bytes, field: str) -> str:
    """Exactly 32 bytes."""
    if len(value) != WORD:
        refuse(field, f"expected {WORD} bytes, not {len(value)}")
    return value.hex()


def bytes_words(value: bytes) -> str:
    """`bytes` of any length: the length, then the bytes, filled up to whole words with zeros."""
    return f"{len(value):064x}{value.hex()}{'00' * (-len(value) % WORD)}"


def unhex(text: str, field: str) -> bytes:
    """The bytes of hex digits in either letter case after `0x`."""
    if text[:2] != "0x":
        refuse(field, "does not begin with 0x")
    try:
        return unhexlify(text[2:])
    except (Error, ValueError):
        refuse(field, "not pairs of hexadecimal digits")


class Reader:
    """Reads words one after the other; `at` is the position in bytes."""

    __slots__ = ("_raw", "at")

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self.at = 0

    @property
    def left(self) -> int:
        """The bytes that have not been read."""
        return len(self._raw) - self.at

    def uint(self, bits: int, field: str) -> int:
        """The next word as an unsigned number."""
        value = int.from_bytes(self._take(WORD, field))
        if value >> bits:
            refuse(field, f"{_shown(value)} does not fit uint{bits}")
        return value

    def signed(self, bits: int, field: str) -> int:
        """The next word as a number in two's complement."""
        value = int.from_bytes(self._take(WORD, field), signed=True)
        if not -(1 << bits - 1) <= value < 1 << bits - 1:
            refuse(field, f"{_shown(value)} does not fit int{bits}")
        return value

    def address(self, field: str) -> str:
        """The next word as a canonical address."""
        value = int.from_bytes(self._take(WORD, field))
        if value >> _ADDRESS_BITS:
            refuse(field, "not an address: its upper 12 bytes are not zero")
        return f"0x{value:040x}"

    def word(self, field: str) -> bytes:
        """The next word as it is."""
        return self._take(WORD, field)

    def content(self, field: str) -> bytes:
        """`bytes` of any length: their length, then they themselves in whole words."""
        length = self.uint(256, f"{field} length")
        padded = length + -length % WORD
        if padded > self.left:
            refuse(f"{field} length", f"{_shown(length)} bytes do not fit the {self.left} that are left")
        value = self._take(length, field)
        if any(self._take(padded - length, field)):
            refuse(field, "the bytes that fill its last word are not zero")
        return value

    def offset(self, expected: int, field: str) -> None:
        """The next word must be the offset at which the only encoding puts the field's contents."""
        found = self.uint(256, f"{field} offset")
        if found != expected:
            refuse(f"{field} offset", f"expected {expected}, not {_shown(found)}")

    def end(self, field: str) -> None:
        """Nothing may follow."""
        if self.left:
            refuse(field, f"{self.left} bytes are left over at the end")

    def _take(self, count: int, field: str) -> bytes:
        if count > self.left:
            refuse(field, "the input ends before it")
        start, self.at = self.at, self.at + count
        return self._raw[start : self.at]


def refuse(field: str, problem: str) -> NoReturn:
    """Raise the `InvalidInput` for a field."""
    raise InvalidInput(f"{field}: {problem}", details={"field": field})


def _shown(value: int) -> str:
    return str(value) if value.bit_length() <= _SHOWN_BITS else f"a number of {value.bit_length()} bits"
