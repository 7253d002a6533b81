"""Where results go and in which form. A form is imported when it is used: who asks for JSON pays for no table."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from swapcli.cli.render.json import dump
from swapcli.cli.render.text import clean
from swapcli.errors import InvalidOption
from swapcli.model.warning import QuoteWarning

if TYPE_CHECKING:
    from swapcli.cli.render.detail_view import Sheet
    from swapcli.cli.render.listing import Listing
    from swapcli.cli.render.payload_view import PayloadView
    from swapcli.cli.render.route_view import RouteView


class Form(StrEnum):
    """How a result is written."""

    JSON = "json"
    PLAIN = "plain"
    TABLE = "table"


class Output(NamedTuple):
    """Writes results to stdout and remarks to stderr.

    `held` are lines for stderr that wait for the result: where JSON is asked for and an error comes instead, stderr is
    to hold that error's one document.
    """

    form: Form
    color: str
    held: list[str]

    def remark(self, sentence: str) -> None:
        """A remark for people: now, or where JSON is asked for, after the result."""
        self._tell(f"note: {sentence}")

    def warn(self, warnings: Iterable[QuoteWarning]) -> None:
        """Print warnings for people: now, or where JSON is asked for, after the result."""
        for warning in warnings:
            self._tell(f"warning: {clean(warning.message)}")

    def _tell(self, line: str) -> None:
        if self.form is Form.JSON:
            self.held.append(line)
        else:
            to_stderr(line)

    def tell_remarks(self) -> None:
        """Says what was held back; the result is out."""
        for line in self.held:
            to_stderr(line)
        self.held.clear()

    def document(self, document: object) -> None:
        """One JSON document: on a terminal indented, else on one line."""
        print(dump(document, indent=2 if sys.stdout.isatty() else None))
        self.tell_remarks()

    def line(self, document: object) -> None:
        """One JSON document of many, a line each, told at once."""
        print(dump(document), flush=True)
        self.tell_remarks()

    def route(self, view: RouteView) -> None:
        """A route for people, after its warnings."""
        self.warn(view.warnings)
        self._draw(view)

    def _draw(self, view: RouteView) -> None:
        if self.form is Form.PLAIN:
            from swapcli.cli.render.plain import route_text

            print(route_text(view))
        else:
            from swapcli.cli.render.table import new_console, print_route

            print_route(view, new_console(self.color))

    def payload(self, view: PayloadView, route: RouteView | None = None) -> None:
        """A payload for people, after the route that it carries out where that is told too. Warns of nothing."""
        if route:
            self._draw(route)
            print()
        if self.form is Form.PLAIN:
            from swapcli.cli.render.plain import payload_text

            print(payload_text(view))
        else:
            from swapcli.cli.render.table import new_console, print_payload

            print_payload(view, new_console(self.color))

    def listing(self, listing: Listing) -> None:
        """A list."""
        if self.form is Form.JSON:
            self.document(list(listing.documents))
        elif self.form is Form.PLAIN:
            from swapcli.cli.render.plain import listing_text

            print(listing_text(listing))
        else:
            from swapcli.cli.render.table import new_console, print_listing

            print_listing(listing, new_console(self.color))

    def sheet(self, sheet: Sheet) -> None:
        """One thing in figures, for people."""
        if self.form is Form.PLAIN:
            from swapcli.cli.render.plain import sheet_text

            print(sheet_text(sheet))
        else:
            from swapcli.cli.render.table import new_console, print_sheet

            print_sheet(sheet, new_console(self.color))


def choose_form(*, json: bool, plain: bool, table: bool, default: str) -> Form:
    """The form asked for, else the default; "auto" is a table on a terminal and plain text elsewhere."""
    asked = [form for form, wanted in ((Form.JSON, json), (Form.PLAIN, plain), (Form.TABLE, table)) if wanted]
    if len(asked) > 1:
        raise InvalidOption(" and ".join(f"--{form}" for form in asked) + " exclude each other")
    if asked:
        return asked[0]
    if default != "auto":
        return Form(default)
    return Form.TABLE if sys.stdout.isatty() else Form.PLAIN


def note(sentence: str) -> None:
    """A remark for people."""
    to_stderr(f"note: {sentence}")


def to_stderr(text: str) -> None:
    """Writes `text`; that nobody can read it must not undo the result."""
    with suppress(OSError):
        print(text, file=sys.stderr)
