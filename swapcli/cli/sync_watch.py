"""Follows a chain, block after block, through failures that pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Never

from swapcli.backoff import backoff_s
from swapcli.errors import UpstreamError

MAX_CONSECUTIVE_FAILURES: Final = 30
"""In a row."""

_DEFAULT_PAUSE_S: Final = 2.0
_MIN_PAUSE_S: Final = 1.0
_MAX_PAUSE_S: Final = 60.0


def watch_chain(
    step: Callable[[], object],
    on_failure: Callable[[UpstreamError, int, float], object],
    pause: Callable[[float], object],
    block_time_s: float | None,
) -> Never:
    """Makes steps until one of its parts raises, with pauses of a block's time.

    While steps fail the pauses grow; `failed` takes the error, how many there have been in a row, and the seconds of
    the next pause. Raises the error of the last step when there have been too many.
    """
    usual_s = min(max(block_time_s or _DEFAULT_PAUSE_S, _MIN_PAUSE_S), _MAX_PAUSE_S)
    failures, pause_s = 0, usual_s
    while True:
        pause(pause_s)
        try:
            step()
            failures, pause_s = 0, usual_s
        except UpstreamError as error:
            failures += 1
            pause_s = backoff_s(failures + 1, usual_s, _MAX_PAUSE_S)
            if failures == MAX_CONSECUTIVE_FAILURES:
                raise
            on_failure(error, failures, pause_s)
