"""Estimate from the path of a route's price how fast its pools refill after large swaps.

A large swap displaces the price by d, a difference of logarithms. The part of the displacement that is gone after t
seconds is how far the price has moved back. Over many swaps, the share that is gone is the sum of the moves back
divided by the sum of the displacements. Without refill, the expected share is 0, whatever the price does, because swaps
are selected only by what came before them. This is the response function of Bouchaud, Gefen, Potters and Wyart (2004).
It is fitted with the exponential recovery of Obizhaeva and Wang (2013), down to a residual:

share(t) = (1 - residual) * (1 - 2 ** (-t / half_life))

* A displacement is the distance from the rest price, which is the median price before the swap. A swap counts only if
  it moves the price away from rest, because arbitrage that brings the price back is not a large swap of its own.
* The trend of the whole path is subtracted, so that several swaps in one direction show neither refill nor its absence.
* If pools follow a price elsewhere, the swaps that move them are not reversed. The refill after an order that is
  unrelated to such a price is therefore, if anything, underestimated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import copysign, inf, isfinite, sqrt
from operator import mul
from random import Random
from statistics import fmean, median
from typing import Final

from swapcli.core.execution.refill import RefillEstimate
from swapcli.core.records import NamedTuple
from swapcli.quoting.planning.price_path import PricePath, Unmeasured

MIN_SWAPS: Final = 12
"""The minimum number of large swaps. With fewer, the interval would be meaningless. Chosen, like the other numbers
here."""
_MAX_SWAPS: Final = 300
_LARGE_PART: Final = 0.8
"""The fraction of all squared displacements that large swaps make up. There are at least twice `MIN_SWAPS` of them."""
_LEAST_PART: Final = 0.1
"""A swap is large if it displaces the price by this fraction of the largest displacement, which ignores some
outliers:"""
_OUTLIERS: Final = 4
_MAX_DISPLACEMENT: Final = 1.0
"""A price that moves by a factor of e in one step is an attack or a broken pool."""
_REST_CELLS: Final = 8
"""Number of parts into which the time before a swap is divided. That time is as long as the time for which the swap is
followed. The median of the parts' medians is the price at rest."""
_AWAY_PART: Final = 2 / 3
"""A swap counts if it displaces the price by at least this fraction of its own move."""
_OWN_PART: Final = 0.25
"""The fraction of the displacement that must be the swap's own move."""
_LAGS: Final = 14
_LONGEST_PART: Final = 0.1
"""How long a swap is followed, as a fraction of the path, and at most:"""
_LONGEST_S: Final = 3600.0
_SCALES: Final = (1, 8, 64)
"""If no refill is visible this long after swaps, the search is repeated with an 8th and a 64th of that time."""
_FOLLOWED: Final = 8
"""The number of half-lives for which a swap is followed, once the half-life is known."""
_LEAST_WIDTH: Final = 0.1
"""The smallest interval width used for weights. At lags at which nothing has moved yet, the width would be 0."""
_HALF_LIVES: Final = 48
_RESAMPLES: Final = 200
_LEAST_SHARE: Final = 0.03
"""A smaller average share over the lags does not count as a refill, because random walks can show as much."""
_UNINFORMATIVE: Final = 0.5
"""If neither 0 nor this share can be excluded as the refill, the result is unknown."""


class RefillPoint(NamedTuple):
    """The share of the displacement that is gone `after_s` seconds after a large swap, and its 90% interval."""

    after_s: float
    share_gone: float
    low: float
    high: float


class MeasuredRefill(NamedTuple):
    """The refill after the large swaps in a path: the fitted curve, and the `points` to which it is fitted.

    `fit_error` is the root mean square difference between the curve and the points, as a share of the displacement.
    """

    estimate: RefillEstimate
    points: tuple[RefillPoint, ...]
    fit_error: float


class _Swap(NamedTuple):
    """The size of a displacement, and how far the price has moved back after each lag."""

    size: float
    moves_back: tuple[float, ...]


class _Fit(NamedTuple):
    """A fitted curve: the share `refilled` * (1 - 2 ** (-t / `half_life_s`)) is gone after t seconds."""

    half_life_s: float
    refilled: float
    squared_error: float


