"""Where results go and in which form. A form is imported when it is used: who asks for JSON pays for no table."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from swapcli.cli.render.json import to_json
from swapcli.cli.render.text import printable
from swapcli.errors import InvalidOption
from swapcli.model.warning import QuoteWarning

if TYPE_CHECKING:
    from swapcli.cli.render.detail_view import DetailView
    from swapcli.cli.render.list_view import ListView
    from swapcli.cli.render.payload_view import PayloadView
    from swapcli.cli.render.route_view import RouteView


class OutputFormat(StrEnum):
    """How a result is written."""

    JSON = "json"
    PLAIN = "plain"
    TABLE = "table"


class Output(NamedTuple):
    """Writes results to stdout and remarks to stderr.

    `held` are lines for stderr that wait for the result: where JSON is asked for and an error comes instead, stderr is
    to hold that error's one document.
    """

    format: OutputFormat
    color: str
    deferred: list[str]

    def note(self, sentence: str) -> None:
        """A remark for people: now, or where JSON is asked for, after the result."""
        self._print_note(f"note: {sentence}")

    def warn(self, warnings: Iterable[QuoteWarning]) -> None:
        """Print warnings for people: now, or where JSON is asked for, after the result."""
        for warning in warnings:
            self._print_note(f"warning: {printable(warning.message)}")

    def _print_note(self, line: str) -> None:
        if self.format is OutputFormat.JSON:
            self.deferred.append(line)
        else:
            print_to_stderr(line)

    def flush_notes(self) -> None:
        """Says what was held back; the result is out."""
        for line in self.deferred:
            print_to_stderr(line)
        self.deferred.clear()

    def print_document(self, document: object) -> None:
        """One JSON document: on a terminal indented, else on one line."""
        print(to_json(document, indent=2 if sys.stdout.isatty() else None))
        self.flush_notes()

    def print_line(self, document: object) -> None:
        """One JSON document of many, a line each, told at once."""
        print(to_json(document), flush=True)
        self.flush_notes()

    def print_route(self, view: RouteView) -> None:
        """A route for people, after its warnings."""
        self.warn(view.warnings)
        self._print_route_view(view)

    def _print_route_view(self, view: RouteView) -> None:
        if self.format is OutputFormat.PLAIN:
            from swapcli.cli.render.plain import route_text

            print(route_text(view))
        else:
            from swapcli.cli.render.table import new_console, print_route

            print_route(view, new_console(self.color))

    def print_payload(self, view: PayloadView, route: RouteView | None = None) -> None:
        """A payload for people, after the route that it carries out where that is told too. Warns of nothing."""
        if route:
            self._print_route_view(route)
            print()
        if self.format is OutputFormat.PLAIN:
            from swapcli.cli.render.plain import payload_text

            print(payload_text(view))
        else:
            from swapcli.cli.render.table import new_console, print_payload

            print_payload(view, new_console(self.color))

    def print_list(self, listing: ListView) -> None:
        """A list."""
        if self.format is OutputFormat.JSON:
            self.print_document(list(listing.documents))
        elif self.format is OutputFormat.PLAIN:
            from swapcli.cli.render.plain import list_text

            print(list_text(listing))
        else:
            from swapcli.cli.render.table import new_console, print_list

            print_list(listing, new_console(self.color))

    def print_details(self, sheet: DetailView) -> None:
        """One thing in figures, for people."""
        if self.format is OutputFormat.PLAIN:
            from swapcli.cli.render.plain import detail_text

            print(detail_text(sheet))
        else:
            from swapcli.cli.render.table import new_console, print_details

            print_details(sheet, new_console(self.color))


def choose_format(*, json: bool, plain: bool, table: bool, default: str) -> OutputFormat:
    """The form asked for, else the default; "auto" is a table on a terminal and plain text elsewhere."""
    asked = [
        form
        for form, wanted in ((OutputFormat.JSON, json), (OutputFormat.PLAIN, plain), (OutputFormat.TABLE, table))
        if wanted
    ]
    if len(asked) > 1:
        raise InvalidOption(" and ".join(f"--{form}" for form in asked) + " exclude each other")
    if asked:
        return asked[0]
    if default != "auto":
        return OutputFormat(default)
    return OutputFormat.TABLE if sys.stdout.isatty() else OutputFormat.PLAIN


def print_note(sentence: str) -> None:
    """A remark for people."""
    print_to_stderr(f"note: {sentence}")


def print_to_stderr(text: str) -> None:
    """Writes `text`; that nobody can read it must not undo the result."""
    with suppress(OSError):
        print(text, file=sys.stderr)
