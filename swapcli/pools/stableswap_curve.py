"""StableSwap in floats: one direction of a pool of any number of coins, dynamic fee included.

With the other balances fixed and amounts in units of D, the invariant reads x + y + c = k / (x y), so that either of
the two balances solves a quadratic for the other. A rate has no closed-form inverse; Newton steps on a
nearly linear function (see `_linearize_rate`) find the trade, about four for any distance.

A fee that falls as the trade nears balance can make the marginal rate rise for a while. There the curve is replaced by
its concave hull: a chord of one rate, tilted by 10^-7 so that the amount still is a function of the rate. That is what
the best trade at any price sees; a swap that ends inside the chord gives a little less.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1, inf, log, log1p, sqrt
from typing import Final, NamedTuple

_MAX_NEWTON_STEPS: Final = 60
"""Bisection alone gains a bit a step, so 60 reach the precision of a float."""
_MAX_LOG_DEPTH: Final = 200.0
"""Trades end where e^-200 of the bought balance is left: far below one unit of any token."""
_MIN_RATE: Final = 1e-280
"""Far below the rate of the deepest trade, and no product with it underflows."""
_STEP_TOLERANCE: Final = 1e-8
"""Newton steps converge quadratically: after a step of 1e-8 the next is below the rounding of a float."""
_RATE_TOLERANCE: Final = 2e-15
"""About twenty roundings of a float (2^-53 each) in the evaluation of a rate."""
_HULL_SAMPLES: Final = 16
"""Points at which the search for a rising rate looks; chosen by hand."""
_CHORD_TILT: Final = 1e-7
"""Relative fall of the rate along a chord: far below any fee, far above the rounding of a float."""


class ZeroCurve:
    """A direction in which nothing can be sold."""

    __slots__ = ("capacity", "start_rate")

    def __init__(self) -> None:
        self.capacity: float = 0.0
        self.start_rate: float = 0.0

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return zeros: there is no trade."""
        del rate
        return 0.0, 0.0, 0.0

    def amount_out(self, amount_in: float) -> float:
        """Return zero."""
        del amount_in
        return 0.0

    def rate(self, amount_in: float) -> float:
        """Return zero."""
        del amount_in
        return 0.0


class _Chord(NamedTuple):
    """The hull between the trades `low` and `high` = (sold, bought): its rate falls from `rate` by `_CHORD_TILT`.

    The curve itself is used up to `end_t` before it and from `restart` after it.
    """

    rate: float
    low: tuple[float, float]
    high: tuple[float, float]
    end_t: float
    restart: _StartPoint


class _StartPoint(NamedTuple):
    """Where a search starts: the trade `t`, its rate, the linearized rate, and d t / d linearized rate."""

    t: float
    rate: float
    linearized_rate: float
    step_scale: float


