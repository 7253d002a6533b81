"""The quadratic model of the dual near a point. Its Newton step is one small weighted-Laplacian solve.

In logarithmic prices the Hessian of the dual is a graph Laplacian with the arcs' slopes as edge weights (conductances,
in the language of electrical networks). Kinks, where arcs start or stop to trade, are part of the model: an arc's flow
is linear in the change of its two prices, and never negative. After a rejected step, secants replace tangents.

Sources: Diamandis, Angeris, Convex Network Flows (2024), for the dual of a flow over concave edges; Spielman,
Algorithms, Graph Theory, and Linear Equations in Laplacian Matrices (2010); Nocedal, Wright, Numerical Optimization,
chapters 6 (secant equation) and 16.5 (active sets).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import log

from swapcli.routing.solver import laplacian
from swapcli.routing.solver.constants import (
    FLOOR_STIFFNESS,
    FREE_ROUNDS,
    LINE_SEARCH_TOL,
    REGULARIZATION,
    SEARCH_ROUNDS,
)
from swapcli.routing.solver.dual import ActiveArc, Dual, DualPoint
from swapcli.routing.solver.roots import find_slope_root

Model = dict[int, ActiveArc]
"""The arcs of the model by number. A negative flow says how far an idle arc is from trading."""


def secant_model(problem: Dual, point: DualPoint, model: Model, trial: DualPoint, idle: Iterable[int]) -> Model:
    """Return the model with the slopes that the arcs showed between `point` and `trial`, and with the `idle` arcs.

    An arc that does not trade at `point` gets a negative flow, so that in the model it starts where its pool does.
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
        i, j, rate = problem.arcs[k]
        gap = log(point.prices[i] / (point.prices[j] * rate))
        change_after_start = log_changes[j] - log_changes[i] - gap
        if k in active_at_trial and change_after_start > 0.0:
            conductance = active_at_trial[k][3] / change_after_start
        else:
            conductance = model[k][4] if k in model else problem.depths[k] * point.prices[i]
        secants[k] = (k, i, j, -conductance * gap, conductance)
    return secants


def minimize_model(point: DualPoint, model: list[ActiveArc], damping: float, with_line_search: bool) -> list[float]:
    """Return the change of each logarithmic price that minimises the model, in which no arc has a negative flow.

    The set of active arcs is found in rounds. The later rounds, `with_line_search`, move only as far as the model
    decreases, which rules out cycling.
    """
    active = [entry for entry in model if entry[3] > 0.0] if with_line_search else model
    position = [0.0] * len(point.prices)
    external_flows, damping_terms = _external_flows(point), _damping_terms(point, damping)
    for iteration in range(FREE_ROUNDS + (SEARCH_ROUNDS if with_line_search else 0)):
        step = _solve_linear(active, external_flows.copy(), damping_terms.copy())
        is_free = iteration < FREE_ROUNDS
        fraction = 1.0 if is_free else _line_search(model, external_flows, damping_terms, position, step)
        position = step if fraction == 1.0 else [a + fraction * (b - a) for a, b in zip(position, step, strict=True)]
        flowing = [entry for entry in model if entry[3] + entry[4] * (position[entry[2]] - position[entry[1]]) > 0.0]
        if fraction == 1.0 and flowing == active:
            break
        active = flowing
    return position


def _line_search(
    model: list[ActiveArc],
    external_flows: list[float],
    damping_terms: list[float],
    position: list[float],
    target: list[float],
) -> float:
    """Return the fraction of the way from `position` to `target` at which the model, convex on it, is least."""
    direction = [b - a for a, b in zip(position, target, strict=True)]
    linear = sum(p * w for p, w in zip(external_flows, direction, strict=True))
    start = sum(r * a * w for r, a, w in zip(damping_terms, position, direction, strict=True))
    curvature = sum(r * w * w for r, w in zip(damping_terms, direction, strict=True))
    arcs = [(f + g * (position[j] - position[i]), g, direction[j] - direction[i]) for _, i, j, f, g in model]
    arcs = [(f, g * w, w) for f, g, w in arcs if f > 0.0 or f + g * w > 0.0]

    def slope(fraction: float) -> float:
        flows = sum((f + fraction * g) * w for f, g, w in arcs if f + fraction * g > 0.0)
        return linear + start + fraction * curvature + flows

    at_start, at_end = slope(0.0), slope(1.0)
    if at_end <= 0.0 or at_start >= 0.0:
        return 1.0
    return find_slope_root(slope, at_start, at_end, LINE_SEARCH_TOL * -at_start)


def _external_flows(point: DualPoint) -> list[float]:
    """Return the gradient without the flows of the arcs: what the order injects."""
    flows = point.gradient.copy()
    for _, i, j, flow, _ in point.active_flows:
        flows[i] += flow
        flows[j] -= flow
    flows[1] = 0.0
    return flows


def _damping_terms(point: DualPoint, damping: float) -> list[float]:
    """Return the diagonal terms beside the Laplacian, which limit each step."""
    terms = [REGULARIZATION * point.value + damping * abs(inflow) for inflow in point.gradient]
    if point.is_exhausted:
        terms[0] = FLOOR_STIFFNESS * point.value
    return terms


def _solve_linear(active: list[ActiveArc], right: list[float], diagonal: list[float]) -> list[float]:
    """Return the step that balances every token while exactly the `active` arcs trade. The target, 1, is ground.

    `right` are the external flows and `diagonal` the damping terms; both are consumed.
    """
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
    return laplacian.solve_laplacian(diagonal, off, [-flow for flow in right])


def predicted_decrease(point: DualPoint, model: Iterable[ActiveArc], step: list[float]) -> float:
    """Return the decrease of the dual that the model predicts for `step`."""
    linear = sum(g * d for g, d in zip(point.gradient, step, strict=True))
    quadratic = 0.0
    for _, i, j, flow, conductance in model:
        if conductance > 0.0:
            change = step[j] - step[i]
            after = max(0.0, flow + conductance * change)
            before = max(0.0, flow)
            quadratic += (after * after - before * before) / (2.0 * conductance) - before * change
    return -linear - quadratic
