"""The view of transactions. Tables and plain text show the same view."""

from __future__ import annotations

from dataclasses import dataclass

from swapcli import PreparedRoute, PreparedSwap, SwapTerms, Token
from swapcli.core.encoding.text import printable
from swapcli.core.model.token import in_tokens
from swapcli.core.model.transaction import Purpose
from swapcli.core.networks.address import display_address
from swapcli.faces.cli.render.quote_facts import Fact, HeadRow, Traded, build_head, router_facts, title_of
from swapcli.faces.cli.render.route_view import PoolRow, SwapRow, build_route_view
from swapcli.faces.cli.render.state_wording import describe_origin, unreal_label
from swapcli.payload.transactions_to_send import FIELDS_OF_NODE, RenderedTransaction, traded_tokens

HEAD, TAIL = 18, 8
"""The number of characters that shortened calldata keeps at its start and at its end."""
_LABELS = {"maxFeePerGas": "max fee", "maxPriorityFeePerGas": "priority fee"}


@dataclass(frozen=True, slots=True)
class TransactionView:
    """One transaction: its title, empty if it is the only one, and its values, each on one line."""

    title: str
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PayloadView:
    """Transactions in order, below the result of the swap unless `title` is empty. The other fields are the same as in
    `RouteView`."""

    transactions: tuple[TransactionView, ...]
    title: str = ""
    origin: str = ""
    label: str = ""
    head: tuple[HeadRow, ...] = ()
    rows: tuple[SwapRow, ...] = ()
    pools: tuple[PoolRow, ...] = ()
    facts: tuple[Fact, ...] = ()
    parties: tuple[tuple[str, str], ...] = ()


def build_swap_view(
    prepared: PreparedSwap, terms: SwapTerms, transactions: list[RenderedTransaction], *, full: bool, verbose: bool
) -> PayloadView:
    """Build the view of a quote's transactions; with `verbose` it has the route and all facts.

    Calldata is shortened unless `full`.
    """
    quote, figures = prepared.quote, prepared.figures
    route = build_route_view(quote.answer, terms, figures, verbose=verbose)
    sold = format_amount(prepared.payload.call.route.amount_in, quote.token_in)
    return PayloadView(
        _transaction_views(transactions, sold, full=full),
        route.title,
        route.origin,
        route.label,
        route.head,
        rows=route.rows if verbose else (),
        pools=route.pools,
        facts=(*route.facts, *(() if verbose else router_facts(figures, verbose=False))),
        parties=route.parties,
    )


def build_execute_view(
    prepared: PreparedRoute, transactions: list[RenderedTransaction], *, full: bool, verbose: bool
) -> PayloadView:
    """Build the view of a given route's transactions, with the amounts in the call."""
    payload, network, figures = prepared.payload, prepared.network, prepared.figures
    token_in, token_out = traded_tokens(prepared.route, payload, network)
    traded = Traded(token_in, token_out, network, prepared.route.integrator)
    return PayloadView(
        _transaction_views(transactions, format_amount(payload.call.route.amount_in, token_in), full=full),
        title_of(traded, figures),
        describe_origin(figures.state),
        unreal_label(figures.state),
        tuple(build_head(traded, figures)),
        facts=tuple(router_facts(figures, verbose=verbose)),
        parties=(("Recipient", display_address(payload.call.route.recipient, network.kind)),),
    )


def build_recorded_view(transactions: list[RenderedTransaction], *, full: bool) -> PayloadView:
    """Build the view of transactions built earlier, without the result of their swap."""
    return PayloadView(_transaction_views(transactions, "", full=full))


def _transaction_views(
    transactions: list[RenderedTransaction], allowance: str, *, full: bool
) -> tuple[TransactionView, ...]:
    """Build the views of transactions; `allowance` is the amount to approve, such as "25 USDC"."""
    numbered = len(transactions) > 1
    return tuple(_transaction_view(each, n, allowance, numbered, full) for n, each in enumerate(transactions, start=1))


def format_amount(amount: int, token: Token) -> str:
    """Format an amount in whole tokens with its symbol."""
    return printable(in_tokens(amount, token))


def _transaction_view(
    transaction: RenderedTransaction, number: int, allowance: str, numbered: bool, full: bool
) -> TransactionView:
    purposes = {
        Purpose.REVOKE: f"revoke the current approval for {transaction.spender_name}",
        Purpose.APPROVE: f"approve {transaction.spender_name} to spend {allowance}",
        Purpose.APPROVE_PERMIT2: f"approve {transaction.spender_name} in Permit2 to spend {allowance}",
    }
    purpose = purposes.get(transaction.purpose, "swap")
    title = f"{number}. {purpose[:1].upper()}{purpose[1:]}" if numbered else ""
    texts = {
        name: _field_text(name, value)
        for name, value in (transaction.signed_fields | transaction.fields_of_node).items()
    }
    order = [name for name in ("to", "entrypoint", "value", *FIELDS_OF_NODE, "calldata") if name in texts]
    lines = ((_LABELS.get(name, name), texts[name] if full else shorten_calldata(texts[name], "-v")) for name in order)
    return TransactionView(title, (*lines, *transaction.account_lines))


def _field_text(name: str, value: object) -> str:
    """Return a field as `decode` reads it again: fees exactly, in gwei."""
    if name in _LABELS and isinstance(value, int | str):
        from swapcli.core.model.number_format import format_gwei

        return format_gwei(int(value))
    return " ".join(value) if isinstance(value, list) else str(value)


def shorten_calldata(text: str, option: str) -> str:
    """Return a long text without its middle, and with the name of the option that shows all of it."""
    if len(text) <= HEAD + TAIL + len(str(2**256)):
        return text
    return f"{text[:HEAD]}…{text[-TAIL:]} ({len(text):,} characters; {option} shows all)"