class StableSwapCurve:
    """A direction of the pool in units of D; t = ln(y before / y after) identifies a trade."""

    __slots__ = (
        "_c",
        "_chi",
        "_chord",
        "_fee",
        "_k",
        "_multiplier",
        "_start",
        "_unit_in",
        "_unit_out",
        "_unit_rate",
        "_x",
        "_y",
        "capacity",
        "start_rate",
    )

    def __init__(
        self,
        balances: Sequence[int],
        d: int,
        direction: tuple[int, int],
        amp: int,
        fee: float,
        multiplier: float,
        units: tuple[float, float],
    ) -> None:
        """Scaled balances and their invariant; `fee` a fraction; `units` are base units per scaled unit, in and out."""
        n = len(balances)
        others, product = 0, 1.0
        for k, balance in enumerate(balances):
            if k not in direction:
                others += balance
                product *= n * balance / d
        ann = float(amp * n)
        x, y = (balances[k] / d for k in direction)
        self._x, self._y = x, y
        self._k = 1.0 / (n * n * product * ann)
        self._c = (others - d) / d + 1.0 / ann
        self._chi = self._k / (x * y) ** 1.5
        self._fee, self._multiplier = fee, multiplier if multiplier > 1.0 else 0.0
        self._unit_in, self._unit_out = units[0] * d, units[1] * d
        self._unit_rate = self._unit_out / self._unit_in
        self._start = self._start_point_at(0.0)
        self._chord = self._find_chord() if self._multiplier and x < y else None
        chord = self._chord
        start = chord.rate if chord is not None and not chord.low[0] else self._start.rate
        self.start_rate: float = start * self._unit_rate
        self.capacity: float = inf

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope); see `RateCurve`."""
        if rate >= self.start_rate:
            return 0.0, 0.0, 0.0
        rate = max(rate / self._unit_rate, _MIN_RATE)
        chord = self._chord
        if chord is None:
            sold, bought, slope = self._solve(rate, self._start, _MAX_LOG_DEPTH)
        elif rate >= chord.rate:
            sold, bought, slope = self._solve(rate, self._start, chord.end_t)
        else:
            part = log(chord.rate / rate) / _CHORD_TILT
            if part >= 1.0:
                sold, bought, slope = self._solve(rate, chord.restart, _MAX_LOG_DEPTH)
            else:
                slope, gain = chord.high[0] - chord.low[0], chord.high[1] - chord.low[1]
                sold, bought, slope = chord.low[0] + part * slope, chord.low[1] + part * gain, slope / _CHORD_TILT
        return sold * self._unit_in, bought * self._unit_out, slope * self._unit_in

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`."""
        if amount_in <= 0.0:
            return 0.0
        sold = amount_in / self._unit_in
        chord = self._chord
        if chord is not None and chord.low[0] < sold < chord.high[0]:
            part = (sold - chord.low[0]) / (chord.high[0] - chord.low[0])
            return (chord.low[1] + part * (chord.high[1] - chord.low[1])) * self._unit_out
        return self._subtract_fee(sold, self._trade_by_input(sold)[0]) * self._unit_out

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold; 0.0 where a rising fee consumes all of it."""
        sold = amount_in / self._unit_in
        chord = self._chord
        if chord is not None and chord.low[0] <= sold <= chord.high[0]:
            part = (sold - chord.low[0]) / (chord.high[0] - chord.low[0])
            return chord.rate * exp(-part * _CHORD_TILT) * self._unit_rate
        return max(self._marginal(sold, *self._trade_by_input(sold))[0], 0.0) * self._unit_rate

    def _solve(self, rate: float, start: _StartPoint, max_t: float) -> tuple[float, float, float]:
        """Return (sold, bought, slope) of the trade from `start` to at most `max_t` that ends at the rate `rate`."""
        goal = self._linearize_rate(rate)[0]
        low, high = start.t, max_t
        t = start.t + (goal - start.linearized_rate) * start.step_scale
        sold = gross = slope = miss = step = 0.0
        for _ in range(_MAX_NEWTON_STEPS):
            if not low < t < high:
                t = low + min(0.5 * (high - low), 1.0)
            sold, gross, y = self._trade_by_log_depth(t)
            reached, slope, reach = self._marginal(sold, gross, y)
            miss = log(reached / rate) if reached > 0.0 else -inf
            if miss > 0.0:
                low = t
            else:
                high = t
            if abs(miss) <= _RATE_TOLERANCE or high - low <= _RATE_TOLERANCE * high:
                break
            if miss == -inf:
                t = inf
                continue
            linearized_rate, lean = self._linearize_rate(reached)
            before, step = step, (goal - linearized_rate) * slope / (lean * reach)
            if abs(step) <= _STEP_TOLERANCE * t:
                break
            t = t + step if step * before >= -0.5 * before * before else inf  # the steps alternate: halve the bracket
        rest = miss * slope if abs(miss) < 1e-3 else 0.0  # the last step needs no evaluation
        return sold + rest, self._subtract_fee(sold, gross) + rate * rest, slope

    def _linearize_rate(self, rate: float) -> tuple[float, float]:
        """Return (h, -d h / d ln rate) for a function h of the rate that is nearly linear in t.

        With a constant product x y, h would be ln sqrt(x / y) at that rate. The flat part of the curve and its steep
        end both become a slope between one and two.
        """
        rate /= 1.0 - self._fee
        chi = self._chi
        gap = 1.0 - rate
        root = sqrt(gap * gap + 4.0 * chi * chi * rate)
        e = (root + gap) / (2.0 * chi * rate) if gap > 0.0 else 2.0 * chi / (root - gap)
        small, large = chi / e, chi * e
        return log(e), 1.0 / (small / (1.0 + small) + large / (1.0 + large))

    def _start_point_at(self, t: float) -> _StartPoint:
        sold, gross, y = self._trade_by_log_depth(t)
        rate, slope, reach = self._marginal(sold, gross, y)
        linearized_rate, lean = self._linearize_rate(rate)
        return _StartPoint(t, rate, linearized_rate, slope / (lean * reach))

    def _find_chord(self) -> _Chord | None:
        """Return the chord over the stretch where the marginal rate rises; None where it does not.

        The rate of the chord leaves equal areas above and below; started at the valley's, each round lifts it to the
        slope between the two points where the falling stretches have it.
        """
        shortfall = 1.0 - self._x / self._y
        # The last one separately: in floats the shortfall of a nearly one-sided pool is 1.
        ts = [*(-log1p(-shortfall * k / _HULL_SAMPLES) for k in range(_HULL_SAMPLES)), log(self._y / self._x)]
        rates = [self._marginal(*self._trade_by_log_depth(t))[0] for t in ts]
        valley = next((k for k in range(_HULL_SAMPLES) if rates[k + 1] > rates[k] * (1.0 + _RATE_TOLERANCE)), None)
        if valley is None:
            return None
        peak = next((k for k in range(valley + 1, _HULL_SAMPLES) if rates[k + 1] < rates[k]), _HULL_SAMPLES)
        first, rate = self._start_point_at(ts[peak]), rates[valley]
        low = 0.0, 0.0
        for _ in range(_MAX_NEWTON_STEPS):
            low = self._solve(rate, self._start, ts[valley])[:2] if rate < rates[0] and valley else (0.0, 0.0)
            high = self._solve(rate, first, _MAX_LOG_DEPTH)
            before, rate = rate, (high[1] - low[1]) / (high[0] - low[0])
            if abs(rate - before) <= _STEP_TOLERANCE * rate:
                break
        high = self._solve(rate * exp(-_CHORD_TILT), first, _MAX_LOG_DEPTH)
        return _Chord(rate, low, high[:2], ts[valley], first)

    def _trade_by_input(self, sold: float) -> tuple[float, float]:
        """Return (gross, y after); gross is the output before the fee, computed without cancellation."""
        x, y, k = self._x, self._y, self._k
        x_after = x + sold
        b = x_after + self._c
        root = sqrt(b * b + 4.0 * k / x_after)
        gross = 2.0 * sold * (y + k / (x * x_after)) / (2.0 * y + b + root)
        return gross, 2.0 * k / (x_after * (b + root)) if b > 0.0 else 0.5 * (root - b)

    def _trade_by_log_depth(self, t: float) -> tuple[float, float, float]:
        """Return (sold, gross, y after) of the trade t; the inverse of `_trade_by_input`."""
        x, y = self._x, self._y
        gross, y_after = -y * expm1(-t), y * exp(-t)
        b = 2.0 * x + y_after + self._c
        lift = gross * (x + self._k / (y * y_after))
        root = sqrt(b * b + 4.0 * lift)
        return 2.0 * lift / (b + root) if b > 0.0 else 0.5 * (root - b), gross, y_after

    def _subtract_fee(self, sold: float, gross: float) -> float:
        m = self._multiplier
        if not m:
            return gross * (1.0 - self._fee)
        x, y = 2.0 * self._x + sold, 2.0 * self._y - gross
        z = (x - y) / (x + y)
        return gross * (1.0 - m * self._fee / (m - (m - 1.0) * z * z))

    def _marginal(self, sold: float, gross: float, y: float) -> tuple[float, float, float]:
        """Return (rate, -d sold / d ln rate, d sold / d t) after the trade.

        The price before the fee is the ratio of the invariant's partial derivatives; its own derivative follows the
        curve. The fee is m f / (m - (m - 1) z^2), z = (x - y) / (x + y) at the middle of the trade.
        """
        x = self._x + sold
        q = self._k / (x * y)
        qx, qy = q / x, q / y
        fx, fy = 1.0 + qx, 1.0 + qy
        price = fx / fy
        bend = (price * qx / y - 2.0 * qx / x) / fx + (qx / y - 2.0 * price * qy / y) / fy  # d ln price / d sold
        f, m = self._fee, self._multiplier
        if not m:
            return price * (1.0 - f), -1.0 / bend, y / price
        span = self._x + x + self._y + y
        z = (self._x + x - self._y - y) / span
        z1 = (1.0 + price - z * (1.0 - price)) / span
        z2 = (price * bend * (1.0 + z) - 2.0 * (1.0 - price) * z1) / span
        rest = m - (m - 1.0) * z * z
        fee = m * f / rest
        factor = 2.0 * fee * (m - 1.0) / rest
        fee1 = factor * z * z1
        fee2 = factor * (z1 * z1 + z * z2 + 4.0 * (m - 1.0) * (z * z1) ** 2 / rest)
        rate = price * (1.0 - fee) - gross * fee1
        rate1 = price * bend * (1.0 - fee) - 2.0 * price * fee1 - gross * fee2
        return rate, -rate / rate1 if rate1 else inf, y / price
