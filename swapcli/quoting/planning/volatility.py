"""The volatility of a route's price, measured on its path. The direction of the price plays no part.

Each swap moves a pool's price, and arbitrage moves it back. Such bounces are not volatility. They add as much variance
over a short time as over a long one, so the difference between the two does not contain them (the two scales of Zhang,
Mykland and Ait-Sahalia 2005). The path is cut into intervals whose medians are compared, because a short bounce does
not affect a median (averages before differences, as in Jacod et al. 2009).
"""

from __future__ import annotations

from math import exp, sqrt
from statistics import fmean, stdev
from typing import Final

from swapcli.core.records import NamedTuple
from swapcli.quoting.planning.price_path import PricePath, Unmeasured

_MAX_INTERVALS: Final = 120
_MIN_INTERVALS: Final = 24
_APART: Final = 4
"""Number of intervals between the medians compared on the long scale. On the short scale, adjacent medians are
compared."""
_HALF_LIVES: Final = 8
"""Length of an interval in half-lives of a displacement, so that displacements last for only part of an interval."""
_MIN_MOVED: Final = 8
"""Minimum number of intervals in which the price moved. With fewer, the pools have hardly traded. Chosen."""
_GROUPS: Final = 8
_RELATIVE_ERROR: Final = 2.85
"""The relative standard error of the variance, for Brownian motion, times the square root of the number of intervals.
Found by simulation."""
_Z_90: Final = 1.645


class VolatilityEstimate(NamedTuple):
    """The standard deviation of a price's logarithm per square root of a second, and its 90% interval.

    It is estimated from `intervals` intervals of `interval_s` seconds each.
    """

    per_sqrt_s: float
    low: float
    high: float
    intervals: int
    interval_s: float


def estimate_volatility(path: PricePath, half_life_s: float | None = None) -> VolatilityEstimate | Unmeasured:
    """Return the volatility of a path, or why it cannot be measured.

    `half_life_s` is the half-life of price displacements by swaps, if it is known and finite.
    """
    count = _MAX_INTERVALS
    if half_life_s:
        count = max(_MIN_INTERVALS, min(count, int(path.duration_s / (_HALF_LIVES * half_life_s))))
    interval_s, start_s = path.duration_s / count, path.times_s[0]
    if interval_s <= 0.0:
        return Unmeasured("the price is known at only one time")
    medians = [path.median(start_s + k * interval_s, start_s + (k + 1) * interval_s) for k in range(count)]
    moves = [(medians[k] - medians[k - 1]) ** 2 for k in range(_APART, count)]
    moved = sum(move > 0.0 for move in moves)
    if moved < _MIN_MOVED:
        return Unmeasured(
            f"the price moved in {moved} of {len(moves)} intervals, but must move in at least {_MIN_MOVED}"
        )
    squares = [(medians[k + _APART] - medians[k]) ** 2 - move for k, move in enumerate(moves)]
    variance = fmean(squares)
    if variance <= 0.0:
        return Unmeasured("swaps move the price back and forth, which hides the market's own moves")
    size = len(squares) // _GROUPS
    groups = [fmean(squares[k * size : (k + 1) * size]) for k in range(_GROUPS)]
    error = max(_RELATIVE_ERROR / sqrt(count), stdev(groups) / sqrt(_GROUPS) / variance)
    per_sqrt_s = sqrt(variance / (interval_s * (_APART - 1)))
    factor = exp(_Z_90 * error / 2)
    return VolatilityEstimate(per_sqrt_s, per_sqrt_s / factor, per_sqrt_s * factor, count, interval_s)
