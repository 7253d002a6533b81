"""The contract ABI: encode and decode words of 32 bytes.

Encoders check the range of each value and return hex digits without a prefix. Data is decoded in two ways:

* `AbiReader` reads calldata and the data of our own contracts. It accepts only the canonical encoding, so that one
  value has one encoding: contents in the order of their offsets, without gaps, padded with zeros.
* The `decode_*` functions read the return data of untrusted contracts. They check that the expected words are present
  and ignore trailing bytes.

Every reader takes an `ErrorFactory`, which makes the exception for a field and its problem. Encoders raise
`InvalidInput`.
"""

from __future__ import annotations

import re
from binascii import Error, unhexlify
from collections.abc import Callable, Sequence

from swapcli.core.annotations import Final, NoReturn
from swapcli.core.encoding.text import SHOWN_VALUE_CHARACTERS
from swapcli.core.errors import InvalidInput, SwapcliError
from swapcli.core.records import NamedTuple

WORD: Final = 32
"""The number of bytes in a word."""
WORD_CHARACTERS: Final = 2 + 2 * WORD
"""The number of characters of a word in hex, with 0x."""
ADDRESS_BYTES: Final = 20
SELECTOR_BYTES: Final = 4
"""The number of bytes that select a function: the start of the hash of its signature."""
SELECTOR_CHARACTERS: Final = 2 + 2 * SELECTOR_BYTES
"""The number of characters of a selector in hex, with 0x."""
MAX_ENTRIES: Final = 1 << 16
"""The maximum number of entries in a decoded list: more than any pool has."""

ErrorFactory = Callable[[str, str], SwapcliError]
"""Makes the exception for a field, from the field's name and the problem."""

_WRAP: Final = 1 << 256  # two's complement: a negative number plus 2^256 is its word
_SIGN: Final = 1 << 255  # the sign bit of a word
_ADDRESS_BITS: Final = 8 * ADDRESS_BYTES
_ADDRESS_PADDING: Final = "0" * 24
_SHOWN_BITS: Final = 264
"""Error messages describe longer numbers by their length. A uint256 overflow of a few bits is still shown in full."""
_is_address = re.compile(r"0x[0-9a-f]{40}").fullmatch


def invalid_field(field: str, problem: str) -> InvalidInput:
    """Return the error for an invalid value of a field."""
    return InvalidInput(f"{field}: {problem}", details={"field": field})


def encode_uint(value: int, bits: int, field: str) -> str:
    """Return the ABI word that encodes a number with 0 <= value < 2^bits."""
    if value < 0 or value >> bits:
        raise invalid_field(field, f"{_shown(value)} does not fit uint{bits}")
    return f"{value:064x}"


def encode_int(value: int, bits: int, field: str) -> str:
    """Return the ABI word that encodes a number with -2^(bits-1) <= value < 2^(bits-1), in two's complement."""
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise invalid_field(field, f"{_shown(value)} does not fit int{bits}")
    return f"{value % _WRAP:064x}"


def encode_address(address: str, field: str) -> str:
    """Return the ABI word that encodes an address in canonical form: 0x and 40 lower-case digits."""
    if not _is_address(address):
        problem = f'expected 0x and 40 lower-case hexadecimal digits, not "{address[:SHOWN_VALUE_CHARACTERS]}"'
        raise invalid_field(field, problem)
    return _ADDRESS_PADDING + address[2:]


def encode_bytes32(value: bytes, field: str) -> str:
    """Return the ABI word that contains exactly 32 bytes."""
    if len(value) != WORD:
        raise invalid_field(field, f"expected {WORD} bytes, not {len(value)}")
    return value.hex()


def encode_bytes(value: bytes) -> str:
    """Return the ABI encoding of `bytes`: the length, then the content padded with zeros to whole words."""
    return f"{len(value):064x}{value.hex()}{'00' * (-len(value) % WORD)}"


class Dynamic(NamedTuple):
    """The encoded content of a variable-size field, as hex digits of whole words. The head contains the content's
    offset."""

    content: str


