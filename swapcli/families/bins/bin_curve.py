"""One direction of a bin pool in floating point, for the solver: a polygon with one segment per bin.

The rate inside a bin is constant. In this curve, it falls by a tiny fraction from the start of the bin to its end, so
that the amount is still a function of the rate. Without the contract's rounding, the curve is exact at the ends of the
bins; between them it is above the true curve by at most an eighth of that fraction of the bin's output. If fees make a
later bin cheaper than an earlier one, the two are joined into one segment, so that the curve stays concave.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from swapcli.core.annotations import Final
from swapcli.families.rounding import CAPACITY_MARGIN

_TILT: Final = 1e-7
"""The relative decrease of the rate along a bin: far below the fees and the smallest bin step (10^-4), and far above
float rounding errors."""


class BinCurve:
    """The curve of a bin pool; see `RateCurve`. `bins` has (rate with fee, output) for each bin, in the order in which
    a swap passes them."""

    __slots__ = ("_ends", "_ins", "_outs", "_rates", "_sizes", "capacity", "start_rate")

    def __init__(self, bins: Iterable[tuple[float, float]], max_amount_in: int) -> None:
        # For each segment: mean rate, input, output.
        segments: list[tuple[float, float, float]] = []
        for mean_rate, amount_out in bins:
            rate, received = mean_rate, float(amount_out)
            if not received or not rate:
                continue
            size = received / rate
            while segments and segments[-1][0] <= rate * (1.0 + 2 * _TILT):
                _, more_size, more_received = segments.pop()
                size, received = size + more_size, received + more_received
                rate = received / size
            segments.append((rate, size, received))
        self._rates = [rate for rate, _, _ in segments]
        self._sizes = [size for _, size, _ in segments]
        # The rate at the end of each segment, negated because `bisect` needs ascending numbers.
        self._ends = [-rate * (1.0 - _TILT / 2) for rate in self._rates]
        self._ins, self._outs = [0.0], [0.0]
        for _, size, received in segments:
            self._ins.append(self._ins[-1] + size)
            self._outs.append(self._outs[-1] + received)
        self.start_rate: float = self._rates[0] * (1.0 + _TILT / 2) if segments else 0.0
        self.capacity: float = min(self._ins[-1] * CAPACITY_MARGIN, float(max_amount_in))

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope) of the trade that ends at the marginal rate `rate`; see `RateCurve`."""
        if rate >= self.start_rate:
            return 0.0, 0.0, 0.0
        i = bisect_right(self._ends, -rate)
        if i == len(self._ends):
            return self._at_capacity()
        mean_rate, start_in = self._rates[i], self._ins[i]
        fall = 1.0 + _TILT / 2 - rate / mean_rate
        if fall <= 0.0:
            return (start_in, self._outs[i], 0.0) if start_in < self.capacity else self._at_capacity()
        part = min(fall / _TILT, 1.0)
        amount_in = start_in + part * self._sizes[i]
        if amount_in >= self.capacity:
            return self._at_capacity()
        return amount_in, self._out_within(i, part), self._sizes[i] * rate / (mean_rate * _TILT)

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`."""
        amount_in = min(amount_in, self.capacity)
        if amount_in <= 0.0:
            return 0.0
        i = bisect_right(self._ins, amount_in) - 1
        return self._out_within(i, (amount_in - self._ins[i]) / self._sizes[i])

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold."""
        if amount_in >= self.capacity:
            return 0.0
        i = bisect_right(self._ins, max(amount_in, 0.0)) - 1
        return self._rates[i] * (1.0 + _TILT * (0.5 - (amount_in - self._ins[i]) / self._sizes[i]))

    def _at_capacity(self) -> tuple[float, float, float]:
        return self.capacity, self.amount_out(self.capacity), 0.0

    def _out_within(self, i: int, part: float) -> float:
        """Return the output after `part` of the input of segment `i` has been sold."""
        return self._outs[i] + self._rates[i] * self._sizes[i] * part * (1.0 + _TILT / 2 * (1.0 - part))
