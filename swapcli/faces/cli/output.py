"""Output of results and notes. A format's modules are imported when the format is used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeVar

from swapcli import Finding, InvalidOption
from swapcli.core.encoding.json_text import to_json
from swapcli.core.encoding.text import printable, printable_lines
from swapcli.core.model.finding import DO_NOT_SIGN, UNREAL_STATE_CODES, Level
from swapcli.core.records import NamedTuple
from swapcli.faces.cli.color import ALWAYS, has_color, paint_labels, paint_plain
from swapcli.faces.cli.render.route_layout import RouteShape

if TYPE_CHECKING:
    from swapcli.faces.cli.render.detail_view import DetailView
    from swapcli.faces.cli.render.list_view import ListView
    from swapcli.faces.cli.render.payload_view import PayloadView
    from swapcli.faces.cli.render.route_view import RouteView
    from swapcli.interface.result import Result


class ListResult(Protocol):
    """A result whose document is a list of objects with the same fields."""

    def document(self) -> Sequence[Mapping[str, object]]:
        """Return the rows."""


R = TypeVar("R", bound=ListResult)


class OutputFormat(StrEnum):
    """The format of a result."""

    JSON = "json"
    PLAIN = "plain"
    TABLE = "table"
    CSV = "csv"
    SVG = "svg"
    MERMAID = "mermaid"
    CAST = "cast"
    SAFE = "safe"
    SH = "sh"
    WALLET_CALLS = "wallet-calls"
    WEB3 = "web3"


COMMON_FORMATS = (OutputFormat.JSON, OutputFormat.PLAIN, OutputFormat.TABLE)
"""The formats that every command can print."""
LIST_FORMATS = (*COMMON_FORMATS, OutputFormat.CSV)
CHART_FORMATS = (*LIST_FORMATS, OutputFormat.SVG)
ROUTE_FORMATS = (*CHART_FORMATS, OutputFormat.MERMAID)
HANDOFF_FORMATS = (OutputFormat.SAFE, OutputFormat.WALLET_CALLS)
"""Formats for other signers, who need more time to sign."""
TRANSACTION_FORMATS = (
    *COMMON_FORMATS,
    OutputFormat.CAST,
    OutputFormat.SAFE,
    OutputFormat.SH,
    OutputFormat.WALLET_CALLS,
    OutputFormat.WEB3,
)


class Output(NamedTuple):
    """The output of a command: results on stdout, notes and warnings on stderr.

    Warnings are printed after the result, so that the result is on the first line. With JSON, notes are printed after
    the result too. If the command fails, stderr then contains only the JSON of the error. A document's warnings are
    also printed to stderr, where people see them even if a script reads only one field. With `fields`, which are dotted
    paths, only those fields of the JSON are printed. `fall_backs` are the sentences given to `report_fall_back`.
    """

    format: OutputFormat
    color: str
    deferred: list[str]
    fields: Sequence[str] | None = None
    is_quiet: bool = False
    fall_backs: list[str] = []  # noqa: RUF012 - each session has its own

    @property
    def is_for_people(self) -> bool:
        """Whether results are text for people, with a label on the first line for prices that are not real."""
        return self.format in (OutputFormat.PLAIN, OutputFormat.TABLE)

    def note(self, sentence: str) -> None:
        """Print a note, unless --quiet is given. With JSON, print it after the result."""
        if self.is_quiet:
            return
        self._print_note(f"note: {sentence}")

    def warn(self, warnings: Iterable[Finding], *, is_labelled: bool = False, is_explained: bool = False) -> None:
        """Print warnings after the result. With `is_explained`, the last line names the help topic about warnings.

        The warning that prices are not real is printed only once. It is skipped here if `is_labelled`, because the
        result's first line already has it, and if a fallback was reported. The warning that a payload must not be
        signed is always printed.
        """
        has_any = False
        for warning in warnings:
            is_stated = warning.code in UNREAL_STATE_CODES and (is_labelled or self.fall_backs)
            if (is_stated and not warning.message.startswith(DO_NOT_SIGN)) or warning.message in self.fall_backs:
                continue
            hint = f"; {warning.hint}" if warning.hint else ""
            self._print_after_result(f"warning: {printable(warning.message + hint)}")
            has_any = True
        if has_any and is_explained:
            self._print_after_result("hint:    swapcli help warnings explains each warning")

    def warn_sentence(self, sentence: str) -> None:
        """Print a warning about the program's environment, which has no code. With JSON, print it after the result."""
        self._print_note(f"warning: {printable(sentence)}")

    def report_fall_back(self, sentence: str, hint: str) -> None:
        """Report once, after the result, why prices are not live, and a hint on how to change that."""
        if sentence not in self.fall_backs:
            self.fall_backs.append(sentence)
            self._print_after_result(f"warning: {printable(sentence)}")
            self._print_after_result(f"hint:    {hint}")

    def _print_note(self, line: str) -> None:
        if self.format is OutputFormat.JSON:
            if line not in self.deferred:
                self.deferred.append(line)
        else:
            print_to_stderr(line, self.color)

    def _print_after_result(self, line: str) -> None:
        if self.format is OutputFormat.JSON:
            self._print_note(line)
        else:
            _after_result.append((line, self.color))

    def flush_notes(self) -> None:
        """Print the deferred notes, after the result."""
        for line in self.deferred:
            print_to_stderr(line, self.color)
        self.deferred.clear()

    @staticmethod
    def end_waiting() -> None:
        """Remove the line that shows what the command is waiting for, before a result is printed."""
        waiting = sys.modules.get("swapcli.faces.cli.waiting")  # imported only on a terminal
        if waiting:
            waiting.end_waiting()

    def print_document(self, result: Result) -> None:
        """Print the JSON of a result, indented on a terminal, otherwise on one line. With --get, print its fields, one
        per line."""
        self.end_waiting()
        document = document_of(result)
        if self.fields is None:
            print(to_json(document, indent=2 if sys.stdout.isatty() else None))
        else:
            print("\n".join(self._format_fields(document, self.fields, result)))
        self._warn_as(document)
        self.flush_notes()

    def print_line(self, result: Result) -> None:
        """Print one of several results as a line of JSON, or its --get fields separated by tabs, and flush."""
        self.print_ready_line(self.format_line(result))

    def format_line(self, result: Result) -> str:
        """Return the line that `print_line` prints, and defer warnings that --get omits from it."""
        document = document_of(result)
        if self.fields is None:
            return to_json(document)
        nested = document.get("result") if isinstance(document, dict) else None
        self._warn_as(document if nested is None else nested)
        return "\t".join(self._format_fields(document, self.fields, result))

    def _warn_as(self, document: object) -> None:
        """Print the warnings in a JSON document's `warnings`, if it has any."""
        warnings = document.get("warnings", ()) if isinstance(document, dict) else ()
        self.warn(Finding(each["code"], Level.WARN, each["message"]) for each in warnings)

    def print_ready_line(self, line: str) -> None:
        """Print a line from `format_line`, and flush."""
        self.end_waiting()
        print(line, flush=True)
        self.flush_notes()

    def print_text(self, text: str) -> None:
        """Print a JSON document that is already text, or its fields named by --get, one per line."""
        self.end_waiting()
        if self.fields is None:
            print(text)
        else:
            from json import loads

            print("\n".join(self._format_fields(loads(text), self.fields)))

    @staticmethod
    def _format_fields(document: object, paths: Sequence[str], result: Result | None = None) -> list[str]:
        from swapcli.faces.cli.json_field import select_field

        fields = [select_field(document, path, result=result) for path in paths]
        # A script gets a name unchanged; a terminal gets no characters that would control it or reorder the surrounding
        # text.
        return [*map(printable_lines, fields)] if sys.stdout.isatty() else fields

    def print_route(self, view: RouteView, shape: RouteShape = RouteShape.TABLE) -> None:
        """Print a route, then its warnings. The warnings are printed even if the reader closes the pipe."""
        self.warn(view.warnings, is_labelled=True)
        self._print_route_view(view, shape)

    def format_route(self, view: RouteView, shape: RouteShape) -> str:
        """Return the text that `print_route` prints, without the warnings."""
        if self.format is OutputFormat.PLAIN:
            from swapcli.faces.cli.render.plain import route_text

            return route_text(view, shape)
        from swapcli.faces.cli.render.terminal_tables import new_console, print_route

        console = new_console(self.color)
        with console.capture() as captured:
            print_route(view, console, shape)
        return captured.get()

    def _print_route_view(self, view: RouteView, shape: RouteShape) -> None:
        self.end_waiting()
        if self.format is OutputFormat.PLAIN:
            from swapcli.faces.cli.render.plain import route_text

            self._print_plain(route_text(view, shape))
        else:
            from swapcli.faces.cli.render.terminal_tables import new_console, print_route

            print_route(view, new_console(self.color), shape)

    def print_picture(self, drawn: str) -> None:
        """Print an SVG picture or a Mermaid diagram."""
        self.end_waiting()
        print(drawn, end="")

    def _print_plain(self, text: str) -> None:
        """Print plain text. It has colors only on request, because it often goes into a pipe."""
        if self.color == ALWAYS:
            text = paint_plain(text)
        print(text)

    def print_payload(self, view: PayloadView) -> None:
        """Print transactions. Prints no warnings."""
        self.end_waiting()
        if self.format is OutputFormat.PLAIN:
            from swapcli.faces.cli.render.plain import payload_text

            self._print_plain(payload_text(view))
        else:
            from swapcli.faces.cli.render.terminal_tables import new_console, print_payload

            print_payload(view, new_console(self.color))

    def print_rows(self, documents: Sequence[Mapping[str, object]], fields: Sequence[str] = ()) -> None:
        """Print JSON objects as CSV, with a column for each of `fields`, and for any other field that occurs."""
        from swapcli.faces.cli.render.csv_text import csv_columns, csv_lines

        self.end_waiting()
        print(csv_lines(csv_columns(documents, fields), documents))

    def print_list(self, result: R, view: Callable[[R], ListView], *, if_empty: str = "") -> None:
        """Print a result whose document is a list: as JSON or CSV, or its `view` as a table or plain text.

        If the list is empty, the note `if_empty` says so, and formats for people omit the headings.
        """
        self.end_waiting()
        is_empty = bool(if_empty) and not result.document()
        if is_empty:
            self.note(if_empty)
        if is_empty and self.is_for_people:
            return
        if self.format is OutputFormat.JSON:
            self.print_document(result)
        elif self.format is OutputFormat.CSV:
            from swapcli.interface.document_fields import row_fields

            self.print_rows(result.document(), row_fields(result))
        elif self.format is OutputFormat.PLAIN:
            from swapcli.faces.cli.render.plain import list_text

            self._print_plain(list_text(view(result)))
        else:
            from swapcli.faces.cli.render.terminal_tables import new_console, print_list

            print_list(view(result), new_console(self.color))

    def print_details(self, sheet: DetailView) -> None:
        """Print one thing in detail, as a table or plain text."""
        self.end_waiting()
        if self.format is OutputFormat.PLAIN:
            from swapcli.faces.cli.render.plain import detail_text

            self._print_plain(detail_text(sheet))
        else:
            from swapcli.faces.cli.render.terminal_tables import new_console, print_details

            print_details(sheet, new_console(self.color))


