"""What has to be reached, and whether it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class GapBar(NamedTuple):
    """Limits on the gap of a class of orders in basis points; None where there is none."""

    median: float
    maximum: float | None


class TimeBar(NamedTuple):
    """Limits on the time in the core in milliseconds; None where there is none."""

    median: float | None
    p95: float | None


def gap_bar(pools: int, size: str) -> GapBar:
    """The bar for a class of orders on markets of that many pools."""
    few = pools <= 1_000
    if size in ("small", "medium"):
        return GapBar(0.05, 1.0 if few else 2.0)
    if size == "large":
        return GapBar(0.7, 5.0) if few else GapBar(4.0, None)
    return GapBar(6.0 if few else 4.0, None)


def time_bar(pools: int) -> TimeBar:
    """The bar for markets of that many pools."""
    return {1_000: TimeBar(10.0, 60.0), 10_000: TimeBar(25.0, None)}.get(pools, TimeBar(None, None))


EXACT_PERCENT = 100.0
MAX_BEHIND_BPS = 2.0
MAX_BEHIND_REAL_BPS = 1.0
MAX_QUOTE_RATIO, MAX_VERSION_RATIO = 15.0, 3.0
MAX_QUOTE_BYTES = 60e6
MAX_STORE_RATIO, MAX_STORE_BYTES = 2.0, 120e6
MAX_NEIGHBOURHOOD_GAP_BPS = {"small": 0.1, "medium": 0.1}
MIN_V2_PER_S, MIN_V3_PER_S, MAX_SYNC_BYTES = 1_000.0, 300.0, 200e6
MAX_ROUND_TRIPS, MAX_LIVE_MS = 3, 150.0
MIN_GAS_PERCENT = 95.0
MAX_DELAY_BESIDE_ABUSE, MIN_KEPT_PERCENT, MAX_SERVICE_BYTES = 10.0, 80.0, 150e6
MIN_ROUTES_PER_S, MAX_OVERHEAD_MS, MAX_HEALTH_MS, MAX_GROWTH = 200.0, 2.0, 20.0, 0.1

_NOISE = 1e-9
"""Bounds, and the peer's amounts, are known to about eleven digits."""


@dataclass(frozen=True, slots=True)
class Check:
    """One figure held against its bar: `value` must not exceed `limit`, or not fall below it where `is_floor`."""

    what: str
    value: float
    limit: float
    is_floor: bool = False

    @property
    def is_met(self) -> bool:
        """Is the bar reached?"""
        slack = _NOISE * max(1.0, abs(self.limit))
        return self.value >= self.limit - slack if self.is_floor else self.value <= self.limit + slack
