"""Parse whole numbers of a transaction (value, chain ID, gas, fees) in the forms that wallets and libraries write."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from swapcli.core.encoding.strict_json import WrittenFloat
from swapcli.core.errors import InvalidInput
from swapcli.core.validation.values import MAX_UINT256, describe

_HEX: Final = re.compile(r"0[xX][0-9a-fA-F]{0,64}")
_DECIMAL: Final = re.compile(r"[0-9]{1,78}n?")
"""A decimal number, optionally with the `n` suffix of a JavaScript BigInt."""
_EXPONENT: Final = re.compile(r"[0-9]{1,78}(?:\.[0-9]{1,78})?[eE]\+?[0-9]{1,2}")
"""The form in which JavaScript writes a number of more than 21 digits."""
_CHAIN_PREFIXES: Final = ("eip155:", "starknet:")
"""The prefixes of chain IDs in CAIP-2, as written by WalletConnect."""
_STARKNET_CHAIN: Final = re.compile(r"SN_[A-Z_]{1,28}")
"""A Starknet chain ID as text; the number is its bytes."""
_BIG_NUMBER_KEYS: Final = ({"type", "hex"}, {"_hex", "_isBigNumber"}, {"_hex"}, {"__type", "value"}, {"$bigint"})
"""The keys of a big number in JSON: from ethers 5 after and before `toJSON`, from wagmi, and from other serialisers."""
_BIG_NUMBER_DIGITS: Final = ("hex", "_hex", "value", "$bigint")


def parse_quantity(value: object, name: str) -> int:
    """Return a number from 0 to 2^256 - 1. Raises `InvalidInput`, whose message calls it `name`, for anything else.

    Example: `parse_quantity({"type": "BigNumber", "hex": "0x01"}, "value")` is 1.
    """
    number = _read(value)
    if number is None or not 0 <= number <= MAX_UINT256:
        raise InvalidInput(
            f"{name}: expected a whole number, decimal or in hex with 0x, not {describe(value)}",
            hint="write the number in full",
            details={"field": name},
        )
    return number


def parse_chain_id(value: object, name: str) -> int:
    """Return a chain ID, which may also have a form such as eip155:8453 or SN_MAIN. Raises `InvalidInput`."""
    found = find_chain_id(value)
    return parse_quantity(value, name) if found is None else found


def find_chain_id(value: object) -> int | None:
    """Return a value as a chain ID, or None if the value is something else, such as the name of a chain."""
    if isinstance(value, str):
        value = value.strip()
        for prefix in _CHAIN_PREFIXES:
            value = value.removeprefix(prefix)
        if _STARKNET_CHAIN.fullmatch(value):
            return int.from_bytes(value.encode())
    number = _read(value)
    return number if number is not None and 0 <= number <= MAX_UINT256 else None


def _read(value: object) -> int | None:
    """Return the number, or None if `value` is not a number."""
    if isinstance(value, Mapping):
        digits = next((value[key] for key in _BIG_NUMBER_DIGITS if key in value), None)
        return _read_text(digits) if set(value) in _BIG_NUMBER_KEYS and isinstance(digits, str) else None
    if isinstance(value, WrittenFloat):
        return _read_float(value.text)
    if isinstance(value, str):
        return _read_text(value.strip())
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _read_text(text: str) -> int | None:
    if _HEX.fullmatch(text):
        return int(text[2:] or "0", 16)
    if _DECIMAL.fullmatch(text):
        return int(text.removesuffix("n"))
    return _read_float(text) if _EXPONENT.fullmatch(text) else None


def _read_float(text: str) -> int | None:
    number = Decimal(text)
    # There are few digits and the exponent is small, so the integer is small, too.
    if number.adjusted() > 78 or number != number.to_integral_value():
        return None
    return int(number)
