"""Keeps refusals cheap: a client that asks again at once, over many connections, must not keep the service busy."""

from __future__ import annotations

import asyncio
from math import ceil

REJECTIONS_PER_S = 100.0
"""Refusals that are sent without delay, on average: they take about 5 % of a processor, at 0.5 ms each."""
BURST = 20
"""Refusals that may be sent at once after a while without any."""
MAX_DELAY_S = 3.0
"""The longest that a refusal is put off, which 300 connections reach that all ask again at once."""
BATCH_S = 0.1
"""Delayed refusals are sent together, so often: the event loop takes the interpreter from the solver once for all."""


class RejectionPacer:
    """Delays refusals beyond `REJECTIONS_PER_S`, so that as many connections as wait for one cannot ask meanwhile."""

    def __init__(self) -> None:
        self._next_s = float("-inf")

    async def wait(self) -> None:
        """Return when the next refusal may be sent."""
        delay_s = self.delay_s(asyncio.get_running_loop().time())
        if delay_s:
            await asyncio.sleep(delay_s)

    def delay_s(self, now_s: float) -> float:
        """Take the next slot, and return the seconds until it comes, at most `MAX_DELAY_S`."""
        slot_s = max(self._next_s, now_s - BURST / REJECTIONS_PER_S)
        self._next_s = min(slot_s + 1 / REJECTIONS_PER_S, now_s + MAX_DELAY_S - BATCH_S)
        return ceil(self._next_s / BATCH_S) * BATCH_S - now_s if self._next_s > now_s else 0.0
