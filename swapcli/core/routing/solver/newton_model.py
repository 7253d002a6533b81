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
from math import exp, inf, log

from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import Arc
from swapcli.core.routing.solver import laplacian
from swapcli.core.routing.solver.constants import (
    FREE_ROUNDS,
    REGULARIZATION,
    SEARCH_ROUNDS,
)
from swapcli.core.routing.solver.dual import Dual, DualPoint


Piece = tuple[float, float, float]
"""A part of the flow of an arc: (flow, conductance, largest flow). It is linear in the change of the pair's price
between zero and the largest flow. A negative flow says how far an idle piece is from trading."""


class PairModel:
    """The pieces of the arcs of one pair of tokens in the model.

    `flow` and `conductance` are the sums over all pieces. All of them are linear while the change of the logarithm of
    the pair's price, that of `token_out` less that of `token_in`, is above `linear_above` and at most `linear_to`. None
    flows while it is at most `none_flow_to`.
    """

    __slots__ = ("conductance", "flow", "linear_above", "linear_to", "none_flow_to", "pieces", "token_in", "token_out")

    def __init__(self, pair: TokenPair, pieces: list[Piece]) -> None:
        self.token_in, self.token_out = pair
        self.pieces = pieces
        total_flow = total_conductance = 0.0
        none_flow_to, linear_above, linear_to = inf, -inf, inf
        for flow, conductance, most in pieces:
            total_flow += flow
            total_conductance += conductance
            start = -flow / conductance if conductance > 0.0 else -inf if flow > 0.0 else inf
            if start < none_flow_to:
                none_flow_to = start
            if start > linear_above:
                linear_above = start
            if most < inf and (end := (most - flow) / conductance) < linear_to:
                linear_to = end
        self.flow, self.conductance = total_flow, total_conductance
        self.none_flow_to, self.linear_above, self.linear_to = none_flow_to, linear_above, linear_to

    def change(self, step: Sequence[float]) -> float:
        """Return the change of the logarithm of the pair's price."""
        return step[self.token_out] - step[self.token_in]

    def line_at(self, change: float) -> tuple[float, float]:
        """Return the flow at no change and the conductance of the line that the flow follows around `change`."""
        if self.linear_above < change <= self.linear_to:
            return self.flow, self.conductance
        if change <= self.none_flow_to:
            return 0.0, 0.0
        flow = conductance = 0.0
        for f, g, most in self.pieces:
            after = f + g * change
            if after > most:
                flow += most
            elif after > 0.0:
                flow += f
                conductance += g
        return flow, conductance

    def curvature(self, change: float) -> float:
        """Return what `change` adds to the dual beyond its tangent."""
        if self.linear_above < min(change, 0.0) and max(change, 0.0) <= self.linear_to:
            return self.conductance * change * change / 2.0
        if self.none_flow_to >= max(change, 0.0):
            return 0.0
        added = 0.0
        for f, g, most in self.pieces:
            if g > 0.0:
                added += (_integral(f + g * change, most) - _integral(f, most)) / g - max(0.0, min(f, most)) * change
        return added


def _integral(flow: float, most: float) -> float:
    """Return the integral of a flow limited to `most`, from zero to `flow`."""
    if flow <= 0.0:
        return 0.0
    return flow * flow / 2.0 if flow <= most else most * (flow - most / 2.0)


Model = list[PairModel]


def tangent_model(point: DualPoint) -> Model:
    """Return the model with the slopes of the arcs that trade at `point`."""
    return [
        PairModel(pair, [(flow, slope, inf) for flow, slope in zip(flows, slopes, strict=True)])
        for pair, _, flows, slopes in point.pair_flows()
    ]


def bent_model(problem: Dual, point: DualPoint, trial: DualPoint, idle: Iterable[Arc]) -> Model:
    """Return the model in which each arc flows as at `point` and as at `trial`, and in between about as it does there.

    The `idle` arcs, which do not trade at `point`, start where their pools do.
    """
    log_changes = [log(b / a) for a, b in zip(point.prices, trial.prices, strict=True)]
    at_trial = {arc: (amount, slope) for arc, amount, slope in zip(trial.arcs, trial.amounts_in, trial.slopes, strict=True)}
    pieces: dict[TokenPair, list[Piece]] = {}
    for pair, arcs, flows, slopes in point.pair_flows():
        i, j = pair
        price, rate, change = point.prices[i], point.prices[i] / point.prices[j], log_changes[j] - log_changes[i]
        bent = pieces[pair] = []
        for arc, flow, slope in zip(arcs, flows, slopes, strict=True):
            here = (0.0, flow, slope)
            if arc in at_trial:
                amount, trial_slope = at_trial[arc]
                there = (change, price * amount, price * trial_slope)
            else:
                there = (log(rate / arc.rate), 0.0, arc.depth * price)
            bent += _bend(arc, price, rate, here, there)
    for arc in idle:
        i, j = pair = problem.number[arc.token_in], problem.number[arc.token_out]
        price, rate, change = point.prices[i], point.prices[i] / point.prices[j], log_changes[j] - log_changes[i]
        start, depth = log(rate / arc.rate), arc.depth * price
        bent = [(-depth * start, depth, inf)]
        if arc in at_trial and change > start:
            amount, slope = at_trial[arc]
            bent = _bend(arc, price, rate, (start, 0.0, depth), (change, price * amount, price * slope))
        pieces.setdefault(pair, []).extend(bent)
    return [PairModel(*parts) for parts in pieces.items()]