def document_of(result: Result) -> object:
    """Return the document of a result. Raises `TypeError` for a value without one."""
    document = getattr(result, "document", None)
    if document is None:
        name = type(result).__name__
        raise TypeError(f"give {name} a method document() that returns a type of interface/document_types")
    return document()


class FormatOptions(NamedTuple):
    """The options that choose the format: --json, the value of --format, and the fields of --get."""

    json: bool = False
    format: str | None = None
    fields: Sequence[str] | None = None

    def chosen(self) -> str | None:
        """Return the format chosen by --json or --format, or None if --get or nothing chooses it."""
        return self.format or ("json" if self.json else None)


def choose_format(
    options: FormatOptions, default: str, supported: Sequence[OutputFormat] = COMMON_FORMATS
) -> OutputFormat:
    """Return the requested format, otherwise `default`. "auto" is a table on a terminal and plain text elsewhere.

    Raises `InvalidOption` for options that cannot be combined and for a format that is not `supported`.
    """
    requested = {"--json": OutputFormat.JSON} if options.json else {}
    if options.format is not None:
        requested[f"--format {options.format}"] = _parse_format(options.format, supported)
    if len(requested) > 1:
        raise InvalidOption(" and ".join(requested) + " cannot be combined", hint="remove one of them")
    if options.fields is not None:
        if not set(requested.values()) <= {OutputFormat.JSON}:
            raise InvalidOption(
                f"--get prints a field of the JSON, so it cannot be combined with {', '.join(requested)}"
            )
        return OutputFormat.JSON
    if requested:
        return next(iter(requested.values()))
    if default != "auto":
        return OutputFormat(default)
    return OutputFormat.TABLE if sys.stdout.isatty() else OutputFormat.PLAIN


