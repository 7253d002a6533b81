"""The view of transactions. Tables and plain text show the same view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from swapcli import PreparedRoute, Token, UnsignedTransaction
from swapcli.core.encoding.text import printable
from swapcli.core.model.token import in_tokens
from swapcli.core.model.transaction import Purpose
from swapcli.core.networks.address import display_address
from swapcli.faces.cli.render.quote_facts import Fact, router_facts, symbol
from swapcli.interface.slippage import format_percent
from swapcli.payload.transactions_to_send import FIELDS_OF_NODE, RenderedTransaction, traded_tokens

HEAD, TAIL = 18, 8
"""The number of characters that shortened calldata shows at its start and its end."""
_LABELS = {"maxFeePerGas": "max fee", "maxPriorityFeePerGas": "priority fee"}


@dataclass(frozen=True, slots=True)
class TransactionView:
    """One transaction: its title, empty if it is the only one, and its values, each on one line."""

    title: str
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PayloadView:
    """Transactions in order. `title`, `facts` and `recipient` are empty if a route is shown above them."""

    transactions: tuple[TransactionView, ...]
    title: str = ""
    facts: tuple[Fact, ...] = ()
    recipient: str = ""


def build_payload_view(transactions: list[RenderedTransaction], allowance: str, *, full: bool) -> PayloadView:
    """Build the view of transactions; `allowance` is the amount to approve, such as "25 USDC"."""
    numbered = len(transactions) > 1
    return PayloadView(
        tuple(_transaction_view(each, n, allowance, numbered, full) for n, each in enumerate(transactions, start=1))
    )


def build_execute_view(prepared: PreparedRoute, transactions: list[RenderedTransaction], *, full: bool) -> PayloadView:
    """Build the view of the transactions of a given route, with the amounts of the call."""
    payload, network = prepared.payload, prepared.network
    token_in, token_out = traded_tokens(prepared.route, payload, network)
    sold = format_amount(payload.call.route.amount_in, token_in)
    return PayloadView(
        transactions=build_payload_view(transactions, sold, full=full).transactions,
        title=f"{sold} → {symbol(token_out)} on {network.name}",
        facts=(*_facts(payload, token_in, token_out, prepared.figures.slippage_ppm), *router_facts(prepared.figures)),
        recipient=display_address(payload.call.route.recipient, network.kind),
    )


def format_amount(amount: int, token: Token) -> str:
    """Format an amount in whole tokens with its symbol."""
    return printable(in_tokens(amount, token))


def _facts(payload: UnsignedTransaction, token_in: Token, token_out: Token, slippage_ppm: int) -> Iterator[Fact]:
    route = payload.call.route
    yield Fact("You sell", format_amount(route.amount_in, token_in), f"{route.amount_in} raw")
    yield Fact("You receive", format_amount(route.amount_out, token_out), f"{route.amount_out} raw")
    minimum = format_amount(route.min_received, token_out)
    yield Fact("At least", minimum, f"with {format_percent(slippage_ppm)}% slippage")


def _transaction_view(
    transaction: RenderedTransaction, number: int, allowance: str, numbered: bool, full: bool
) -> TransactionView:
    purposes = {
        Purpose.REVOKE: f"revoke the present approval of {transaction.spender_name}",
        Purpose.APPROVE: f"approve {transaction.spender_name} to spend {allowance}",
        Purpose.APPROVE_PERMIT2: f"approve {transaction.spender_name} in Permit2 to spend {allowance}",
    }
    purpose = purposes.get(transaction.purpose, "swap")
    title = f"{number}. {purpose[:1].upper()}{purpose[1:]}" if numbered else ""
    texts = {
        name: " ".join(value) if isinstance(value, list) else str(value)
        for name, value in (transaction.signed_fields | transaction.fields_of_node).items()
    }
    order = [name for name in ("to", "entrypoint", "value", *FIELDS_OF_NODE, "calldata") if name in texts]
    lines = (
        (_LABELS.get(name, name), texts[name] if full else shorten_calldata(texts[name], "--full")) for name in order
    )
    return TransactionView(title, (*lines, *transaction.account_lines))


def shorten_calldata(text: str, option: str) -> str:
    """Leave out the middle of a long text, and name the option that shows it."""
    if len(text) <= HEAD + TAIL + len(str(2**256)):
        return text
    return f"{text[:HEAD]}…{text[-TAIL:]} ({len(text):,} characters; {option} shows all)"
