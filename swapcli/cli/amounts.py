"""Amounts on the command line, parsed exactly."""

from __future__ import annotations

import re

from swapcli.api.fields import MAX_AMOUNT
from swapcli.encoding.text import truncate
from swapcli.errors import InvalidAmount

_WHOLE = re.compile(r"[0-9]+")
_DECIMAL = re.compile(r"([0-9]*)(?:\.([0-9]+))?")
_SHOWN_CHARACTERS = 80


def parse_amount(text: str, decimals: int, symbol: str) -> int:
    """Parse an amount in whole tokens ("1.5") into base units. Raises `InvalidAmount`."""
    match = _DECIMAL.fullmatch(text)
    if not text or match is None or not (match[1] or match[2]):
        raise _not_an_amount(text, f'write whole {symbol}, such as "1.5", without signs, spaces or separators')
    fraction = match[2] or ""
    if len(fraction) > decimals:
        raise InvalidAmount(
            f'amount "{truncate(text, _SHOWN_CHARACTERS)}" has {len(fraction)} decimals, {symbol} has {decimals}',
            hint=f"write at most {decimals} digits after the point",
            details={"decimals": decimals},
        )
    return _parse_digits(text, (match[1] or "0") + fraction.ljust(decimals, "0"))


def parse_raw_amount(text: str) -> int:
    """Parse an amount in base units ("1500000"). Raises `InvalidAmount`."""
    if not _WHOLE.fullmatch(text):
        raise _not_an_amount(text, "with --raw, write an integer number of smallest units")
    return _parse_digits(text, text)


def _parse_digits(text: str, digits: str) -> int:
    digits = digits.lstrip("0")
    if not digits:
        raise InvalidAmount("amount must be above zero", hint="the minimum is one smallest unit: 1 with --raw")
    # Compare lengths first: Python refuses to parse very long integers.
    if len(digits) > len(str(MAX_AMOUNT)) or int(digits) > MAX_AMOUNT:
        raise InvalidAmount(
            f'amount "{truncate(text, _SHOWN_CHARACTERS)}" is 2^256 smallest units or more',
            hint="no token contract can move that much",
        )
    return int(digits)


def _not_an_amount(text: str, hint: str) -> InvalidAmount:
    return InvalidAmount(f'"{truncate(text, _SHOWN_CHARACTERS)}" is not an amount', hint=hint)