def estimate_refill(path: PricePath, least: float = 0.0) -> MeasuredRefill | Unmeasured:
    """Return the refill after the large swaps in a path, or why it cannot be measured.

    A swap counts only if it moves the price by at least `least`, a difference of logarithms, because arbitrage gains
    nothing while the price is within the route's fees.

    If the path shows no refill, the estimate is no refill, and its interval extends to the fastest refill that the path
    allows.
    """
    longest_s = min(path.duration_s * _LONGEST_PART, _LONGEST_S)
    tried = []
    for shrink in _SCALES:
        tried.append(_estimate(path, longest_s / shrink, least))
        if isinstance(tried[-1], MeasuredRefill) and isfinite(half_life_s := tried[-1].estimate.half_life_s):
            # Moves long after arbitrage has ended come from the market.
            closer = _estimate(path, min(_FOLLOWED * half_life_s, longest_s), least)
            return closer if isinstance(closer, MeasuredRefill) else tried[-1]
    return tried[0]


def _estimate(path: PricePath, longest_s: float, least: float) -> MeasuredRefill | Unmeasured:
    """Return the refill within `longest_s`."""
    lags_s = _lags(path, longest_s)
    places = _large_swaps(path, longest_s, least) if lags_s else []
    if len(places) < MIN_SWAPS:
        return Unmeasured(f"{len(places)} large swaps were found, but {MIN_SWAPS} are needed")
    trend = (path.log_prices[-1] - path.log_prices[0]) / path.duration_s
    swaps = [_follow(path, place, displacement, lags_s, trend) for place, displacement in places]
    shares = _shares_gone(swaps)
    samples = [*map(_shares_gone, _resample(swaps, lags_s[-1] / path.duration_s))]
    intervals = [*map(_interval, zip(*samples, strict=True))]
    fitter = _Fitter(lags_s, [1.0 / ((high - low) ** 2 + _LEAST_WIDTH**2) for low, high in intervals])
    fit = fitter.fit(shares)
    if _interval(map(fitter.mean, samples))[0] >= _LEAST_SHARE:
        half_lives_s, refilled, _ = zip(*map(fitter.fit, samples), strict=True)
        (fast_s, slow_s), (low, high) = _interval(half_lives_s), _interval(refilled)
        fast_s, slow_s = fast_s / fitter.step, inf if slow_s >= lags_s[-1] else slow_s * fitter.step
    else:
        fast_s, high, _ = fitter.fit([max(high, 0.0) for _, high in intervals])
        if high * (1.0 - 2.0 ** (-lags_s[-1] / fast_s)) >= _UNINFORMATIVE:
            return Unmeasured(f"the price moved too much to measure the refill after {len(swaps)} large swaps")
        fit, slow_s, low = fit._replace(half_life_s=inf, refilled=0.0), inf, 0.0
    estimate = RefillEstimate(
        half_life_s=min(max(fit.half_life_s, fast_s), slow_s),
        half_life_low_s=fast_s,
        half_life_high_s=slow_s,
        residual_share=1.0 - min(max(fit.refilled, low), high),
        residual_low=1.0 - high,
        residual_high=1.0 - low,
        displacement=median(each.size for each in swaps),
        swaps=len(swaps),
    )
    points = tuple(
        RefillPoint(lag_s, share, *ends) for lag_s, share, ends in zip(lags_s, shares, intervals, strict=True)
    )
    curve = [fit.refilled * (1.0 - 2.0 ** (-lag_s / fit.half_life_s)) for lag_s in lags_s]
    errors = (share - fitted for share, fitted in zip(shares, curve, strict=True))
    return MeasuredRefill(estimate, points, sqrt(fmean(each * each for each in errors)))


def _lags(path: PricePath, longest_s: float) -> list[float]:
    """Return the times after a swap at which to read the price, in ascending order; none if moves are too rare."""
    gaps_s = [after - before for before, after in zip(path.times_s, path.times_s[1:], strict=False) if after > before]
    if not gaps_s or min(gaps_s) >= longest_s:
        return []
    shortest_s = max(min(gaps_s), longest_s / 1000)
    step = (longest_s / shortest_s) ** (1 / (_LAGS - 1))
    return [shortest_s * step**k for k in range(_LAGS)]


