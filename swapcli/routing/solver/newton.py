"""Prices as potentials: finds the prices at which the pools' own best trades carry the order from end to end.

The dual is minimised by steps of Newton's method; where kinks leave it no step that pays, each token's price is set in
turn to where its own inflow and outflow balance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, log
from typing import NamedTuple

from swapcli.routing.graph.market_graph import Arc
from swapcli.routing.solver.dual import Dual, DualPoint, PriceCeiling, Prices
from swapcli.routing.solver.newton_model import Model, minimize_model, predicted_decrease, secant_model

CancelCheck = Callable[[], None]
"""Asked now and then during long work; raises to end it."""

MAX_ITERATIONS = 24
_MAX_ATTEMPTS = 4
_SLOW = 0.7  # a step that leaves more of the imbalance than this is followed by a relaxation
_STALLS = 3  # iterations in a row that lower the dual by less than _STALL of the tolerance
_STALL = 1e-3
_MAX_STEP = 3.0  # of a logarithmic price in one iteration
_GROWTH = 6.0  # of the step from one iteration to the next
_SHRINKING = 0.1  # of the step where Newton's method fails over it
_DAMPING = 0.25  # resistance to ground per unit of imbalance: where nothing conducts a price moves by four at most


def no_cancellation() -> None:
    """The check of work that nobody ends early."""


class Trade(NamedTuple):
    """The best trade of an arc at the solution's prices. `surplus` is its worth, in output units."""

    arc: Arc
    amount_in: float
    amount_out: float
    surplus: float


class Solution(NamedTuple):
    """Prices by token, the trades at them, the dual's value and the worst imbalance: see `Point.residual`."""

    prices: Prices
    trades: list[Trade]
    value: float
    residual: float
    iterations: int


def minimize_dual(
    arcs: Sequence[Arc],
    endpoints: tuple[int, int],
    amount: float,
    start: Prices,
    ceiling: PriceCeiling,
    *,
    tolerance: float = 1e-5,
    max_iterations: int = MAX_ITERATIONS,
    check: CancelCheck = no_cancellation,
) -> Solution:
    """Minimise the dual over the prices of the tokens that `arcs` touch, from `start`.

    `ends` are the order's tokens, `amount` is the input in base units; `start` needs a price > 0 for every token of the
    arcs, in units of the target. `ceiling` gives a token's price for a vanishing order: no order lifts it.
    Stops when no token's net inflow is worth more than `tolerance` times the order and a little of all that is traded,
    or when nothing improves.
    Asks `check` once an iteration, of which there are at most `iterations`.
    """
    problem = Dual(arcs, *endpoints, amount, ceiling)
    point = DualPoint(problem, problem.clamp([start[t] for t in problem.tokens]))
    stalled, max_step, is_slow = 0, _MAX_STEP, False
    for iteration in range(max_iterations):
        check()
        if point.residual <= tolerance:
            return _build_solution(problem, point, iteration)
        next_point = _newton_step(problem, point, max_step, is_slow)
        max_step *= 1.0 if next_point else _SHRINKING
        if next_point is None or next_point.residual > _SLOW * point.residual:
            next_point = problem.coordinate_descent_step(next_point or point)
        if next_point.value >= point.value and next_point.residual >= point.residual:
            return _build_solution(problem, point, iteration)
        max_step = min(_MAX_STEP, max(max_step, _GROWTH * _max_log_change(point, next_point)))
        is_little_progress = next_point.value > point.value * (1.0 - tolerance * _STALL) and next_point.residual < 1.0
        stalled = stalled + 1 if is_little_progress else 0
        is_slow = next_point.residual > _SLOW * point.residual
        point = next_point
        if stalled >= _STALLS:
            return _build_solution(problem, point, iteration)
    return _build_solution(problem, point, max_iterations)


def _build_solution(problem: Dual, point: DualPoint, iterations: int) -> Solution:
    trades = []
    for k, i, j, _, _ in point.active_flows:
        arc = problem.all_arcs[k]
        amount_in, amount_out, _ = arc.trade_to_marginal_rate(point.prices[i] / point.prices[j])
        surplus = point.prices[j] * amount_out - point.prices[i] * amount_in
        trades.append(Trade(arc, amount_in, amount_out, surplus))
    prices = dict(zip(problem.tokens, point.prices, strict=True))
    return Solution(prices, trades, point.value, point.residual, iterations)


def _newton_step(problem: Dual, point: DualPoint, max_step: float, is_slow: bool) -> DualPoint | None:
    """One accepted step of Newton's method from `point`, no price moving further than `reach`; None when none pays.

    An attempt that does not pay has shown what every arc does over that distance: the next model takes each arc's
    chord instead of its tangent, so that pools that wake up or run out on the way are met. Where that has been slow,
    the model has the idle arcs as well.
    """
    model: Model = {entry[0]: entry for entry in point.active_flows}
    damping = _DAMPING
    for attempt in range(_MAX_ATTEMPTS):
        is_line_search = is_slow and attempt > 0
        step = [
            max(-max_step, min(max_step, d))
            for d in minimize_model(point, list(model.values()), damping, is_line_search)
        ]
        trial = DualPoint(problem, problem.clamp([p * exp(d) for p, d in zip(point.prices, step, strict=True)]))
        decrease = point.value - trial.value
        if decrease > 0.2 * predicted_decrease(point, model.values(), step) > 0.0:
            return trial
        if decrease >= 0.0 and trial.residual < 0.5 * point.residual:
            return trial
        model = secant_model(problem, point, model, trial, range(len(problem.arcs)) if is_slow and not attempt else ())
        damping *= 4.0
    return None


def _max_log_change(one: DualPoint, other: DualPoint) -> float:
    """The largest change of a logarithmic price between two points."""
    return max(abs(log(b / a)) for a, b in zip(one.prices, other.prices, strict=True))
