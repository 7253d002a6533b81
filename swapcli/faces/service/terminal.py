"""The terminal on which a service was started: a service ends when its terminal is closed, like other programs."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress

_STANDARD_STREAMS = (2, 1, 0)
_HANGUP: signal.Signals | None = getattr(signal, "SIGHUP", None)


def find_terminal() -> Callable[[], bool] | None:
    """Return a function that shows whether the terminal of this process is gone, or None if it has none.

    A process whose parent ignores SIGHUP has none, because that is how `nohup` makes a process outlive its terminal.
    """
    if _HANGUP is None or signal.getsignal(_HANGUP) is signal.SIG_IGN:
        return None
    descriptor = next((each for each in _STANDARD_STREAMS if os.isatty(each)), None)
    return None if descriptor is None else lambda: not os.isatty(descriptor)


def watch_terminal() -> Callable[[], bool] | None:
    """Return `find_terminal`. Until a service handles SIGHUP itself, exit if the terminal closes, and ignore other
    SIGHUPs."""
    is_terminal_gone = find_terminal()

    def on_hangup(number: int, _frame: object) -> None:
        if is_terminal_gone is not None and is_terminal_gone():
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    if _HANGUP is not None:
        with suppress(ValueError):  # not in the main thread
            signal.signal(_HANGUP, on_hangup)
    return is_terminal_gone
