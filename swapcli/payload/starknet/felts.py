"""Convert numbers and addresses to felts and back, and check their ranges. A u256 takes two felts.

A felt is a number below the field's prime. An address is a felt above 0 and below 2^251; a u256 is two felts below
2^128, low half first. In JSON, a felt is a decimal string, as in `CallData.compile` of starknet.js; a JSON number would
lose digits.
"""

from __future__ import annotations

import re

from swapcli.core.encoding.text import SHOWN_INPUT_CHARACTERS, truncate
from swapcli.core.errors import InvalidInput
from swapcli.core.model.network import Kind
from swapcli.core.networks.address import STARKNET_ADDRESS_LIMIT, parse_address
from swapcli.core.validation.values import MAX_FELT

FIELD_PRIME = MAX_FELT + 1
U32_LIMIT = 1 << 32
U256_LIMIT = 1 << 256

SWAP_SELECTOR = 0x15543C3708653CDA9D418B4CCD3BE11368E40636C10C44B18CFE756B6D88B29
"""The lowest 250 bits of the Keccak-256 of `swap` (Starknet's documentation of entry points)."""
APPROVE_SELECTOR = 0x219209E083275171774DAB1DF80982E9DF2096516F06319C5C6D71AE0A8480C
"""The lowest 250 bits of the Keccak-256 of `approve`."""

_HALF_BITS = 128  # a u256 takes two felts
_HALF_LIMIT = 1 << _HALF_BITS
_DECIMAL = re.compile(r"[0-9]{1,76}")
_HEX = re.compile(r"0[xX][0-9a-fA-F]{1,64}")


def check_range(field: str, number: int, minimum: int, limit: int) -> int:
    """Return `number` if it is an int with `minimum <= number < limit`. Raises `InvalidInput`, which names the
    field."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise _out_of_range(field, "must be an integer")
    if number < minimum:
        raise _out_of_range(field, f"must be at least {minimum}")
    if number >= limit:
        raise _out_of_range(field, f"is too large: it must be {_below(limit)}")
    return number


def check_felt(field: str, number: int) -> int:
    """Return `number` if it is a felt. Raises `InvalidInput`, which names the field."""
    return check_range(field, number, 0, FIELD_PRIME)


def felt_of_address(address: str) -> int:
    """Return the felt of an address in hex, in any letter case and length. Raises `InvalidAddress`."""
    return int(parse_address(address, Kind.STARKNET), 16)


def address_of_felt(field: str, felt: int) -> str:
    """Return the canonical address (0x and 64 digits) of a felt. Raises `InvalidInput`, which names the field."""
    return f"0x{check_range(field, felt, 1, STARKNET_ADDRESS_LIMIT):064x}"


def split_u256(field: str, number: int, minimum: int = 0) -> tuple[int, int]:
    """Return (low, high) with `number = low + high * 2^128`. Raises `InvalidInput`, which names the field."""
    high, low = divmod(check_range(field, number, minimum, U256_LIMIT), _HALF_LIMIT)
    return low, high


def join_u256(field: str, low: int, high: int) -> int:
    """Return the number from its two halves, the inverse of `split_u256`.

    Raises `InvalidInput` for a half out of range.
    """
    check_range(f"{field}.low", low, 0, _HALF_LIMIT)
    check_range(f"{field}.high", high, 0, _HALF_LIMIT)
    return low + (high << _HALF_BITS)


def to_felt_text(felt: int) -> str:
    """Format a felt as a decimal string for JSON. Raises `InvalidInput`."""
    return str(check_felt("felt", felt))


def from_felt_text(text: str) -> int:
    """Parse a felt from a decimal or a 0x-prefixed hexadecimal string. Raises `InvalidInput`."""
    if _DECIMAL.fullmatch(text):
        return check_felt("felt", int(text))
    if _HEX.fullmatch(text):
        return check_felt("felt", int(text, 16))
    shown = truncate(text, SHOWN_INPUT_CHARACTERS)
    raise InvalidInput(f'"{shown}" is not a felt: expected a decimal or a 0x-prefixed hexadecimal number')


def _below(limit: int) -> str:
    if limit == FIELD_PRIME:
        return "below the prime of Starknet's field"
    is_power = limit >= U32_LIMIT and not limit & (limit - 1)
    return f"below 2^{limit.bit_length() - 1}" if is_power else f"at most {limit - 1}"


def _out_of_range(field: str, problem: str) -> InvalidInput:
    return InvalidInput(f"{field} {problem}", details={"field": field})
