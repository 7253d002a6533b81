"""How a command that lasts is told to stop: by an interruption from the keyboard, or as other programs do it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class GracefulInterrupt:
    """Raises `KeyboardInterrupt` where it is told to stop; during a `whole` stretch only at its end.

    Whoever is told twice does not wait for that end.
    """

    def __init__(self) -> None:
        self._is_told = self._is_whole = False

    @contextmanager
    def uninterrupted(self) -> Iterator[None]:
        """A stretch that is better not broken off."""
        self._is_whole = True
        try:
            yield
        finally:
            self._is_whole = False
            if self._is_told:
                raise KeyboardInterrupt

    def handle_signal(self, number: int, frame: FrameType | None) -> None:
        """A signal has come."""
        del number, frame
        if self._is_told or not self._is_whole:
            raise KeyboardInterrupt
        self._is_told = True


@contextmanager
def graceful_interrupts() -> Iterator[GracefulInterrupt]:
    """Signals are heeded inside, and afterwards as they were before."""
    interruption = GracefulInterrupt()
    before = {each: signal.signal(each, interruption.handle_signal) for each in SIGNALS}
    try:
        yield interruption
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
