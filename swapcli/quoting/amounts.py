"""Amounts of orders as people and programs write them, in base units."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from swapcli.core.errors import InvalidOption
from swapcli.core.model.token import in_tokens
from swapcli.core.records import NamedTuple
from swapcli.quoting.plain_amounts import Amount, is_balance_part, is_plain_amount, parse_amount, to_base_units

if TYPE_CHECKING:
    from swapcli.core.model.order import Order
    from swapcli.quoting.quote_results import QuoteResult


class ResolvedAmount(NamedTuple):
    """An amount in base units. `note` says what a friendly notation came to, empty if nothing was converted."""

    amount: int
    note: str = ""


def resolve_amount(amount: Amount, order: Order, quote: Callable[[Order], QuoteResult]) -> ResolvedAmount:
    """Return the amount of an order: text as people write it ("1.5", "2k", "$1000"), or a number.

    The amount of `order` does not matter; `quote` shows the market's price of dollars. Raises `InvalidAmount`,
    `InvalidOption` for a part of a balance, and as `quote` for dollars.
    """
    token = order.token_out if order.reverse else order.token_in
    if not isinstance(amount, str):
        return ResolvedAmount(to_base_units(amount, token))
    if is_balance_part(amount):
        raise InvalidOption(f"{amount}: a part of a balance does not fit here", hint="write an amount")
    if is_plain_amount(amount):
        return ResolvedAmount(parse_amount(amount, token.decimals, token.symbol))
    from swapcli.quoting.amount_notation import AmountUnit, parse_notation

    written = parse_notation(amount)
    if written.unit is AmountUnit.USD:
        from swapcli.quoting.order_amounts import from_dollars

        found = from_dollars(written, order, quote)
        price = f" at the market's price of ${found.price_usd:,.6g} for 1 {token.symbol}"
        return ResolvedAmount(found.amount, f"{written.shown} is {in_tokens(found.amount, token)}{price}")
    units = parse_amount(written.number, token.decimals, token.symbol)
    return ResolvedAmount(units, "" if written.is_plain else f"{written.shown} is {in_tokens(units, token)}")
