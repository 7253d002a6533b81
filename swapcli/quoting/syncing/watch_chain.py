"""Follow a chain block by block, and retry after failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Never

from swapcli.core.errors import UpstreamError
from swapcli.state.backoff import backoff_s

MAX_CONSECUTIVE_FAILURES: Final = 30
"""After this many the node counts as lost: with the longest pause, about half an hour."""

_MAX_PAUSE_S: Final = 60.0  # after failures; each one doubles the usual pause


def watch_chain(
    step: Callable[[], object],
    on_failure: Callable[[UpstreamError, int, float], object],
    pause: Callable[[float], object],
    usual_pause_s: Callable[[], float],
) -> Never:
    """Run `step` after each pause, usually of `usual_pause_s`, until it raises another error than `UpstreamError`.

    After each `UpstreamError` the pause doubles, and `on_failure` gets the error, the number of consecutive failures
    and the next pause in seconds. Raises the error of the last step after `MAX_CONSECUTIVE_FAILURES`.
    """
    failures, pause_s = 0, usual_pause_s()
    while True:
        pause(pause_s)
        try:
            step()
            failures, pause_s = 0, usual_pause_s()
        except UpstreamError as error:
            failures += 1
            pause_s = backoff_s(failures + 1, usual_pause_s(), _MAX_PAUSE_S)
            if failures == MAX_CONSECUTIVE_FAILURES:
                raise
            on_failure(error, failures, pause_s)
