"""One hop: the pools between two tokens, filled in parallel so that their marginal rates are equal."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt

from swapcli.routing.graph.market_graph import Arc

_ROUNDS = 150
_CLOSE = 1e-9
_ADJACENT = 4e-16  # of a rate: two such floats have hardly one between them
_FULL = 1 - 1e-8


class Hop:
    """`arcs` sell the same token for the same other one. Amounts are base units."""

    __slots__ = ("arcs", "capacity", "initial_rate", "token_in", "token_out")

    def __init__(self, arcs: Sequence[Arc], initial_rate: float = 0.0) -> None:
        """`hint` is a marginal rate to start a search from."""
        self.arcs = tuple(arcs)
        self.token_in, self.token_out = arcs[0].token_in, arcs[0].token_out
        self.initial_rate = initial_rate
        self.capacity = sum(arc.curve.capacity for arc in arcs)

    def amount_out(self, amount_in: float) -> float:
        """Output of the best split of `amount_in`; minus infinity beyond the pools' capacity."""
        if amount_in > self.capacity:
            return -inf
        if len(self.arcs) == 1:
            return self.arcs[0].curve.amount_out(amount_in)
        return sum(arc.curve.amount_out(x) for arc, x in zip(self.arcs, self.split(amount_in), strict=True))

    def rate(self, amount_in: float) -> float:
        """Marginal rate at the best split of `amount_in`: that of the pools which have room for more; 0.0 without."""
        filled = zip(self.arcs, self.split(amount_in), strict=True)
        return max((arc.curve.rate(x) for arc, x in filled if x < arc.curve.capacity * _FULL), default=0.0)

    def split(self, amount_in: float) -> list[float]:
        """What each arc gets, in their order: marginal rates equal where an arc gets anything."""
        arcs = self.arcs
        if len(arcs) == 1:
            return [amount_in]
        if amount_in >= self.capacity:
            return _scale_to_total([arc.curve.capacity for arc in arcs], amount_in)
        return self._find_common_rate(amount_in)

    def _find_common_rate(self, amount_in: float) -> list[float]:
        """Search the common rate between one that takes less than `amount_in` and one that takes more.

        Newton's method, and halving after a step that leaves more than half of what was missing: the supply of a pool
        near parity is almost a jump, and its tangent leads nowhere.
        """
        arcs = self.arcs
        high = max(arc.rate for arc in arcs)
        low = 0.0
        less = [0.0] * len(arcs)
        more: list[float] | None = None
        rate = self._first_guess(amount_in, high)
        missed = inf
        for _ in range(_ROUNDS):
            trades = [arc.trade_to_marginal_rate(rate) if rate < arc.rate else (0.0, 0.0, 0.0) for arc in arcs]
            amounts = [trade[0] for trade in trades]
            missing = amount_in - sum(amounts)
            if abs(missing) <= _CLOSE * amount_in:
                self.initial_rate = rate
                return _scale_to_total(amounts, amount_in)
            if missing > 0.0:
                high, less = rate, amounts
            else:
                low, more = rate, amounts
            if high - low <= _ADJACENT * high:
                break
            slope = sum(trade[2] for trade in trades) if abs(missing) <= 0.5 * missed else 0.0
            missed = abs(missing) if slope else inf
            rate = _next_rate(rate, missing, slope, low, high)
            if not rate:  # not even the smallest rate takes that much
                break
        return _interpolate_jump(less, more, amount_in)

    def _first_guess(self, amount_in: float, high: float) -> float:
        """The hint, else the rate that the arc with the best first unit would end at."""
        if 0.0 < self.initial_rate < high:
            return self.initial_rate
        guess = self.arcs[0].curve.rate(amount_in)
        return guess if 0.0 < guess < high else high * 0.999


def _next_rate(rate: float, missing: float, slope: float, low: float, high: float) -> float:
    """Newton on the logarithm of the rate, kept inside (low, high); halving without a slope."""
    if slope > 0.0:
        change = missing / slope
        guess = rate / (1.0 + change) if change > -0.5 else rate * (1.0 - change)
        if low < guess < high:
            return guess
    if low <= 0.0:
        return high * 0.25
    return (low + high) / 2 if high < 2.0 * low else sqrt(low) * sqrt(high)


def _interpolate_jump(less: list[float], more: list[float] | None, amount_in: float) -> list[float]:
    """At a jump of the supply the last part is split in proportion to what each arc would add there."""
    if more is None:
        return _scale_to_total(less, amount_in)
    short = amount_in - sum(less)
    span = sum(more) - sum(less)
    part = min(1.0, max(0.0, short / span)) if span > 0.0 else 0.0
    return _scale_to_total([a + part * (b - a) for a, b in zip(less, more, strict=True)], amount_in)


def _scale_to_total(amounts: list[float], total: float) -> list[float]:
    """The amounts in proportion, summing to `total`; an infinite one takes everything."""
    endless = [k for k, x in enumerate(amounts) if x == inf]
    if endless:
        return [total / len(endless) if k in endless else 0.0 for k in range(len(amounts))]
    have = sum(amounts)
    if have <= 0.0:
        return [total / len(amounts)] * len(amounts)
    return [x * total / have for x in amounts]
