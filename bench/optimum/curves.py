"""Pools as real-valued curves: the output of a direction, and the best trade at given prices.

All amounts are converted to dollars at the market's own prices, so that very different tokens stay comparable. A
direction is one of the two ways to trade a pool; fees are part of its curve, rounding and gas are not. Classes hold all
directions of a kind in arrays, because a bound evaluates all of them at each step.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_KEY_STEP = 1_000.0  # more than the log prices of a pool can differ
_MAX_LOG_GROWTH = 12.0  # multiple of a stable pool's balance: beyond it, the output hardly changes
_BISECTIONS = 56
_SMALL_GROWTH = 1e-6


class BestTrades(NamedTuple):
    """The directions that gain from a trade, by row, and their best trades.

    `response` is how fast the input amount falls as the logarithm of the input token's price grows.
    """

    rows: Integers
    amount_in: Floats
    amount_out: Floats
    response: Floats


class Curves(Protocol):
    """All directions of a kind; `start_rates` is each direction's rate for the first unit, after the fee."""

    start_rates: Floats

    def best_trades(self, prices: Floats) -> BestTrades:
        """Return the best trades; `prices` are those of each direction's input token, in its output token."""

    def pay(self, row: int, amount_in: float) -> float:
        """Return the output of a direction."""


class SegmentCurve(NamedTuple):
    """A direction of a constant-product or concentrated pool: pieces of curves x * y = liquidity**2.

    `roots` are the square roots of the marginal prices, without the fee, at which the pieces start; they fall along a
    trade.
    """

    roots: Sequence[float]
    liquidities: Sequence[float]
    kept: float


class SegmentCurves:
    """Directions of constant-product and concentrated pools."""

    def __init__(self, curves: Sequence[SegmentCurve]) -> None:
        counts = [len(curve.roots) for curve in curves]
        self.kept = np.array([curve.kept for curve in curves])
        self.first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.roots = np.array([root for curve in curves for root in curve.roots])
        self.liquidities = np.array([each for curve in curves for each in curve.liquidities])
        self.paid_in, self.paid_out = _sums(curves)
        owners = np.repeat(np.arange(len(curves)), counts)
        self._keys = owners * _KEY_STEP - np.log(self.roots)  # ascending, so that one search serves all directions
        self._ends = np.zeros(len(self.roots))  # the root at which a piece ends
        self._ends[:-1] = self.roots[1:]
        self._ends[self.first[1:] - 1] = 0.0
        self.start_rates: Floats = self.roots[self.first[:-1]] ** 2 * self.kept

    def best_trades(self, prices: Floats) -> BestTrades:
        """Return the trades at whose end the marginal rates equal the prices."""
        rows = np.nonzero(prices < self.start_rates)[0]
        kept = self.kept[rows]
        roots = np.sqrt(prices[rows] / kept)
        pieces = np.searchsorted(self._keys, rows * _KEY_STEP - np.log(roots), side="right") - 1
        pieces = np.clip(pieces, self.first[rows], self.first[rows + 1] - 1)
        start, liquidity = self.roots[pieces], self.liquidities[pieces]
        roots = np.clip(roots, self._ends[pieces], start)
        return BestTrades(
            rows,
            self.paid_in[pieces] + liquidity * (start - roots) / (roots * start) / kept,
            self.paid_out[pieces] + liquidity * (start - roots),
            liquidity / (2 * kept * roots),
        )

    def pay(self, row: int, amount_in: float) -> float:
        """Return the output of a direction: all pieces that the amount fills, and a part of the next."""
        first, end = int(self.first[row]), int(self.first[row + 1])
        piece = max(first, bisect_right(self.paid_in, amount_in, first, end) - 1)
        liquidity, root = float(self.liquidities[piece]), float(self.roots[piece])
        if liquidity == 0.0:
            return float(self.paid_out[piece])
        kept = (amount_in - float(self.paid_in[piece])) * float(self.kept[row])
        return float(self.paid_out[piece]) + liquidity * root * root * kept / (liquidity + kept * root)


def _sums(curves: Sequence[SegmentCurve]) -> tuple[Floats, Floats]:
    """Return the input and output amounts at which each piece starts."""
    paid_in, paid_out = [], []
    for roots, liquidities, kept in curves:
        taken = paid = 0.0
        for number, root in enumerate(roots):
            paid_in.append(taken)
            paid_out.append(paid)
            if number + 1 < len(roots):
                following = roots[number + 1]
                taken += liquidities[number] * (1 / following - 1 / root) / kept
                paid += liquidities[number] * (root - following)
    return np.array(paid_in), np.array(paid_out)


class WeightedCurve(NamedTuple):
    """A direction of a weighted pool; `exponent` is the input token's weight divided by the output token's."""

    balance_in: float
    balance_out: float
    exponent: float
    kept: float


