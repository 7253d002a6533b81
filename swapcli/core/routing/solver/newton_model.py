"""The quadratic model of the dual near a point. Its Newton step is one small weighted-Laplacian solve.

In logarithmic prices, the Hessian of the dual is a graph Laplacian with the arcs' slopes as edge weights (conductances,
in the language of electrical networks). Kinks, where arcs start or stop trading, are part of the model: an arc's flow
is linear in the change of its two prices, and never negative. After a rejected step, each arc's flow becomes piecewise
linear, with corners where its pool's flow bends along that step.

Sources: Diamandis, Angeris, Convex Network Flows (2024), for the dual of a flow over concave edges; Spielman,
Algorithms, Graph Theory, and Linear Equations in Laplacian Matrices (2010); Nocedal, Wright, Numerical Optimization,
chapter 16.5 (active sets).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import exp, inf, log

from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import Arc
from swapcli.core.routing.solver import laplacian
from swapcli.core.routing.solver.constants import (
    DAMPING,
    FREE_ROUNDS,
    MAX_BISECTIONS,
    MAX_SLOPE_RATIO,
    REGULARIZATION,
    SEARCH_ROUNDS,
)
from swapcli.core.routing.solver.dual import Dual, DualPoint

Piece = tuple[float, float, float]
"""(flow, conductance, largest flow) of one piece of an arc's flow.

Between zero and the largest flow, it is linear in the change of the pair's price. A negative flow shows how far an idle
piece is from trading.
"""


_MIN_WIDTH = 1e-10  # of a price change: floats still resolve its parts after `MAX_BISECTIONS` halvings


class PairModel:
    """The pieces of the arcs of one pair of tokens in the model.

    `flow` and `conductance` are the sums over all pieces. Consider the change of the logarithm of the pair's price: the
    logarithm of the price of `token_out` less that of `token_in`. All pieces are linear while it is above
    `linear_above` and at most `linear_to`. No piece flows while it is at most `none_flow_to`.
    """

    __slots__ = ("conductance", "flow", "linear_above", "linear_to", "none_flow_to", "pieces", "token_in", "token_out")

    def __init__(self, pair: TokenPair, pieces: list[Piece]) -> None:
        self.token_in, self.token_out = pair
        self.pieces = pieces
        total_flow = total_conductance = 0.0
        none_flow_to, linear_above, linear_to = inf, -inf, inf
        for flow, conductance, limit in pieces:
            total_flow += flow
            total_conductance += conductance
            start = -flow / conductance if conductance > 0.0 else -inf if flow > 0.0 else inf
            if start < none_flow_to:
                none_flow_to = start
            if start > linear_above:
                linear_above = start
            if limit < inf and (end := (limit - flow) / conductance) < linear_to:
                linear_to = end
        self.flow, self.conductance = total_flow, total_conductance
        self.none_flow_to, self.linear_above, self.linear_to = none_flow_to, linear_above, linear_to

    def change(self, step: Sequence[float]) -> float:
        """Return the change of the logarithm of the pair's price."""
        return step[self.token_out] - step[self.token_in]

    def line_at(self, change: float) -> tuple[float, float]:
        """Return the line that the flow follows around `change`: the flow at no change, and the conductance."""
        if self.linear_above < change <= self.linear_to:
            return self.flow, self.conductance
        if change <= self.none_flow_to:
            return 0.0, 0.0
        flow = conductance = 0.0
        for f, g, limit in self.pieces:
            after = f + g * change
            if after > limit:
                flow += limit
            elif after > 0.0:
                flow += f
                conductance += g
        return flow, conductance

    def curvature(self, change: float) -> float:
        """Return the amount that `change` adds to the dual beyond its tangent."""
        if self.linear_above < min(change, 0.0) and max(change, 0.0) <= self.linear_to:
            return self.conductance * change * change / 2.0
        if self.none_flow_to >= max(change, 0.0):
            return 0.0
        added = 0.0
        for f, g, limit in self.pieces:
            if g > 0.0:
                added += (_integral(f + g * change, limit) - _integral(f, limit)) / g - max(0.0, min(f, limit)) * change
        return added


