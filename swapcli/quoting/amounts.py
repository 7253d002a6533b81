"""Parse amounts in orders, as users and programs write them, exactly into base units."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from swapcli.core.encoding.text import SHOWN_INPUT_CHARACTERS, counted, truncate
from swapcli.core.errors import InvalidAmount, InvalidOption
from swapcli.core.model.token import Token, in_tokens
from swapcli.core.model.written_amount import AmountUnit, WrittenAmount, is_balance_part
from swapcli.core.records import NamedTuple
from swapcli.interface.fields import MAX_AMOUNT

if TYPE_CHECKING:
    from decimal import Decimal

    from swapcli.core.model.order import Order
    from swapcli.quoting.quote_options import QuoteOptions
    from swapcli.quoting.sources.quote_source import QuoteSource

Amount: TypeAlias = "str | int | Decimal"
"""An amount: text and `Decimal` in whole tokens ("1.5"), an `int` in base units (1_500_000)."""

_WHOLE = re.compile(r"[0-9]+")
_DECIMAL = re.compile(r"([0-9]*)(?:\.([0-9]+))?")
_MAX_DECIMAL_PLACES = 400
"""Decimal places of a `Decimal`, checked before it is written out; no token amount has as many."""


_MAX_LIKELY_TOKENS = 10**11
"""Whole tokens: smaller amounts of a token with few decimals may be meant; chosen."""


class ResolvedAmount(NamedTuple):
    """An amount in base units. `note` explains a converted notation or an unlikely amount; otherwise it is empty."""

    amount: int
    note: str = ""


def read_amount(text: str, *, raw: bool = False) -> WrittenAmount:
    """Read an amount as a user writes it ("1.5", "2k", "$1000", "50%"), or in base units if `raw` is true.

    The number is not yet checked against the token's decimals. Raises `InvalidAmount`.
    """
    if raw and not is_balance_part(text):
        return WrittenAmount(text, AmountUnit.SMALLEST, str(parse_raw_amount(text)))
    if is_plain_amount(text):
        return WrittenAmount(text, AmountUnit.TOKENS, text, is_plain=True)
    from swapcli.quoting.amount_notation import parse_notation

    return parse_notation(text)


def resolve_amount(
    amount: Amount | WrittenAmount, order: Order, options: QuoteOptions, source: QuoteSource
) -> ResolvedAmount:
    """Return the base units of `amount` for an order. The order's own amount is ignored. `source` prices amounts in
    dollars.

    Raises `InvalidAmount`, and `InvalidOption` for a share of a balance. For dollars, also raises the errors of
    `QuoteSource.quote`.
    """
    token = order.token_out if order.reverse else order.token_in
    if isinstance(amount, str):
        amount = read_amount(amount)
    if not isinstance(amount, WrittenAmount):
        return ResolvedAmount(to_base_units(amount, token))
    if amount.is_balance_part:
        raise InvalidOption(f"{amount.text} is a share of a balance, which cannot be used here", hint="write an amount")
    if amount.unit is AmountUnit.SMALLEST:
        return ResolvedAmount(int(amount.number))
    if amount.unit is AmountUnit.TOKENS:
        units = parse_amount(amount.number, token.decimals, token.symbol)
        shown = "" if amount.is_plain else f"{amount.shown} is {in_tokens(units, token)}"
        return ResolvedAmount(units, shown or _base_units_note(amount, token))
    from swapcli.quoting.order_amounts import from_dollars

    found = from_dollars(amount, options.build_request(order), source)
    price = f" at a price of ${found.price_usd:,.6g} for 1 {token.symbol}"
    return ResolvedAmount(found.amount, f"{amount.shown} is {in_tokens(found.amount, token)}{price}")


def _base_units_note(amount: WrittenAmount, token: Token) -> str:
    """Return a note if a plain amount of tokens is so large that it was probably meant in base units; otherwise an
    empty text."""
    likely = max(10**token.decimals // 10, _MAX_LIKELY_TOKENS)
    if not _WHOLE.fullmatch(amount.number) or int(amount.number) < likely:
        return ""
    meant = in_tokens(int(amount.number), token)
    return f"{amount.shown} looks like an amount in base units: with --raw, it is {meant}"


def is_plain_amount(text: str) -> bool:
    """Return whether an amount is a plain decimal number of whole tokens, without separators, suffix or unit."""
    return bool(text.strip(".")) and _DECIMAL.fullmatch(text) is not None


def to_base_units(amount: Amount, token: Token) -> int:
    """Return an amount of `token` in base units.

    Text and `Decimal` are in whole tokens, and an `int` is already in base units. Raises `InvalidAmount`. Floats are
    rejected, because a float may differ from the decimal fraction that the caller wrote.
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
        f"an amount must be text, a Decimal or an int in base units, not {_describe(amount)}",
        hint=f'write "1.5" or Decimal("1.5") for one and a half {token.symbol}',
    )


def parse_amount(text: str, decimals: int, symbol: str) -> int:
    """Parse an amount in whole tokens ("1.5") into base units. Raises `InvalidAmount`."""
    match = _DECIMAL.fullmatch(text)
    if not text or match is None or not (match[1] or match[2]):
        raise _not_an_amount(text, f'write the amount in {symbol}, such as "1.5", without signs, spaces or separators')
    fraction = match[2] or ""
    if len(fraction) > decimals:
        raise InvalidAmount(
            f'amount "{truncate(text, SHOWN_INPUT_CHARACTERS)}" has {counted(len(fraction), "decimal")}, '
            f"but {symbol} has {decimals}",
            hint=f"write at most {decimals} digits after the decimal point",
            details={"decimals": decimals},
        )
    return _parse_digits(text, (match[1] or "0") + fraction.ljust(decimals, "0"))


def parse_raw_amount(text: str) -> int:
    """Parse an amount in base units ("1500000"). Raises `InvalidAmount`."""
    if not _WHOLE.fullmatch(text):
        raise _not_an_amount(text, "with --raw, write an integer amount in base units")
    return _parse_digits(text, text)


def _parse_digits(text: str, digits: str) -> int:
    digits = digits.lstrip("0")
    if not digits:
        raise InvalidAmount("amount must be above zero", hint="the minimum is one base unit of the token")
    # Compare lengths first: Python refuses to parse very long integers.
    if len(digits) > len(str(MAX_AMOUNT)) or int(digits) > MAX_AMOUNT:
        raise InvalidAmount(
            f'amount "{truncate(text, SHOWN_INPUT_CHARACTERS)}" is 2^256 base units or more',
            hint="no token contract can move that much",
        )
    return int(digits)


def _check_range(amount: int) -> int:
    if amount <= 0:
        raise InvalidAmount("amount must be above zero", hint="the minimum is one base unit of the token")
    if amount > MAX_AMOUNT:
        raise InvalidAmount("amount is 2^256 base units or more", hint="no token contract can move that much")
    return amount


def _describe(value: object) -> str:
    return "None" if value is None else truncate(f"{type(value).__name__} {value!r}", SHOWN_INPUT_CHARACTERS)


def _not_an_amount(text: str, hint: str) -> InvalidAmount:
    if text.startswith("-"):
        return InvalidAmount("write amounts without a sign", hint='for example "1.5"')
    return InvalidAmount(f'"{truncate(text, SHOWN_INPUT_CHARACTERS)}" is not an amount', hint=hint)
