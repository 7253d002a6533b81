"""A stable curve whose fee on the input rises with the trade, like the StableSurge hook's fee: a concave upper bound.

The rest of an input x after the fee is h(x) = (1 - fee(x)) x, which a rising fee can make fall. The bound replaces h by
its concave hull H, a polygon. With the curve F of the pool without a fee, which is concave and increasing, F(H(x)) is
concave too, and not below the true output F(h(x)).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from itertools import pairwise
from math import inf

from swapcli.core.annotations import Final
from swapcli.core.model.pool import RateCurve
from swapcli.families.hull_curve import concave_hull

_FIRST_PART: Final = 1e-4
"""The smallest trade to sample, as a part of the pool."""
_GROWTHS: Final = {True: 1.35, False: 1.12}
"""The growth from one sample to the next, for concave fees and for others: fine enough for a bound within one
percent."""
_LAST_PART: Final = 50.0
"""The largest trade to sample: beyond it, the fee hardly changes."""
_BISECTIONS: Final = 60
_FAR: Final = 1e9
"""Far beyond the last sample, where the fee is at least that of the last sample."""


class SurgeCurve:
    """One direction of the pool, in base units. Each trade lies on a segment of the polygon H."""

    __slots__ = ("_after_fee", "_ends", "_inner", "_inputs", "_slopes", "_start_rates", "capacity", "start_rate")

    def __init__(self, inner: RateCurve, fee: Callable[[float], float], size: float, is_concave: bool) -> None:
        """Take the curve without a fee, the fee of an input as a fraction, and the pool's size in units of the input.

        `is_concave` means that the fee is concave once it begins to rise, which makes the bound tighter.
        """
        self._inner = inner
        hull = concave_hull(_sample(fee, size, is_concave))
        # A fee that rises to the whole input makes the rest fall: no one has to sell more than the amount that pays
        # most.
        points = hull[: max(range(len(hull)), key=lambda k: hull[k][1]) + 1]
        self._inputs = [x for x, _ in points]
        self._after_fee = [net for _, net in points]
        pairs = list(pairwise(points))
        self._slopes = [(high[1] - low[1]) / (high[0] - low[0]) for low, high in pairs]
        self._start_rates = [inner.rate(low[1]) * slope for (low, _), slope in zip(pairs, self._slopes, strict=True)]
        # The rate at the end of each segment, negated because `bisect` needs ascending numbers.
        self._ends = [-inner.rate(high[1]) * slope for (_, high), slope in zip(pairs, self._slopes, strict=True)]
        self.start_rate: float = inner.start_rate * self._slopes[0] if self._slopes else 0.0
        self.capacity: float = inf if len(points) == len(hull) else points[-1][0]

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope) of the trade that ends at the marginal rate `rate`; see `RateCurve`. At
        a corner of the polygon, the slope is 0."""
        if rate >= self.start_rate:
            return 0.0, 0.0, 0.0
        k = min(bisect_left(self._ends, -rate), len(self._slopes) - 1)
        if rate >= self._start_rates[k]:
            return self._inputs[k], self._inner.amount_out(self._after_fee[k]), 0.0
        slope = self._slopes[k]
        net, amount_out, net_slope = self._inner.trade_to_marginal_rate(rate / slope)
        amount_in = self._inputs[k] + max(net - self._after_fee[k], 0.0) / slope
        if amount_in >= self.capacity:
            return self.capacity, self.amount_out(self.capacity), 0.0
        return amount_in, amount_out, net_slope / slope

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`."""
        amount_in = min(amount_in, self.capacity)
        if amount_in <= 0.0:
            return 0.0
        return self._inner.amount_out(self._net(amount_in, self._segment(amount_in)))

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold."""
        if amount_in >= self.capacity:
            return 0.0
        k = self._segment(amount_in)
        return self._inner.rate(self._net(amount_in, k)) * self._slopes[k]

    def _segment(self, amount_in: float) -> int:
        return min(max(bisect_left(self._inputs, amount_in) - 1, 0), len(self._slopes) - 1)

    def _net(self, amount_in: float, k: int) -> float:
        return self._after_fee[k] + (amount_in - self._inputs[k]) * self._slopes[k]


def _sample(fee: Callable[[float], float], size: float, is_concave: bool) -> list[tuple[float, float]]:
    """Return points (input, input after the fee) whose hull is not below the curve between them.

    A concave fee is not below its chord between two samples. With a linear fee, h is a parabola; the tangents at its
    ends meet above the middle. Between two samples, any other fee is at least the lower of the two or, where it falls,
    lower by as much as it has fallen since the previous sample. Below the point at which it begins to rise, it is
    constant.
    """
    static, growth = fee(0.0), _GROWTHS[is_concave]
    x = first = _find_rise(fee, static, size)
    points = [(0.0, 0.0), (x, (1.0 - static) * x)] if x else [(0.0, 0.0)]
    before = least = fee(first + 1e-9 * size)
    charged = static if x else least
    step = size * _FIRST_PART
    while step < size * _LAST_PART:
        higher = first + step
        step *= growth
        next_charged = fee(higher)
        half = (higher - x) / 2.0
        if is_concave:
            rise = (next_charged - charged) / (higher - x)
            points.append((x + half, (1.0 - charged) * x + (1.0 - charged - x * rise) * half))
            points.append((higher, (1.0 - next_charged) * higher))
        else:
            lowest = min(charged, next_charged)
            if before > charged:
                lowest -= growth * (before - charged)
                lowest = lowest if lowest > least else static
            points.append((higher, (1.0 - lowest) * higher))
        x, before, charged = higher, charged, next_charged
    points.append((_FAR * x, (1.0 - charged) * _FAR * x))
    return points


def _find_rise(fee: Callable[[float], float], static: float, size: float) -> float:
    """Return the largest input for which the fee is still `static`; 0 if the fee rises from the first unit."""
    low, high = 0.0, size * _LAST_PART
    if fee(high) <= static:
        return high
    if fee(1e-9 * size) > static:
        return 0.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if fee(middle) <= static:
            low = middle
        else:
            high = middle
    return low