def _integral(flow: float, limit: float) -> float:
    """Return the integral of a flow limited to `limit`, from zero to `flow`."""
    if flow <= 0.0:
        return 0.0
    return flow * flow / 2.0 if flow <= limit else limit * (flow - limit / 2.0)


Model = list[PairModel]


def tangent_model(point: DualPoint) -> Model:
    """Return the model with the slopes of the arcs that trade at `point`."""
    return [
        PairModel(pair, [(flow, slope, inf) for flow, slope in zip(flows, slopes, strict=True)])
        for pair, _, flows, slopes in point.pair_flows()
    ]


def piecewise_model(problem: Dual, point: DualPoint, trial: DualPoint, others: Iterable[Arc]) -> Model:
    """Return the model in which each arc's flow is exact at `point` and `trial`, and bends in between as its pool's
    flow does.

    The model contains the arcs that trade at `point`, and `others`, which start to trade when their pools do.
    """
    at_trial = {arc: at for arc, *at in zip(trial.arcs, trial.amounts_in, trial.slopes, strict=True)}
    known: dict[TokenPair, dict[Arc, list[_State]]] = {}
    for pair, arcs, flows, slopes in point.pair_flows():
        known[pair] = {arc: [(0.0, flow, slope)] for arc, flow, slope in zip(arcs, flows, slopes, strict=True)}
    for arc in others:
        known.setdefault((problem.number[arc.token_in], problem.number[arc.token_out]), {}).setdefault(arc, [])
    model = []
    for (i, j), states_of in known.items():
        price, rate = point.prices[i], point.prices[i] / point.prices[j]
        change = log(rate * trial.prices[j] / trial.prices[i])
        pieces: list[Piece] = []
        for arc, states in states_of.items():
            if arc in at_trial:
                amount, slope = at_trial[arc]
                states.append((change, price * amount, price * slope))
            if len(states) < 2:
                states.append((log(rate / arc.rate), 0.0, price * arc.depth))
            pieces += _pieces(arc, price, rate, states)
        model.append(PairModel((i, j), pieces))
    return model


_State = tuple[float, float, float]
"""A change of a pair's price, with an arc's flow and its slope at that price."""


def _pieces(arc: Arc, price: float, rate: float, states: list[_State]) -> list[Piece]:
    """Return the pieces of the flow of `arc` through one or two states; beyond the states, it follows their tangents.

    `price` is the price of the token in, and `rate` the rate of the pair, both before any change.
    """
    left, right = min(states), max(states)
    at, flow, slope = left
    if right[1] <= flow or right[0] - at < _MIN_WIDTH:
        return [(flow - slope * at, slope, inf)]
    corners = _corners(arc, price, rate, left, right, MAX_BISECTIONS)
    pieces: list[Piece] = []
    for next_at, next_flow in corners:
        secant = (next_flow - flow) / (next_at - at)
        if not pieces:
            pieces.append((flow - secant * at, secant, next_flow if secant > 0.0 and len(corners) > 1 else inf))
        elif secant > 0.0:
            pieces.append((-secant * at, secant, next_flow - flow))
        at, flow = next_at, next_flow
    if len(corners) > 1 and right[2] > 0.0:
        pieces.append((-right[2] * at, right[2], inf))
    return pieces


def _corners(
    arc: Arc, price: float, rate: float, left: _State, right: _State, bisections: int
) -> list[tuple[float, float]]:
    """Return the changes and flows, after those of `left`, between which the flow of `arc` counts as straight.

    The flow follows the tangents up to their crossing. If they do not cross, it may jump somewhere in between.
    """
    width, added = right[0] - left[0], right[1] - left[1]
    secant, low, high = added / width, min(left[2], right[2]), max(left[2], right[2])
    if not bisections or (secant < low * MAX_SLOPE_RATIO and high < secant * MAX_SLOPE_RATIO):
        return [right[:2]]
    if low < secant < high:
        bend = (added - right[2] * width) / (left[2] - right[2])
        return [(left[0] + bend, left[1] + left[2] * bend), right[:2]] if 0.0 < bend < width else [right[:2]]
    at = (left[0] + right[0]) / 2.0
    amount, _, slope = arc.trade_to_marginal_rate(rate * exp(-at))
    middle = (at, min(max(price * amount, left[1]), right[1]), price * slope)
    halves = (left, middle), (middle, right)
    return [corner for half in halves for corner in _corners(arc, price, rate, *half, bisections - 1)]


