"""Minimise the dual: find the prices at which the pools' best trades carry the order's flow from source to target.

The main steps are Newton's. If the start is far from the solution, coordinate descent comes first, which balances one
token at a time. Coordinate descent also follows Newton steps that leave much of the imbalance, as at kinks (fees,
ticks, capacities).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf
from operator import attrgetter

from swapcli.core.records import NamedTuple
from swapcli.core.routing.cancellation import CancelCheck, no_cancellation
from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import Arc, Prices
from swapcli.core.routing.solver.constants import (
    ARMIJO_FRACTION,
    FAR_RESIDUAL,
    MAX_ATTEMPTS,
    MAX_ITERATIONS,
    MAX_STEP,
    RESIDUAL_HALVED,
    ROUNDING,
    SLOW_RATIO,
)
from swapcli.core.routing.solver.dual import Dual, DualPoint, clamp
from swapcli.core.routing.solver.newton_model import minimize_model, piecewise_model, predicted_decrease, tangent_model


class Trade(NamedTuple):
    """The best trade of an arc at the solution's prices. `surplus` is its profit at these prices, in output units."""

    arc: Arc
    amount_in: float
    amount_out: float
    surplus: float


class Solution(NamedTuple):
    """Prices by token, the trades at these prices, the dual's value, and the worst imbalance; see
    `DualPoint.residual`."""

    prices: Prices
    trades: list[Trade]
    value: float
    residual: float
    iterations: int


def minimize_dual(
    arcs: Sequence[Arc],
    endpoints: TokenPair,
    amount: float,
    start: Prices,
    *,
    tolerance: float = 1e-5,
    max_iterations: int = MAX_ITERATIONS,
    floor: float = -inf,
    check: CancelCheck = no_cancellation,
) -> Solution:
    """Minimise the dual over the prices of the tokens that `arcs` touch, from `start`.

    `endpoints` are (source, target), `amount` is the input in base units. `start` needs a price > 0, in units of the
    target, for every token of the arcs. Stops when no token's net inflow is worth more than `tolerance` times
    `DualPoint.imbalance_scale`, when nothing improves, or once the value is at most `floor`. At any prices, the value
    bounds the optimum from above. Calls `check` once per iteration.
    """
    problem = Dual(arcs, *endpoints, amount)
    point = DualPoint(problem, [clamp(start[t]) for t in problem.tokens])
    if point.residual > FAR_RESIDUAL:
        point = min(point, problem.coordinate_descent_step(point), key=attrgetter("value"))
    seen: dict[Arc, None] = {}  # in this order, since sums of floats depend on it
    for iteration in range(max_iterations):
        check()
        if point.residual <= tolerance or point.value <= floor:
            return _build_solution(problem, point, iteration)
        next_point = _newton_step(problem, point, seen)
        if next_point is not point:
            seen.clear()
        if next_point.residual > max(tolerance, SLOW_RATIO * point.residual):
            next_point = min(next_point, problem.coordinate_descent_step(next_point), key=attrgetter("value"))
        if next_point is point:
            return _build_solution(problem, point, iteration)
        point = next_point
    return _build_solution(problem, point, max_iterations)


def _build_solution(problem: Dual, point: DualPoint, iterations: int) -> Solution:
    trades = []
    for i, j, part in point.pair_slices():
        price_in, price_out = point.prices[i], point.prices[j]
        parallel = point.arcs[part], point.amounts_in[part], point.amounts_out[part]
        for arc, amount_in, amount_out in zip(*parallel, strict=True):
            trades.append(Trade(arc, amount_in, amount_out, price_out * amount_out - price_in * amount_in))
    prices = dict(zip(problem.tokens, point.prices, strict=True))
    return Solution(prices, trades, point.value, point.residual, iterations)


def _newton_step(problem: Dual, point: DualPoint, seen: dict[Arc, None]) -> DualPoint:
    """Return the point after one accepted step of Newton's method; `point` if none lowers the dual.

    A rejected attempt gives the flow of every arc at the far end of its step. The next model fits the flows at both
    ends, and so includes pools that start to trade or run out in between. `seen` are arcs that traded in rejected
    attempts; more are added to it.
    """
    model, best = tangent_model(point), point
    for attempt in range(MAX_ATTEMPTS):
        step = minimize_model(point, model, attempt > 1)
        step = [max(-MAX_STEP, min(MAX_STEP, change)) for change in step]
        trial = DualPoint(problem, [clamp(p * exp(d)) for p, d in zip(point.prices, step, strict=True)])
        decrease = point.value - trial.value
        if decrease > ARMIJO_FRACTION * predicted_decrease(point, model, step) > 0.0:
            return trial
        if decrease >= -ROUNDING * point.value and trial.residual < RESIDUAL_HALVED * point.residual:
            return trial
        best = min(best, trial, key=attrgetter("value"))
        seen.update(dict.fromkeys(trial.arcs))
        model = piecewise_model(problem, point, trial, seen)
    return best
