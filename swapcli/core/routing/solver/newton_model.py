"""The quadratic model of the dual near a point. Its Newton step is one small weighted-Laplacian solve.

In logarithmic prices the Hessian of the dual is a graph Laplacian with the arcs' slopes as edge weights (conductances,
in the language of electrical networks). Kinks, where arcs start or stop trading, are part of the model: an arc's flow
is linear in the change of its two prices, and never negative. After a rejected step, secants replace tangents.

Sources: Diamandis, Angeris, Convex Network Flows (2024), for the dual of a flow over concave edges; Spielman,
Algorithms, Graph Theory, and Linear Equations in Laplacian Matrices (2010); Nocedal, Wright, Numerical Optimization,
chapters 6 (secant equation) and 16.5 (active sets).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, log

from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import Arc
from swapcli.core.routing.solver import laplacian
from swapcli.core.routing.solver.constants import (
    FREE_ROUNDS,
    LINE_SEARCH_TOL,
    REGULARIZATION,
    SEARCH_ROUNDS,
)
from swapcli.core.routing.solver.dual import Dual, DualPoint
from swapcli.core.routing.solver.roots import find_slope_root


class PairModel:
    """The arcs of one pair of tokens in the model. A negative flow says how far an idle arc is from trading.

    `flow` and `conductance` are the sums over all arcs. All of them flow while the change of the logarithm of the
    pair's price, that of `token_out` less that of `token_in`, is above `all_flow_above`, and none while it is at most
    `none_flow_to`.
    """

    __slots__ = (
        "all_flow_above",
        "arcs",
        "conductance",
        "conductances",
        "flow",
        "flows",
        "none_flow_to",
        "token_in",
        "token_out",
    )

    def __init__(self, pair: TokenPair, arcs: list[Arc], flows: list[float], conductances: list[float]) -> None:
        self.token_in, self.token_out = pair
        self.arcs, self.flows, self.conductances = arcs, flows, conductances
        self.flow, self.conductance = sum(flows), sum(conductances)
        starts = [
            -flow / conductance if conductance > 0.0 else -inf if flow > 0.0 else inf
            for flow, conductance in zip(flows, conductances)  # noqa: B905
        ]
        self.none_flow_to, self.all_flow_above = min(starts), max(starts)

    def change(self, step: Sequence[float]) -> float:
        """Return the change of the logarithm of the pair's price."""
        return step[self.token_out] - step[self.token_in]

    def line_at(self, change: float) -> tuple[float, float]:
        """Return the flow and the conductance, both at no change, of the arcs that flow after `change`."""
        if change > self.all_flow_above:
            return self.flow, self.conductance
        if change <= self.none_flow_to:
            return 0.0, 0.0
        flow = conductance = 0.0
        for f, g in zip(self.flows, self.conductances, strict=True):
            if f + g * change > 0.0:
                flow += f
                conductance += g
        return flow, conductance

    def curvature(self, change: float) -> float:
        """Return what `change` adds to the dual beyond its tangent."""
        if self.all_flow_above < min(change, 0.0):
            return self.conductance * change * change / 2.0
        if self.none_flow_to >= max(change, 0.0):
            return 0.0
        added = 0.0
        for f, g in zip(self.flows, self.conductances, strict=True):
            if g > 0.0:
                after, before = max(0.0, f + g * change), max(0.0, f)
                added += (after * after - before * before) / (2.0 * g) - before * change
        return added


Model = list[PairModel]


def tangent_model(point: DualPoint) -> Model:
    """Return the model with the slopes of the arcs that trade at `point`."""
    return [PairModel(*pair_flows) for pair_flows in point.pair_flows()]


def secant_model(problem: Dual, point: DualPoint, model: Model, trial: DualPoint, idle: Iterable[Arc]) -> Model:
    """Return the model with the slopes that the arcs showed between `point` and `trial`, and with the `idle` arcs.

    An arc that does not trade at `point` gets a negative flow, so that in the model it starts where its pool does.
    """
    log_changes = [log(b / a) for a, b in zip(point.prices, trial.prices, strict=True)]
    at_trial = dict(zip(trial.arcs, trial.amounts_in, strict=True))
    slopes = {arc: g for pair in model for arc, g in zip(pair.arcs, pair.conductances, strict=True)}
    secants: dict[TokenPair, tuple[list[Arc], list[float], list[float]]] = {}
    for pair, arcs, flows, _ in point.pair_flows():
        i, j = pair
        change, trial_price = log_changes[j] - log_changes[i], trial.prices[i]
        conductances = []
        for arc, flow in zip(arcs, flows, strict=True):
            added_flow = trial_price * at_trial.get(arc, 0.0) - flow
            conductances.append(added_flow / change if change * added_flow > 0.0 else slopes[arc])
        secants[pair] = arcs, flows, conductances
    others = dict.fromkeys([*trial.arcs, *slopes, *idle])  # in order, since sums of floats depend on it
    for arc in point.arcs:
        others.pop(arc, None)
    for arc in others:
        i, j = pair = problem.number[arc.token_in], problem.number[arc.token_out]
        gap = log(point.prices[i] / (point.prices[j] * arc.rate))
        change_after_start = log_changes[j] - log_changes[i] - gap
        if arc in at_trial and change_after_start > 0.0:
            conductance = trial.prices[i] * at_trial[arc] / change_after_start
        else:
            conductance = slopes[arc] if arc in slopes else arc.depth * point.prices[i]
        arcs, flows, conductances = secants.setdefault(pair, ([], [], []))
        arcs.append(arc)
        flows.append(-conductance * gap)
        conductances.append(conductance)
    return [PairModel(pair, *parts) for pair, parts in secants.items()]


