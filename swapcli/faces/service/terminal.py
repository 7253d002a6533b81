"""The terminal on which a service was started. If it is closed, the service ends, as other programs do."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress

_STANDARD_STREAMS = (2, 1, 0)
_HANGUP: signal.Signals | None = getattr(signal, "SIGHUP", None)


def find_terminal() -> Callable[[], bool] | None:
    """Return a function that tells whether the terminal of this process is gone, or None if the process has no
    terminal.

    A process whose parent ignores SIGHUP counts as having none, because `nohup` uses this to let a process outlive its
    terminal.
    """
    if _HANGUP is None or signal.getsignal(_HANGUP) is signal.SIG_IGN:
        return None
    descriptor = next((each for each in _STANDARD_STREAMS if os.isatty(each)), None)
    return None if descriptor is None else lambda: not os.isatty(descriptor)


def watch_terminal() -> Callable[[], bool] | None:
    """Return the result of `find_terminal`. Until a service handles SIGHUP itself, exit if the terminal closes, and
    ignore any other SIGHUP."""
    is_terminal_gone = find_terminal()

    def on_hangup(number: int, _frame: object) -> None:
        if is_terminal_gone is not None and is_terminal_gone():
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    if _HANGUP is not None:
        with suppress(ValueError):  # not in the main thread
            signal.signal(_HANGUP, on_hangup)
    return is_terminal_gone
