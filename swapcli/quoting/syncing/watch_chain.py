"""Follow a chain block by block, despite failures of its nodes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Never

from swapcli.core.errors import UpstreamError

MAX_FAILING_S: Final = 1_800.0
"""Nodes that have failed for this long count as lost."""


def watch_chain(
    step: Callable[[], object],
    on_failure: Callable[[UpstreamError], object],
    pause: Callable[[], object],
    now_s: Callable[[], float] = time.monotonic,
) -> Never:
    """Run `step` after each pause until it raises an error other than `UpstreamError`.

    `on_failure` receives the first `UpstreamError` after a success. If `step` fails for `MAX_FAILING_S`, raises the
    last error.
    """
    failing_since_s: float | None = None
    while True:
        pause()
        try:
            step()
            failing_since_s = None
        except UpstreamError as error:
            if failing_since_s is None:
                failing_since_s = now_s()
                on_failure(error)
            elif now_s() - failing_since_s >= MAX_FAILING_S:
                raise
