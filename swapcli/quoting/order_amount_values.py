"""The amounts of orders written as in a batch file, by their keys: numbers of JSON, or texts."""

from __future__ import annotations

import re
import sys

from swapcli.core.errors import InvalidAmount, InvalidInput
from swapcli.quoting.amounts import parse_raw_amount
from swapcli.quoting.order_keys import AMOUNT

_MAX_BITS = 4_096
"""Bits of an integer that is written as text: Python limits this, and no amount has as many."""


def whole_tokens(amount: object) -> str:
    """Return the amount under the key `amount`, in whole tokens, as text. Raises `InvalidInput`."""
    written = _written(amount, f"{AMOUNT} must be a number, such as 1.5")
    if not isinstance(amount, float):
        return written
    from decimal import Decimal

    return f"{Decimal(written):f}"  # 1e-07 is how small numbers are written in JSON


def base_units(key: str, amount: object) -> int:
    """Return the amount under a key for base units. Raises `InvalidInput`, and `InvalidAmount` for a wrong integer."""
    written = _written(amount, f"{key} must be an integer in base units")
    whole = _without_exponent(written)
    if _FRACTION.fullmatch(whole):
        raise InvalidInput(
            f"{key} must be an integer in base units, not {written}",
            hint=f'for whole tokens, use "{AMOUNT}": "{written}"',
        )
    return parse_raw_amount(whole)


def _written(amount: object, problem: str) -> str:
    """Return a number as it was written. Raises `InvalidInput` for other values, and for a float that lost digits."""
    if isinstance(amount, bool) or not isinstance(amount, str | int | float):
        raise InvalidInput(problem)
    if isinstance(amount, int) and amount.bit_length() > _MAX_BITS:
        raise InvalidAmount("amount is 2^256 base units or more", hint="no token contract can move that much")
    written = str(amount)
    if isinstance(amount, float) and sum(map(str.isdigit, written.partition("e")[0])) > sys.float_info.dig:
        raise InvalidInput(f"{written} may have lost digits", hint="write large amounts as strings")
    return written


def _without_exponent(written: str) -> str:
    """Return an integer without an exponent, as in 1e+18, which jq writes for large numbers; others unchanged."""
    found = _WITH_EXPONENT.fullmatch(written)
    if found is None:
        return written
    fraction, zeros = found[2] or "", int(found[3])
    return found[1] + fraction + "0" * (zeros - len(fraction)) if zeros >= len(fraction) else written


_FRACTION = re.compile(r"\d{0,80}\.\d{1,80}([eE][+-]?\d{1,2})?")
_WITH_EXPONENT = re.compile(r"(\d{1,80})(?:\.(\d{1,80}))?[eE]\+?(\d{1,2})")
