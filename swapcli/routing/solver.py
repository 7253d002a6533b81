"""Prices as potentials: finds the prices at which the pools' own best trades carry the order from end to end.

At prices v (in units of the output token) every arc has one best trade: sell until its marginal rate falls to
v_in / v_out. The dual

    D(v) = amount * v_source + sum over arcs of (v_out * out - v_in * in)

bounds the output of every routing from above and is convex; where its gradient, the net inflow of each token, is zero
the trades form the optimal flow. In logarithmic prices the Hessian is a graph Laplacian with the arcs' slopes as
conductances, so a step of Newton's method is one small symmetric solve. Kinks, where arcs start or stop to trade, are
met by modelling each arc as a resistor with a diode.

Sources: Angeris, Chitra, Evans, Boyd, Optimal Routing for CFMMs (2021); Diamandis, Resnick, Chitra, Angeris, An
Efficient Algorithm for Optimal Routing Through CFMMs (2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

from swapcli.routing import laplacian
from swapcli.routing.graph import Arc

Prices = dict[int, float]

_MAX_ITERATIONS = 60
_MAX_ATTEMPTS = 12
_MAX_STEP = 3.0  # of a logarithmic price in one iteration
_SWITCH_ROUNDS = 3
_EXHAUSTED = 1e-30  # a source price this far below its start means that nobody takes the rest


@dataclass(slots=True)
class Trade:
    """The best trade of an arc at the solution's prices. `surplus` is its worth, in output units."""

    arc: Arc
    amount_in: float
    amount_out: float
    surplus: float


@dataclass(slots=True)
class Solution:
    """Prices by token, the trades at them, the dual's value and the worst imbalance relative to the order's value."""

    prices: Prices
    trades: list[Trade]
    value: float
    residual: float
    iterations: int


_Live = tuple[int, int, int, float, float]  # arc, token in, token out, flow (value in), conductance


class _Point:
    """The dual at one set of prices: its value, each token's net inflow as value, and the arcs that trade."""

    __slots__ = ("gradient", "live", "prices", "residual", "value")

    def __init__(self, problem: _Problem, prices: list[float]) -> None:
        self.prices = prices
        gradient = [0.0] * len(prices)
        gradient[0] = problem.amount * prices[0]
        value = gradient[0]
        live: list[_Live] = []
        for k, (i, j, rate, trade_to) in enumerate(problem.arcs):
            price_in, price_out = prices[i], prices[j]
            if price_out * rate > price_in:
                amount_in, amount_out, slope = trade_to(price_in / price_out)
                if amount_in > 0.0:
                    spent, got = price_in * amount_in, price_out * amount_out
                    gradient[i] -= spent
                    gradient[j] += got
                    value += got - spent
                    live.append((k, i, j, spent, price_in * slope))
        gradient[1] = 0.0
        self.value, self.gradient, self.live = value, gradient, live
        self.residual = max(map(abs, gradient)) / (problem.amount * prices[0])


class _Problem:
    """Tokens are renumbered: 0 is the source, 1 the target whose price stays 1."""

    def __init__(self, arcs: Sequence[Arc], source: int, target: int, amount: float) -> None:
        self.tokens = [source, target]
        number = {source: 0, target: 1}
        for arc in arcs:
            for token in (arc.token_in, arc.token_out):
                if token not in number:
                    number[token] = len(self.tokens)
                    self.tokens.append(token)
        self.all_arcs = arcs
        self.amount = amount
        self.arcs = [(number[arc.token_in], number[arc.token_out], arc.rate, arc.trade_to) for arc in arcs]


def solve(
    arcs: Sequence[Arc], source: int, target: int, amount: float, start: Prices, *, tolerance: float = 1e-5
) -> Solution:
    """Minimise the dual over the prices of the tokens that `arcs` touch, from `start`.

    `amount` is the input in base units; `start` needs a price > 0 for every token of the arcs, in units of the target.
    Stops when no token's net inflow is worth more than `tolerance` times the order, or when nothing improves.
    """
    problem = _Problem(arcs, source, target, amount)
    point = _Point(problem, [start[t] for t in problem.tokens])
    least = point.prices[0] * _EXHAUSTED
    reach = 1.0
    iterations = 0
    while point.residual > tolerance and iterations < _MAX_ITERATIONS and point.prices[0] > least:
        iterations += 1
        found, reach = _improve(problem, point, reach)
        if found is None:
            break
        point = found
    return _solution(problem, point, iterations)


