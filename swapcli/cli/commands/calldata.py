"""`swapcli calldata`: the best route for an order, and the transaction that carries it out."""

# Annotations are values here: they are what Typer reads.

from swapcli.cli import exit_codes, options
from swapcli.cli.lazy_group import PanelCommand, new_app
from swapcli.cli.options import OrderOptions, OutputOptions, PayloadOptions, SourceOptions, with_option_groups
from swapcli.cli.payload_output import PreparedPayload, add_warnings, print_payload, shows_full_calldata, swap_terms
from swapcli.cli.quoting import QuoteContext, open_quote_context, require_order
from swapcli.cli.render.payload_json import calldata_document
from swapcli.cli.render.transactions import RenderedTransaction
from swapcli.cli.session import open_session
from swapcli.cli.simulation_options import open_checker
from swapcli.engine.price_impact import impact_of
from swapcli.engine.quote import QuoteResult
from swapcli.engine.warnings import check_impact

app = new_app()


@app.command(cls=PanelCommand)
@with_option_groups
def calldata(
    network: options.NetworkName,
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
      swapcli calldata base ETH USDC 1.5 \\
        --destination 0x1111111111111111111111111111111111111111
      swapcli calldata base ETH USDC 1.5 --get calldata \\
        --destination 0x1111111111111111111111111111111111111111

    The JSON is the interface's answer with `to`, `calldata` and `value`, which are signed as they are; its `route`
    holds both what was found and what the call promises. A price impact above --max-impact ends with status 7.
    """
    flags = order.flags | payload.flags | source.flags
    session = open_session(output, flags, rpc_url=source.rpc_url, offline=source.offline)
    words = require_order(token_in, token_out, amount)
    context = open_quote_context(session, network, order, source)
    terms = context.options.terms
    terms = swap_terms(terms.recipient, terms.slippage_ppm, context.source.network)
    checks = open_checker(session, context.source.network, payload)
    answer, built = context.source.quote_and_build(context.build_request(context.parse_order(*words)), terms)
    check_impact(impact_of(answer), answer.state_source, session.settings.max_impact_ppm)
    checked = checks.check_quoted(answer, built) if checks else None
    ready = PreparedPayload(built, answer.network, checked)
    ready = add_warnings(session, ready, context.find_warnings(answer), with_approval=payload.with_approval)
    _tell(context, answer, ready, payload)
    return exit_codes.OK


def _tell(context: QuoteContext, answer: QuoteResult, ready: PreparedPayload, told: PayloadOptions) -> None:
    session, terms, built = context.session, context.options.terms, ready.payload

    def people(sendings: list[RenderedTransaction]) -> None:
        from swapcli.cli.render.payload_view import build_payload_view, format_amount
        from swapcli.cli.render.route_view import build_route_view
        from swapcli.cli.render.simulation_view import with_simulation

        sold = format_amount(built.call.route.amount_in, answer.order.token_in)
        view = build_payload_view(sendings, sold, full=shows_full_calldata(session, told))
        session.output.print_payload(
            view, with_simulation(build_route_view(answer, terms, ready.warnings), ready.checked)
        )

    print_payload(session, ready, told, lambda swap: calldata_document(answer, built, swap, ready.warnings), people)
