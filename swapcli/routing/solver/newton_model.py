"""The dual near a point as an electrical network: a step of Newton's method is one small symmetric solve.

In logarithmic prices the Hessian is a graph Laplacian with the arcs' slopes as conductances. Kinks, where arcs start or
stop to trade, are met by modelling each arc as a resistor with a diode: a flow that grows with the change of its two
prices, and is never negative.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import log

from swapcli.routing.solver import laplacian
from swapcli.routing.solver.dual import ActiveArc, Dual, DualPoint

Model = dict[int, ActiveArc]
"""The arcs that may carry by number. A negative flow says how far an idle arc is from its start."""

_FREE_ROUNDS, _SEARCH_ROUNDS = 3, 12
_SEARCH_TRIES = 20
_LEVEL = 1e-3  # of the slope at its start: where a search ends
_HELD = 1e6  # of the dual, as resistance: holds a price that has reached its floor


def secant_model(problem: Dual, point: DualPoint, model: Model, trial: DualPoint, idle: Iterable[int]) -> Model:
    """The model with the conductances that the arcs showed between `point` and `trial`, and with the `idle` arcs.

    The flow of an arc that does not trade at `point` is negative, so that in the model it starts where its pool does.
    """
    active_at_trial = {entry[0]: entry for entry in trial.active_flows}
    log_changes = [log(b / a) for a, b in zip(point.prices, trial.prices, strict=True)]
    secants: Model = {}
    for k, i, j, flow, _ in point.active_flows:
        change = log_changes[j] - log_changes[i]
        added_flow = (active_at_trial[k][3] if k in active_at_trial else 0.0) - flow
        conductance = added_flow / change if change * added_flow > 0.0 else model[k][4]
        secants[k] = (k, i, j, flow, conductance)
    for k in {*active_at_trial, *model, *idle} - secants.keys():
        i, j, rate, _ = problem.arcs[k]
        gap = log(point.prices[i] / (point.prices[j] * rate))
        change_after_start = log_changes[j] - log_changes[i] - gap
        if k in active_at_trial and change_after_start > 0.0:
            conductance = active_at_trial[k][3] / change_after_start
        else:
            conductance = model[k][4] if k in model else problem.depths[k] * point.prices[i]
        secants[k] = (k, i, j, -conductance * gap, conductance)
    return secants


def minimize_model(point: DualPoint, model: list[ActiveArc], damping: float, with_line_search: bool) -> list[float]:
    """Change of each logarithmic price by the resistor model, in which no arc carries a negative flow.

    Which arcs carry is found in rounds; once that may go in circles, each round goes only as far as it helps.
    """
    active = [entry for entry in model if entry[3] > 0.0] if with_line_search else model
    position = [0.0] * len(point.prices)
    for iteration in range(-_FREE_ROUNDS, _SEARCH_ROUNDS if with_line_search else 0):
        step = _linear_step(point, active, damping)
        fraction = _line_search(point, model, damping, position, step) if iteration >= 0 else 1.0
        position = step if fraction == 1.0 else [a + fraction * (b - a) for a, b in zip(position, step, strict=True)]
        carrying = [entry for entry in model if entry[3] + entry[4] * (position[entry[2]] - position[entry[1]]) > 0.0]
        if fraction == 1.0 and carrying == active:
            break
        active = carrying
    return position


def _line_search(
    point: DualPoint, model: list[ActiveArc], damping: float, position: list[float], target: list[float]
) -> float:
    """How far to go from `at` to `step`, as a part: to where the model's dual, convex on the way, is least."""
    direction = [b - a for a, b in zip(position, target, strict=True)]
    external = _injected_currents(point)
    linear = sum(p * w for p, w in zip(external, direction, strict=True))
    resistance = _damping_terms(point, damping)
    start = sum(r * a * w for r, a, w in zip(resistance, position, direction, strict=True))
    bend = sum(r * w * w for r, w in zip(resistance, direction, strict=True))
    arcs = [(f + g * (position[j] - position[i]), g, direction[j] - direction[i]) for _, i, j, f, g in model]
    arcs = [(f, g * w, w) for f, g, w in arcs if f > 0.0 or f + g * w > 0.0]

    def slope(part: float) -> float:
        flows = sum((f + part * g) * w for f, g, w in arcs if f + part * g > 0.0)
        return linear + start + part * bend + flows

    low, high, falls, rises = 0.0, 1.0, slope(0.0), slope(1.0)
    if rises <= 0.0 or falls >= 0.0:
        return 1.0
    level = _LEVEL * -falls
    part = 0.0
    for _ in range(_SEARCH_TRIES):
        part = low + (high - low) * falls / (falls - rises)
        tilt = slope(part)
        if abs(tilt) <= level:
            break
        if tilt > 0.0:
            high, rises, falls = part, tilt, falls * 0.5
        else:
            low, falls, rises = part, tilt, rises * 0.5
    return part


def _injected_currents(point: DualPoint) -> list[float]:
    """The gradient without the flows of the arcs."""
    currents = point.gradient.copy()
    for _, i, j, flow, _ in point.active_flows:
        currents[i] += flow
        currents[j] -= flow
    currents[1] = 0.0
    return currents


def _damping_terms(point: DualPoint, damping: float) -> list[float]:
    """What holds each logarithmic price where it is, besides the arcs."""
    resistances = [1e-13 * point.value + damping * abs(pull) for pull in point.gradient]
    if point.is_exhausted:
        resistances[0] = _HELD * point.value
    return resistances


def _linear_step(point: DualPoint, active: list[ActiveArc], damping: float) -> list[float]:
    """Balance every token's inflow over the conductances in use. Token 1 is ground."""
    right = _injected_currents(point)
    diagonal = _damping_terms(point, damping)
    off: laplacian.Rows = [{} for _ in right]
    for _, i, j, flow, conductance in active:
        right[i] -= flow
        right[j] += flow
        diagonal[i] += conductance
        diagonal[j] += conductance
        upper, other = (off[i], j) if i < j else (off[j], i)
        upper[other] = upper.get(other, 0.0) + conductance
    for i, row in enumerate(off):
        for j, conductance in row.items():
            if j > i:
                off[j][i] = conductance
    for neighbour in off[1]:
        del off[neighbour][1]
    off[1], diagonal[1], right[1] = {}, 1.0, 0.0
    return laplacian.solve_laplacian(diagonal, off, [-pull for pull in right])


def predicted_decrease(point: DualPoint, model: Iterable[ActiveArc], step: list[float]) -> float:
    """Decrease of the dual that the model predicts for `step`."""
    linear = sum(g * d for g, d in zip(point.gradient, step, strict=True))
    bend = 0.0
    for _, i, j, flow, conductance in model:
        if conductance > 0.0:
            change = step[j] - step[i]
            after = max(0.0, flow + conductance * change)
            before = max(0.0, flow)
            bend += (after * after - before * before) / (2.0 * conductance) - before * change
    return -linear - bend