def _solution(problem: _Problem, point: _Point, iterations: int) -> Solution:
    trades = []
    for k, i, j, _, _ in point.live:
        arc = problem.all_arcs[k]
        amount_in, amount_out, _ = arc.trade_to(point.prices[i] / point.prices[j])
        surplus = point.prices[j] * amount_out - point.prices[i] * amount_in
        trades.append(Trade(arc, amount_in, amount_out, surplus))
    prices = dict(zip(problem.tokens, point.prices, strict=True))
    return Solution(prices, trades, point.value, point.residual, iterations)


def _improve(problem: _Problem, point: _Point, reach: float) -> tuple[_Point | None, float]:
    """One accepted step from `point`: the new point (None when no step improves) and the next trust in the model.

    An attempt that does not pay is repeated with the arcs that it woke up in the model, then with shorter steps.
    """
    model = list(point.live)
    known = {entry[0] for entry in model}
    for _ in range(_MAX_ATTEMPTS):
        step = _model_step(point, model, reach)
        prices = [p * exp(d) for p, d in zip(point.prices, step, strict=True)]
        trial = _Point(problem, prices)
        gain, promised = point.value - trial.value, _promised(point, model, step)
        if gain > 0.3 * promised > 0 or (gain >= 0.0 and trial.residual < 0.5 * point.residual):
            return trial, min(4.0, reach * 2.0)
        woken = [entry for entry in trial.live if entry[0] not in known]
        if woken:
            known.update(entry[0] for entry in woken)
            model.extend(_sleeping(problem, point, entry) for entry in woken)
            continue
        if gain > 0.0 and trial.residual < 2.0 * point.residual:
            return trial, reach
        reach *= 0.3
    return None, reach


def _sleeping(problem: _Problem, point: _Point, entry: _Live) -> _Live:
    """An arc that does not trade yet, as a resistor behind a gap: its flow is negative until the gap is crossed."""
    k, i, j, _, conductance = entry
    gap = log(point.prices[i] / (point.prices[j] * problem.arcs[k][2]))
    return k, i, j, -conductance * max(gap, 0.0), conductance


def _model_step(point: _Point, model: list[_Live], reach: float) -> list[float]:
    """Change of each logarithmic price by the resistor model; an arc whose flow would turn negative is cut off."""
    used = model
    step: list[float] = []
    for _ in range(_SWITCH_ROUNDS):
        step = _linear_step(point, used, reach)
        carrying = [entry for entry in model if entry[3] + entry[4] * (step[entry[2]] - step[entry[1]]) > 0.0]
        if len(carrying) == len(used):
            break
        used = carrying
    return step


def _linear_step(point: _Point, used: list[_Live], reach: float) -> list[float]:
    """Balance every token's inflow over the conductances in use. Token 1 is ground."""
    size = len(point.prices)
    right = point.gradient.copy()
    diagonal = [0.0] * size
    off: laplacian.Rows = [{} for _ in range(size)]
    for _, i, j, flow, _ in point.live:
        right[i] += flow
        right[j] -= flow
    for _, i, j, flow, conductance in used:
        right[i] -= flow
        right[j] += flow
        if i != 1:
            diagonal[i] += conductance
        if j != 1:
            diagonal[j] += conductance
        if i != 1 and j != 1:
            off[i][j] = off[j][i] = off[i].get(j, 0.0) + conductance
    total = abs(point.gradient[0]) + point.value
    for k, pull in enumerate(point.gradient):
        diagonal[k] += abs(pull) / (4.0 * reach) + 1e-13 * total
    diagonal[1], right[1] = 1.0, 0.0
    step = laplacian.solve(diagonal, off, [-pull for pull in right])
    limit = _MAX_STEP * min(reach, 1.0)
    return [max(-limit, min(limit, d)) for d in step]


def _promised(point: _Point, model: list[_Live], step: list[float]) -> float:
    """Decrease of the dual that the model predicts for `step`."""
    linear = sum(g * d for g, d in zip(point.gradient, step, strict=True))
    bend = 0.0
    for _, i, j, flow, conductance in model:
        if conductance > 0.0:
            change = step[j] - step[i]
            after = max(0.0, flow + conductance * change)
            bend += (after * after - max(flow, 0.0) ** 2) / (2.0 * conductance) - max(flow, 0.0) * change
    return -linear - bend

