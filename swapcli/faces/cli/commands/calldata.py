"""`swapcli calldata`: find the best route for an order and build its transaction."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from swapcli import PreparedSwap
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.account_options import check_recipient_option
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import (
    OrderOptions,
    OutputOptions,
    PayloadOptions,
    SourceOptions,
    option_name,
    settings_of,
)
from swapcli.faces.cli.output import TRANSACTION_FORMATS
from swapcli.faces.cli.payload_output import (
    open_checker,
    parse_deadline,
    print_payload,
    requested_checks,
    required_lifetime_s,
    shows_full_calldata,
)
from swapcli.faces.cli.quote_context import QuoteContext, open_quote_context, read_order, split_words
from swapcli.faces.cli.session import open_session
from swapcli.payload.transactions_to_send import RenderedTransaction
from swapcli.quoting.quote_options import require_swap_terms
from swapcli.quoting.warnings import settle_impact, settle_slippage

app = CommandApp()


@app.command(formats=TRANSACTION_FORMATS)
def calldata(
    network: options.NetworkNameOrDefault = None,
    token_in: options.TokenIn = None,
    token_out: options.TokenOut = None,
    amount: options.Amount = None,
    *,
    order: OrderOptions,
    payload: PayloadOptions,
    source: SourceOptions,
    output: OutputOptions,
) -> int:
    """Find the best route and build its transaction.

    \b
    Examples:
      swapcli calldata base ETH USDC 1.5 --offline \\
        --destination 0x1111111111111111111111111111111111111111
      swapcli calldata base ETH USDC 1.5 --offline --get calldata \\
        --destination 0x1111111111111111111111111111111111111111

    Sign `to`, `calldata` and `value` of the JSON as they are. Its `route` has the route and the parameters of the call.
    If the price impact exceeds --max-impact or the slippage --max-slippage, the command exits with status 7.
    """
    flags = settings_of(order, payload, source)
    session = open_session(
        output,
        flags,
        rpc_url=source.rpc_url,
        offline=source.offline,
        formats=TRANSACTION_FORMATS,
        price_use=payload.price_use,
    )
    network, words = split_words(session, (network, token_in, token_out, amount))
    written = read_order(words, "calldata", network, raw=order.raw)
    context = open_quote_context(session, network, order, source)
    quote_terms = context.options.terms
    settle_slippage(quote_terms.slippage_ppm, session.settings, option_name)
    deadline_s, deadline_in_s = parse_deadline(payload)
    terms = require_swap_terms(quote_terms.recipient, quote_terms.slippage_ppm, context.network)
    lifetime_s = required_lifetime_s(session)
    terms = terms._replace(
        deadline_s=deadline_s, deadline_in_s=deadline_in_s, lifetime_s=lifetime_s, needs_permit=payload.permit
    )
    check_recipient_option(terms.required_recipient, payload.allow_recipient, context.market.source)
    checker = open_checker(session, context.network, payload)
    sender = checker.requested.sender if checker else None
    if not payload.permit:
        terms = terms._replace(sender=sender)
    quote, transaction = context.answer_order(
        written, lambda order: context.quote_and_build(order, terms), lambda built: built[0].answer, lambda: checker
    )
    if order.proof is not None:
        quote = quote.write_proof(order.proof)
    gain_bps = quote.figures.unread_gain_bps
    settle_impact(quote.price_impact, quote.state, session.settings, option_name, unread_gain_bps=gain_bps)
    if payload.permit:
        from swapcli.faces.cli.permits import print_permit

        print_permit(session, quote.network, (quote.route, terms), transaction.to, sender)
        return exit_codes.OK
    checks = requested_checks(checker, payload)
    _print(context, context.market.check_swap(quote, transaction, terms, checks), payload)
    return exit_codes.OK


def _print(context: QuoteContext, prepared: PreparedSwap, options: PayloadOptions) -> None:
    session, quote = context.session, prepared.quote

    def print_view(transactions: list[RenderedTransaction]) -> None:
        from swapcli.faces.cli.render.payload_view import build_payload_view, format_amount
        from swapcli.faces.cli.render.route_view import build_route_view
        from swapcli.faces.cli.render.simulation_view import with_advice, with_deadline, with_simulation

        amount_in = format_amount(prepared.payload.call.route.amount_in, quote.token_in)
        payload = build_payload_view(transactions, amount_in, full=shows_full_calldata(session, options))
        route = build_route_view(quote.answer, context.options.terms, prepared.figures)
        route = with_deadline(with_advice(route, quote.advised_slippage()), prepared.built)
        route = with_simulation(route, prepared.built)
        session.output.print_payload(payload, route)

    print_payload(session, prepared, options, print_view)
