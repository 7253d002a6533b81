"""Keeps refusals cheap: a client that asks again at once, over many connections, must not keep the service busy."""

from __future__ import annotations

import asyncio

REFUSALS_PER_S = 100.0
"""Refusals that are sent without delay, on average: they take about 3 % of a processor at 0.3 ms each."""
BURST = 20
"""Refusals that may be sent at once after a while without any."""
MAX_DELAY_S = 1.0
"""The longest that a refusal is put off: what `Retry-After` asks for anyway."""


class RefusalPacer:
    """Delays refusals beyond `REFUSALS_PER_S`, so that as many connections as wait for one cannot ask meanwhile."""

    def __init__(self) -> None:
        self._next_s = float("-inf")

    async def wait(self) -> None:
        """Return when the next refusal may be sent."""
        delay_s = self.delay_s(asyncio.get_running_loop().time())
        if delay_s:
            await asyncio.sleep(delay_s)

    def delay_s(self, now_s: float) -> float:
        """Take the next slot, and return the seconds until it comes, at most `MAX_DELAY_S`."""
        slot_s = max(self._next_s, now_s - BURST / REFUSALS_PER_S)
        self._next_s = min(slot_s + 1 / REFUSALS_PER_S, now_s + MAX_DELAY_S)
        return max(0.0, self._next_s - now_s)
