"""A line on stderr that shows what a command is waiting for, on a terminal only. It disappears when the command prints
anything."""

from __future__ import annotations

import sys
from contextlib import suppress
from threading import Event, Lock, Thread

from swapcli.faces.cli.terminal import terminal_width

DELAY_S = 0.5  # after this time people wonder whether a program still works


class WaitingLine:
    """A line that appears `delay_s` seconds after the last output, and the thread that shows it."""

    def __init__(self, text: str, delay_s: float = DELAY_S) -> None:
        self._text, self._delay_s = text[: terminal_width(sys.stderr) - 1], delay_s
        self._is_shown, self._has_ended = False, Event()
        self._restarted = Event()
        self._lock = Lock()
        if not delay_s:
            self._show()
        Thread(target=self._run, daemon=True).start()

    def erase(self) -> None:
        """Remove the line temporarily, so that something else can be printed. It appears again later."""
        with self._lock:
            self._restarted.set()
            if self._is_shown:
                self._is_shown = False
                self._write("\r" + " " * len(self._text) + "\r")

    def end(self) -> None:
        """Remove the line permanently."""
        self._has_ended.set()
        self.erase()

    def _run(self) -> None:
        while not self._has_ended.is_set():
            self._restarted.clear()
            if not self._restarted.wait(self._delay_s or DELAY_S):
                self._show()
                self._restarted.wait()

    def _show(self) -> None:
        with self._lock:
            if not self._has_ended.is_set() and not self._is_shown:
                self._is_shown = True
                self._write(self._text)

    def _write(self, text: str) -> None:
        """Write text without control sequences: any terminal understands a carriage return."""
        with suppress(OSError, ValueError):
            sys.stderr.write(text)
            sys.stderr.flush()


_line: WaitingLine | None = None


def start_waiting(text: str, delay_s: float = DELAY_S) -> None:
    """Show that the command is waiting, once `delay_s` seconds have passed. Only a terminal shows it."""
    global _line  # noqa: PLW0603 - a process has one stderr
    end_waiting()
    if sys.stderr.isatty():
        _line = WaitingLine(text, delay_s)


def erase_waiting() -> None:
    """Remove the line before a message goes to stderr. It appears again if the command continues to wait."""
    if _line is not None:
        _line.erase()


def end_waiting() -> None:
    """Remove the line before the result is printed."""
    global _line  # noqa: PLW0603
    if _line is not None:
        _line.end()
        _line = None
