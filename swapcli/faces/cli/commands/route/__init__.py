"""`swapcli route`: find the best route for one order, or for each order of a file."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import TYPE_CHECKING, Annotated

from swapcli import InvalidOption
from swapcli.core.records import NamedTuple
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp, OptionalValue
from swapcli.faces.cli.commands.route.batch_options import BatchOptions
from swapcli.faces.cli.files import write_text_file
from swapcli.faces.cli.options import (
    OUTPUT,
    OrderOptions,
    OutputOptions,
    PayloadOptions,
    SourceOptions,
    option,
    settings_of,
)
from swapcli.faces.cli.output import COMMON_FORMATS, LIST_FORMATS, OutputFormat
from swapcli.faces.cli.picture_options import PictureOptions
from swapcli.faces.cli.quote_context import OrderWords, QuoteContext, open_quote_context, read_order, split_words
from swapcli.faces.cli.session import Session, open_session
from swapcli.quoting.price_policy import PriceUse

if TYPE_CHECKING:
    from swapcli.faces.cli.commands.route.alert import Condition, Receiver
    from swapcli.quoting.review.presign_checker import AnyChecker

PUBLIC = ("batch_options",)

app = CommandApp()

_ALERT = "Alert"


class AlertOptions(NamedTuple):
    """When to tell somebody, and how."""

    when: Annotated[
        str | None,
        option("--when", "With --watch, tell when a field crosses a number: 'FIELD > NUMBER'.", _ALERT, "CONDITION"),
    ] = None
    notify: Annotated[str | None, option("--notify", "Post the quote as JSON to this address then.", _ALERT, "URL")] = (
        None
    )
    run: Annotated[
        str | None, option("--run", "Run this then; it gets the quote as JSON on stdin.", _ALERT, "COMMAND")
    ] = None

    @property
    def is_set(self) -> bool:
        """Whether there is any of them."""
        return (self.when, self.notify, self.run) != (None, None, None)

    def check(self, *, is_watch: bool) -> None:
        """Raise `InvalidOption` unless there is none, or a condition with one way to tell of it in a watch."""
        if not self.is_set:
            return
        if not is_watch:
            raise InvalidOption("--when, --notify and --run are for a quote that is watched", hint="give --watch")
        if self.when is None:
            raise InvalidOption("--notify and --run need a condition", hint="for example --when 'outputAmount > 5e9'")
        if (self.notify is None) == (self.run is None):
            raise InvalidOption("--when needs one way to tell of it", hint="give --notify URL or --run COMMAND")
        self.parse()  # before a node or a market is opened

    def parse(self) -> "tuple[Condition, Receiver]":
        """Return the condition and the receiver. Raises `InvalidOption`, also for a command that cannot be run."""
        from swapcli.faces.cli.commands.route.alert import Condition
        from swapcli.faces.cli.commands.route.alert_receivers import CommandReceiver, HttpReceiver

        receiver = CommandReceiver(self.run or "") if self.notify is None else HttpReceiver(self.notify)
        return Condition.parse(self.when or ""), receiver


@app.command(formats=LIST_FORMATS)
def route(
    network: options.NetworkNameOrDefault = None,
    token_in: options.TokenIn = None,
    token_out: options.TokenOut = None,
    amount: options.Amount = None,
    *,
    order: OrderOptions,
    sender: Annotated[
        str | None,
        option("--from", "Sender or its ENS name, for an AMOUNT of all or 50%.", options.ROUTING, "ADDRESS"),
    ] = None,
    source: SourceOptions,
    block: options.Block = None,
    batch: BatchOptions,
    watch: Annotated[
        str | None,
        option(
            "--watch",
            "Quote at every block, or every so many SECONDS, until Ctrl-C.",
            OUTPUT,
            "[SECONDS]",
            OptionalValue("", lambda word: word.rstrip("smhdSMHD").replace(".", "", 1).isdecimal()),
        ),
    ] = None,
    alert: AlertOptions,
    picture: PictureOptions,
    output: OutputOptions,
) -> int:
    """Find the best route for a swap.

    \b
    Examples:
      swapcli route base ETH USDC 1.5
      swapcli route base ETH USDC 1.5 --get outputAmount
      swapcli route base ETH USDC 50 --view tree --svg route.svg

    A batch file has one JSON order per line, {"id", "token_in", "token_out", "amount_in"}, with amounts in the token's
    smallest unit, or "amount_decimal" in whole tokens; without an id the number of the line is its id. The output is
    one line {"id", "result"} per order, in their order; --format csv prints the main figures. A malformed line stops
    the batch; the error gives its number. The exit status is the lowest one other than 0 of all orders. An interrupted
    batch with --results goes on where it was with --resume (swapcli help scripting).

    --watch draws each quote over the last one, with the change since the first; into a pipe it writes one JSON object
    per line. It needs a node, a service or a store that swapcli sync --watch follows. It waits for at least the time of
    a block, and goes on after a failed refresh. Ctrl-C ends it with status 0.

    --when tells once when a field of the JSON, by the name that --get takes, begins to meet a condition: --notify posts
    {"when", "field", "value", "quote"} to an address, --run runs a command without a shell (swapcli help scripting).
    """
    session = open_session(
        output,
        settings_of(order, source),
        rpc_url=source.rpc_url,
        offline=source.offline,
        reuses_searches=watch is not None,
        block=block,
        formats=COMMON_FORMATS if watch is not None else LIST_FORMATS,
        price_use=PriceUse.SHOWN if watch is None and batch.batch is None else PriceUse.NUMBER,
        pictures=("svg", "mermaid"),
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
    if block is not None and (watch is not None or sender is not None):
        other = "--watch" if watch is not None else "--from"
        raise InvalidOption(f"a past block never changes, so --block cannot be combined with {other}")
    if watch is not None:
        if batch.batch is not None:
            raise InvalidOption("--watch cannot be combined with --batch")
        written = read_order(words, "route", network, raw=order.raw)
        _check_watch_alone(written, sender, picture, order.proof, session)
        return _watch(open_quote_context(session, network, order, source), written, watch, alert, picture, output)
    if batch.batch is None:
        written = read_order(words, "route", network, raw=order.raw, hint=", or --batch")
        picture = picture.for_file(output.output_file)
        picture.check(session.output)
        return _route_one(open_quote_context(session, network, order, source), written, sender, picture, order.proof)
    if any(picture):
        raise InvalidOption("--batch prints JSON or CSV and excludes views and pictures")
    if sender is not None:
        raise InvalidOption("--from is for an AMOUNT of all or a percentage", hint="leave it out with --batch")
    batch.check(words, output, session.settings.market, proof=order.proof)
    from swapcli.faces.cli.commands.route.batch import route_batch

    return route_batch(lambda: open_quote_context(session, network, order, source), batch)


def _check_watch_alone(
    words: OrderWords, sender: str | None, picture: PictureOptions, proof: str | None, session: Session
) -> None:
    """Raise an error if the command line has options that cannot be combined with --watch."""
    others = {"--from": sender, "--svg": picture.svg, "--mermaid": picture.mermaid or None, "--proof": proof}
    for name, value in others.items():
        if value is not None:
            raise InvalidOption(f"--watch cannot be combined with {name}")
    if words.amount.is_balance_part:
        amount = words.amount.text
        raise InvalidOption(f"--watch needs a fixed amount, not {amount}", hint="write an amount, such as 1.5")
    picture.check(session.output)


def _watch(
    context: QuoteContext,
    words: OrderWords,
    watch: str,
    alert: AlertOptions,
    picture: PictureOptions,
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
    is_piped = printed.format is OutputFormat.PLAIN and not (output.plain or output.format)
    pace = f"every {interval_s:g} s" if seconds is not None else f"every block, looked for every {interval_s:g} s"
    display: WatchDisplay
    if printed.format is OutputFormat.JSON or is_piped:
        display = WatchLines(printed._replace(format=OutputFormat.JSON))
    else:
        display = WatchScreen(printed, picture.shape, pace)
    if not alert.is_set:
        return watched.show(display)
    from swapcli.faces.cli.commands.route.alert_receivers import alerting

    with alerting(*alert.parse(), display, context.session) as alerting_display:
        return watched.show(alerting_display)


def _route_one(
    context: QuoteContext, words: OrderWords, sender: str | None, picture: PictureOptions, proof: str | None
) -> int:
    def open_sender() -> "AnyChecker | None":
        from swapcli.faces.cli.payload_output import open_checker

        return open_checker(context.session, context.network, PayloadOptions(sender=sender))

    if sender is not None and not words.amount.is_balance_part:
        raise InvalidOption("--from is for an AMOUNT of all or a percentage", hint="leave it out, or use calldata")
    quote = context.answer_order(words, context.quote, lambda each: each.answer, open_sender)
    if proof is not None:
        quote = quote.write_proof(proof)
    output = context.session.output
    if picture.svg is not None and not picture.draws_to_stdout:
        write_text_file(picture.svg, quote.svg(picture.width))
    if output.format is OutputFormat.JSON:
        output.print_document(quote)
    elif output.format is OutputFormat.CSV:
        from swapcli.faces.cli.commands.route.batch_results import CSV_COLUMNS, csv_row

        output.warn(quote.warnings)
        output.print_rows([{name: csv_row(quote.to_dict()).get(name) for name in CSV_COLUMNS if name != "id"}])
    elif picture.draws_to_stdout or picture.mermaid:
        output.warn(quote.warnings, is_labelled=True)
        print(quote.mermaid() if picture.mermaid else quote.svg(picture.width), end="")
    else:
        from swapcli.faces.cli.render.route_view import build_route_view

        is_brief = output.format is OutputFormat.TABLE and not picture.full
        view = build_route_view(quote.answer, quote.terms, quote.figures, is_brief=is_brief)
        output.print_route(view, picture.shape)
    return exit_codes.OK
