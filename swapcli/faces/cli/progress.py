"""A line on the terminal that shows the progress of a long command."""

from __future__ import annotations

from contextlib import suppress
from typing import Final, TextIO

from swapcli.faces.cli.output import Output
from swapcli.faces.cli.terminal import terminal_width
from swapcli.state.clock import Clock

_EVERY_S: Final = 0.25  # four times per second looks alive and costs nothing
_MINUTES_FROM_S: Final = 120


class ProgressLine:
    """A progress line on `stream`, if there is one, for `total` items of work. An earlier run has finished `done` of
    them.

    `noun` is the plural noun for the items, such as "orders".
    """

    def __init__(self, clock: Clock, stream: TextIO | None, noun: str, total: int | None, done: int = 0) -> None:
        self._clock, self._stream, self._noun = clock, stream, noun
        self._total, self._before, self._done = total, done, done
        self._started_s = self._shown_s = clock.monotonic_s()
        self._width = 0

    def add(self) -> None:
        """Count a finished item, and update the line if it is time."""
        self._done += 1
        if self._stream is None:
            return
        now_s = self._clock.monotonic_s()
        if now_s - self._shown_s >= _EVERY_S:
            self._shown_s = now_s
            Output.end_waiting()
            self._write(self.describe(now_s - self._started_s))

    def describe(self, elapsed_s: float) -> str:
        """Return the line after `elapsed_s` seconds of this run."""
        rate = (self._done - self._before) / max(elapsed_s, 1e-9)
        shown = f"{rate:,.0f} per second" if rate >= 1 else f"{60 * rate:,.0f} per minute"
        if self._total is None:
            return f"{self._done:,} {self._noun}, {shown}"
        left_s = (self._total - self._done) / rate if rate else 0.0
        left = f"{left_s:.0f} s" if left_s < _MINUTES_FROM_S else f"{left_s / 60:.0f} min"
        return f"{self._done:,} of {self._total:,} {self._noun}, {shown}, {left} left"

    def close(self) -> None:
        """Remove the line until the next item is finished."""
        if self._width:
            self._write("")

    def _write(self, text: str) -> None:
        """Write text over the previous line without control sequences: any terminal understands a carriage return."""
        assert self._stream is not None
        text = text[: terminal_width(self._stream) - 1]
        with suppress(OSError, ValueError):
            self._stream.write(f"\r{text.ljust(self._width)}" + ("" if text else "\r"))
            self._stream.flush()
        self._width = len(text)
