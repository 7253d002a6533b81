"""Minimize a bound over prices with a damped Newton method in the logarithms of the prices.

The second derivatives of the bound are those of a network of springs between tokens: one spring for each pool that
trades, as stiff as its trade responds to prices. A step solves the balance of the springs. Pools that the step would
activate are added to the network and the step is solved again, so that it does not creep from one kink to the next.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import splu

from bench.optimum.curves import Floats, Integers

_MAX_ITERATIONS = 400
_TOLERANCE = 1e-10  # share of the order, for unbalanced amounts
_MAX_ATTEMPTS = 60
_ATTEMPTS_WITH_CHANGES = 12  # then the step is taken or made smaller
_MAX_LOG_STEP = 4.0
_FIRST_TRUST, _LEAST_TRUST = 1e-6, 1e-14
_DENSE_TOKENS = 150  # up to here a dense solution is faster
_STALLED_ITERATIONS, _STALLED_RESIDUAL = 4, 1e-7
_NOISE = 1e-14  # relative: the last digits of a value


class Trades(NamedTuple):
    """The best trades at some prices; columns by trade."""

    direction: Integers
    token_in: Integers
    token_out: Integers
    amount_in: Floats
    amount_out: Floats
    response: Floats


class Pools(Protocol):
    """All directions of a market's pools, by number, and their best trades.

    `log_thresholds` is the logarithm of the price of a direction's output token, in its input token, above which it
    trades.
    """

    token_count: int
    token_in: Integers
    log_thresholds: Floats

    def best_trades(self, prices: Floats) -> Trades:
        """Return the best trade of every direction that gains at these prices."""


class Least(NamedTuple):
    """The lowest bound found, the trades at its prices, and the largest unbalanced amount as a share of the order."""

    value: float
    trades: Trades
    residual: float
    iterations: int


class _Point(NamedTuple):
    """The bound at some prices. `surplus` is the value that trades bring of each token beyond what they take."""

    prices: Floats
    value: float
    surplus: Floats
    trades: Trades

    @property
    def imbalance(self) -> float:
        """The largest surplus or deficit of a token."""
        return float(np.abs(self.surplus).max())


class _Order(NamedTuple):
    market: Pools
    sold: int
    bought: int
    amount: float

    def at(self, prices: Floats) -> _Point:
        """Return the bound at `prices`. Receiving the bought token is the goal, so it is not a surplus."""
        trades = self.market.best_trades(prices)
        gained = prices[trades.token_out] @ trades.amount_out - prices[trades.token_in] @ trades.amount_in
        surplus = np.zeros(self.market.token_count)
        surplus += np.bincount(trades.token_out, trades.amount_out, self.market.token_count)
        surplus -= np.bincount(trades.token_in, trades.amount_in, self.market.token_count)
        surplus[self.sold] += self.amount
        surplus *= prices
        surplus[self.bought] = 0.0
        return _Point(prices, float(prices[self.sold] * self.amount + gained), surplus, trades)


class _Springs:
    """The network of springs at a point. A spring with slack pulls only after its ends have moved apart by that
    much."""

    def __init__(self, point: _Point, order: _Order) -> None:
        self._point, self._order = point, order
        self._reset()

    def _reset(self) -> None:
        """Use only the pools that trade at the point."""
        trades = self._point.trades
        self.direction, self.start, self.end = trades.direction, trades.token_in, trades.token_out
        self.stiffness = trades.response * self._point.prices[trades.token_in]
        self.slack = np.zeros(len(trades.direction))
        self._trading = len(trades.direction)

    def solve(self, trust: float) -> Floats:
        """Return the change of log prices that balances the springs; a small `trust` limits it."""
        surplus = self._point.surplus
        is_free = surplus != 0.0
        is_free[self.start] = is_free[self.end] = True
        is_free[self._order.bought] = False
        tokens = np.nonzero(is_free)[0]
        count = len(tokens)
        place = np.full(len(surplus), -1)
        place[tokens] = np.arange(count)
        start, end = place[self.start], place[self.end]
        has_start, has_end = start >= 0, end >= 0
        pull = self.stiffness * self.slack
        diagonal = _sum_by(start, self.stiffness, count) + _sum_by(end, self.stiffness, count)
        force = _sum_by(end, pull, count) - _sum_by(start, pull, count) - surplus[tokens]
        diagonal = diagonal * (1 + 1e-11) + np.abs(surplus[tokens]) / trust + 1e-13 * self._order.amount + 1e-300
        both = has_start & has_end
        first, second, weight = start[both], end[both], -self.stiffness[both]
        own = np.arange(count)
        matrix = coo_matrix(
            (
                np.concatenate([weight, weight, diagonal]),
                (np.concatenate([first, second, own]), np.concatenate([second, first, own])),
            ),
            shape=(count, count),
        )
        moved = (
            np.linalg.solve(matrix.toarray(), force) if count <= _DENSE_TOKENS else splu(matrix.tocsc()).solve(force)
        )
        step = np.zeros(len(surplus))
        step[tokens] = np.clip(moved, -_MAX_LOG_STEP, _MAX_LOG_STEP)
        return step

    def _stretch(self, step: Floats) -> Floats:
        """Return how far a step stretches each spring beyond its slack."""
        stretch: Floats = step[self.end] - step[self.start] - self.slack
        return stretch

    def predicted_gain(self, step: Floats) -> float:
        """Return the predicted decrease of the bound by a step."""
        stretch = self._stretch(step)
        return -float(self._point.surplus @ step) - 0.5 * float(self.stiffness @ (stretch**2 - self.slack**2))

    def adapt(self, step: Floats, reached: _Point) -> bool:
        """Add the pools that trade at the end of a step, and drop added ones that do not; return whether any
        changed."""
        is_kept = np.ones(len(self.direction), dtype=bool)
        is_kept[self._trading :] = self._stretch(step)[self._trading :] > 0.0
        is_known = np.zeros(len(self._order.market.token_in), dtype=bool)
        is_known[self.direction] = True
        is_new = ~is_known[reached.trades.direction]
        if is_kept.all() and not is_new.any():
            return False
        new = reached.trades.direction[is_new]
        sold, bought = reached.trades.token_in[is_new], reached.trades.token_out[is_new]
        prices, thresholds = self._point.prices, self._order.market.log_thresholds
        slack = np.maximum(0.0, np.log(prices[sold] / prices[bought]) + thresholds[new])
        stiffness = (reached.trades.response * reached.prices[reached.trades.token_in])[is_new]
        self.direction = np.concatenate([self.direction[is_kept], new])
        self.start, self.end = (
            np.concatenate([self.start[is_kept], sold]),
            np.concatenate([self.end[is_kept], bought]),
        )
        self.stiffness = np.concatenate([self.stiffness[is_kept], stiffness])
        self.slack = np.concatenate([self.slack[is_kept], slack])
        return True

    def forget(self) -> None:
        """Drop the added pools."""
        self._reset()


def _sum_by(places: Integers, values: Floats, count: int) -> Floats:
    """Return the sums of values by place, without those at -1."""
    is_placed = places >= 0
    return np.zeros(count) + np.bincount(places[is_placed], values[is_placed], count)


class _Moved(NamedTuple):
    """A better point, the ratio of its gain to the prediction, and how far steps were trusted."""

    point: _Point
    ratio: float
    trust: float


def minimize(market: Pools, prices: Floats, sold: int, bought: int, amount: float) -> Least:
    """Return the lowest bound that can be found from `prices`."""
    order = _Order(market, sold, bought, amount)
    point, trust, stalled, iterations = order.at(prices), _FIRST_TRUST, 0, 0
    while iterations < _MAX_ITERATIONS and point.imbalance > _TOLERANCE * amount and stalled < _STALLED_ITERATIONS:
        iterations += 1
        moved = _improve(point, order, trust)
        if moved is None:
            break
        is_noise = point.value - moved.point.value <= _NOISE * point.value
        stalled = stalled + 1 if is_noise and moved.point.imbalance <= _STALLED_RESIDUAL * amount else 0
        point = moved.point
        trust = min(1.0, moved.trust * (4.0 if moved.ratio > 0.6 else 1.5 if moved.ratio > 0.3 else 0.6))
    return Least(point.value, point.trades, point.imbalance / amount, iterations)


def _improve(point: _Point, order: _Order, trust: float) -> _Moved | None:
    """Return a better point; None if even the smallest step does not find one."""
    springs = _Springs(point, order)
    for attempt in range(1, _MAX_ATTEMPTS + 1):
        step = springs.solve(trust)
        reached = order.at(point.prices * np.exp(step))
        predicted = springs.predicted_gain(step)
        ratio = (point.value - reached.value) / predicted if predicted > 0.0 else 1.0
        is_better = _is_better(reached, point)
        may_change = attempt % _ATTEMPTS_WITH_CHANGES != 0
        if is_better and (ratio > 0.5 or not may_change):
            return _Moved(reached, ratio, trust)
        if may_change and springs.adapt(step, reached):
            continue
        if is_better:
            return _Moved(reached, ratio, trust)
        springs.forget()
        trust /= 4
        if trust < _LEAST_TRUST:
            return None
    return None


def _is_better(reached: _Point, point: _Point) -> bool:
    """Return whether the bound is lower, or equal within noise with a smaller imbalance."""
    if reached.value < point.value:
        return True
    return reached.value <= point.value * (1 + _NOISE) and reached.imbalance < point.imbalance
