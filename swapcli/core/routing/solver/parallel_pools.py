"""One hop: the pools between two tokens, used in parallel such that their marginal rates are equal."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.market_graph import Arc
from swapcli.core.routing.solver.constants import (
    ADJACENT_FLOATS,
    HOP_ITERATIONS,
    HOP_TOL,
    MIN_SLOPE_PROGRESS,
    NEARLY_FULL,
)
from swapcli.core.routing.solver.roots import next_rate


class _Split(NamedTuple):
    """The input of each arc. The output and the marginal rate are None if the search did not compute them."""

    amounts: list[float]
    amount_out: float | None = None
    rate: float | None = None


class _Solved(NamedTuple):
    """The last common rate found, the total input of the arcs at that rate, and its change per unit of the rate's
    logarithm."""

    rate: float
    amount_in: float
    slope: float


class Hop:
    """Parallel arcs between the same two tokens, in the same direction. Amounts are in base units.

    Example: `Hop(graph.arcs_by_pair[i][j]).amount_out(1e18)`.
    """

    __slots__ = ("_last", "_tolerance", "arcs", "capacity", "initial_rate", "token_in", "token_out")

    def __init__(self, arcs: Sequence[Arc], initial_rate: float = 0.0, tolerance: float = HOP_TOL) -> None:
        """Create a hop. `initial_rate` is a marginal rate from which to start the search for a split; 0.0 for none.

        `tolerance` is the part of the input that a split may leave over; that rest trades at the marginal rate.
        """
        self._tolerance = tolerance
        self.arcs = tuple(arcs)
        self.token_in, self.token_out = arcs[0].token_in, arcs[0].token_out
        self.initial_rate = initial_rate
        self.capacity = sum([arc.curve.capacity for arc in arcs])
        self._last: _Solved | None = None

    def amount_out(self, amount_in: float) -> float:
        """Return the output of the best split of `amount_in`; minus infinity beyond the pools' capacity."""
        if amount_in > self.capacity:
            return -inf
        if len(self.arcs) == 1:
            return self.arcs[0].curve.amount_out(amount_in)
        return self._output_of(self._split(amount_in))

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate at the best split, among pools that can take more; 0.0 if all are full."""
        return self._rate_of(self._split(amount_in))

    def rate_and_output(self, amount_in: float) -> tuple[float, float]:
        """Return `rate` and `amount_out` for `amount_in`, at most the capacity, from one split."""
        split = self._split(amount_in)
        return self._rate_of(split), self._output_of(split)

    def split(self, amount_in: float) -> list[float]:
        """Return the input of each arc, in order: marginal rates are equal for all arcs that get any input."""
        return self._split(amount_in).amounts

    def split_and_output(self, amount_in: float) -> tuple[list[float], float]:
        """Return the `split` for `amount_in` and its output, computed together."""
        split = self._split(amount_in)
        return split.amounts, self._output_of(split)

    def _split(self, amount_in: float) -> _Split:
        arcs = self.arcs
        if len(arcs) == 1:
            return _Split([amount_in])
        if amount_in >= self.capacity:
            return _Split(_scale_to_total([arc.curve.capacity for arc in arcs], amount_in))
        return self._find_common_rate(amount_in)

    def _output_of(self, split: _Split) -> float:
        if split.amount_out is not None:
            return split.amount_out
        return sum([arc.curve.amount_out(x) for arc, x in zip(self.arcs, split.amounts, strict=True)])

    def _rate_of(self, split: _Split) -> float:
        if split.rate is not None:
            return split.rate
        used = zip([arc.curve for arc in self.arcs], split.amounts, strict=True)
        return max((curve.rate(x) for curve, x in used if x < curve.capacity * NEARLY_FULL), default=0.0)

    def _find_common_rate(self, amount_in: float) -> _Split:
        """Return the split at the marginal rate at which the arcs take `amount_in` together.

        Newton's method inside a bracket, with bisection after a step that leaves more than half of the missing input:
        the supply of a pool near parity is almost a jump, and its tangent is useless. The loop keeps the inputs at both
        ends of the bracket to interpolate a jump, so the only code it shares with the other root finders is
        `next_rate`.
        """
        arcs = self.arcs
        high = max([arc.rate for arc in arcs])
        low = 0.0
        amounts_below: Sequence[float] = [0.0] * len(arcs)
        amounts_above: Sequence[float] | None = None
        rate, last_missing = self._first_guess(amount_in, high)
        for _ in range(HOP_ITERATIONS):
            amounts: list[float] = []
            missing, amount_out, slope = amount_in, 0.0, 0.0
            for arc in arcs:
                if rate < arc.rate:
                    arc_in, arc_out, arc_slope = arc.trade_to_marginal_rate(rate)
                    amounts.append(arc_in)
                    missing -= arc_in
                    amount_out += arc_out
                    slope += arc_slope
                else:
                    amounts.append(0.0)
            if abs(missing) <= self._tolerance * amount_in:
                self._last = _Solved(rate, amount_in - missing, slope)
                # The missing amount trades at the common rate.
                return _Split(
                    _scale_to_total(amounts, amount_in), amount_out + rate * missing, rate if slope > 0.0 else None
                )
            if missing > 0.0:
                high, amounts_below = rate, amounts
            else:
                low, amounts_above = rate, amounts
            if high - low <= ADJACENT_FLOATS * high:
                break
            makes_progress = abs(missing) <= MIN_SLOPE_PROGRESS * last_missing
            last_missing = abs(missing) if makes_progress and slope else inf
            rate = next_rate(rate, missing, slope if makes_progress else 0.0, low, high)
            if not rate:  # not even the smallest positive rate takes that much
                break
        return _Split(_interpolate_jump(amounts_below, amounts_above, amount_in))

    def _first_guess(self, amount_in: float, high: float) -> tuple[float, float]:
        """Return an initial rate below `high`, and the input that a step from a known rate had missed.

        It is a Newton step from the last rate found, the initial rate, or the rate at which the first arc would end if
        all arcs took the same input.
        """
        if self._last is not None and self._last.slope > 0.0:
            rate, amount, slope = self._last
            missing = amount_in - amount
            return next_rate(rate, missing, slope, 0.0 if missing >= 0.0 else rate, high), abs(missing) or inf
        if 0.0 < self.initial_rate < high:
            return self.initial_rate, inf
        guess = self.arcs[0].curve.rate(amount_in / len(self.arcs))
        return guess if 0.0 < guess < high else high * 0.999, inf


def _interpolate_jump(below: Sequence[float], above: Sequence[float] | None, amount_in: float) -> list[float]:
    """Split the rest of the input at a jump of the supply, in proportion to each arc's part of the jump."""
    if above is None:
        return _scale_to_total(below, amount_in)
    missing = amount_in - sum(below)
    jump = sum(above) - sum(below)
    fraction = min(1.0, max(0.0, missing / jump)) if jump > 0.0 else 0.0
    return _scale_to_total([a + fraction * (b - a) for a, b in zip(below, above, strict=True)], amount_in)


def _scale_to_total(amounts: Sequence[float], total: float) -> list[float]:
    """Scale the amounts so that they add up to `total`; infinite amounts share all of it."""
    unbounded = [k for k, x in enumerate(amounts) if x == inf]
    if unbounded:
        return [total / len(unbounded) if k in unbounded else 0.0 for k in range(len(amounts))]
    current = sum(amounts)
    if current <= 0.0:
        return [total / len(amounts)] * len(amounts)
    return [x * total / current for x in amounts]
