"""Prices as potentials: finds the prices at which the pools' own best trades carry the order from end to end.

The dual is minimised by steps of Newton's method; where kinks leave it no step that pays, each token's price is set in
turn to where its own inflow and outflow balance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, log
from typing import NamedTuple

from swapcli.routing.graph.market_graph import Arc
from swapcli.routing.solver.dual import Ceiling, Dual, Point, Prices
from swapcli.routing.solver.newton_model import Model, chords, model_step, promised

Check = Callable[[], None]
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


def unwatched() -> None:
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


def solve(
    arcs: Sequence[Arc],
    ends: tuple[int, int],
    amount: float,
    start: Prices,
    ceiling: Ceiling,
    *,
    tolerance: float = 1e-5,
    iterations: int = MAX_ITERATIONS,
    check: Check = unwatched,
) -> Solution:
    """Minimise the dual over the prices of the tokens that `arcs` touch, from `start`.

    `ends` are the order's tokens, `amount` is the input in base units; `start` needs a price > 0 for every token of the
    arcs, in units of the target. `ceiling` gives a token's price for a vanishing order: no order lifts it.
    Stops when no token's net inflow is worth more than `tolerance` times the order and a little of all that is traded,
    or when nothing improves.
    Asks `check` once an iteration, of which there are at most `iterations`.
    """
    problem = Dual(arcs, *ends, amount, ceiling)
    point = Point(problem, problem.within([start[t] for t in problem.tokens]))
    stalled, reach, slow = 0, _MAX_STEP, False
    for iteration in range(iterations):
        check()
        if point.residual <= tolerance:
            return _solution(problem, point, iteration)
        found = _newton(problem, point, reach, slow)
        reach *= 1.0 if found else _SHRINKING
        if found is None or found.residual > _SLOW * point.residual:
            found = problem.relaxed(found or point)
        if found.value >= point.value and found.residual >= point.residual:
            return _solution(problem, point, iteration)
        reach = min(_MAX_STEP, max(reach, _GROWTH * _distance(point, found)))
        little = found.value > point.value * (1.0 - tolerance * _STALL) and found.residual < 1.0
        stalled = stalled + 1 if little else 0
        slow = found.residual > _SLOW * point.residual
        point = found
        if stalled >= _STALLS:
            return _solution(problem, point, iteration)
    return _solution(problem, point, iterations)


def _solution(problem: Dual, point: Point, iterations: int) -> Solution:
    trades = []
    for k, i, j, _, _ in point.live:
        arc = problem.all_arcs[k]
        amount_in, amount_out, _ = arc.trade_to(point.prices[i] / point.prices[j])
        surplus = point.prices[j] * amount_out - point.prices[i] * amount_in
        trades.append(Trade(arc, amount_in, amount_out, surplus))
    prices = dict(zip(problem.tokens, point.prices, strict=True))
    return Solution(prices, trades, point.value, point.residual, iterations)


def _newton(problem: Dual, point: Point, reach: float, is_slow: bool) -> Point | None:
    """One accepted step of Newton's method from `point`, no price moving further than `reach`; None when none pays.

    An attempt that does not pay has shown what every arc does over that distance: the next model takes each arc's
    chord instead of its tangent, so that pools that wake up or run out on the way are met. Where that has been slow,
    the model has the idle arcs as well.
    """
    model: Model = {entry[0]: entry for entry in point.live}
    damping = _DAMPING
    for attempt in range(_MAX_ATTEMPTS):
        far = is_slow and attempt > 0
        step = [max(-reach, min(reach, d)) for d in model_step(point, list(model.values()), damping, far)]
        trial = Point(problem, problem.within([p * exp(d) for p, d in zip(point.prices, step, strict=True)]))
        gain = point.value - trial.value
        if gain > 0.2 * promised(point, model.values(), step) > 0.0:
            return trial
        if gain >= 0.0 and trial.residual < 0.5 * point.residual:
            return trial
        model = chords(problem, point, model, trial, range(len(problem.arcs)) if is_slow and not attempt else ())
        damping *= 4.0
    return None


def _distance(one: Point, other: Point) -> float:
    """The largest change of a logarithmic price between two points."""
    return max(abs(log(b / a)) for a, b in zip(one.prices, other.prices, strict=True))
