"""Amounts of orders as people and programs write them, in base units."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidOption
from swapcli.core.model.token import in_tokens
from swapcli.core.records import NamedTuple
from swapcli.quoting.plain_amounts import (
    Amount,
    AmountUnit,
    WrittenAmount,
    is_balance_part,
    is_plain_amount,
    parse_amount,
    parse_raw_amount,
    to_base_units,
)

if TYPE_CHECKING:
    from swapcli.core.model.quote_request import QuoteRequest
    from swapcli.quoting.sources.quote_source import QuoteSource


class ResolvedAmount(NamedTuple):
    """An amount in base units. `note` says what a friendly notation came to, empty if nothing was converted."""

    amount: int
    note: str = ""


def read_amount(text: str, *, raw: bool = False) -> WrittenAmount:
    """Read an amount as people write it ("1.5", "2k", "$1000", "50%"); with `raw` it is in smallest units.

    The number is not yet checked against the token. Raises `InvalidAmount`.
    """
    if raw and not is_balance_part(text):
        return WrittenAmount(text, AmountUnit.SMALLEST, str(parse_raw_amount(text)))
    if is_plain_amount(text):
        return WrittenAmount(text, AmountUnit.TOKENS, text, is_plain=True)
    from swapcli.quoting.amount_notation import parse_notation

    return parse_notation(text)


def resolve_amount(amount: Amount | WrittenAmount, request: QuoteRequest, source: QuoteSource) -> ResolvedAmount:
    """Return an amount for the order of `request`, whose own amount does not matter; `source` knows what dollars buy.

    Raises `InvalidAmount`, `InvalidOption` for a part of a balance, and as `QuoteSource.quote` for dollars.
    """
    order = request.order
    token = order.token_out if order.reverse else order.token_in
    if isinstance(amount, str):
        amount = read_amount(amount)
    if not isinstance(amount, WrittenAmount):
        return ResolvedAmount(to_base_units(amount, token))
    if amount.is_balance_part:
        raise InvalidOption(f"{amount.text}: a part of a balance cannot be used here", hint="write an amount")
    if amount.unit is AmountUnit.SMALLEST:
        return ResolvedAmount(int(amount.number))
    if amount.unit is AmountUnit.USD:
        from swapcli.quoting.order_amounts import from_dollars

        found = from_dollars(amount, request, source)
        price = f" at the market's price of ${found.price_usd:,.6g} for 1 {token.symbol}"
        return ResolvedAmount(found.amount, f"{amount.shown} is {in_tokens(found.amount, token)}{price}")
    units = parse_amount(amount.number, token.decimals, token.symbol)
    return ResolvedAmount(units, "" if amount.is_plain else f"{amount.shown} is {in_tokens(units, token)}")
