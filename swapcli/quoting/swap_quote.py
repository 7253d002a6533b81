"""A quote for programs, with its figures, the transactions that execute it, and the warnings to read before signing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, Unpack, cast

from swapcli.core.errors import MarketUnavailable
from swapcli.core.records import NamedTuple
from swapcli.core.validation.argument_types import checks_arguments

if TYPE_CHECKING:
    from decimal import Decimal
    from os import PathLike

    from swapcli.core.model.finding import Finding
    from swapcli.core.model.network import Network
    from swapcli.core.model.price_impact import PriceImpact
    from swapcli.core.model.quote import Certificate
    from swapcli.core.model.quote_figures import QuoteFigures
    from swapcli.core.model.route_result import RouteResult
    from swapcli.core.model.state_source import StateSource
    from swapcli.core.model.swap_terms import SwapTerms
    from swapcli.core.model.token import Token
    from swapcli.core.model.transaction import Deadline, UnsignedTransaction
    from swapcli.interface.document_types import CalldataDocumentJson, RouteDocumentJson
    from swapcli.interface.handoff_types import SafeBatchJson, WalletCallsRequestJson
    from swapcli.payload.checks.presign_checks import PayloadCheck
    from swapcli.payload.checks.simulated_variants import Simulation
    from swapcli.payload.payloads_by_variant import RoutePayloads
    from swapcli.payload.verdict.verdict import Verdict
    from swapcli.quoting.prepared_payload import BuiltPayload
    from swapcli.quoting.proof import Proof
    from swapcli.quoting.quote_keywords import TransactionKeywords
    from swapcli.quoting.quote_results import QuoteResult
    from swapcli.quoting.slippage_measures import SlippageAdvice


class PreparesSwaps(Protocol):
    """The methods of `Market` that build the transactions for its quotes."""

    def transactions(self, quote: SwapQuote, **terms: Unpack[TransactionKeywords]) -> list[dict[str, Any]]:
        """Return a quote's transactions, in the order in which to send them."""

    def transaction(self, quote: SwapQuote, **terms: Unpack[TransactionKeywords]) -> dict[str, Any]:
        """Return the swap itself, which is the last of `transactions`."""

    def prepare(self, quote: SwapQuote, **terms: Unpack[TransactionKeywords]) -> PreparedSwap:
        """Return a quote's `transactions`, with the warnings to read before signing."""

    def permit(self, quote: SwapQuote, *, owner: str, deadline: int | str) -> dict[str, Any]:
        """Return the message whose signature replaces the router's approval."""

    def advise(self, quote: SwapQuote) -> SlippageAdvice | None:
        """Return the slippage recommended by the history of the route's pools; None if it is unknown."""


