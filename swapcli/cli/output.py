"""Where results go and in which form."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum

from swapcli.cli.render.json import dump
from swapcli.cli.render.listing import Listing
from swapcli.cli.render.plain import listing_text, route_text
from swapcli.cli.render.view import RouteView
from swapcli.errors import InvalidOption


class Form(StrEnum):
    """How a result is written."""

    JSON = "json"
    PLAIN = "plain"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Output:
    """Writes results to stdout and remarks to stderr."""

    form: Form
    color: str

    def document(self, document: object) -> None:
        """One JSON document: on a terminal indented, else on one line."""
        print(dump(document, indent=2 if sys.stdout.isatty() else None))

    def route(self, view: RouteView) -> None:
        """A route for people, and the warning that belongs to it."""
        if view.warning:
            note(view.warning)
        if self.form is Form.PLAIN:
            print(route_text(view))
        else:
            from swapcli.cli.render.table import new_console, print_route

            print_route(view, new_console(self.color))

    def listing(self, listing: Listing) -> None:
        """A list."""
        if self.form is Form.JSON:
            self.document(list(listing.documents))
        elif self.form is Form.PLAIN:
            print(listing_text(listing))
        else:
            from swapcli.cli.render.table import new_console, print_listing

            print_listing(listing, new_console(self.color))


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
    print(f"note: {sentence}", file=sys.stderr)
