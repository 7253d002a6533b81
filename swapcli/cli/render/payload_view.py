"""What a payload tells people, once: the table and the plain text both show exactly this."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from swapcli.api.route_result import RouteResult
from swapcli.api.slippage import format_percent
from swapcli.cli.render.facts import Fact, symbol
from swapcli.cli.render.text import printable
from swapcli.cli.render.transactions import APPROVE, REVOKE, RenderedTransaction
from swapcli.model.network import Network
from swapcli.model.token import Token, in_tokens
from swapcli.model.transaction import SwapType, UnsignedTransaction
from swapcli.networks.address import display_address

HEAD, TAIL = 26, 10
"""Letters of a long calldata that are kept at its ends where it is shortened."""


@dataclass(frozen=True, slots=True)
class TransactionView:
    """One transaction: what it is for, empty where it is the only one, and its values, each whole on a line."""

    title: str
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PayloadView:
    """A payload in words. `title`, `facts` and `recipient` say what it does, and are empty where a route says it."""

    transactions: tuple[TransactionView, ...]
    title: str = ""
    facts: tuple[Fact, ...] = ()
    recipient: str = ""


def build_payload_view(sendings: list[RenderedTransaction], allowance: str, *, full: bool) -> PayloadView:
    """The words for transactions; `allowance` is what the router must be allowed to take ("25 USDC")."""
    numbered = len(sendings) > 1
    return PayloadView(
        tuple(_transaction_view(s, n, allowance, numbered, full) for n, s in enumerate(sendings, start=1))
    )


def build_execute_view(
    result: RouteResult,
    payload: UnsignedTransaction,
    sendings: list[RenderedTransaction],
    network: Network,
    slippage_ppm: int,
    *,
    full: bool,
) -> PayloadView:
    """The same of a payload that was made from a route: with what the call promises."""
    token_in, token_out = traded_tokens(result, payload, network)
    sold = format_amount(payload.call.route.amount_in, token_in)
    return PayloadView(
        transactions=build_payload_view(sendings, sold, full=full).transactions,
        title=f"{sold} → {symbol(token_out)} on {network.name}",
        facts=tuple(_facts(payload, token_in, token_out, slippage_ppm)),
        recipient=display_address(payload.call.route.recipient, network.kind),
    )


def traded_tokens(result: RouteResult, payload: UnsignedTransaction, network: Network) -> tuple[Token, Token]:
    """The tokens of a result, the native one by its own name."""
    kind = payload.call.route.swap_type
    token_in = network.native if kind is SwapType.NATIVE_TO_TOKEN else result.input_token
    return token_in, network.native if kind is SwapType.TOKEN_TO_NATIVE else result.output_token


def format_amount(amount: int, token: Token) -> str:
    """An amount in whole tokens."""
    return printable(in_tokens(amount, token))


def _facts(payload: UnsignedTransaction, token_in: Token, token_out: Token, slippage_ppm: int) -> Iterator[Fact]:
    route = payload.call.route
    yield Fact("You sell", format_amount(route.amount_in, token_in), f"{route.amount_in} raw")
    yield Fact("You receive", format_amount(route.amount_out, token_out), f"{route.amount_out} raw")
    least = format_amount(route.min_received, token_out)
    yield Fact("At least", least, f"with {format_percent(slippage_ppm)} % slippage")


def _transaction_view(
    sending: RenderedTransaction, number: int, allowance: str, numbered: bool, full: bool
) -> TransactionView:
    purposes = {REVOKE: "take back what the router may take now", APPROVE: f"let the router take {allowance}"}
    purpose = purposes.get(sending.purpose, "swap")
    title = f"{number}. {purpose[:1].upper()}{purpose[1:]}" if numbered else ""
    texts = {
        name: " ".join(value) if isinstance(value, list) else str(value)
        for name, value in sending.signed_fields.items()
    }
    order = [name for name in ("to", "entrypoint", "value", "calldata") if name in texts]
    return TransactionView(title, tuple((name, texts[name] if full else _shortened(texts[name])) for name in order))


def _shortened(text: str) -> str:
    """A long text without its middle, and how to see it whole."""
    if len(text) <= HEAD + TAIL + len(str(2**256)):
        return text
    return f"{text[:HEAD]}…{text[-TAIL:]} ({len(text):,} letters, see --full)"