def encode_fields(*fields: str | Dynamic) -> str:
    """Return the ABI encoding of a tuple: the static fields and the offsets, followed by the contents of the dynamic
    fields."""
    position = sum(WORD if isinstance(field, Dynamic) else len(field) // 2 for field in fields)
    head, tail = [], []
    for field in fields:
        if isinstance(field, Dynamic):
            head.append(f"{position:064x}")
            tail.append(field.content)
            position += len(field.content) // 2
        else:
            head.append(field)
    return "".join((*head, *tail))


def encode_list(entries: Sequence[str] | Sequence[Dynamic]) -> Dynamic:
    """Return an encoded array: its length, then its entries, which are all static or all dynamic."""
    return Dynamic(f"{len(entries):064x}{encode_fields(*entries)}")


def encode_word(value: int | str) -> bytes:
    """Return one 32-byte word from a number (in two's complement) or from up to 64 hex digits, with or without 0x."""
    number = int(value, 16) if isinstance(value, str) else value
    return (number % _WRAP).to_bytes(WORD)


def parse_hex(text: str, field: str) -> bytes:
    """Return the bytes of hex digits after `0x`, in lower or upper case. Raises `InvalidInput`."""
    if text[:2] != "0x":
        raise invalid_field(field, "does not begin with 0x")
    try:
        return unhexlify(text[2:])
    except (Error, ValueError):
        raise invalid_field(field, "not pairs of hexadecimal digits") from None


class AbiReader:
    """A reader of consecutive ABI words. `position` is the offset of the next word, in bytes.

    Accepts only the canonical encoding. Raises the exception that `error` makes for a field and its problem.

    Example: `AbiReader(bytes(31) + b"\\1").uint(8, "v")` is 1.
    """

    __slots__ = ("_error", "_raw", "position")

    def __init__(self, raw: bytes, error: ErrorFactory = invalid_field) -> None:
        self._raw, self._error = raw, error
        self.position = 0

    @property
    def remaining(self) -> int:
        """The number of bytes that have not been read."""
        return len(self._raw) - self.position

    def uint(self, bits: int, field: str) -> int:
        """Return the next word as an unsigned number below 2^bits."""
        value = int.from_bytes(self._take(WORD, field))
        if value >> bits:
            self.fail(field, f"{_shown(value)} does not fit uint{bits}")
        return value

    def signed(self, bits: int, field: str) -> int:
        """Return the next word as a number in two's complement."""
        value = int.from_bytes(self._take(WORD, field), signed=True)
        if not -(1 << bits - 1) <= value < 1 << bits - 1:
            self.fail(field, f"{_shown(value)} does not fit int{bits}")
        return value

    def address(self, field: str) -> str:
        """Return the next word as an address in canonical form."""
        return to_address(int.from_bytes(self._take(WORD, field)), field, self._error)

    def word(self, field: str) -> bytes:
        """Return the 32 bytes of the next word."""
        return self._take(WORD, field)

    def content(self, field: str) -> bytes:
        """Return the next `bytes` value. It is encoded as its length and its content, padded to whole words."""
        length = self.uint(256, f"{field} length")
        padded = length + -length % WORD
        if padded > self.remaining:
            self.fail(f"{field} length", f"{_shown(length)} bytes do not fit in the remaining {self.remaining}")
        value = self._take(length, field)
        if any(self._take(padded - length, field)):
            self.fail(field, "the padding of its last word is not zero")
        return value

    def offset(self, expected: int, field: str) -> None:
        """Check that the next word is the offset at which the canonical encoding puts the content of the field."""
        value = self.uint(256, f"{field} offset")
        if value != expected:
            self.fail(f"{field} offset", f"expected {expected}, not {_shown(value)}")

    def end(self, field: str) -> None:
        """Check that no unread bytes are left."""
        if self.remaining:
            self.fail(field, f"{self.remaining} bytes are left over at the end")

    def fail(self, field: str, problem: str) -> NoReturn:
        """Raise the error for a problem with a field."""
        raise self._error(field, problem)

    def _take(self, count: int, field: str) -> bytes:
        if count > self.remaining:
            self.fail(field, "the data ends before it")
        start, self.position = self.position, self.position + count
        return self._raw[start : self.position]


def decode_words(raw: bytes, count: int, name: str, error: ErrorFactory) -> tuple[int, ...]:
    """Return the first `count` words as unsigned numbers."""
    _require(raw, WORD * count, name, error)
    return tuple(int.from_bytes(raw[at : at + WORD]) for at in range(0, WORD * count, WORD))


def decode_word(raw: bytes, name: str, error: ErrorFactory, position: int = 0) -> int:
    """Return the word at `position` (in bytes) as an unsigned number."""
    _require(raw, position + WORD, name, error)
    return int.from_bytes(raw[position : position + WORD])


def decode_list(raw: bytes, name: str, error: ErrorFactory, index: int = 0) -> tuple[int, ...]:
    """Return a list of unsigned numbers. Word number `index`, counted from 0, contains the offset of the list."""
    start = decode_word(raw, name, error, WORD * index)
    count = decode_word(raw, name, error, start)
    if count > MAX_ENTRIES:
        raise error(name, f"a list of {count} entries")
    first = start + WORD
    _require(raw, first + WORD * count, name, error)
    return tuple(int.from_bytes(raw[at : at + WORD]) for at in range(first, first + WORD * count, WORD))


def decode_bytes(raw: bytes, name: str, error: ErrorFactory, position: int) -> bytes:
    """Return the `bytes` value whose length is in the word at `position`. Its content follows that word."""
    length, first = decode_word(raw, name, error, position), position + WORD
    _require(raw, first + length, name, error)
    return raw[first : first + length]


def decode_text(raw: bytes, name: str, error: ErrorFactory) -> str:
    """Return a string, or one word of text padded with zeros, as old tokens return it.

    Bytes that are not UTF-8 are replaced.
    """
    if len(raw) == WORD:
        return raw.rstrip(b"\0").decode(errors="replace")
    return decode_bytes(raw, name, error, decode_word(raw, name, error)).decode(errors="replace")


def to_signed(value: int) -> int:
    """Return an unsigned word as a number in two's complement."""
    return value - _WRAP if value & _SIGN else value


def to_address(value: int, field: str, error: ErrorFactory = invalid_field) -> str:
    """Return an unsigned word as an address in canonical form."""
    if value >> _ADDRESS_BITS:
        raise error(field, "not an address: its upper 12 bytes are not zero")
    return f"0x{value:040x}"


def _require(raw: bytes, length: int, name: str, error: ErrorFactory) -> None:
    if len(raw) < length:
        raise error(name, f"returned {len(raw)} bytes, expected at least {length}")


def _shown(value: int) -> str:
    return str(value) if value.bit_length() <= _SHOWN_BITS else f"a {value.bit_length()}-bit number"
