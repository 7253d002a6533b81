"""Plain amounts of a token, as text or numbers, parsed exactly into base units."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from swapcli.core.encoding.text import truncate
from swapcli.core.errors import InvalidAmount
from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple
from swapcli.interface.fields import MAX_AMOUNT

if TYPE_CHECKING:
    from decimal import Decimal

Amount: TypeAlias = "str | int | Decimal"
"""Text and Decimal are in whole tokens ("1.5"), an int is in base units (1_500_000)."""

_WHOLE = re.compile(r"[0-9]+")
_DECIMAL = re.compile(r"([0-9]*)(?:\.([0-9]+))?")
_SHOWN_CHARACTERS = 80
_MAX_DECIMAL_PLACES = 400
"""Of a `Decimal` before it is written out; more than any amount of any token has."""


class AmountUnit(StrEnum):
    """What the number of an amount counts: tokens, their smallest units, US dollars, or percent of a balance."""

    TOKENS = "tokens"
    SMALLEST = "smallest"
    USD = "usd"
    PERCENT = "percent"


class WrittenAmount(NamedTuple):
    """An amount as it was written. `number` is a plain decimal ("2500").

    `is_plain` says that the text itself is a plain decimal of tokens, so that nothing was converted.
    """

    text: str
    unit: AmountUnit
    number: str
    is_plain: bool = False

    @property
    def shown(self) -> str:
        """The text, shortened for messages."""
        return truncate(self.text, _SHOWN_CHARACTERS)

    @property
    def is_balance_part(self) -> bool:
        """Whether it is a part of a balance."""
        return self.unit is AmountUnit.PERCENT


def is_balance_part(text: str) -> bool:
    """Return whether an amount is a part of a balance."""
    return text.endswith("%") or text.lower() == "all"


def is_plain_amount(text: str) -> bool:
    """Return whether an amount is a plain decimal of whole tokens, without separators, suffix or unit."""
    return bool(text.strip(".")) and _DECIMAL.fullmatch(text) is not None


def to_base_units(amount: Amount, token: Token) -> int:
    """Return an amount of `token` in base units.

    Text and `Decimal` are in whole tokens, an `int` is in base units already. Raises `InvalidAmount`, also for floats:
    most decimal fractions are no float, so a float would not be the amount that was written.
    """
    if isinstance(amount, str):
        return parse_amount(amount, token.decimals, token.symbol)
    if isinstance(amount, int) and not isinstance(amount, bool):
        return _check_range(amount)
    from decimal import Decimal

    if isinstance(amount, Decimal) and amount.is_finite() and abs(amount.adjusted()) <= _MAX_DECIMAL_PLACES:
        text = f"{amount:f}"
        return parse_amount(text.rstrip("0").rstrip(".") if "." in text else text, token.decimals, token.symbol)
    raise InvalidAmount(
        f"an amount is text, a Decimal or an int of smallest units, not {_describe(amount)}",
        hint=f'write "1.5" or Decimal("1.5") for one and a half {token.symbol}',
    )


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
        raise InvalidAmount("amount must be above zero", hint="the minimum is one smallest unit of the token")
    # Compare lengths first: Python refuses to parse very long integers.
    if len(digits) > len(str(MAX_AMOUNT)) or int(digits) > MAX_AMOUNT:
        raise InvalidAmount(
            f'amount "{truncate(text, _SHOWN_CHARACTERS)}" is 2^256 smallest units or more',
            hint="no token contract can move that much",
        )
    return int(digits)


def _check_range(amount: int) -> int:
    if amount <= 0:
        raise InvalidAmount("amount must be above zero", hint="the minimum is one smallest unit of the token")
    if amount > MAX_AMOUNT:
        raise InvalidAmount("amount is 2^256 smallest units or more", hint="no token contract can move that much")
    return amount


def _describe(value: object) -> str:
    return truncate(f"{type(value).__name__} {value!r}", _SHOWN_CHARACTERS)


def _not_an_amount(text: str, hint: str) -> InvalidAmount:
    return InvalidAmount(f'"{truncate(text, _SHOWN_CHARACTERS)}" is not an amount', hint=hint)