def minimize_model(point: DualPoint, model: Model, with_line_search: bool) -> list[float]:
    """Return the change of each logarithmic price that minimises the model, in which no arc's flow is negative.

    The set of active arcs is found in rounds. The later rounds, `with_line_search`, move only as far as the model
    decreases, which rules out cycling.
    """
    lines = [pair.line_at(0.0) for pair in model] if with_line_search else [(p.flow, p.conductance) for p in model]
    position = [0.0] * len(point.prices)
    external_flows, damping_terms = _external_flows(point), _damping_terms(point)
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
    """Return the fraction of the way from `position` to `target` at which the model, convex along it, is least."""
    direction = [b - a for a, b in zip(position, target, strict=True)]
    slope = sum(p * w for p, w in zip(external_flows, direction, strict=True))
    slope += sum(r * a * w for r, a, w in zip(damping_terms, position, direction, strict=True))
    curvature = sum(r * w * w for r, w in zip(damping_terms, direction, strict=True))
    breakpoints: list[tuple[float, float]] = []  # fractions, with the changes of the curvature there
    for pair in model:
        at, way = pair.change(position), pair.change(direction)
        if min(at, at + way) > pair.linear_above and max(at, at + way) <= pair.linear_to:
            slope += (pair.flow + pair.conductance * at) * way
            curvature += pair.conductance * way * way
        elif max(at, at + way) > pair.none_flow_to:
            slope += sum([max(0.0, min(f + g * at, limit)) for f, g, limit in pair.pieces]) * way
            breakpoints += _breakpoints(pair, at, way)
    if slope >= 0.0:
        return 1.0
    last = 0.0
    for fraction, change in sorted(breakpoints):
        if fraction >= 1.0 or slope + curvature * (fraction - last) >= 0.0:
            break
        if fraction > last:
            slope, last = slope + curvature * (fraction - last), fraction
        curvature += change
    return min(last - slope / curvature, 1.0) if curvature > 0.0 else 1.0


def _breakpoints(pair: PairModel, at: float, way: float) -> Iterator[tuple[float, float]]:
    """Yield the fractions of `way` from `at` at which a piece starts to flow or is full, with the change of
    curvature."""
    for flow, conductance, limit in pair.pieces:
        added = conductance * way
        if added:
            bends = -(flow + conductance * at) / added, (limit - flow - conductance * at) / added
            start, end = min(bends), max(bends)
            if start < 1.0 and end > 0.0:
                yield start, added * way
                yield end, -added * way


def _external_flows(point: DualPoint) -> list[float]:
    """Return the gradient without the flows of the arcs: the amounts that the order injects."""
    flows = point.gradient.copy()
    for i, j, part in point.pair_slices():
        flow = point.prices[i] * sum(point.amounts_in[part])
        flows[i] += flow
        flows[j] -= flow
    flows[1] = 0.0
    return flows


def _damping_terms(point: DualPoint) -> list[float]:
    """Return the diagonal terms added to the Laplacian, which limit each step."""
    return [REGULARIZATION * point.value + DAMPING * abs(inflow) for inflow in point.gradient]


def _solve_linear(
    model: Model, lines: list[tuple[float, float]], right: list[float], diagonal: list[float]
) -> list[float]:
    """Return the step that balances every token while the flow of each pair follows its line. The target, 1, is the
    ground.

    `lines` has a flow and a conductance for each pair of the model; `right` has the external flows and `diagonal` the
    damping terms. The last two are consumed.
    """
    off: laplacian.Rows = [{} for _ in right]
    for pair, (flow, conductance) in zip(model, lines, strict=True):
        i, j = pair.token_in, pair.token_out
        if flow:
            right[i] -= flow
            right[j] += flow
        if conductance:  # an edge without conductance would only add fill-in to the elimination
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
