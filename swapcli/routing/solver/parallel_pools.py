"""One hop: the pools between two tokens, used in parallel so that their marginal rates are equal."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from swapcli.routing.graph.market_graph import Arc
from swapcli.routing.solver.constants import (
    ADJACENT_FLOATS,
    HOP_ITERATIONS,
    HOP_TOL,
    MIN_SLOPE_PROGRESS,
    NEARLY_FULL,
)
from swapcli.routing.solver.roots import next_rate


class Hop:
    """Parallel arcs that sell the same token for the same other one. Amounts are base units.

    Example: `Hop(graph.arcs_by_pair[i][j]).amount_out(1e18)`.
    """

    __slots__ = ("arcs", "capacity", "initial_rate", "token_in", "token_out")

    def __init__(self, arcs: Sequence[Arc], initial_rate: float = 0.0) -> None:
        """`initial_rate` is a marginal rate to start the search of a split from; 0.0 for none."""
        self.arcs = tuple(arcs)
        self.token_in, self.token_out = arcs[0].token_in, arcs[0].token_out
        self.initial_rate = initial_rate
        self.capacity = sum(arc.curve.capacity for arc in arcs)

    def amount_out(self, amount_in: float) -> float:
        """Return the output of the best split of `amount_in`; minus infinity beyond the pools' capacity."""
        if amount_in > self.capacity:
            return -inf
        if len(self.arcs) == 1:
            return self.arcs[0].curve.amount_out(amount_in)
        return sum(arc.curve.amount_out(x) for arc, x in zip(self.arcs, self.split(amount_in), strict=True))

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate at the best split, of pools that can take more; 0.0 when all are full."""
        return self._rate_at(self.split(amount_in))

    def rate_and_output(self, amount_in: float) -> tuple[float, float]:
        """Return `rate` and `amount_out` for `amount_in`, at most the capacity, from one split."""
        amounts = self.split(amount_in)
        return self._rate_at(amounts), sum(arc.curve.amount_out(x) for arc, x in zip(self.arcs, amounts, strict=True))

    def _rate_at(self, amounts: Sequence[float]) -> float:
        used = zip([arc.curve for arc in self.arcs], amounts, strict=True)
        return max((curve.rate(x) for curve, x in used if x < curve.capacity * NEARLY_FULL), default=0.0)

    def split(self, amount_in: float) -> list[float]:
        """Return the input of each arc, in their order: equal marginal rates where an arc gets anything."""
        arcs = self.arcs
        if len(arcs) == 1:
            return [amount_in]
        if amount_in >= self.capacity:
            return _scale_to_total([arc.curve.capacity for arc in arcs], amount_in)
        return self._find_common_rate(amount_in)

    def _find_common_rate(self, amount_in: float) -> list[float]:
        """Return the input of each arc at the marginal rate at which they take `amount_in` together.

        Newton's method inside a bracket, with bisection after a step that leaves more than half of the missing input:
        the supply of a pool near parity is almost a jump, and its tangent is useless. The loop keeps the inputs at both
        ends of the bracket to interpolate a jump, so it shares only `next_rate` with the other root finders.
        """
        arcs = self.arcs
        high = max(arc.rate for arc in arcs)
        low = 0.0
        amounts_below = [0.0] * len(arcs)
        amounts_above: list[float] | None = None
        rate = self._first_guess(amount_in, high)
        last_missing = inf
        for _ in range(HOP_ITERATIONS):
            trades = [arc.trade_to_marginal_rate(rate) if rate < arc.rate else (0.0, 0.0, 0.0) for arc in arcs]
            amounts = [trade[0] for trade in trades]
            missing = amount_in - sum(amounts)
            if abs(missing) <= HOP_TOL * amount_in:
                self.initial_rate = rate
                return _scale_to_total(amounts, amount_in)
            if missing > 0.0:
                high, amounts_below = rate, amounts
            else:
                low, amounts_above = rate, amounts
            if high - low <= ADJACENT_FLOATS * high:
                break
            slope = sum(trade[2] for trade in trades) if abs(missing) <= MIN_SLOPE_PROGRESS * last_missing else 0.0
            last_missing = abs(missing) if slope else inf
            rate = next_rate(rate, missing, slope, low, high)
            if not rate:  # not even the smallest positive rate takes that much
                break
        return _interpolate_jump(amounts_below, amounts_above, amount_in)

    def _first_guess(self, amount_in: float, high: float) -> float:
        """Return the initial rate, or the rate that the arc with the best spot rate would end at."""
        if 0.0 < self.initial_rate < high:
            return self.initial_rate
        guess = self.arcs[0].curve.rate(amount_in)
        return guess if 0.0 < guess < high else high * 0.999


def _interpolate_jump(below: list[float], above: list[float] | None, amount_in: float) -> list[float]:
    """Split the rest of the input at a jump of the supply, in proportion to what each arc would add there."""
    if above is None:
        return _scale_to_total(below, amount_in)
    missing = amount_in - sum(below)
    jump = sum(above) - sum(below)
    fraction = min(1.0, max(0.0, missing / jump)) if jump > 0.0 else 0.0
    return _scale_to_total([a + fraction * (b - a) for a, b in zip(below, above, strict=True)], amount_in)


def _scale_to_total(amounts: list[float], total: float) -> list[float]:
    """Scale the amounts to sum to `total`; infinite ones share all of it."""
    unbounded = [k for k, x in enumerate(amounts) if x == inf]
    if unbounded:
        return [total / len(unbounded) if k in unbounded else 0.0 for k in range(len(amounts))]
    current = sum(amounts)
    if current <= 0.0:
        return [total / len(amounts)] * len(amounts)
    return [x * total / current for x in amounts]