class WeightedCurves:
    """Directions of weighted pools."""

    def __init__(self, curves: Sequence[WeightedCurve]) -> None:
        columns = np.array(curves, dtype=np.float64).reshape(-1, 4).T
        self._columns = columns
        balance_in, balance_out, exponent, kept = columns
        self.start_rates: Floats = kept * exponent * balance_out / balance_in

    def best_trades(self, prices: Floats) -> BestTrades:
        """Return the trades at whose end the marginal rates equal the prices."""
        rows = np.nonzero(prices < self.start_rates)[0]
        balance_in, balance_out, exponent, kept = self._columns[:, rows]
        growth = np.log(self.start_rates[rows] / prices[rows]) / (1 + exponent)  # of the balance in, as a logarithm
        return BestTrades(
            rows,
            balance_in * np.expm1(growth) / kept,
            -balance_out * np.expm1(-exponent * growth),
            balance_in * np.exp(growth) / (kept * (1 + exponent)),
        )

    def pay(self, row: int, amount_in: float) -> float:
        """Return the output of a direction."""
        balance_in, balance_out, exponent, kept = (float(each) for each in self._columns[:, row])
        return -balance_out * math.expm1(-exponent * math.log1p(kept * amount_in / balance_in))


class StableCurve(NamedTuple):
    """A direction of a two-token stable pool. Balances are in the units of its curve.

    `invariant` is D of Curve, with `ann` = A * n and the fee on the output, or k of Solidly, with `ann` 0 and the fee
    on the input. `unit_in` and `unit_out` are the dollar values of a unit.
    """

    balance_in: float
    balance_out: float
    invariant: float
    ann: float
    kept: float
    unit_in: float
    unit_out: float

    @property
    def is_solidly(self) -> bool:
        """Whether the curve is x**3 * y + x * y**3 = k."""
        return self.ann == 0.0


class StableCurves:
    """Directions of Curve's StableSwap and of Solidly's stable pools."""

    def __init__(self, curves: Sequence[StableCurve]) -> None:
        columns = np.array(curves, dtype=np.float64).reshape(-1, 7).T
        self._columns = columns
        balance_in, _, invariant, ann, kept, unit_in, unit_out = columns
        self.start_rates: Floats = _stable_point(balance_in, invariant, ann)[1] * kept * unit_out / unit_in

    def best_trades(self, prices: Floats) -> BestTrades:
        """Return the trades at whose end the marginal rates equal the prices, by bisection of the input balance."""
        rows = np.nonzero(prices < self.start_rates)[0]
        balance_in, balance_out, invariant, ann, kept, unit_in, unit_out = self._columns[:, rows]
        wanted = prices[rows] * unit_in / (kept * unit_out)
        low, high = np.zeros(len(rows)), np.full(len(rows), _MAX_LOG_GROWTH)
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            is_more = _stable_point(balance_in * np.exp(middle), invariant, ann)[1] > wanted
            low, high = np.where(is_more, middle, low), np.where(is_more, high, middle)
        reached = balance_in * np.exp(low)
        left, slope = _stable_point(reached, invariant, ann)
        further = _stable_point(reached * (1 + _SMALL_GROWTH), invariant, ann)[1]
        scale_in = unit_in / np.where(ann == 0.0, kept, 1.0)
        scale_out = unit_out * np.where(ann == 0.0, 1.0, kept)
        return BestTrades(
            rows,
            (reached - balance_in) * scale_in,
            np.maximum(balance_out - left, 0.0) * scale_out,
            reached * _SMALL_GROWTH / np.maximum(-np.log(further / slope), 1e-15) * scale_in,
        )

    def pay(self, row: int, amount_in: float) -> float:
        """Return the output of a direction."""
        curve = StableCurve(*(float(each) for each in self._columns[:, row]))
        kept_in, kept_out = (curve.kept, 1.0) if curve.is_solidly else (1.0, curve.kept)
        reached = curve.balance_in + amount_in / curve.unit_in * kept_in
        return (curve.balance_out - stable_balance(reached, curve.invariant, curve.ann)) * kept_out * curve.unit_out


def stable_balance(balance: float, invariant: float, ann: float) -> float:
    """Return the other balance of a stable pool."""
    return float(_stable_point(np.array([balance]), np.array([invariant]), np.array([ann]))[0][0])


def _stable_point(balance: Floats, invariant: Floats, ann: Floats) -> tuple[Floats, Floats]:
    """Return the other balance, and the value of a unit of this one in the other."""
    is_solidly = ann == 0.0
    curve_out, curve_rate = _curve_point(balance, invariant, np.where(is_solidly, 1.0, ann))
    solidly_out, solidly_rate = _solidly_point(balance, invariant)
    return np.where(is_solidly, solidly_out, curve_out), np.where(is_solidly, solidly_rate, curve_rate)


def _curve_point(x: Floats, d: Floats, ann: Floats) -> tuple[Floats, Floats]:
    """Solve ann * (x + y) + d = ann * d + d**3 / (4 * x * y) for y: a quadratic equation, by its numerically stable
    root."""
    b = x + d / ann - d
    c = d**3 / (4 * x * ann)
    root = np.sqrt(b * b + 4 * c)
    y = np.where(b > 0, 2 * c / (b + root), (root - b) / 2)
    k = d**3 / 4
    return y, (ann + k / (x * x * y)) / (ann + k / (x * y * y))


def _solidly_point(x: Floats, k: Floats) -> tuple[Floats, Floats]:
    """Solve x**3 * y + x * y**3 = k for y: a depressed cubic equation with one real root, by hyperbolic functions."""
    y = 2 * x / math.sqrt(3) * np.sinh(np.arcsinh(1.5 * math.sqrt(3) * k / x**4) / 3)
    return y, (3 * x * x * y + y**3) / (x**3 + 3 * x * y * y)
