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

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from math import exp, log
from typing import NamedTuple

from swapcli.routing import laplacian
from swapcli.routing.graph import Arc

Prices = dict[int, float]
Ceiling = Callable[[int], float]
Check = Callable[[], None]
"""Asked now and then during long work; raises to end it."""

_MAX_ITERATIONS = 60
_MAX_ATTEMPTS = 4
_SLOW = 0.7  # a step that leaves more of the imbalance than this is followed by a relaxation
_BALANCED = 3e-3  # of the order: how well a relaxation balances a token
_FIRST_REACH = 1e-3
_TRIES = 24
_FAR = 40.0
_STALLS = 3  # iterations in a row that lower the dual by less than _STALL of the tolerance
_STALL = 1e-3
_MAX_STEP = 3.0  # of a logarithmic price in one iteration
_GROWTH = 6.0  # of the step from one iteration to the next
_SWITCH_ROUNDS = 2
_DAMPING = 0.25  # resistance to ground per unit of imbalance: where nothing conducts a price moves by four at most
_EXHAUSTED = 1e-5  # of the source's ceiling: below this price the pools are full and nobody takes the rest


def unwatched() -> None:
    """The check of work that nobody ends early."""


class Trade(NamedTuple):
    """The best trade of an arc at the solution's prices. `surplus` is its worth, in output units."""

    arc: Arc
    amount_in: float
    amount_out: float
    surplus: float


class Solution(NamedTuple):
    """Prices by token, the trades at them, the dual's value and the worst imbalance relative to the order's value."""

    prices: Prices
    trades: list[Trade]
    value: float
    residual: float
    iterations: int


_Side = tuple[int, float, Callable[[float], tuple[float, float, float]]]
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

    def __init__(self, arcs: Sequence[Arc], source: int, target: int, amount: float, ceiling: Ceiling) -> None:
        self.tokens = [source, target]
        number = {source: 0, target: 1}
        for arc in arcs:
            for token in (arc.token_in, arc.token_out):
                if token not in number:
                    number[token] = len(self.tokens)
                    self.tokens.append(token)
        self.all_arcs = arcs
        self.ceiling = [ceiling(token) for token in self.tokens]
        self.amount = amount
        self.arcs = [(number[arc.token_in], number[arc.token_out], arc.rate, arc.trade_to) for arc in arcs]

    def within(self, prices: list[float]) -> list[float]:
        """`prices` cut to their ceilings, and the source's to a floor at which its pools count as full."""
        cut = [min(price, top) for price, top in zip(prices, self.ceiling, strict=True)]
        cut[0] = self.cut(0, cut[0])
        return cut

    def cut(self, token: int, price: float) -> float:
        """The same for the price of one token."""
        price = min(price, self.ceiling[token])
        return price if token else max(price, self.ceiling[0] * _EXHAUSTED)

    @cached_property
    def _incident(self) -> list[tuple[list[_Side], list[_Side]]]:
        """Per token the arcs that bring it and those that sell it, with the token at their other end."""
        sides: list[tuple[list[_Side], list[_Side]]] = [([], []) for _ in self.tokens]
        for i, j, rate, trade_to in self.arcs:
            sides[j][0].append((i, rate, trade_to))
            sides[i][1].append((j, rate, trade_to))
        return sides

    def balanced_price(self, token: int, prices: list[float]) -> float:
        """The price of `token` at which nothing of it piles up or is missing, the other prices held."""
        inward, outward = self._incident[token]
        given = self.amount if token == 0 else 0.0

        def surplus(price: float) -> float:
            held = given
            for i, rate, trade_to in inward:
                if price * rate > prices[i]:
                    held += trade_to(prices[i] / price)[1]
            for j, rate, trade_to in outward:
                if prices[j] * rate > price:
                    held -= trade_to(price / prices[j])[0]
            return held

        return _root(surplus, prices[token], self.amount * prices[0] * _BALANCED)


def _root(rising: Callable[[float], float], start: float, close: float) -> float:
    """Where `rising` crosses zero, on a logarithmic scale from `start`; `close` is an excess in value that will do."""
    excess = rising(start)
    reach = _FIRST_REACH
    while abs(excess) * start > close and reach < _FAR:
        other = start * exp(-reach if excess > 0.0 else reach)
        there = rising(other)
        if (there > 0.0) != (excess > 0.0):
            return _between(rising, (start, excess), (other, there), close)
        start, excess, reach = other, there, reach * 3.0
    return start


def _between(
    rising: Callable[[float], float], one: tuple[float, float], other: tuple[float, float], close: float
) -> float:
    """The zero between two points of opposite sign, by false position with halving (the Illinois rule)."""
    (a, excess_a), (b, excess_b) = one, other
    for _ in range(_TRIES):
        middle = exp((log(a) * excess_b - log(b) * excess_a) / (excess_b - excess_a))
        excess = rising(middle)
        if abs(excess) * middle <= close:
            return middle
        if (excess > 0.0) == (excess_b > 0.0):
            excess_a *= 0.5
        else:
            a, excess_a = b, excess_b
        b, excess_b = middle, excess
    return b


