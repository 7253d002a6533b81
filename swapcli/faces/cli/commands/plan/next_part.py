"""`swapcli plan --next`: the payload of the part that is due, built as `swapcli calldata` does."""

from __future__ import annotations

import shlex

from swapcli import InvalidOption, PreparedSwap, SwapQuote
from swapcli.core.encoding.text import printable
from swapcli.core.model.written_amount import AmountUnit, WrittenAmount
from swapcli.faces.cli import exit_codes
from swapcli.faces.cli.account_options import name_fields
from swapcli.faces.cli.options import (
    OrderOptions,
    OutputOptions,
    PayloadOptions,
    SourceOptions,
    option_name,
    settings_of,
)
from swapcli.faces.cli.output import COMMON_FORMATS, TRANSACTION_FORMATS, OutputFormat
from swapcli.faces.cli.payload_output import shows_full_calldata
from swapcli.faces.cli.quote_context import OrderWords, QuoteContext, given_options, limit_quotes, open_quote_context
from swapcli.faces.cli.session import Session, open_session
from swapcli.faces.cli.swap_payload import SwapPayload, build_swap, open_swap_terms, print_swap
from swapcli.quoting.planning.due_part import BuiltPart, build_due_part
from swapcli.quoting.planning.plan_file import PlanFile, PlannedPart, open_plan
from swapcli.quoting.planning.recorded_payload import RecordedPayload
from swapcli.quoting.planning.route_limits import LIMITS, narrow_limits
from swapcli.state.clock import SYSTEM_CLOCK


class _PartOfCommandLine:
    """Quotes a part and builds its payload with the options of the command line."""

    def __init__(self, plan: PlanFile, context: QuoteContext, order: OrderOptions, payload: PayloadOptions) -> None:
        self._plan, self._order, self._payload = plan, order, payload
        settings = context.session.settings
        given = given_options(settings, order, LIMITS)
        self.limits = narrow_limits(plan.limits, context.network, settings, given, option_name)
        self._context = context = limit_quotes(context, order, self.limits.keywords())
        self.network, self.source, self.settings = context.network, context.market.source, context.session.settings
        self.price_request = context.session.setup.node_rules.price_request
        self.recipient = open_swap_terms(context, payload).required_recipient
        self._swap: SwapPayload | None = None

    @staticmethod
    def name_option(parameter: str) -> str:
        """Return the option of a quote parameter."""
        return option_name(parameter)

    def quote(self, part: PlannedPart) -> SwapQuote:
        """Return a fresh quote for the part."""
        written = WrittenAmount(str(part.amount_in), AmountUnit.SMALLEST, str(part.amount_in))
        words = OrderWords(self._plan.token_in.address, self._plan.token_out.address, written)
        self._swap = build_swap(self._context, words, self._order, self._payload)
        return self._swap.quote

    def prepare(self, quote: SwapQuote) -> PreparedSwap:
        """Return the payload of that quote after its checks."""
        assert self._swap is not None
        assert quote is self._swap.quote
        return self._swap.prepare()._replace(account_names=name_fields(self._context.session))


def build_next_part(
    name: str,
    network: str | None,
    order: OrderOptions,
    payload: PayloadOptions,
    source: SourceOptions,
    output: OutputOptions,
) -> int:
    """Build, record and print the part that is due. Raises the same errors as `build_due_part`."""
    if payload.permit or order.proof is not None:
        name = "--permit" if payload.permit else "--proof"
        raise InvalidOption(f"{name} cannot be combined with --next", hint="remove it")
    session = open_session(
        output,
        settings_of(order, payload, source),
        rpc_url=source.rpc_url,
        offline=source.offline,
        formats=TRANSACTION_FORMATS,
        price_use=payload.price_use,
    )
    with open_plan(name) as plan:
        now_s = SYSTEM_CLOCK.now_s()
        plan.due_part(now_s)  # before opening a market, which may read a node
        context = open_quote_context(session, network or plan.network_name, order)
        if context.options.reverse:
            raise InvalidOption("--reverse cannot be combined with --next", hint="remove it")
        built = build_due_part(plan, _PartOfCommandLine(plan, context, order, payload), now_s)
        done = f"after you have executed it, run: swapcli plan --done {shlex.quote(printable(plan.name))}"
    _print(context, built, payload, done)
    return exit_codes.OK


def _print(context: QuoteContext, built: BuiltPart, options: PayloadOptions, done: str) -> None:
    """Print the payload and its notes; the last one is `done`, the command to run after the payload's execution."""
    session = context.session
    output = session.output
    if output.format is OutputFormat.JSON:
        output.warn(built.payload.warnings)
        _print_notes(session, built)
        output.note(done)
        output.print_document(built)
        return
    _print_notes(session, built)
    if isinstance(built.payload, PreparedSwap):
        print_swap(context, built.payload, options)
    else:
        output.warn(built.payload.warnings, is_explained=True)
        _print_recorded(session, built.payload, options)
    output.note(done)


def _print_notes(session: Session, built: BuiltPart) -> None:
    part = built.part
    session.output.note(f"part {part.number} of {built.part_count}")
    for note in built.notes:
        session.output.note(note)


def _print_recorded(session: Session, payload: RecordedPayload, options: PayloadOptions) -> None:
    from swapcli.faces.cli.render.payload_view import build_recorded_view
    from swapcli.faces.cli.render.transaction_formats import format_transactions

    if session.output.format not in COMMON_FORMATS:
        session.output.end_waiting()
        print(format_transactions(session.output.format, payload))
        return
    transactions = payload.built.transactions()
    shown = transactions if options.with_approval else transactions[-1:]
    session.output.print_payload(build_recorded_view(shown, full=shows_full_calldata(session, options)))
