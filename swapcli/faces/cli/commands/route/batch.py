"""`swapcli route --batch`: read one order per line, and write one result per line in the same order, all on one
market."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, redirect_stderr, suppress
from functools import partial
from io import StringIO
from typing import Any, cast

from swapcli import BatchLine, SwapcliError, Token
from swapcli.core.encoding.text import printable, truncate
from swapcli.core.records import NamedTuple
from swapcli.faces.cli import exit_codes
from swapcli.faces.cli.commands.route.batch_options import BatchOptions
from swapcli.faces.cli.commands.route.batch_progress import open_progress
from swapcli.faces.cli.commands.route.batch_results import CSV_COLUMNS, BatchResults, csv_row, open_results
from swapcli.faces.cli.errors import report_of
from swapcli.faces.cli.files import is_regular, read_lines
from swapcli.faces.cli.order_entries import Entry, is_named_csv, parse_order, read_entries
from swapcli.faces.cli.output import Output, OutputFormat
from swapcli.faces.cli.quote_context import QuoteContext
from swapcli.faces.cli.render.csv_order import order_columns
from swapcli.faces.cli.render.csv_text import csv_lines
from swapcli.faces.garbage_collection import enable_garbage_collection
from swapcli.quoting.amounts import parse_amount
from swapcli.quoting.order_keys import (
    TOKEN_IN,
    TOKEN_OUT,
)


class Answer(NamedTuple):
    """An order's output line, exit status and notes."""

    line: str
    status: int
    notes: tuple[str, ...]


def route_batch(open_context: Callable[[], QuoteContext], options: BatchOptions) -> int:
    """Quote the orders of a batch, print or write their results, and return the exit status.

    Raises `InvalidInput` with the number of a malformed line, after writing the results of earlier lines, and the
    errors of `open_context`.
    """
    assert options.batch is not None
    worker_count = options.worker_count
    context = open_context()
    enable_garbage_collection()
    output = context.session.output
    numbered = read_entries(read_lines(options.batch), "the batch", expects_csv=is_named_csv(options.batch))
    entries = _note_repeated_ids(numbered, output) if is_regular(options.batch) else (entry for _, entry in numbered)
    with ExitStack() as stack:
        write: Callable[[str], None] = output.print_ready_line
        has_header, answered_count = False, 0
        failed: list[str] = []
        if options.results is not None:
            is_csv = output.format is OutputFormat.CSV
            file = stack.enter_context(open_results(options.results, resume=options.resume, is_csv=is_csv))
            if options.resume:
                answered_count = _resume(file, options.results, entries, context)
            write, has_header, failed = file.write_line, file.has_results, file.failed_codes
        if output.format is OutputFormat.CSV and not has_header:
            write(csv_lines(CSV_COLUMNS, ()))
        statuses, noted = [exit_codes.status_of_code(code) for code in failed], set[str]()
        progress = stack.enter_context(closing(open_progress(options, answered_count, is_quiet=output.is_quiet)))
        for answer in _answer_all(entries, context, open_context, worker_count, are_at_hand=is_regular(options.batch)):
            statuses.append(answer.status)
            write(answer.line)
            output.deferred.extend(note for note in answer.notes if note not in noted)
            noted.update(answer.notes)
            if output.deferred:
                progress.close()
            output.flush_notes()
            progress.add()
    if not statuses and not answered_count:
        output.note("the batch contains no orders")
        output.flush_notes()
    if options.results is not None:
        _note_failures(output, options.results, sum(map(bool, statuses)))
    return exit_codes.worst(statuses)


def _note_repeated_ids(entries: Iterator[tuple[int, Entry]], output: Output) -> Iterator[Entry]:
    """Yield the orders in a file, with a note on the first id that is used twice: then only their order tells the
    results apart."""
    ids: set[object] | None = set()
    for number, entry in entries:
        if ids is not None:
            order_id = entry["id"]
            if order_id in ids:
                shown = printable(truncate(str(order_id), 40))
                output.note(
                    f'line {number} of the batch repeats the id "{shown}": results are in the order of the batch'
                )
                ids = None
            else:
                ids.add(order_id)
        yield entry


