"""`swapcli calldata`: the best route for an order, and the transaction that carries it out."""

# Annotations are values here: they are what Typer reads.

from swapcli.cli import exit_codes, options
from swapcli.cli.lazy_group import GroupedCommand, new_app
from swapcli.cli.options import FormOptions, OrderOptions, PayloadOptions, SourceOptions, with_options
from swapcli.cli.payload_output import Ready, delivery_to, is_whole, ready_to_sign, tell_payload
from swapcli.cli.quoting import Desk, open_desk, order_given
from swapcli.cli.render.payload_json import calldata_document
from swapcli.cli.render.transactions import Sending
from swapcli.cli.session import open_session
from swapcli.cli.simulation_options import checks_of
from swapcli.engine.price_impact import impact_of
from swapcli.engine.quote import Answer
from swapcli.engine.warnings import check_impact

app = new_app()


@app.command(cls=GroupedCommand)
@with_options
def calldata(
    network: options.NetworkName,
    token_in: options.TokenIn = None,
    token_out: options.TokenOut = None,
    amount: options.Amount = None,
    *,
    order: OrderOptions,
    payload: PayloadOptions,
    source: SourceOptions,
    form: FormOptions,
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
    session = open_session(form, flags, rpc_url=source.rpc_url, offline=source.offline)
    words = order_given(token_in, token_out, amount)
    desk = open_desk(session, network, order, source)
    terms = desk.wishes.terms
    delivery = delivery_to(terms.destination, terms.slippage_ppm, desk.source.network)
    checks = checks_of(session, desk.source.network, payload)
    answer, built = desk.source.quote_and_build(desk.ask(desk.order(*words)), delivery)
    check_impact(impact_of(answer), answer.origin, session.settings.max_impact_ppm)
    checked = checks.quoted(answer, built) if checks else None
    ready = Ready(built, answer.network, checked)
    ready = ready_to_sign(session, ready, desk.warnings(answer), with_approval=payload.with_approval)
    _tell(desk, answer, ready, payload)
    return exit_codes.OK


def _tell(desk: Desk, answer: Answer, ready: Ready, told: PayloadOptions) -> None:
    session, terms, built = desk.session, desk.wishes.terms, ready.payload

    def people(sendings: list[Sending]) -> None:
        from swapcli.cli.render.payload_view import amount_words, payload_view
        from swapcli.cli.render.route_view import view_of
        from swapcli.cli.render.simulation_view import with_checks

        sold = amount_words(built.call.route.amount_in, answer.order.token_in)
        view = payload_view(sendings, sold, full=is_whole(session, told))
        session.output.payload(view, with_checks(view_of(answer, terms, ready.warnings), ready.checked))

    tell_payload(session, ready, told, lambda swap: calldata_document(answer, built, swap, ready.warnings), people)