class SwapQuote:
    """A quote from a `Market`. It never changes. Amounts are exact, in base units.

    Quotes are equal if their orders, routes, terms and figures are equal, whenever they were made. Pickles and copies
    contain the route's pools, but are not connected to the market. The market's `transaction(quote)` accepts them
    nevertheless.

    Example: `Market.embedded("base").quote("ETH", "USDC", "1.5").amount_out`.

    `answer` is the complete result from the routing core or the service. `terms` are the slippage and the integrator of
    the swap. `figures` has all figures, as shown in every output: the properties below, the gas, the output after gas
    and the best single path. `market` is the market that made the quote.
    """

    __slots__ = ("_answer", "_figures", "_market", "_terms")

    def __init__(
        self, answer: QuoteResult, terms: SwapTerms, figures: QuoteFigures, market: PreparesSwaps | None = None
    ) -> None:
        self._answer, self._terms, self._figures, self._market = answer, terms, figures, market

    @property
    def answer(self) -> QuoteResult:
        """The complete result from the routing core or the service."""
        return self._answer

    @property
    def terms(self) -> SwapTerms:
        """The slippage and the integrator of the swap."""
        return self._terms

    @property
    def figures(self) -> QuoteFigures:
        """All figures, as shown in every output."""
        return self._figures

    @property
    def market(self) -> PreparesSwaps:
        """The market that made the quote. Raises `MarketUnavailable` for a copy, which has no market."""
        if self._market is None:
            raise MarketUnavailable("this quote is a copy, which has no market", hint="use market.transaction(quote)")
        return self._market

    @property
    def network(self) -> Network:
        """The network of the swap."""
        return self.answer.network

    @property
    def token_in(self) -> Token:
        """The token to sell. The native token has the zero address."""
        return self.answer.order.token_in

    @property
    def token_out(self) -> Token:
        """The token to buy."""
        return self.answer.order.token_out

    @property
    def amount_in(self) -> int:
        """The amount to sell, in base units of `token_in`."""
        return self.figures.amount_in

    @property
    def amount_out(self) -> int:
        """The output of the pools, in base units of `token_out`, before an integrator's fee and slippage."""
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
        """The minimum amount to receive, in base units, after an integrator's fee and the slippage."""
        return self.figures.min_received

    @property
    def route(self) -> RouteResult:
        """The route: `segments` with their shares, hops and pools."""
        return self.answer.result

    @property
    def price_impact(self) -> PriceImpact | None:
        """The share of the swap's value that is lost, as a `fraction` (0.01 is 1%); None if it is unknown."""
        return self.figures.price_impact

    @property
    def state(self) -> StateSource:
        """The source of the pool state: its provenance, block and age."""
        return self.figures.state

    @property
    def certificate(self) -> Certificate | None:
        """How much better any route over these pools could be; None unless the quote was requested with `certify`."""
        return self.figures.certificate

    def proof(self) -> Proof:
        """Return the certificate's proof, which others can check without swapcli. See `docs/proof.md`.

        Raises `NoProof` unless the quote was computed in this process, with `proof=True`.
        """
        from swapcli.quoting.proof import prove

        return prove(self.answer)

    @checks_arguments
    def write_proof(self, path: str | PathLike[str]) -> SwapQuote:
        """Write the `proof` to a file, compressed if its name ends in `.gz`. Return the quote, which then names the
        file.

        Raises the same errors as `proof` and `Proof.write`.
        """
        self.proof().write(path)
        return SwapQuote(self._answer, self._terms, self._figures._replace(proof_file=os.fspath(path)), self._market)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The warnings to read before signing: stable codes and sentences."""
        return self.figures.warnings

    @property
    def expires_at_s(self) -> int:
        """The time when the quote becomes too old to use, in Unix seconds."""
        return self.figures.expires_at_s

    def document(self) -> RouteDocumentJson:
        """Return the JSON that `swapcli route` prints. Amounts are strings of base units."""
        return cast("RouteDocumentJson", self.to_dict())

    def to_dict(self) -> dict[str, object]:
        """Return the document that `swapcli route --json` prints. Amounts are strings of base units."""
        from swapcli.interface.quote_fields import render_quote_fields
        from swapcli.interface.route import render

        document = render(self.answer.result, self.answer.network, unknown_price=None)
        return document | {**render_quote_fields(self.figures, self.answer.network)}

    def to_json(self) -> str:
        """Return `to_dict` as JSON, which `swapcli execute` accepts."""
        from swapcli.core.encoding.json_text import to_json

        return to_json(self.to_dict())

    @checks_arguments
    def svg(self, width: int | None = None) -> str:
        """Return a picture of the route as an SVG document, by default 720 pixels wide."""
        from swapcli.quoting.pictures.picture_width import parse_width
        from swapcli.quoting.pictures.route_flow import build_route_flow
        from swapcli.quoting.pictures.svg import render_svg

        return render_svg(build_route_flow(self.answer), parse_width("width", None if width is None else str(width)))

    def mermaid(self) -> str:
        """Return the route as a Mermaid flowchart."""
        from swapcli.quoting.pictures.mermaid import render_mermaid
        from swapcli.quoting.pictures.route_flow import build_route_flow

        return render_mermaid(build_route_flow(self.answer))

    def transactions(self, **terms: Unpack[TransactionKeywords]) -> list[dict[str, Any]]:
        """Return the transactions of the swap in the order in which to send them. See `Market.transactions`."""
        return self.market.transactions(self, **terms)

    def transaction(self, **terms: Unpack[TransactionKeywords]) -> dict[str, Any]:
        """Return the transaction of the swap, which web3.py sends unchanged. See `Market.transactions`.

        Example: `quote.transaction(destination=account, slippage="0.3")`. The sold token must be approved first:
        `transactions` includes the approvals.
        """
        return self.market.transaction(self, **terms)

    def prepare(self, **terms: Unpack[TransactionKeywords]) -> PreparedSwap:
        """Return the `transactions` of the swap with the warnings to read before signing. See `Market.prepare`."""
        return self.market.prepare(self, **terms)

    @checks_arguments
    def permit(self, *, owner: str, deadline: int | str) -> dict[str, Any]:
        """Return the message whose signature replaces the router's approval. See `Market.permit`."""
        return self.market.permit(self, owner=owner, deadline=deadline)

    def advised_slippage(self) -> SlippageAdvice | None:
        """Return the slippage recommended by the history of the route's pools; None for a copy, and on modelled
        state."""
        if self._market is None or not self.answer.state_source.is_live:
            return None
        return self._market.advise(self)

    def __eq__(self, other: object) -> bool:
        return self._facts() == other._facts() if isinstance(other, SwapQuote) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.answer.order, self._timeless_figures()))

    def __reduce__(self) -> tuple[type[SwapQuote], tuple[QuoteResult, SwapTerms, QuoteFigures]]:
        from swapcli.quoting.quote_results import with_route_pools

        return SwapQuote, (with_route_pools(self.answer), self.terms, self.figures)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name.startswith("__") or not name.startswith("_")]

    def _facts(self) -> tuple[object, ...]:
        return self.network.name, self.answer.order, self.route.segments, self.terms, self._timeless_figures()

    def _timeless_figures(self) -> QuoteFigures:
        """Return the figures without those that depend on the time of the quote rather than the pool state."""
        state = self.figures.state._replace(age_s=None)
        return self.figures._replace(quoted_at_s=0, expires_at_s=0, state=state)

    def _repr_html_(self) -> str:
        """Return the picture and the figures of the quote, as notebooks show them."""
        from html import escape

        from swapcli.core.model.token import in_tokens

        figures = self.figures
        rows = {
            "sold": in_tokens(self.amount_in, self.token_in),
            "bought": in_tokens(self.amount_out, self.token_out),
            "at least": in_tokens(self.min_received, self.token_out),
            "price impact": "unknown" if self.price_impact is None else f"{self.price_impact.fraction:.4%}",
            "gas": "unknown" if figures.gas_usd is None else f"${figures.gas_usd:,.4f}",
            "state": self.state.description,
            **{warning.code: warning.message for warning in self.warnings},
        }
        cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows.items())
        return f"<div>{self.svg()}<table>{cells}</table></div>"

    def __repr__(self) -> str:
        from swapcli.core.model.token import in_tokens

        amounts = f"{in_tokens(self.amount_in, self.token_in)} → {in_tokens(self.amount_out, self.token_out)}"
        return f"<SwapQuote {amounts} on {self.network.name}>"