def _large_swaps(path: PricePath, longest_s: float, least: float) -> list[tuple[int, float]]:
    """Return the positions of the large swaps, in order, each with the displacement that it leaves.

    Each has `longest_s` of the path before and after it.
    """
    cell_s, start_s = longest_s / _REST_CELLS, path.times_s[0]
    cells = [
        path.median(start_s + k * cell_s, start_s + (k + 1) * cell_s) for k in range(int(path.duration_s / cell_s))
    ]
    rests = [median(cells[k : k + _REST_CELLS]) for k in range(len(cells) - _REST_CELLS + 1)]
    prices, found = path.log_prices, dict[int, float]()
    for k, time_s in enumerate(path.times_s):
        before = int((time_s - start_s) / cell_s) - _REST_CELLS
        if before < 0:
            continue
        if time_s + longest_s > path.end_s:
            break
        move, displacement = prices[k] - prices[k - 1], prices[k] - rests[before]
        is_plausible = max(abs(move), abs(displacement)) < _MAX_DISPLACEMENT
        is_away = displacement * move >= _AWAY_PART * move**2 > 0.0
        # Small moves after others follow a price elsewhere.
        if is_plausible and is_away and abs(move) >= max(least, _OWN_PART * abs(displacement)):
            found[k] = displacement
    ordered = sorted(found, key=lambda k: -abs(found[k]))
    smallest = _LEAST_PART * max((abs(found[k]) for k in ordered[_OUTLIERS:]), default=0.0)
    ordered = [k for k in ordered if abs(found[k]) >= smallest]
    enough, passed, count = _LARGE_PART * sum(each**2 for each in found.values()), 0.0, 0
    while count < min(len(ordered), _MAX_SWAPS) and (count < 2 * MIN_SWAPS or passed < enough):
        passed += found[ordered[count]] ** 2
        count += 1
    return [(k, found[k]) for k in sorted(ordered[:count])]


def _follow(path: PricePath, place: int, displacement: float, lags_s: Sequence[float], trend: float) -> _Swap:
    price, start_s = path.log_prices[place], path.times_s[place]
    moves_back = (price + trend * lag_s - path.at(start_s + lag_s) for lag_s in lags_s)
    return _Swap(abs(displacement), tuple(copysign(1.0, displacement) * each for each in moves_back))


def _shares_gone(swaps: Sequence[_Swap]) -> list[float]:
    displaced = sum(swap.size for swap in swaps)
    return [sum(back) / displaced for back in zip(*(swap.moves_back for swap in swaps), strict=True)]


def _resample(swaps: Sequence[_Swap], overlap: float) -> list[list[_Swap]]:
    """Return bootstrap samples of runs of consecutive swaps, each run as long as their responses overlap."""
    size = len(swaps)
    length = max(1, min(round(size * overlap), size // 6))
    rng = Random(size)  # the same path gives the same interval
    starts = [[rng.randrange(size) for _ in range(-(-size // length))] for _ in range(_RESAMPLES)]
    return [[swaps[(start + k) % size] for start in each for k in range(length)] for each in starts]


class _Fitter:
    """Fits a refill curve to the shares that are gone after each lag, by weighted least squares."""

    def __init__(self, lags_s: Sequence[float], weights: Sequence[float]) -> None:
        total = sum(weights)
        self._weights = [each / total for each in weights]
        first_s, last_s = lags_s[0] / 8, 2 * lags_s[-1]
        self.step = (last_s / first_s) ** (1 / (_HALF_LIVES - 1))
        """The factor between consecutive half-lives to try."""
        half_lives_s = [first_s * self.step**k for k in range(_HALF_LIVES)]
        self._curves: list[tuple[float, list[float], float]] = []
        for half_life_s in half_lives_s:
            gone = [1.0 - 2.0 ** (-lag_s / half_life_s) for lag_s in lags_s]
            weighted = [*map(mul, self._weights, gone)]
            self._curves.append((half_life_s, weighted, sum(map(mul, weighted, gone))))

    def mean(self, shares: Sequence[float]) -> float:
        """Return the weighted mean of shares."""
        return sum(weight * share for weight, share in zip(self._weights, shares, strict=True))

    def fit(self, shares: Sequence[float]) -> _Fit:
        """Return the best fit with a refilled share from 0 to 1."""
        squares = sum(weight * share * share for weight, share in zip(self._weights, shares, strict=True))
        fits = []
        for half_life_s, weighted, scale in self._curves:
            product = sum(map(mul, weighted, shares))
            refilled = min(max(product / scale, 0.0), 1.0)
            fits.append(_Fit(half_life_s, refilled, squares - 2 * refilled * product + refilled**2 * scale))
        return min(fits, key=lambda each: each.squared_error)


def _interval(values: Iterable[float]) -> tuple[float, float]:
    """Return the 5% and 95% quantiles."""
    ordered = sorted(values)
    skipped = len(ordered) // 20
    return ordered[skipped], ordered[-1 - skipped]