_State = tuple[float, float, float]
"""A change of a pair's price, with the flow of an arc and its slope there."""


def _bend(arc: Arc, price: float, rate: float, here: _State, there: _State) -> list[Piece]:
    """Return the pieces of the flow of `arc` between two states and on: it follows the tangents beyond them.

    `price` is that of the token in, and `rate` that of the pair, at no change.
    """
    left, right = (here, there) if here[0] < there[0] else (there, here)
    if right[1] <= left[1] or right[0] - left[0] < 1e-12:
        return [(here[1] - here[2] * here[0], here[2], inf)]
    corners = _corners(arc, price, rate, left, right, 6)
    if len(corners) == 2:
        secant = (right[1] - left[1]) / (right[0] - left[0])
        return [(left[1] - secant * left[0], secant, inf)]
    (at, flow), pieces = corners[0], list[Piece]()
    for next_at, next_flow in corners[1:]:
        if next_at > at:
            added = next_flow - flow
            g = added / (next_at - at)
            if not pieces:
                pieces.append((flow - g * at, g, next_flow if g else inf))
            elif g:
                pieces.append((-g * at, g, added))
            at, flow = next_at, next_flow
    if right[2] > 0.0:
        pieces.append((-right[2] * at, right[2], inf))
    return pieces


def _corners(arc: Arc, price: float, rate: float, left: _State, right: _State, depth: int) -> list[tuple[float, float]]:
    width, added = right[0] - left[0], right[1] - left[1]
    if width < 1e-12:
        return [left[:2], right[:2]]
    secant = added / width
    low, high = min(left[2], right[2]), max(left[2], right[2])
    if low < secant < high:
        bend = (added - right[2] * width) / (left[2] - right[2])
        return [left[:2], (left[0] + bend, left[1] + left[2] * bend), right[:2]]
    if not depth or low * 0.5 < secant < high * 2.0:
        return [left[:2], right[:2]]
    at = (left[0] + right[0]) / 2.0
    amount, _, slope = arc.trade_to_marginal_rate(rate * exp(-at))
    middle = (at, min(max(price * amount, left[1]), right[1]), price * slope)
    return _corners(arc, price, rate, left, middle, depth - 1) + _corners(arc, price, rate, middle, right, depth - 1)[1:]


def minimize_model(point: DualPoint, model: Model, damping: float, with_line_search: bool) -> list[float]:
    """Return the change of each logarithmic price that minimises the model, in which no arc has a negative flow.

    The set of active arcs is found in rounds. The later rounds, `with_line_search`, move only as far as the model
    decreases, which rules out cycling.
    """
    lines = [pair.line_at(0.0) for pair in model] if with_line_search else [(p.flow, p.conductance) for p in model]
    position = [0.0] * len(point.prices)
    external_flows, damping_terms = _external_flows(point), _damping_terms(point, damping)
    for iteration in range(FREE_ROUNDS + (SEARCH_ROUNDS if with_line_search else 0)):
        step = _solve_linear(model, lines, external_flows.copy(), damping_terms.copy())
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
    slope = sum(p * w for p, w in zip(external_flows, direction, strict=True))
    slope += sum(r * a * w for r, a, w in zip(damping_terms, position, direction, strict=True))
    curvature = sum(r * w * w for r, w in zip(damping_terms, direction, strict=True))
    bends: list[tuple[float, float]] = []  # where pieces start and end to follow their lines, and what curvature changes
    for pair in model:
        at, way = pair.change(position), pair.change(direction)
        if min(at, at + way) > pair.linear_above and max(at, at + way) <= pair.linear_to:
            slope += (pair.flow + pair.conductance * at) * way
            curvature += pair.conductance * way * way
        elif max(at, at + way) > pair.none_flow_to:
            for f, g, most in pair.pieces:
                flow, added = f + g * at, g * way
                if flow > 0.0:
                    slope += (flow if flow < most else most) * way
                if added:
                    start, end = -flow / added, (most - flow) / added
                    if added < 0.0:
                        start, end = end, start
                    if start < 1.0 and end > 0.0:
                        bends.append((start, added * way))
                        bends.append((end, -added * way))
    if slope >= 0.0:
        return 1.0
    bends.sort()
    at = 0.0
    for bend, change in bends:
        if bend >= 1.0 or slope + curvature * (bend - at) >= 0.0:
            break
        if bend > at:
            slope, at = slope + curvature * (bend - at), bend
        curvature += change
    return min(at - slope / curvature, 1.0) if curvature > 0.0 else 1.0


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
    model: Model, lines: list[tuple[float, float]], right: list[float], diagonal: list[float]
) -> list[float]:
    """Return the step that balances every token while the flow of each pair follows its line. The target, 1, is ground.

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
    for neighbour in off[1]:
        del off[neighbour][1]
    off[1], diagonal[1], right[1] = {}, 1.0, 0.0
    return laplacian.solve_laplacian(diagonal, off, [-flow for flow in right])


def predicted_decrease(point: DualPoint, model: Model, step: list[float]) -> float:
    """Return the decrease of the dual that the model predicts for `step`."""
    linear = sum(g * d for g, d in zip(point.gradient, step, strict=True))
    return -linear - sum([pair.curvature(pair.change(step)) for pair in model])
