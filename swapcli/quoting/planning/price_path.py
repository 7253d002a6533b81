"""The price of an order's route over time, as it changed with each swap and block, and helpers for estimates from
it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise

from swapcli.core.records import NamedTuple


class PricePath(NamedTuple):
    """The mid price of an order's route over time, as a step function.

    `log_prices[k]` is the natural logarithm of the price, in any unit, from `times_s[k]` on. Times are in seconds, in
    ascending order; several moves in one block share a time. The path ends at `end_s`, which is not before its last
    move.
    """

    times_s: Sequence[float]
    log_prices: Sequence[float]
    end_s: float

    @property
    def duration_s(self) -> float:
        """The seconds from the path's first price to its end."""
        return self.end_s - self.times_s[0]

    def at(self, time_s: float) -> float:
        """Return the logarithm of the price after all moves up to `time_s`, which is not before the first price."""
        return self.log_prices[bisect_right(self.times_s, time_s) - 1]

    def median(self, start_s: float, end_s: float) -> float:
        """Return the median logarithm of the price between `start_s` and a later `end_s`."""
        first, last = bisect_right(self.times_s, start_s) - 1, bisect_right(self.times_s, end_s)
        times_s = [start_s, *self.times_s[first + 1 : last], end_s]
        held_s = [after - before for before, after in pairwise(times_s)]
        return weighted_median(self.log_prices[first:last], held_s)


class Unmeasured(NamedTuple):
    """The reason why a value could not be measured, as a lower-case clause."""

    reason: str


class MeasureOrigin(StrEnum):
    """The source of past prices."""

    NODE_EVENTS = "nodeEvents"
    STORED_BLOCKS = "storedBlocks"
    NONE = "none"


class PastPrices(NamedTuple):
    """The price of a route from `first_block` to `last_block`, which are None if a store has only times.

    `source` is the node, without credentials, or the store. `measured_share` is the share of the order's flow through
    pools that are followed; the prices of the other pools are treated as constant. `base_fee_wei` is the median of a
    few blocks, or None if it is unknown. `problem` says what ended the search early, and is empty if nothing did.
    """

    origin: MeasureOrigin
    source: str
    path: PricePath
    measured_share: float
    requests: int = 0
    first_block: int | None = None
    last_block: int | None = None
    base_fee_wei: int | None = None
    problem: str = ""


def weighted_median(values: Sequence[float], weights: Sequence[float]) -> float:
    """Return the lower median of weighted values. If all weights are 0, the values count equally."""
    total = sum(weights)
    ordered = sorted(zip(values, weights if total else [1.0] * len(values), strict=True))
    half, passed = (total or len(values)) / 2, 0.0
    for value, weight in ordered:
        passed += weight
        if passed >= half:
            return value
    return ordered[-1][0]
