"""SIGINT and SIGTERM for long-running commands."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
_RETRY_S = 0.01
"""The time after which a lost exception is raised again. Library finalizers take only microseconds."""


class GracefulInterrupt:
    """A handler that raises `KeyboardInterrupt` on a signal. Within `uninterrupted`, the first signal takes effect at
    its end."""

    def __init__(self, report_unraisable: Callable[[sys.UnraisableHookArgs], object]) -> None:
        self._report_unraisable = report_unraisable
        self._is_pending = self._is_deferring = False

    @contextmanager
    def uninterrupted(self) -> Iterator[None]:
        """Defer the first signal until the end of the context. A second signal takes effect at once."""
        self._is_deferring = True
        try:
            yield
        finally:
            self._is_deferring = False
            self._raise_if_pending()

    def handle_signal(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal, as a handler for `signal.signal`."""
        del number, frame
        is_first, self._is_pending = not self._is_pending, True
        if not (is_first and self._is_deferring):
            raise KeyboardInterrupt

    def retry_if_lost(self, lost: sys.UnraisableHookArgs) -> None:
        """Raise `KeyboardInterrupt` again soon if it was lost because it was raised in a finalizer or a callback.

        This method is for `sys.unraisablehook`, which receives such exceptions.
        """
        if self._is_pending and lost.exc_type is KeyboardInterrupt:
            signal.setitimer(signal.ITIMER_REAL, _RETRY_S)
        else:
            self._report_unraisable(lost)

    def _raise_if_pending(self) -> None:
        if self._is_pending:
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise KeyboardInterrupt


@contextmanager
def graceful_interrupts() -> Iterator[GracefulInterrupt]:
    """Handle SIGINT and SIGTERM within the context, and restore the previous handlers afterwards."""
    report_unraisable = sys.unraisablehook
    interrupt = GracefulInterrupt(report_unraisable)
    previous = {number: signal.signal(number, interrupt.handle_signal) for number in (*SIGNALS, signal.SIGALRM)}
    sys.unraisablehook = interrupt.retry_if_lost
    try:
        yield interrupt
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = report_unraisable
        for number, handler in previous.items():
            signal.signal(number, handler)