def _parse_format(name: str, supported: Sequence[OutputFormat]) -> OutputFormat:
    if name in supported:
        return OutputFormat(name)
    hint = f"this command prints {', '.join(supported)}"
    raise InvalidOption(f'--format: no format "{printable(name)}" here', hint=hint, details={"formats": [*supported]})


_after_result: list[tuple[str, str]] = []
"""Lines to print after a text result, with their colors."""


def print_after_result() -> None:
    """Print the lines deferred until after the result. Call this once the result is printed, or cannot come."""
    if _after_result:
        with suppress(OSError):
            sys.stdout.flush()
    while _after_result:
        print_to_stderr(*_after_result.pop(0))


def print_note(sentence: str) -> None:
    """Print a note to stderr."""
    print_to_stderr(f"note: {sentence}")


def print_to_stderr(text: str, color: str = "auto", *, is_wrapped: bool = True) -> None:
    """Write a message to stderr, wrapped on a terminal. Failures are ignored, so that they do not turn a result into an
    error.

    Names from markets and services in errors, hints and notes are made printable here.
    """
    text = printable_lines(text)
    with suppress(OSError):
        waiting = sys.modules.get("swapcli.faces.cli.waiting")
        if waiting:
            waiting.erase_waiting()
        if is_wrapped and sys.stderr.isatty():
            from swapcli.faces.cli.terminal import terminal_width, wrap_message

            text = wrap_message(text, terminal_width(sys.stderr))
        print(paint_labels(text) if has_color(color, sys.stderr) else text, file=sys.stderr)