def minimize_model(point: DualPoint, model: Model, damping: float, with_line_search: bool) -> list[float]:
    """Return the change of each logarithmic price that minimises the model, in which no arc has a negative flow.

    The set of active arcs is found in rounds. The later rounds, `with_line_search`, move only as far as the model
    decreases, which rules out cycling.
    """
    lines = [pair.line_at(0.0) for pair in model] if with_line_search else [(p.flow, p.conductance) for p in model]
    position = [0.0] * len(point.prices)
    external_flows, damping_terms = _external_flows(point), _damping_terms(point, damping)
    for iteration in range(FREE_ROUNDS + (SEARCH_ROUNDS if with_line_search else 0)):
        step = _solve_linear(model, lines, external_flows.copy(), damping_terms.copy(), (1, *point.held))
        is_free = iteration < FREE_ROUNDS
        fraction = 1.0 if is_free else _line_search(model, external_flows, damping_terms, position, step)
        position = step if fraction == 1.0 else [a + fraction * (b - a) for a, b in zip(position, step, strict=True)]
        next_lines = [pair.line_at(position[pair.token_out] - position[pair.token_in]) for pair in model]
        if fraction == 1.0 and next_lines == lines:
            break
        lines = next_lines
    return position


def _line_search(
    model: Model,
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
    flows: list[tuple[float, float, float]] = []  # at `position`, their changes up to `target`, the pair's change
    for pair in model:
        at, way = pair.change(position), pair.change(direction)
        if min(at, at + way) > pair.all_flow_above:
            flows.append((pair.flow + pair.conductance * at, pair.conductance * way, way))
        elif max(at, at + way) > pair.none_flow_to:
            flows += [(f + g * at, g * way, way) for f, g in zip(pair.flows, pair.conductances, strict=True)]

    def slope(fraction: float) -> float:
        added = sum([(f + fraction * g) * way for f, g, way in flows if f + fraction * g > 0.0])
        return linear + start + fraction * curvature + added

    at_start, at_end = slope(0.0), slope(1.0)
    if at_end <= 0.0 or at_start >= 0.0:
        return 1.0
    return find_slope_root(slope, at_start, at_end, LINE_SEARCH_TOL * -at_start)


def _external_flows(point: DualPoint) -> list[float]:
    """Return the gradient without the flows of the arcs: what the order injects."""
    flows = point.gradient.copy()
    for i, j, part in point.pair_slices():
        flow = point.prices[i] * sum(point.amounts_in[part])
        flows[i] += flow
        flows[j] -= flow
    flows[1] = 0.0
    return flows


def _damping_terms(point: DualPoint, damping: float) -> list[float]:
    """Return the diagonal terms beside the Laplacian, which limit each step."""
    terms = [REGULARIZATION * point.value + damping * abs(inflow) for inflow in point.gradient]
    return terms


def _solve_linear(
    model: Model, lines: list[tuple[float, float]], right: list[float], diagonal: list[float], fixed: Sequence[int]
) -> list[float]:
    """Return the step that balances every token but the `fixed` ones while the flow of each pair follows its line.

    `lines` are a flow and a conductance for each pair of the model, `right` the external flows and `diagonal` the
    damping terms; the last two are consumed.
    """
    off: laplacian.Rows = [{} for _ in right]
    for pair, (flow, conductance) in zip(model, lines, strict=True):
        i, j = pair.token_in, pair.token_out
        if flow:
            right[i] -= flow
            right[j] += flow
        if conductance:  # an edge without it would only add fill-in to the elimination
            diagonal[i] += conductance
            diagonal[j] += conductance
            upper, other = (off[i], j) if i < j else (off[j], i)
            upper[other] = upper.get(other, 0.0) + conductance
    for i, row in enumerate(off):
        for j, conductance in row.items():
            if j > i:
                off[j][i] = conductance
    for token in fixed:
        for neighbour in off[token]:
            del off[neighbour][token]
        off[token], diagonal[token], right[token] = {}, 1.0, 0.0
    return laplacian.solve_laplacian(diagonal, off, [-flow for flow in right])


def predicted_decrease(point: DualPoint, model: Model, step: list[float]) -> float:
    """Return the decrease of the dual that the model predicts for `step`."""
    linear = sum(g * d for g, d in zip(point.gradient, step, strict=True))
    return -linear - sum([pair.curvature(pair.change(step)) for pair in model])
