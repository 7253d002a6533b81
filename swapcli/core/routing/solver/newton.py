"""Minimises the dual: finds the prices at which the pools' own best trades carry the order from source to target.

Newton's method takes the steps. Coordinate descent, which balances one token at a time, comes first where the start is
far from the solution, and follows steps that leave much of the imbalance, as at kinks (fees, ticks, capacities).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log

from swapcli.core.records import NamedTuple
from swapcli.core.routing.cancellation import CancelCheck, no_cancellation
from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import Arc, Prices
from swapcli.core.routing.solver.constants import (
    ARMIJO_FRACTION,
    DAMPING,
    DAMPING_GROWTH,
    FAR_RESIDUAL,
    FEW_ATTEMPTS,
    IDLE_REACH,
    MAX_ATTEMPTS,
    MAX_ITERATIONS,
    MAX_STALLED_ITERATIONS,
    MAX_STEP,
    MIN_PROGRESS,
    RESIDUAL_HALVED,
    SLOW_RATIO,
    STEP_GROWTH,
    STEP_SHRINKAGE,
)
from swapcli.core.routing.solver.dual import Dual, DualPoint, clamp
from swapcli.core.routing.solver.newton_model import bent_model, minimize_model, predicted_decrease, tangent_model


class Trade(NamedTuple):
    """The best trade of an arc at the solution's prices. `surplus` is its profit at them, in output units."""

    arc: Arc
    amount_in: float
    amount_out: float
    surplus: float


class Solution(NamedTuple):
    """Prices by token, the trades at them, the dual's value, and the worst imbalance; see `DualPoint.residual`."""

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
    `DualPoint.imbalance_scale`, when nothing improves, or once the value is at most `floor`: it bounds the optimum from
    above at any prices. Calls `check` once per iteration.
    """
    problem = Dual(arcs, *endpoints, amount)
    point = DualPoint(problem, [clamp(start[t]) for t in problem.tokens])
    if point.residual > FAR_RESIDUAL:
        point = problem.coordinate_descent_step(point)
    stalled, max_step, is_slow = 0, MAX_STEP, False
    for iteration in range(max_iterations):
        check()
        if point.residual <= tolerance or point.value <= floor:
            return _build_solution(problem, point, iteration)
        next_point, attempts = _newton_step(problem, point, max_step, is_slow)
        has_step = next_point is not None
        max_step *= 1.0 if has_step else STEP_SHRINKAGE
        if next_point is None or next_point.residual > max(tolerance, SLOW_RATIO * point.residual):
            descended = problem.coordinate_descent_step(next_point or point)
            if next_point is None or descended.value < next_point.value:
                next_point = descended
        if next_point.value >= point.value and next_point.residual >= point.residual:
            return _build_solution(problem, point, iteration)
        growth = STEP_GROWTH * _max_log_change(point, next_point)
        max_step = min(MAX_STEP, growth if has_step and attempts > FEW_ATTEMPTS else max(max_step, growth))
        makes_progress = next_point.value <= point.value * (1.0 - tolerance * MIN_PROGRESS)
        may_stall = next_point.residual < 1.0 or not has_step
        stalled = stalled + 1 if may_stall and not makes_progress else 0
        is_slow = next_point.residual > SLOW_RATIO * point.residual
        point = next_point
        if stalled >= MAX_STALLED_ITERATIONS:
            return _build_solution(problem, point, iteration)
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


def _newton_step(problem: Dual, point: DualPoint, max_step: float, is_slow: bool) -> tuple[DualPoint | None, int]:
    """Return the point after one accepted step of Newton's method and the steps tried; None if none lowers the dual.

    No logarithmic price moves further than `max_step`. A rejected attempt shows how every arc responds over that
    distance: the next model uses each arc's secant instead of its tangent, and so includes pools that start to trade
    or run out on the way. After slow iterations the model also includes the idle arcs that may start to trade.
    """
    model = tangent_model(point)
    damping, idle = DAMPING, dict[Arc, None]()  # in order, since sums of floats depend on it
    for attempt in range(MAX_ATTEMPTS):
        with_line_search = attempt > 1 or (is_slow and attempt > 0)
        step = minimize_model(point, model, damping, with_line_search)
        step = [max(-max_step, min(max_step, change)) for change in step]
        trial = DualPoint(problem, [clamp(p * exp(d)) for p, d in zip(point.prices, step, strict=True)])
        decrease = point.value - trial.value
        if decrease > ARMIJO_FRACTION * predicted_decrease(point, model, step) > 0.0:
            return trial, attempt + 1
        if decrease >= 0.0 and trial.residual < RESIDUAL_HALVED * point.residual:
            return trial, attempt + 1
        if is_slow and attempt == 0:
            idle.update(dict.fromkeys(problem.arcs_within(point.prices, IDLE_REACH * max(map(abs, step)))))
        idle.update(dict.fromkeys(trial.arcs))
        for arc in point.arcs:
            idle.pop(arc, None)
        model = bent_model(problem, point, trial, idle)
        damping *= DAMPING_GROWTH
    return None, MAX_ATTEMPTS


def _max_log_change(point: DualPoint, other: DualPoint) -> float:
    """Return the largest change of a logarithmic price between two points."""
    return max(abs(log(b / a)) for a, b in zip(point.prices, other.prices, strict=True))
