"""The thresholds of all figures, and whether a figure meets its threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class GapThreshold(NamedTuple):
    """Limits on the gap for a class of orders, in basis points; None for no limit."""

    median: float
    maximum: float | None


class FineGapThreshold(NamedTuple):
    """Limits on the gap of a class of orders with fine shares, in basis points."""

    median: float
    p95: float


FINE_GAPS = {"large": FineGapThreshold(0.02, 0.5), "huge": FineGapThreshold(0.05, 10.0)}
MAX_FINE_POOLS = 3_000


class TimeThreshold(NamedTuple):
    """Limits on the time in the core in milliseconds; None for no limit."""

    median: float | None
    p95: float | None


def gap_threshold(pools: int, size: str) -> GapThreshold:
    """Return the thresholds for a class of orders on markets with this many pools."""
    few = pools <= 1_000
    if size in ("small", "medium"):
        return GapThreshold(0.05, 1.0 if few else 2.0)
    if size == "large":
        return GapThreshold(0.7, 5.0) if few else GapThreshold(4.0, None)
    return GapThreshold(6.0 if few else 4.0, None)


def time_threshold(pools: int) -> TimeThreshold:
    """Return the thresholds for markets with this many pools."""
    return {1_000: TimeThreshold(10.0, 60.0), 10_000: TimeThreshold(25.0, None)}.get(pools, TimeThreshold(None, None))


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
MAX_ANNOUNCED_MEDIAN_MS, MAX_ANNOUNCED_P95_MS = 150.0, 400.0
MAX_DELAY_BESIDE_ABUSE, MIN_OVERLOAD_PERCENT, MAX_SERVICE_BYTES = 10.0, 80.0, 150e6
MIN_ROUTES_PER_S, MAX_OVERHEAD_MS, MAX_HEALTH_MS, MAX_GROWTH = 200.0, 2.0, 20.0, 0.1

MAX_FEED_BYTES = 400e6
MIN_WORKERS_SPEEDUP, MAX_WORKER_BYTES = 1.6, 60e6
MAX_DUST_LOSS_BPS, MAX_DUST_TIME_RATIO, MAX_SOLVE_S = 0.1, 1.2, 2.0

MAX_GAINING_PERCENT, MAX_RIVAL_GAIN_BPS = 1.0, 1.0
"""Limits on the share of orders that a rival routes better by 0.05 bps and a cent, and on the largest such gain."""

MAX_CPU_RATIOS: Mapping[tuple[str, float], tuple[float | None, ...]] = {
    ("real", 0.0): (1.3, None, 1.3, None),
    ("real", 0.01): (1.3, None, 1.3, None),
    ("real", 1.0): (1.0, None, 1.0, None),
    ("random", 0.01): (1.5, None, None, None),
    ("generated", 0.0): (None, 1.0, None, 1.0),
}
"""Limits by kind of orders and gas price in gwei: CPU time relative to another revision, as mean, p50, p95 and
maximum."""
MAX_LOSS_BPS = 0.001
MAX_SLOWEST_TO_MEDIAN = 4.0
MAX_NET_GAPS = {"real": (0.02, 1.0), "random": (1.0, 10.0), "pushed": (5.0, 50.0)}
"""Limits in basis points: median and p95."""
MAX_PROOF_RATIO = 10.0
MAX_RESIDUAL = 0.01

_NOISE = 1e-9
"""Bounds and the peer's amounts have about eleven digits."""


@dataclass(frozen=True, slots=True)
class Check:
    """A figure and its threshold: `value` must be at most `limit`, or at least if `is_floor`."""

    figure: str
    value: float
    limit: float
    is_floor: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the value meets the threshold."""
        slack = _NOISE * max(1.0, abs(self.limit))
        return self.value >= self.limit - slack if self.is_floor else self.value <= self.limit + slack
