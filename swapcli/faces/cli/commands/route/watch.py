"""`swapcli route --watch`: quote one order repeatedly until interrupted, and show each quote."""

from __future__ import annotations

from typing import Final, Protocol

from swapcli import InvalidOption, Order, SwapcliError, SwapQuote, WatchedQuote
from swapcli.core.validation.values import parse_duration_s
from swapcli.faces.cli import exit_codes
from swapcli.faces.cli.quote_context import QuoteContext
from swapcli.faces.cli.signals import GracefulInterrupt, graceful_interrupts
from swapcli.state.clock import SYSTEM_CLOCK

MIN_SECONDS: Final = 0.1
MAX_SECONDS: Final = 3_600


class WatchDisplay(Protocol):
    """A display for the quotes of a watch."""

    def show(self, watched: WatchedQuote) -> None:
        """Show a new quote."""

    def show_failure(self, error: SwapcliError, last: SwapQuote, age_s: float) -> None:
        """Show that a refresh failed, and the age of the last good quote."""


def parse_watch_seconds(text: str) -> float | None:
    """Return the seconds between two quotes, or None for a quote at every block. Raises `InvalidOption`."""
    if not text:
        return None
    seconds = parse_duration_s(text)
    if seconds is None:
        try:
            seconds = float(text) if text.isascii() and "_" not in text else 0.0
        except ValueError:
            seconds = 0.0
    if not MIN_SECONDS <= seconds <= MAX_SECONDS:
        raise InvalidOption(
            f"--watch takes a number of seconds from {MIN_SECONDS} to {MAX_SECONDS:,}, or a duration such as 5m",
            hint="remove the number to quote at every block",
        )
    return seconds


class WatchedOrder:
    """An order that is quoted repeatedly; `interval_s` is the pause between two attempts.

    Without `seconds`, the order is quoted at every block. Raises `InvalidOption` for a market that never changes.
    """

    def __init__(self, context: QuoteContext, order: Order, seconds: float | None) -> None:
        self._watch = context.market.watch_order(order, context.options, seconds, self._fail)
        self.interval_s = self._watch.interval_s
        self._interrupt: GracefulInterrupt | None = None
        self._display: WatchDisplay | None = None
        self._last: SwapQuote | None = None
        self._last_s = 0.0

    def show(self, display: WatchDisplay) -> int:
        """Show the quotes until interrupted, and return the exit status. Raises the same errors as `Market.watch`."""
        self._display = display
        first: SwapQuote | None = None
        with graceful_interrupts() as interrupt:
            self._interrupt = interrupt
            try:
                for quote in self._watch:
                    first, self._last, self._last_s = first or quote, quote, SYSTEM_CLOCK.monotonic_s()
                    with interrupt.uninterrupted():
                        display.show(WatchedQuote.since(first, quote))
            except KeyboardInterrupt:
                return exit_codes.OK
        return exit_codes.OK

    def _fail(self, error: SwapcliError) -> None:
        assert self._interrupt is not None
        assert self._display is not None
        assert self._last is not None
        with self._interrupt.uninterrupted():
            self._display.show_failure(error, self._last, SYSTEM_CLOCK.monotonic_s() - self._last_s)