def solve(
    arcs: Sequence[Arc],
    ends: tuple[int, int],
    amount: float,
    start: Prices,
    ceiling: Ceiling,
    *,
    tolerance: float = 1e-5,
    check: Check = unwatched,
) -> Solution:
    """Minimise the dual over the prices of the tokens that `arcs` touch, from `start`.

    `ends` are the order's tokens, `amount` is the input in base units; `start` needs a price > 0 for every token of the
    arcs, in units of the target. `ceiling` gives a token's price for a vanishing order: no order lifts it.
    Stops when no token's net inflow is worth more than `tolerance` times the order, or when nothing improves.
    Asks `check` once an iteration.
    """
    problem = _Problem(arcs, *ends, amount, ceiling)
    point = _Point(problem, problem.within([start[t] for t in problem.tokens]))
    stalled, reach = 0, _MAX_STEP
    for iteration in range(_MAX_ITERATIONS):
        check()
        if point.residual <= tolerance:
            return _solution(problem, point, iteration)
        found = _newton(problem, point, reach)
        if found is None or found.residual > _SLOW * point.residual:
            found = _relaxed(problem, found or point)
        if found.value >= point.value and found.residual >= point.residual:
            return _solution(problem, point, iteration)
        reach = min(_MAX_STEP, _GROWTH * _distance(point, found))
        little = found.value > point.value * (1.0 - tolerance * _STALL) and found.residual < 1.0
        stalled = stalled + 1 if little else 0
        point = found
        if stalled >= _STALLS:
            return _solution(problem, point, iteration)
    return _solution(problem, point, _MAX_ITERATIONS)


def _solution(problem: _Problem, point: _Point, iterations: int) -> Solution:
    trades = []
    for k, i, j, _, _ in point.live:
        arc = problem.all_arcs[k]
        amount_in, amount_out, _ = arc.trade_to(point.prices[i] / point.prices[j])
        surplus = point.prices[j] * amount_out - point.prices[i] * amount_in
        trades.append(Trade(arc, amount_in, amount_out, surplus))
    prices = dict(zip(problem.tokens, point.prices, strict=True))
    return Solution(prices, trades, point.value, point.residual, iterations)


def _newton(problem: _Problem, point: _Point, reach: float) -> _Point | None:
    """One accepted step of Newton's method from `point`, no price moving further than `reach`; None when none pays.

    An attempt that does not pay has shown what every arc does over that distance: the next model takes each arc's
    chord instead of its tangent, so that pools that wake up or run out on the way are met.
    """
    model = {entry[0]: entry for entry in point.live}
    damping = _DAMPING
    for _ in range(_MAX_ATTEMPTS):
        step = [max(-reach, min(reach, d)) for d in _model_step(point, list(model.values()), damping)]
        trial = _Point(problem, problem.within([p * exp(d) for p, d in zip(point.prices, step, strict=True)]))
        gain = point.value - trial.value
        if gain > 0.2 * _promised(point, model.values(), step) > 0.0:
            return trial
        if gain >= 0.0 and trial.residual < 0.5 * point.residual:
            return trial
        model = _chords(model, trial, step)
        damping *= 4.0
    return None


def _distance(one: _Point, other: _Point) -> float:
    """The largest change of a logarithmic price between two points."""
    return max(abs(log(b / a)) for a, b in zip(one.prices, other.prices, strict=True))


def _relaxed(problem: _Problem, point: _Point) -> _Point:
    """Each token's price in turn set to where its own inflow and outflow balance, the others held.

    Slower than Newton's method but immune to kinks: it never raises the dual.
    """
    prices = point.prices.copy()
    least = _BALANCED * problem.amount * prices[0]
    for token in sorted(range(len(prices)), key=lambda t: -abs(point.gradient[t])):
        if token != 1 and abs(point.gradient[token]) > least:
            prices[token] = problem.cut(token, problem.balanced_price(token, prices))
    return _Point(problem, prices)


def _chords(model: dict[int, _Live], trial: _Point, step: list[float]) -> dict[int, _Live]:
    """The model with the conductances that the arcs showed between its point and `trial`."""
    there = {entry[0]: entry for entry in trial.live}
    chords: dict[int, _Live] = {}
    for k in model.keys() | there.keys():
        _, i, j, flow, conductance = model.get(k) or (*there[k][:3], 0.0, there[k][4])
        change = step[j] - step[i]
        gained = (there[k][3] if k in there else 0.0) - flow
        if change * gained > 0.0:
            conductance = gained / change
        chords[k] = (k, i, j, flow, conductance)
    return chords


def _model_step(point: _Point, model: list[_Live], damping: float) -> list[float]:
    """Change of each logarithmic price by the resistor model; an arc whose flow would turn negative is cut off."""
    used = model
    step: list[float] = []
    for _ in range(_SWITCH_ROUNDS):
        step = _linear_step(point, used, damping)
        carrying = [entry for entry in model if entry[3] + entry[4] * (step[entry[2]] - step[entry[1]]) > 0.0]
        if len(carrying) == len(used):
            break
        used = carrying
    return step


def _linear_step(point: _Point, used: list[_Live], damping: float) -> list[float]:
    """Balance every token's inflow over the conductances in use. Token 1 is ground."""
    size = len(point.prices)
    right = point.gradient.copy()
    for _, i, j, flow, _ in point.live:
        right[i] += flow
        right[j] -= flow
    diagonal = [1e-13 * point.value + damping * abs(pull) for pull in point.gradient]
    off: laplacian.Rows = [{} for _ in range(size)]
    for _, i, j, flow, conductance in used:
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
    return laplacian.solve(diagonal, off, [-pull for pull in right])


def _promised(point: _Point, model: Iterable[_Live], step: list[float]) -> float:
    """Decrease of the dual that the model predicts for `step`."""
    linear = sum(g * d for g, d in zip(point.gradient, step, strict=True))
    bend = 0.0
    for _, i, j, flow, conductance in model:
        if conductance > 0.0:
            change = step[j] - step[i]
            after = max(0.0, flow + conductance * change)
            bend += (after * after - flow * flow) / (2.0 * conductance) - flow * change
    return -linear - bend
