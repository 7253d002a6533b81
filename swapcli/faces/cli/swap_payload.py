"""The payload for an order on the command line: its quote, all checks, and how it is shown."""

from __future__ import annotations

from swapcli import PreparedSwap, SwapQuote, SwapTerms, UnsignedTransaction
from swapcli.core.records import NamedTuple
from swapcli.faces.cli.account_options import check_recipient_option
from swapcli.faces.cli.options import OrderOptions, PayloadOptions, option_name
from swapcli.faces.cli.payload_output import (
    open_checker,
    parse_deadline,
    print_payload,
    requested_checks,
    required_lifetime_s,
    shows_full_calldata,
)
from swapcli.faces.cli.quote_context import OrderWords, QuoteContext
from swapcli.payload.transactions_to_send import RenderedTransaction
from swapcli.quoting.quote_options import require_swap_terms
from swapcli.quoting.review.presign_checker import AnyChecker
from swapcli.quoting.warnings import settle_impact, settle_slippage


class SwapPayload(NamedTuple):
    """An order's quote with the payload built on the same state, before the node's checks."""

    context: QuoteContext
    quote: SwapQuote
    transaction: UnsignedTransaction
    terms: SwapTerms
    checker: AnyChecker | None
    options: PayloadOptions

    @property
    def sender(self) -> str | None:
        """The sender that the checks are for, if any."""
        return self.checker.requested.sender if self.checker else None

    def prepare(self) -> PreparedSwap:
        """Return the payload after the checks. Raises the same errors as `Market.check_swap`."""
        checks = requested_checks(self.context.session, self.checker, self.options)
        return self.context.market.check_swap(self.quote, self.transaction, self.terms, checks)


def open_swap_terms(context: QuoteContext, payload: PayloadOptions) -> SwapTerms:
    """Return the terms of a swap: its slippage, recipient and deadline. Raises `InvalidInput`, `SlippageTooHigh`."""
    session, quote_terms = context.session, context.options.terms
    settle_slippage(quote_terms.slippage_ppm, session.settings, option_name)
    deadline_s, deadline_in_s = parse_deadline(payload)
    terms = require_swap_terms(quote_terms.recipient, quote_terms.slippage_ppm, context.network)
    lifetime_s = required_lifetime_s(session)
    terms = terms._replace(
        deadline_s=deadline_s, deadline_in_s=deadline_in_s, lifetime_s=lifetime_s, needs_permit=payload.permit
    )
    check_recipient_option(terms.required_recipient, payload.allow_recipient, context.market.source)
    return terms


def build_swap(context: QuoteContext, written: OrderWords, order: OrderOptions, payload: PayloadOptions) -> SwapPayload:
    """Quote an order and build its payload. Raises the errors of `Market.prepare` that come before a node's checks."""
    session, terms = context.session, open_swap_terms(context, payload)
    checker = open_checker(session, context.network, payload)
    if not payload.permit:
        terms = terms._replace(sender=checker.requested.sender if checker else None)
    quote, transaction = context.answer_order(
        written, lambda order: context.quote_and_build(order, terms), lambda built: built[0].answer, lambda: checker
    )
    if order.proof is not None:
        quote = quote.write_proof(order.proof)
    gain_bps = quote.figures.unread_gain_bps
    settle_impact(quote.price_impact, quote.state, session.settings, option_name, unread_gain_bps=gain_bps)
    return SwapPayload(context, quote, transaction, terms, checker, payload)


def print_swap(context: QuoteContext, prepared: PreparedSwap, options: PayloadOptions) -> None:
    """Print a payload in the requested format, with its route in a table or in plain text."""
    session, quote = context.session, prepared.quote

    def print_view(transactions: list[RenderedTransaction]) -> None:
        from swapcli.faces.cli.render.payload_view import build_swap_view
        from swapcli.faces.cli.render.simulation_view import with_advice, with_deadline, with_simulation

        full = shows_full_calldata(session, options)
        view = build_swap_view(prepared, context.options.terms, transactions, full=full, verbose=options.verbose)
        view = with_deadline(with_advice(view, quote.advised_slippage()), prepared.built)
        session.output.print_payload(with_simulation(view, prepared.built))

    print_payload(session, prepared, options, print_view)
