"""Amounts that are a share of the sender's balance: `all` and `50%`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from swapcli import InvalidOption, Order, Token
from swapcli.core.encoding.text import printable
from swapcli.core.model.token import in_tokens
from swapcli.core.model.written_amount import WrittenAmount
from swapcli.faces.cli.session import Session
from swapcli.quoting.order_amounts import BalanceOrder, BalancePart
from swapcli.quoting.quote_results import QuoteResult

if TYPE_CHECKING:
    from swapcli.quoting.review.presign_checker import AnyChecker

T = TypeVar("T")


def answer_balance_part(
    session: Session,
    written: WrittenAmount,
    order: Order,
    open_sender: Callable[[], AnyChecker | None],
    request_quote: Callable[[Order], T],
    quote_of: Callable[[T], QuoteResult],
) -> T:
    """Return the result for an order to sell a share of the sender's balance, and print a note with the amount.

    `open_sender` returns the checker with the sender and the node. Raises `InvalidOption` if there is none, and the
    errors of `BalanceOrder`.
    """
    if order.reverse:
        raise InvalidOption(
            f"AMOUNT {written.shown} depends on the balance to sell, but --reverse takes the amount to buy",
            hint="remove --reverse, or write an amount",
        )
    checker = open_sender()
    sender = checker.requested.sender if checker else None
    if checker is None or sender is None:
        raise InvalidOption(
            f"AMOUNT {written.shown} requires a sender",
            hint="add --from ADDRESS; swapcli reads its balance from your node",
        )
    from swapcli.quoting.review.presign_checker import PayloadChecker

    if not isinstance(checker, PayloadChecker):
        raise InvalidOption(
            f"AMOUNT {written.shown} works only on EVM networks, not on {checker.network.name}",
            hint="write an amount",
        )
    part_order = BalanceOrder(written, order, sender, checker.node)
    answer = request_quote(part_order.order)
    while not part_order.settle(quote_of(answer)):
        answer = request_quote(part_order.order)
    session.output.note(printable(f"{written.shown} is {_describe(part_order.part, order.token_in)}"))
    return answer


def _describe(part: BalancePart, token: Token) -> str:
    balance = f"of a balance of {in_tokens(part.balance, token)} at block {part.block}"
    left = f", less {in_tokens(part.gas_wei, token)} for gas" if part.gas_wei else ""
    return f"{in_tokens(part.amount, token)} {balance}{left}"
