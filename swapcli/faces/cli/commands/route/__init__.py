"""`swapcli route`: find the best route for one order, or for each order in a file."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import TYPE_CHECKING, Annotated

from swapcli import InvalidOption
from swapcli.core.records import NamedTuple
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp, OptionalValue
from swapcli.faces.cli.commands.route.batch_options import BatchOptions
from swapcli.faces.cli.options import (
    OUTPUT,
    OrderOptions,
    OutputOptions,
    PayloadOptions,
    SourceOptions,
    option,
    settings_of,
)
from swapcli.faces.cli.output import COMMON_FORMATS, LIST_FORMATS, ROUTE_FORMATS, Output, OutputFormat
from swapcli.faces.cli.quote_context import OrderWords, QuoteContext, open_quote_context, read_order, split_words
from swapcli.faces.cli.session import Session, open_session
from swapcli.faces.cli.view_options import ViewOptions
from swapcli.quoting.price_policy import PriceUse

if TYPE_CHECKING:
    from swapcli.faces.cli.commands.route.alert import Condition, Receiver
    from swapcli.quoting.review.presign_checker import AnyChecker

PUBLIC = ("batch_options", "order_file")

app = CommandApp()

_ALERT = "Alert"


class AlertOptions(NamedTuple):
    """Options for when and how to send an alert."""

    when: Annotated[
        str | None,
        option("--when", "With --watch: alert once when 'FIELD > NUMBER' becomes true.", _ALERT, "CONDITION"),
    ] = None
    notify: Annotated[str | None, option("--notify", "Post the alert as JSON to this URL.", _ALERT, "URL")] = None
    run: Annotated[
        str | None, option("--run", "Run this command; it receives the alert as JSON on stdin.", _ALERT, "COMMAND")
    ] = None

    @property
    def is_set(self) -> bool:
        """Whether any alert option is set."""
        return (self.when, self.notify, self.run) != (None, None, None)

    def check(self, *, is_watch: bool) -> None:
        """Raise `InvalidOption` if there are alert options, but not a watch, a condition and exactly one way to send
        alerts."""
        if not self.is_set:
            return
        if not is_watch:
            raise InvalidOption("--when, --notify and --run need --watch", hint="give --watch")
        if self.when is None:
            raise InvalidOption("--notify and --run need a condition", hint="for example --when 'outputAmount > 5e9'")
        if (self.notify is None) == (self.run is None):
            raise InvalidOption("--when needs an action", hint="add --notify URL or --run COMMAND")
        self.parse()  # before opening a node or a market

    def parse(self) -> "tuple[Condition, Receiver]":
        """Return the condition and the receiver. Raises `InvalidOption`, also for a command that cannot be run."""
        from swapcli.faces.cli.commands.route.alert import Condition
        from swapcli.faces.cli.commands.route.alert_receivers import CommandReceiver, HttpReceiver

        receiver = CommandReceiver(self.run or "") if self.notify is None else HttpReceiver(self.notify)
        return Condition.parse(self.when or ""), receiver


@app.command(formats=ROUTE_FORMATS)
def route(
    network: options.NetworkNameOrDefault = None,
    token_in: options.TokenIn = None,
    token_out: options.TokenOut = None,
    amount: options.Amount = None,
    *,
    order: OrderOptions,
    sender: Annotated[
        str | None,
        option("--from", "Sender; required if AMOUNT is all or a percentage.", options.ROUTING, "ADDRESS"),
    ] = None,
    source: SourceOptions,
    batch: BatchOptions,
    watch: Annotated[
        str | None,
        option(
            "--watch",
            "Quote at every block, or every SECONDS.",
            OUTPUT,
            "[SECONDS]",
            OptionalValue("", lambda word: word.rstrip("smhdSMHD").replace(".", "", 1).isdecimal()),
        ),
    ] = None,
    alert: AlertOptions,
    shown: ViewOptions,
    output: OutputOptions,
) -> int:
    """Find the best route for a swap. Prices are live by default. Nothing is signed or sent.

    \b
    Examples:
      swapcli route base ETH USDC 1.5
      swapcli route base ETH USDC 1.5 --get outputAmount
      swapcli route base ETH USDC 50 -o route.svg
      swapcli route base --batch orders.jsonl --results quotes.jsonl

    See also: swapcli help routing, swapcli help live, swapcli help batches (--batch, --watch, --when).
    """
    if batch.results is not None:
        output = batch.with_format_of_results(output)
    session = open_session(
        output,
        settings_of(order, source),
        rpc_url=source.rpc_url,
        offline=source.offline,
        reuses_searches=watch is not None,
        quotes_past_blocks=True,
        formats=COMMON_FORMATS if watch is not None else LIST_FORMATS if batch.batch is not None else ROUTE_FORMATS,
        price_use=PriceUse.SHOWN if watch is None and batch.batch is None else PriceUse.NUMBER,
    )
    network, words = split_words(session, (network, token_in, token_out, amount))
    if batch.batch is None:
        batch.check_absent()
    alert.check(is_watch=watch is not None)
    if output.output_file is not None:
        from swapcli.faces.cli.output_file import refuse_stream

        if watch is not None:
            refuse_stream("--watch")
        if batch.batch is not None:
            refuse_stream("--batch", "--results FILE writes the results of a batch")
    if session.setup.block is not None and (watch is not None or sender is not None):
        other = "--watch" if watch is not None else "--from"
        raise InvalidOption(f"a past block never changes, so --block cannot be combined with {other}")
    if watch is not None:
        if batch.batch is not None:
            raise InvalidOption("--watch cannot be combined with --batch")
        written = read_order(words, "route", network, raw=order.raw)
        _check_watch_alone(written, sender, shown, order.proof, session, output)
        return _watch(open_quote_context(session, network, order), written, watch, alert, shown, output)
    if batch.batch is None:
        written = read_order(words, "route", network, raw=order.raw, hint=", or --batch")
        shown.check(session.output)
        return _route_one(open_quote_context(session, network, order), written, sender, shown, order.proof)
    if any(shown):
        raise InvalidOption("--batch prints JSON or CSV, so it cannot be combined with --view or -v")
    if sender is not None:
        raise InvalidOption("--from is used only if AMOUNT is all or a percentage", hint="remove --from")
    batch.check(words, output, session.settings.market, proof=order.proof)
    from swapcli.faces.cli.commands.route.batch import route_batch

    return route_batch(lambda: open_quote_context(session, network, order), batch)


def _check_watch_alone(
    words: OrderWords,
    sender: str | None,
    shown: ViewOptions,
    proof: str | None,
    session: Session,
    output: OutputOptions,
) -> None:
    """Raise an error if the command line has options that cannot be combined with --watch."""
    others = {"--from": sender, "--proof": proof}
    for name, value in others.items():
        if value is not None:
            raise InvalidOption(f"--watch cannot be combined with {name}")
    if words.amount.is_balance_part:
        amount = words.amount.text
        raise InvalidOption(f"--watch needs a fixed amount, not {amount}", hint="write an amount, such as 1.5")
    shown.check(session.output)
    if shown.view is not None and _prints_json(session.output, output):
        raise InvalidOption(
            "--watch prints JSON to a pipe, so it cannot be combined with --view", hint="add --format plain"
        )


def _prints_json(printed: Output, output: OutputOptions) -> bool:
    """Return whether a watch prints JSON: on request, and in a pipe unless another format is requested."""
    return printed.format is OutputFormat.JSON or (printed.format is OutputFormat.PLAIN and not output.format)


def _watch(
    context: QuoteContext,
    words: OrderWords,
    watch: str,
    alert: AlertOptions,
    shown: ViewOptions,
    output: OutputOptions,
) -> int:
    from swapcli.faces.cli.commands.route.watch import WatchDisplay, WatchedOrder, parse_watch_seconds
    from swapcli.faces.cli.commands.route.watch_view import WatchLines, WatchScreen
    from swapcli.faces.garbage_collection import enable_garbage_collection

    enable_garbage_collection()
    seconds = parse_watch_seconds(watch)
    order, printed = context.build_order(words), context.session.output
    watched = WatchedOrder(context, order, seconds)
    interval_s = watched.interval_s
    pace = f"every {interval_s:g} s" if seconds is not None else f"every block, checked every {interval_s:g} s"
    display: WatchDisplay
    if _prints_json(printed, output):
        display = WatchLines(printed._replace(format=OutputFormat.JSON))
    else:
        display = WatchScreen(printed, shown.shape, pace, verbose=shown.verbose)
    if not alert.is_set:
        return watched.show(display)
    from swapcli.faces.cli.commands.route.alert_receivers import alerting

    with alerting(*alert.parse(), display, context.session) as alerting_display:
        return watched.show(alerting_display)


def _route_one(
    context: QuoteContext, words: OrderWords, sender: str | None, shown: ViewOptions, proof: str | None
) -> int:
    def open_sender() -> "AnyChecker | None":
        from swapcli.faces.cli.payload_output import open_checker

        return open_checker(context.session, context.network, PayloadOptions(sender=sender))

    if sender is not None and not words.amount.is_balance_part:
        raise InvalidOption("--from is used only if AMOUNT is all or a percentage", hint="remove it, or use calldata")
    quote = context.answer_order(words, context.quote, lambda each: each.answer, open_sender)
    if proof is not None:
        quote = quote.write_proof(proof)
    output = context.session.output
    if output.format is OutputFormat.JSON:
        output.print_document(quote)
    elif output.format is OutputFormat.CSV:
        from swapcli.faces.cli.commands.route.batch_results import QUOTE_COLUMNS, csv_row
        from swapcli.faces.cli.render.csv_order import order_columns

        output.warn(quote.warnings)
        order = quote.answer.order
        row = csv_row(order_columns(quote.network, order.token_in, order.token_out), quote.to_dict())
        output.print_rows([{name: row.get(name) for name in QUOTE_COLUMNS}])
    elif output.format in (OutputFormat.SVG, OutputFormat.MERMAID):
        output.warn(quote.warnings, is_labelled=True)
        output.print_picture(quote.svg() if output.format is OutputFormat.SVG else quote.mermaid())
    else:
        from swapcli.faces.cli.render.route_view import build_route_view

        view = build_route_view(quote.answer, quote.terms, quote.figures, verbose=shown.verbose)
        output.print_route(view, shown.shape)
    return exit_codes.OK
