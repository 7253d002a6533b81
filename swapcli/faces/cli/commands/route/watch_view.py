"""The displays of `swapcli route --watch`: one JSON line per quote, or a view that is redrawn in place."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, TextIO

from swapcli import FailedRefresh, SwapcliError, SwapQuote, WatchedQuote
from swapcli.core.encoding.text import printable
from swapcli.core.model.token import whole_tokens
from swapcli.faces.cli.output import Output
from swapcli.faces.cli.render.quote_facts import Fact, symbol
from swapcli.faces.cli.render.route_layout import RouteShape
from swapcli.faces.cli.render.route_view import build_route_view
from swapcli.quoting.warnings import format_age

_DEFAULT_LINES: Final = 24  # if a terminal does not report its height


class WatchLines:
    """A display that prints one line of JSON for each quote, and for each failure."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._noted: set[str] = set()

    def show(self, watched: WatchedQuote) -> None:
        """Print the quote's document with its change, or a single field of it. Print each warning only once."""
        line = self._output.format_line(watched)
        notes = self._output.deferred
        notes[:] = [note for note in notes if note not in self._noted]
        self._noted.update(notes)
        self._output.print_ready_line(line)

    def show_failure(self, error: SwapcliError, last: SwapQuote, age_s: float) -> None:
        """Print the error and the age of the last good quote."""
        del last
        if self._output.fields is not None:
            self._output.note(f"{error.message}; the last good quote is {format_age(int(age_s))}")
            self._output.flush_notes()
            return
        self._output.print_line(FailedRefresh(error, age_s))


class WatchScreen:
    """A display that draws each quote over the previous one, or below it on an output that cannot move the cursor."""

    def __init__(
        self, output: Output, shape: RouteShape, pace: str, stream: TextIO | None = None, *, verbose: bool = False
    ) -> None:
        self._output, self._shape, self._pace, self._verbose = output, shape, pace, verbose
        self._stream = stream or sys.stdout
        self._redraws = self._stream.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
        self._watched: WatchedQuote | None = None
        self._drawn_lines = 0
        self._has_drawn = False

    def show(self, watched: WatchedQuote) -> None:
        """Draw a quote with its change."""
        self._watched = watched
        self._draw(watched.quote, self._facts(watched))

    def show_failure(self, error: SwapcliError, last: SwapQuote, age_s: float) -> None:
        """Draw the last good quote with its age and the error."""
        facts = self._facts(self._watched) if self._watched else ()
        failed = Fact("Failed", printable(error.message), f"the quote above is {format_age(int(age_s))}")
        self._draw(last, (*facts, failed))

    def _facts(self, watched: WatchedQuote) -> tuple[Fact, ...]:
        quote, change = watched
        since = datetime.fromtimestamp(change.since_s, UTC).strftime("%H:%M:%S UTC")
        order = quote.answer.order
        amount, token = (change.amount_in, order.token_in) if order.reverse else (change.amount_out, order.token_out)
        sign = "-" if amount < 0 else "+" if amount else ""
        value = f"{sign}{whole_tokens(abs(amount), token.decimals)} {symbol(token)}"
        return (
            *(Fact("Warning", "", printable(warning.message)) for warning in quote.warnings),
            Fact("Change", value, f"{change.bps:+,.2f} bps since {since}" if change.bps else f"none since {since}"),
            Fact("Watching", self._pace, "Ctrl-C exits"),
        )

    def _draw(self, quote: SwapQuote, facts: tuple[Fact, ...]) -> None:
        view = build_route_view(quote.answer, quote.terms, quote.figures, verbose=self._verbose)
        lines = self._output.format_route(replace(view, facts=(*view.facts, *facts)), self._shape).splitlines()
        self._output.end_waiting()
        if self._redraws:
            lines = lines[-_room(self._stream) :]
            if self._drawn_lines:
                self._stream.write(f"\x1b[{self._drawn_lines}F\x1b[J")  # to the first line of the last quote, and clear
            self._drawn_lines = len(lines)
        elif self._has_drawn:
            self._stream.write("\n")
        self._has_drawn = True
        self._stream.write("\n".join(lines) + "\n")
        self._stream.flush()


def _room(stream: TextIO) -> int:
    """Return how many lines a terminal shows above the cursor's line."""
    try:
        lines = os.get_terminal_size(stream.fileno()).lines
    except (OSError, ValueError):
        lines = 0
    return max((lines or _DEFAULT_LINES) - 1, 1)
