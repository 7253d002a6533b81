"""`swapcli route --watch`: quote one order again and again until interrupted, and show each quote."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Protocol

from swapcli.core.errors import (
    InvalidOption,
    NoRoute,
    PoolError,
    RateLimited,
    StaleError,
    SwapcliError,
    UpstreamError,
)
from swapcli.core.model.order import Order
from swapcli.faces.cli import exit_codes
from swapcli.faces.cli.quote_context import QuoteContext
from swapcli.faces.cli.signals import graceful_interrupts
from swapcli.quoting.live_choice import missing_node_hint
from swapcli.quoting.quote_change import QuoteChange, compute_change
from swapcli.quoting.swap_quote import SwapQuote
from swapcli.state.clock import SYSTEM_CLOCK

MAX_SECONDS: Final = 3_600
SERVICE_SECONDS: Final = 5.0
"""Pause between two requests to a service, whose blocks are unknown here, and which may limit requests."""
_PASSING = (UpstreamError, StaleError, NoRoute, PoolError, RateLimited)
"""Errors after which the next attempt may succeed."""


class WatchDisplay(Protocol):
    """Shows the quotes of a watch."""

    def show(self, quote: SwapQuote, change: QuoteChange) -> None:
        """Show a new quote."""

    def show_failure(self, error: SwapcliError, last: SwapQuote, age_s: float) -> None:
        """Show that a refresh failed, and the age of the last good quote."""


def parse_watch_seconds(text: str) -> float | None:
    """Return the seconds between two quotes, None for every block. Raises `InvalidOption`."""
    if not text:
        return None
    try:
        seconds = float(text) if text.isascii() and "_" not in text else 0.0
    except ValueError:
        seconds = 0.0
    if not 0.1 <= seconds <= MAX_SECONDS:
        raise InvalidOption(
            f"--watch takes 0.1 to {MAX_SECONDS:,} seconds", hint="leave them out for a quote at every block"
        )
    return seconds


def watch_interval_s(context: QuoteContext, seconds: float | None) -> float:
    """Return the pause between two quotes, which is at least the time of a block.

    Raises `InvalidOption` for a market that never changes.
    """
    from swapcli.quoting.sources.in_memory import InMemorySource
    from swapcli.quoting.sources.remote import RemoteSource
    from swapcli.state.rpc.head_source import poll_interval_s

    source, network = context.market.source, context.network
    if isinstance(source, InMemorySource):
        is_file = context.session.settings.market is not None
        kind = "a market file" if is_file else f"the embedded market of {network.name}"
        raise InvalidOption(
            f"{kind} never changes, so there is nothing to watch",
            hint=f"{missing_node_hint(network)}; or fill a store with swapcli sync --watch",
        )
    usual_s = SERVICE_SECONDS if isinstance(source, RemoteSource) else poll_interval_s(network.block_time_s)
    return usual_s if seconds is None else max(seconds, poll_interval_s(network.block_time_s))


def watch_quotes(
    context: QuoteContext,
    order: Order,
    display: WatchDisplay,
    interval_s: float,
    *,
    every_block: bool,
    pause: Callable[[float], object] = time.sleep,
) -> int:
    """Quote and show an order until interrupted; return the exit status.

    With `every_block`, a quote on the block of the last one is not shown. Raises the errors of `QuoteContext.quote` for
    the first quote; later ones are shown.
    """
    first: SwapQuote | None = None
    last: SwapQuote | None = None
    last_s = 0.0
    has_failed = False
    with graceful_interrupts() as interrupt:
        try:
            while True:
                started_s = SYSTEM_CLOCK.monotonic_s()
                try:
                    context.market.refresh()
                    quote = context.quote(order)
                except _PASSING as error:
                    if last is None:
                        raise
                    has_failed = True
                    with interrupt.uninterrupted():
                        display.show_failure(error, last, SYSTEM_CLOCK.monotonic_s() - last_s)
                else:
                    first = first or quote
                    is_new = last is None or quote.state.block is None or quote.state.block != last.state.block
                    last, last_s = quote, SYSTEM_CLOCK.monotonic_s()
                    if is_new or has_failed or not every_block:
                        change = compute_change(first.figures, quote.figures, is_reverse=order.reverse)
                        with interrupt.uninterrupted():
                            display.show(quote, change)
                    has_failed = False
                pause(max(interval_s - (SYSTEM_CLOCK.monotonic_s() - started_s), 0.0))
        except KeyboardInterrupt:
            return exit_codes.OK
