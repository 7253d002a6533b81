"""SIGINT and SIGTERM for commands that run for long."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class GracefulInterrupt:
    """Raises `KeyboardInterrupt` on a signal; inside `uninterrupted` only at its end, or on a second signal."""

    def __init__(self) -> None:
        self._is_pending = self._is_deferring = False

    @contextmanager
    def uninterrupted(self) -> Iterator[None]:
        """Defer the first signal to the end of the block."""
        self._is_deferring = True
        try:
            yield
        finally:
            self._is_deferring = False
            self.check()

    def handle_signal(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal as a handler of `signal.signal`."""
        del number, frame
        is_first, self._is_pending = not self._is_pending, True
        if not (is_first and self._is_deferring):
            raise KeyboardInterrupt

    def check(self) -> None:
        """Raise `KeyboardInterrupt` if a signal came whose own exception was lost, as in a finalizer or a callback."""
        if self._is_pending:
            raise KeyboardInterrupt


@contextmanager
def graceful_interrupts() -> Iterator[GracefulInterrupt]:
    """Handle the signals inside the block, and restore the previous handlers after it."""
    interrupt = GracefulInterrupt()
    previous = {number: signal.signal(number, interrupt.handle_signal) for number in SIGNALS}
    try:
        yield interrupt
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