def _note_failures(output: Output, name: str, failed_count: int) -> None:
    if failed_count:
        orders = f"{failed_count} order{'s' if failed_count != 1 else ''}"
        output.note(f"{orders} failed: errorMessage in {printable(name)} has the reason")
        output.flush_notes()


def _resume(file: BatchResults, name: str, entries: Iterator[Entry], context: QuoteContext) -> int:
    """Skip the orders that already have results, and return their number.

    Raises `InvalidInput` if these results belong to other orders, settings or markets.
    """
    from swapcli.faces.cli.commands.route.batch_continuity import check_continuity

    earlier = file.skip_answered(entries)
    note = check_continuity(name, earlier, partial(_quote_entry, context), is_fixed=_is_in_memory(context))
    output = context.session.output
    output.deferred.clear()  # notes on the orders quoted for the check
    if note is not None:
        output.note(note)
    output.flush_notes()  # before processes are forked with it
    return file.answered_count


def _answer_all(
    entries: Iterable[Entry],
    context: QuoteContext,
    open_context: Callable[[], QuoteContext],
    worker_count: int,
    *,
    are_at_hand: bool,
) -> Iterable[Answer]:
    """Yield the results in the order of the entries.

    Processes share a market in memory; for a node, a store or a service, each has a separate connection. Public nodes
    are read by a single process, within their limits.
    """
    from swapcli.quoting.sources.public import PublicSource

    if worker_count == 1 or isinstance(context.market.source, PublicSource):
        return map(partial(_answer_entry, context), entries)
    from swapcli.faces.cli.process_workers import answer_in_processes

    if _is_in_memory(context):
        return answer_in_processes(
            entries, worker_count, lambda: partial(_answer_entry, context), are_at_hand=are_at_hand
        )
    context.market.close()

    def open_answer() -> Callable[[Entry], Answer]:
        with redirect_stderr(StringIO()):  # notes on opening, already printed
            own = open_context()
        own.session.output.deferred.clear()
        return partial(_answer_entry, own)

    return answer_in_processes(entries, worker_count, open_answer, are_at_hand=are_at_hand)


def _is_in_memory(context: QuoteContext) -> bool:
    from swapcli.quoting.sources.in_memory import InMemorySource

    return isinstance(context.market.source, InMemorySource)


def _answer_entry(context: QuoteContext, entry: Entry) -> Answer:
    """Process an order. If it fails, the result contains the error."""
    output, status = context.session.output, exit_codes.OK
    number = cast("int | str", entry["id"])
    try:
        result = BatchLine(number, _quote_entry(context, entry))
    except SwapcliError as error:
        status, result = exit_codes.status_of(error), BatchLine.failed(number, error.message, error.code)
    except Exception as error:
        # A bug triggered by one order must not stop the others.
        report = report_of(error)
        status, result = exit_codes.INTERNAL, BatchLine.failed(number, report.message, report.code)
    if output.format is OutputFormat.CSV:
        line = csv_lines(
            CSV_COLUMNS, [{"id": number, **csv_row(_order_columns(context, entry), result.result)}], header=False
        )
    else:
        line = output.format_line(result)
    notes = tuple(output.deferred)
    output.deferred.clear()
    return Answer(line, status, notes)


def _order_columns(context: QuoteContext, entry: Entry) -> dict[str, object]:
    """Return the CSV columns of an order; an unknown token has only its name in the order."""

    def find(name: object) -> Token | None:
        with suppress(SwapcliError):
            return context.market.token(name) if isinstance(name, str) else None
        return None

    token_in, token_out = entry[TOKEN_IN], entry[TOKEN_OUT]
    written = {"inputToken": token_in, "outputToken": token_out}
    return {**written, **order_columns(context.network, find(token_in), find(token_out))}


def _quote_entry(context: QuoteContext, entry: Entry) -> Mapping[str, Any]:
    """Return the result of an order. Raises `SwapcliError`."""
    order = parse_order(entry, is_reverse=context.options.reverse)
    token_in, token_out = context.market.token(order.token_in), context.market.token(order.token_out)
    sold = token_out if context.options.reverse else token_in
    amount = parse_amount(order.amount, sold.decimals, sold.symbol) if isinstance(order.amount, str) else order.amount
    return context.quote(context.options.build_order(token_in, token_out, amount)).to_dict()