def bind_quote(answer: QuoteResult, terms: SwapTerms, market: PreparesSwaps) -> SwapQuote:
    """Return the quote of a `market`'s result, with its figures for a swap on `terms`."""
    from swapcli.quoting.quote_figures import compute_figures

    return SwapQuote(answer, terms, compute_figures(answer, terms), market)


class CheckedSwap(NamedTuple):
    """A quote and its payload, after the checks of a `PayloadChecker`, if there was one.

    Both use the router variant that the checks have found. `variants` builds the payload for other router variants.
    """

    quote: SwapQuote
    payload: UnsignedTransaction
    checked: PayloadCheck | None
    variants: RoutePayloads | None


class PreparedSwap(NamedTuple):
    """The transactions for a quote, and the warnings to read before signing.

    `transactions` are in the order in which to send them, the swap last. `quote` has the amounts that the transactions
    pay: the quoted amounts, or the amounts of a replay in the router variant that was observed. `warnings` are about
    the quote, the router and the checks. `simulation` is None unless it was requested, and `verdict` is None unless a
    node has rehearsed the swap. `built` is the complete payload from which outputs are made. `account_names` has the
    names of accounts that were given by name, by JSON field.
    """

    quote: SwapQuote
    transactions: list[dict[str, Any]]
    warnings: tuple[Finding, ...]
    simulation: Simulation | None
    payload: UnsignedTransaction
    verdict: Verdict | None
    built: BuiltPayload
    account_names: Mapping[str, str] = MappingProxyType({})

    @property
    def network(self) -> Network:
        """The network of the swap."""
        return self.quote.network

    @property
    def route(self) -> RouteResult:
        """The route of the swap."""
        return self.quote.route

    @property
    def deadline(self) -> Deadline:
        """The time until which the swap can be executed, and the contract that rejects it afterwards."""
        from swapcli.core.model.transaction import deadline_of

        return deadline_of(self.payload, self.network.router_dialect)

    @property
    def figures(self) -> QuoteFigures:
        """The figures of the quote, including the warnings about its transactions."""
        return self.quote.figures._replace(warnings=self.warnings)

    def document(self) -> CalldataDocumentJson:
        """Return the JSON that `swapcli calldata` prints."""
        from swapcli.quoting.prepared_payload import calldata_document

        advice = self.quote.advised_slippage()
        return calldata_document(self.quote.answer, self.figures, self.built, advice, self.account_names)

    def safe_batch(self) -> SafeBatchJson:
        """Return the approvals and the swap as a file for Safe's Transaction Builder.

        Raises `InvalidOption` on Starknet.

        Example: `quote.prepare(destination=safe, handoff="safe").safe_batch()`.
        """
        from swapcli.quoting.handoffs import safe_batch

        return safe_batch(self)

    def wallet_calls(self) -> WalletCallsRequestJson:
        """Return the approvals and the swap as the wallet request `wallet_sendCalls` (EIP-5792). Raises the same errors
        as `safe_batch`."""
        from swapcli.quoting.handoffs import wallet_calls

        return wallet_calls(self)


def _in_whole_tokens(amount: int, token: Token) -> Decimal:
    from decimal import Decimal

    return Decimal(f"{amount}e-{token.decimals}")
