"""A line on the terminal that says how far a batch is, where its results go elsewhere."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, TextIO

from swapcli.faces.cli.commands.route.batch_options import BatchOptions
from swapcli.faces.cli.files import is_regular
from swapcli.faces.cli.terminal import terminal_width
from swapcli.state.clock import SYSTEM_CLOCK, Clock

_EVERY_S: Final = 0.25  # four times a second looks alive and costs nothing
_MINUTES_FROM_S: Final = 120


def _count_lines(name: str) -> int | None:
    """Return the number of orders in a file; None for a pipe, whose end is not known."""
    if not is_regular(name):
        return None
    with suppress(OSError), Path(name).open("rb") as file:
        return sum(1 for line in file if line.strip())
    return None


class BatchProgress:
    """The progress of a batch on `stream`, if there is one: `total` orders in all, `done` of them answered before."""

    def __init__(self, clock: Clock, stream: TextIO | None, total: int | None, done: int = 0) -> None:
        self._clock, self._stream, self._total, self._before, self._done = clock, stream, total, done, done
        self._started_s = self._shown_s = clock.monotonic_s()
        self._width = 0

    def add(self) -> None:
        """Count an answer, and show it if it is time."""
        self._done += 1
        if self._stream is None:
            return
        now_s = self._clock.monotonic_s()
        if now_s - self._shown_s >= _EVERY_S:
            self._shown_s = now_s
            self._write(self.describe(now_s - self._started_s))

    def describe(self, elapsed_s: float) -> str:
        """Return the line after this time."""
        rate = (self._done - self._before) / max(elapsed_s, 1e-9)
        if self._total is None:
            return f"{self._done:,} orders, {rate:,.0f} a second"
        left_s = (self._total - self._done) / rate if rate else 0.0
        left = f"{left_s:.0f} s" if left_s < _MINUTES_FROM_S else f"{left_s / 60:.0f} min"
        return f"{self._done:,} of {self._total:,} orders, {rate:,.0f} a second, {left} left"

    def close(self) -> None:
        """Remove the line, until there is more to show."""
        if self._width:
            self._write("")

    def _write(self, text: str) -> None:
        """Write text over the line before, without control sequences: any terminal understands a carriage return."""
        assert self._stream is not None
        text = text[: terminal_width(self._stream) - 1]
        with suppress(OSError, ValueError):
            self._stream.write(f"\r{text.ljust(self._width)}" + ("" if text else "\r"))
            self._stream.flush()
        self._width = len(text)


def open_progress(options: BatchOptions, done: int, *, is_quiet: bool) -> BatchProgress:
    """Return the progress of a batch. People see it on a terminal that does not get the results themselves."""
    assert options.batch is not None
    is_shown = not is_quiet and sys.stderr.isatty() and (options.results is not None or not sys.stdout.isatty())
    if not is_shown:
        return BatchProgress(SYSTEM_CLOCK, None, None)
    return BatchProgress(SYSTEM_CLOCK, sys.stderr, _count_lines(options.batch), done)
