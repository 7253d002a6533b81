"""A quote as programs use it: its figures, the transactions that execute it, and what to know before signing them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Unpack

from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from decimal import Decimal

    from swapcli.core.model.network import Network
    from swapcli.core.model.price_impact import PriceImpact
    from swapcli.core.model.quote import Certificate
    from swapcli.core.model.quote_figures import QuoteFigures
    from swapcli.core.model.route_result import RouteResult
    from swapcli.core.model.state_source import StateSource
    from swapcli.core.model.swap_terms import SwapTerms
    from swapcli.core.model.token import Token
    from swapcli.core.model.transaction import UnsignedTransaction
    from swapcli.core.model.warning import QuoteWarning
    from swapcli.payload.checks.presign_checks import PayloadCheck
    from swapcli.payload.checks.simulated_variants import Simulation
    from swapcli.payload.payloads_by_variant import RoutePayloads
    from swapcli.payload.verdict.verdict import Verdict
    from swapcli.quoting.quote_keywords import TransactionKeywords
    from swapcli.quoting.quote_results import QuoteResult


class PreparesSwaps(Protocol):
    """What makes the transactions of its quotes: a `Market`, whose methods these are."""

    def transactions(self, quote: SwapQuote, **terms: Unpack[TransactionKeywords]) -> list[dict[str, Any]]:
        """Return the transactions of a quote in the order to send them."""

    def transaction(self, quote: SwapQuote, **terms: Unpack[TransactionKeywords]) -> dict[str, Any]:
        """Return the last of `transactions`, the swap itself."""

    def prepare(self, quote: SwapQuote, **terms: Unpack[TransactionKeywords]) -> PreparedSwap:
        """Return the `transactions` of a quote with the warnings to read before signing."""

    def permit(self, quote: SwapQuote, *, owner: str, deadline: int | str) -> dict[str, Any]:
        """Return the message whose signature replaces the approval of the router."""


class SwapQuote(NamedTuple):
    """A quote of a `Market`. It never changes; amounts are exact, in base units.

    Example: `Market.embedded("base").quote("ETH", "USDC", "1.5").amount_out`.

    `answer` is all that the router or the service found, `terms` are the slippage and the integrator of the swap.
    `figures` are all figures as every output shows them: those below, gas, output net of gas and the best single path.
    `market` is the market that quoted.
    """

    answer: QuoteResult
    terms: SwapTerms
    figures: QuoteFigures
    market: PreparesSwaps

    @property
    def network(self) -> Network:
        """The network of the swap."""
        return self.answer.network

    @property
    def token_in(self) -> Token:
        """The token that is sold; the native token has the zero address."""
        return self.answer.order.token_in

    @property
    def token_out(self) -> Token:
        """The token that is bought."""
        return self.answer.order.token_out

    @property
    def amount_in(self) -> int:
        """How much is sold, in base units of `token_in`."""
        return self.figures.amount_in

    @property
    def amount_out(self) -> int:
        """How much the pools pay, in base units of `token_out`, before an integrator's fee and slippage."""
        return self.figures.amount_out

    @property
    def amount_in_decimal(self) -> Decimal:
        """`amount_in` in whole tokens, exact."""
        return _in_whole_tokens(self.amount_in, self.token_in)

    @property
    def amount_out_decimal(self) -> Decimal:
        """`amount_out` in whole tokens, exact."""
        return _in_whole_tokens(self.amount_out, self.token_out)

    @property
    def min_received(self) -> int:
        """The minimum that the swap pays, in base units: after an integrator's fee and the slippage of the quote."""
        return self.figures.min_received

    @property
    def route(self) -> RouteResult:
        """The route: `segments` with their shares, hops and pools."""
        return self.answer.result

    @property
    def price_impact(self) -> PriceImpact | None:
        """The share of its value that the swap loses, as `fraction` (0.01 is 1%); None if it is unknown."""
        return self.figures.price_impact

    @property
    def state(self) -> StateSource:
        """Where the state of the pools comes from: its provenance, block and age."""
        return self.figures.state

    @property
    def certificate(self) -> Certificate | None:
        """The proof of how far any router could still go; None unless the quote was requested with `certify`."""
        return self.figures.certificate

    @property
    def warnings(self) -> tuple[QuoteWarning, ...]:
        """What to know before signing: stable codes and sentences."""
        return self.figures.warnings

    @property
    def expires_at_s(self) -> int:
        """When the quote is too old to use, in Unix seconds."""
        return self.figures.expires_at_s

    def to_dict(self) -> dict[str, object]:
        """Return the document of `swapcli route --json`; amounts are text, in base units."""
        from swapcli.quoting.route_document import route_document

        return route_document(self.answer, self.figures)

    def to_json(self) -> str:
        """Return `to_dict` as JSON. `swapcli execute` takes it too."""
        from swapcli.core.encoding.json_text import to_json

        return to_json(self.to_dict())

    def transactions(self, **terms: Unpack[TransactionKeywords]) -> list[dict[str, Any]]:
        """Return the transactions of the swap in the order to send them. See `Market.transactions`."""
        return self.market.transactions(self, **terms)

    def transaction(self, **terms: Unpack[TransactionKeywords]) -> dict[str, Any]:
        """Return the transaction of the swap, which web3.py sends unchanged. See `Market.transactions`.

        Example: `quote.transaction(destination=account, slippage="0.3")`. A token that is sold must be approved before:
        `transactions` has the approvals too.
        """
        return self.market.transaction(self, **terms)

    def prepare(self, **terms: Unpack[TransactionKeywords]) -> PreparedSwap:
        """Return the `transactions` of the swap with the warnings to read before signing. See `Market.prepare`."""
        return self.market.prepare(self, **terms)

    def permit(self, *, owner: str, deadline: int | str) -> dict[str, Any]:
        """Return the message whose signature replaces the approval of the router. See `Market.permit`."""
        return self.market.permit(self, owner=owner, deadline=deadline)

    def __repr__(self) -> str:
        from swapcli.core.model.token import in_tokens

        amounts = f"{in_tokens(self.amount_in, self.token_in)} → {in_tokens(self.amount_out, self.token_out)}"
        return f"<SwapQuote {amounts} on {self.network.name}>"


class CheckedSwap(NamedTuple):
    """A quote with its payload after the checks of a `PayloadChecker`, if there was one.

    Both are in the variant of the router that the checks have found; `variants` builds the payload for others.
    """

    quote: SwapQuote
    payload: UnsignedTransaction
    checked: PayloadCheck | None
    variants: RoutePayloads | None


class PreparedSwap(NamedTuple):
    """What to send to execute a quote, and what to know before signing it.

    `transactions` are in the order to send them, the swap last. `quote` has the amounts that they pay: those of the
    quote, or of its replay as the router was seen to read it. `warnings` are those of the quote, the router and the
    checks. `simulation` is None unless it was requested,
    `verdict` unless a node has rehearsed the swap.
    """

    quote: SwapQuote
    transactions: list[dict[str, Any]]
    warnings: tuple[QuoteWarning, ...]
    simulation: Simulation | None
    payload: UnsignedTransaction
    verdict: Verdict | None = None


def _in_whole_tokens(amount: int, token: Token) -> Decimal:
    from decimal import Decimal

    return Decimal(f"{amount}e-{token.decimals}")
