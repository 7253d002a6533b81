"""The curve of a direction whose marginal rate may rise for a while: its concave hull.

A fee that falls as a trade approaches balance can make the marginal rate rise. There, the curve is replaced by its
concave hull: a chord with one rate, tilted by 10^-7 so that the amount is still a function of the rate. The best trade
at any price only meets the hull; a swap that ends inside the chord pays slightly less.

A rate has no closed-form inverse; Newton steps on a nearly linear function of it (`_linearize_rate`) find the trade.
The first search between two trades makes a polynomial of `trade_pieces`, which serves this search and all later ones.
Pieces lie on a fixed grid, so that no result depends on earlier ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from math import exp, inf, log

from swapcli.core.annotations import Final, TypeVar
from swapcli.core.records import NamedTuple
from swapcli.families.trade_pieces import (
    MAX_HALVINGS,
    PIECE_LENGTH,
    CurvePoint,
    Piece,
    PieceTable,
    evaluate_piece,
    fit_piece,
)

MAX_LOG_DEPTH: Final = 200.0
"""Trades end when e^-200 of the bought balance is left: far below one unit of any token."""
RATE_TOLERANCE: Final = 2e-15
"""About twenty float roundings (2^-53 each) in the evaluation of a rate."""
HULL_SAMPLES: Final = 16
"""The number of points at which the search for a rising rate looks; chosen by hand."""
_MAX_NEWTON_STEPS: Final = 60
"""The maximum number of steps. Bisection alone gains one bit per step, so 60 reach the precision of a float."""
_MIN_RATE: Final = 1e-280
"""The lowest rate: far below that of the deepest trade, while no product with it underflows."""
_STEP_TOLERANCE: Final = 1e-8
"""Newton steps converge quadratically: after a step of 1e-8, the next is below float rounding."""
_NEAR: Final = 0.05
"""A step size after which a trade is closer to the target than most pieces are long."""
_CHORD_TILT: Final = 1e-7
"""The relative decrease of the rate along a chord: far below any fee, far above float rounding."""

_Point = TypeVar("_Point", bound=tuple[float, float])


def concave_hull(points: Iterable[_Point]) -> list[_Point]:
    """Return the corners of the upper concave hull of points (input, output) whose inputs rise. Integers stay exact."""
    hull: list[_Point] = []
    for point in points:
        while len(hull) > 1 and _rises(hull[-2], hull[-1], point):
            hull.pop()
        if not hull or point[0] > hull[-1][0]:
            hull.append(point)
    return hull


def _rises(first: tuple[float, float], middle: tuple[float, float], last: tuple[float, float]) -> bool:
    """Return whether the slope does not fall at the middle of three points."""
    before = (middle[1] - first[1]) * (last[0] - middle[0])
    return before <= (last[1] - middle[1]) * (middle[0] - first[0])


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
    """The hull between the trades `low` and `high` = (sold, bought). Its rate falls from `rate` by `_CHORD_TILT`.

    The curve itself is used up to `end_t` before it and from `restart` after it.
    """

    rate: float
    low: tuple[float, float]
    high: tuple[float, float]
    end_t: float
    restart: _StartPoint


class _StartPoint(NamedTuple):
    """The start of a search: the trade `t`, its rate, the linearized rate, and d t / d linearized rate."""

    t: float
    rate: float
    linearized_rate: float
    step_scale: float


class HullCurve(ABC):
    """One direction of a pool, in the curve's own units. A trade is identified by t = ln(y before / y after), where y
    is the pool's balance of the bought token.

    A subclass sets its state before it calls `_prepare`. `state_after` is the state that it needs after a trade.
    """

    __slots__ = (
        "_chord",
        "_end",
        "_max_t",
        "_piece",
        "_pieces",
        "_start",
        "_unit_in",
        "_unit_out",
        "_unit_rate",
        "capacity",
        "start_rate",
    )

    @abstractmethod
    def _trade_by_input(self, sold: float) -> tuple[float, float]:
        """Return (gross, state_after) of the trade that sells `sold`; gross is the output before the fee."""

    @abstractmethod
    def _trade_by_log_depth(self, t: float) -> tuple[float, float, float]:
        """Return (sold, gross, state_after) of the trade t; the inverse of `_trade_by_input`."""

    @abstractmethod
    def _subtract_fee(self, sold: float, gross: float, state_after: float) -> float:
        """Return the output of a trade."""

    @abstractmethod
    def _marginal(self, sold: float, gross: float, state_after: float) -> tuple[float, float, float]:
        """Return (rate, -d sold / d ln rate, d sold / d t) after the trade."""

    def _linearize_rate(self, rate: float) -> tuple[float, float]:
        """Return (h, -d h / d ln rate) for a function h of the rate that is nearly linear in t."""
        return -log(rate), 1.0

    def _prepare(self, units: tuple[float, float], rising: Sequence[float] = (), max_t: float = MAX_LOG_DEPTH) -> None:
        """Set the data that the methods of `RateCurve` use. `units` are base units per unit of the curve, in and out.

        `rising` are trades t, in order, between which the rate may rise; trades end at `max_t`.
        """
        self._piece: Piece | None = None
        self._pieces = PieceTable()
        self._unit_in, self._unit_out = units
        self._unit_rate = self._unit_out / self._unit_in
        self._max_t = max_t
        self._start = self._start_point_at(0.0)
        self._chord = self._find_chord(rising) if rising else None
        chord = self._chord
        start = chord.rate if chord is not None and not chord.low[0] else self._start.rate
        self.start_rate: float = start * self._unit_rate
        self._end: tuple[float, float] | None = None
        self.capacity: float = inf
        if max_t < MAX_LOG_DEPTH:
            sold, gross, state_after = self._trade_by_log_depth(max_t)
            rate = self._marginal(sold, gross, state_after)[0]
            lowest = chord.rate * exp(-_CHORD_TILT) if chord is not None else inf
            self._end = min(rate, lowest), self._subtract_fee(sold, gross, state_after)
            self.capacity = sold * self._unit_in

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope) of the trade that ends at the marginal rate `rate`; see `RateCurve`."""
        if rate >= self.start_rate:
            return 0.0, 0.0, 0.0
        piece = self._piece
        if piece is None or not piece[0] <= rate <= piece[1]:
            piece = self._pieces.find(rate)
            if piece is None:
                return self._trade_without_piece(rate)
            self._piece = piece
        return evaluate_piece(piece, rate)

    def _trade_without_piece(self, base_rate: float) -> tuple[float, float, float]:
        rate = max(base_rate / self._unit_rate, _MIN_RATE)
        if self._end is not None and rate <= self._end[0]:
            return self.capacity, self._end[1] * self._unit_out, 0.0
        chord = self._chord
        start, max_t = self._start, self._max_t
        low, high = (self._end[0] if self._end is not None else 0.0), inf
        if chord is not None:
            part = log(chord.rate / rate) / _CHORD_TILT
            if rate >= chord.rate:
                max_t, low = chord.end_t, chord.rate
            elif part >= 1.0:
                start, high = chord.restart, chord.rate * exp(-_CHORD_TILT)
            else:
                slope, gain = chord.high[0] - chord.low[0], chord.high[1] - chord.low[1]
                sold, bought, slope = chord.low[0] + part * slope, chord.low[1] + part * gain, slope / _CHORD_TILT
                return sold * self._unit_in, bought * self._unit_out, slope * self._unit_in
        for tolerance in (_NEAR, _STEP_TOLERANCE):  # usually, a trade nearby is in the same piece
            sold, bought, slope, t = self._solve(rate, start, max_t, tolerance)
            piece = self._make_piece(t, start.t, max_t)
            if piece is not None:
                bottom = max(piece.low, low * self._unit_rate)
                top = min(piece.high, high * self._unit_rate, self.start_rate)
                if bottom > piece.low or top < piece.high:
                    piece = piece._replace(low=bottom, high=top)
                if piece.low <= base_rate <= piece.high:
                    self._pieces.add(piece)
                    return evaluate_piece(piece, base_rate)
        return sold * self._unit_in, bought * self._unit_out, slope * self._unit_in

    def _make_piece(self, t: float, first_t: float, last_t: float) -> Piece | None:
        """Return the longest accurate piece that contains the trade t, among those that halve a fixed grid from
        `first_t` on."""
        length, point = PIECE_LENGTH, self._point
        for halvings in range(MAX_HALVINGS + 1):
            number = int((t - first_t) / length)
            key = first_t, halvings, number
            if key not in self._pieces.rejected:
                low = first_t + number * length
                high = min(low + length, last_t)
                piece = fit_piece(point(low), point(0.5 * (low + high)), point(high))
                if piece is not None:
                    return piece
                self._pieces.rejected.add(key)
            length *= 0.5
        return None

    def _point(self, t: float) -> CurvePoint:
        """Return the trade t in base units."""
        sold, gross, state_after = self._trade_by_log_depth(t)
        rate, slope, _ = self._marginal(sold, gross, state_after)
        bought, unit = self._subtract_fee(sold, gross, state_after), self._unit_in
        return CurvePoint(rate * self._unit_rate, sold * unit, bought * self._unit_out, slope * unit)

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`."""
        if amount_in <= 0.0:
            return 0.0
        sold = min(amount_in, self.capacity) / self._unit_in
        chord = self._chord
        if chord is not None and chord.low[0] < sold < chord.high[0]:
            part = (sold - chord.low[0]) / (chord.high[0] - chord.low[0])
            return (chord.low[1] + part * (chord.high[1] - chord.low[1])) * self._unit_out
        return self._subtract_fee(sold, *self._trade_by_input(sold)) * self._unit_out

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold.

        The rate is 0.0 if the rising fee consumes the whole marginal output, or if floats cannot represent the balance
        left in the pool.
        """
        if amount_in >= self.capacity:
            return 0.0
        sold = amount_in / self._unit_in
        chord = self._chord
        if chord is not None and chord.low[0] <= sold <= chord.high[0]:
            part = (sold - chord.low[0]) / (chord.high[0] - chord.low[0])
            return chord.rate * exp(-part * _CHORD_TILT) * self._unit_rate
        try:
            return max(self._marginal(sold, *self._trade_by_input(sold))[0], 0.0) * self._unit_rate
        except ZeroDivisionError:
            return 0.0

    def _solve(
        self, rate: float, start: _StartPoint, max_t: float, tolerance: float = _STEP_TOLERANCE
    ) -> tuple[float, float, float, float]:
        """Return (sold, bought, slope, t) of the trade from `start` to at most `max_t` that ends at the rate `rate`.

        It is exact with the smallest `tolerance`, which bounds the last step as a part of t.
        """
        goal = self._linearize_rate(rate)[0]
        low, high = start.t, max_t
        t = start.t + (goal - start.linearized_rate) * start.step_scale
        sold = gross = state_after = slope = miss = step = 0.0
        for _ in range(_MAX_NEWTON_STEPS):
            if not low < t < high:
                t = low + min(0.5 * (high - low), 1.0)
            sold, gross, state_after = self._trade_by_log_depth(t)
            reached, slope, sold_by_t = self._marginal(sold, gross, state_after)
            miss = log(reached / rate) if reached > 0.0 else -inf
            if miss > 0.0:
                low = t
            else:
                high = t
            if abs(miss) <= RATE_TOLERANCE or high - low <= RATE_TOLERANCE * high:
                break
            if miss == -inf:
                t = inf
                continue
            linearized_rate, linearized_slope = self._linearize_rate(reached)
            before, step = step, (goal - linearized_rate) * slope / (linearized_slope * sold_by_t)
            if abs(step) <= tolerance * t:
                t += step
                break
            t = t + step if step * before >= -0.5 * before * before else inf  # the steps alternate: halve the bracket
        rest = miss * slope if abs(miss) < 1e-3 else 0.0  # the last step needs no evaluation
        return sold + rest, self._subtract_fee(sold, gross, state_after) + rate * rest, slope, t

    def _start_point_at(self, t: float) -> _StartPoint:
        sold, gross, state_after = self._trade_by_log_depth(t)
        rate, slope, sold_by_t = self._marginal(sold, gross, state_after)
        linearized_rate, linearized_slope = self._linearize_rate(rate)
        return _StartPoint(t, rate, linearized_rate, slope / (linearized_slope * sold_by_t))

    def _find_chord(self, ts: Sequence[float]) -> _Chord | None:
        """Return the chord over the stretch in which the marginal rate rises, or None if it does not rise.

        The rate of the chord leaves equal areas above and below; starting from the valley's rate, each round raises it
        to the slope between the two points at which the falling stretches have it.
        """
        last = len(ts) - 1
        rates = [self._marginal(*self._trade_by_log_depth(t))[0] for t in ts]
        valley = next((k for k in range(last) if rates[k + 1] > rates[k] * (1.0 + RATE_TOLERANCE)), None)
        if valley is None:
            return None
        peak = next((k for k in range(valley + 1, last) if rates[k + 1] < rates[k]), last)
        first, rate = self._start_point_at(ts[peak]), rates[valley]
        low = 0.0, 0.0
        for _ in range(_MAX_NEWTON_STEPS):
            low = self._solve(rate, self._start, ts[valley])[:2] if rate < rates[0] and valley else (0.0, 0.0)
            high = self._solve(rate, first, self._max_t)
            before, rate = rate, (high[1] - low[1]) / (high[0] - low[0])
            if abs(rate - before) <= _STEP_TOLERANCE * rate:
                break
        high = self._solve(rate * exp(-_CHORD_TILT), first, self._max_t)
        return _Chord(rate, low, high[:2], ts[valley], first)
