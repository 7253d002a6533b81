"""The dual of an order: its value and its gradient at given prices.

At prices v (in units of the output token) every arc has one best trade: sell until its marginal rate falls to
v_in / v_out. The dual

    D(v) = amount * v_source + sum over arcs of (v_out * out - v_in * in)

bounds the output of every routing from above and is convex; where its gradient, the net inflow of each token, is zero
the trades form the optimal flow.

Sources: Angeris, Chitra, Evans, Boyd, Optimal Routing for CFMMs (2021); Diamandis, Resnick, Chitra, Angeris, An
Efficient Algorithm for Optimal Routing Through CFMMs (2023).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import exp, log

from swapcli.routing.graph.market_graph import Arc

Prices = dict[int, float]
PriceCeiling = Callable[[int], float]

TURNOVER = 1e-4
"""Part of all that is traded that an imbalance is held against beside the order: arbitrage can move far more than the
order does, and to balance that to a part of the order would take for ever."""

_BALANCED = 3e-3  # of the scale: how well a relaxation balances a token
_FIRST_REACH = 1e-3
_TRIES = 24
_FAR = 40.0
_MIN_PRICE, _MAX_PRICE = 1e-120, 1e120  # so that no ratio of two prices vanishes, however absurd they are
_EXHAUSTED = 1e-5  # of the source's ceiling: below this price the pools are full and nobody takes the rest

_Side = tuple[int, float, Callable[[float], tuple[float, float, float]]]
ActiveArc = tuple[int, int, int, float, float]
"""An arc with what it carries: its number, token in, token out, flow (value in), conductance."""


class DualPoint:
    """The dual at one set of prices: its value, each token's net inflow as value, and the arcs that trade.

    `scale` is the value that imbalances are held against, `residual` the worst of them as a part of it.
    """

    __slots__ = ("active_flows", "gradient", "imbalance_scale", "is_exhausted", "prices", "residual", "value")

    def __init__(self, problem: Dual, prices: list[float]) -> None:
        self.prices = prices
        gradient = [0.0] * len(prices)
        gradient[0] = problem.amount * prices[0]
        value = gradient[0]
        live: list[ActiveArc] = []
        for k, (i, j, rate, trade_to_marginal_rate) in enumerate(problem.arcs):
            price_in, price_out = prices[i], prices[j]
            if price_out * rate > price_in:
                amount_in, amount_out, slope = trade_to_marginal_rate(price_in / price_out)
                if amount_in > 0.0:
                    spent, got = price_in * amount_in, price_out * amount_out
                    gradient[i] -= spent
                    gradient[j] += got
                    if got > spent:  # always, but for what floats lose where prices are absurd
                        value += got - spent
                    live.append((k, i, j, spent, price_in * slope))
        gradient[1] = 0.0
        self.value, self.gradient, self.active_flows = value, gradient, live
        self.is_exhausted = gradient[0] > 0.0 and prices[0] <= problem.source_floor
        self.imbalance_scale = problem.amount * prices[0] + TURNOVER * sum([spent for _, _, _, spent, _ in live])
        self.residual = max(map(abs, gradient)) / self.imbalance_scale


class Dual:
    """Tokens are renumbered: 0 is the source, 1 the target whose price stays 1."""

    def __init__(self, arcs: Sequence[Arc], source: int, target: int, amount: float, ceiling: PriceCeiling) -> None:
        self.tokens = [source, target]
        number = {source: 0, target: 1}
        for arc in arcs:
            for token in (arc.token_in, arc.token_out):
                if token not in number:
                    number[token] = len(self.tokens)
                    self.tokens.append(token)
        self.all_arcs = arcs
        self.ceiling = [ceiling(token) for token in self.tokens]
        self.source_floor = min(self.ceiling[0] * _EXHAUSTED, _MAX_PRICE)
        self.amount = amount
        self.arcs = [
            (number[arc.token_in], number[arc.token_out], arc.rate, arc.trade_to_marginal_rate) for arc in arcs
        ]

    def clamp(self, prices: list[float]) -> list[float]:
        """`prices` cut to their ceilings, and the source's to a floor at which its pools count as full."""
        clamped = [
            max(min(price, top, _MAX_PRICE), _MIN_PRICE) for price, top in zip(prices, self.ceiling, strict=True)
        ]
        clamped[0] = self.clamp_one(0, clamped[0])
        return clamped

    def clamp_one(self, token: int, price: float) -> float:
        """The same for the price of one token."""
        price = max(min(price, self.ceiling[token], _MAX_PRICE), _MIN_PRICE)
        return price if token else max(price, self.source_floor)

    @cached_property
    def depths(self) -> list[float]:
        """Input units per unit of the logarithm of the rate at the first unit of each arc."""
        return [arc.depth for arc in self.all_arcs]

    @cached_property
    def _incident(self) -> list[tuple[list[_Side], list[_Side]]]:
        """Per token the arcs that bring it and those that sell it, with the token at their other end."""
        sides: list[tuple[list[_Side], list[_Side]]] = [([], []) for _ in self.tokens]
        for i, j, rate, trade_to_marginal_rate in self.arcs:
            sides[j][0].append((i, rate, trade_to_marginal_rate))
            sides[i][1].append((j, rate, trade_to_marginal_rate))
        return sides

    def _balanced_price(self, token: int, prices: list[float], tolerance: float) -> float:
        """The price of `token` at which a value of at most `close` piles up or is missing, the other prices held."""
        inward, outward = self._incident[token]
        injected = self.amount if token == 0 else 0.0

        def surplus(price: float) -> float:
            held = injected
            for i, rate, trade_to_marginal_rate in inward:
                if price * rate > prices[i]:
                    held += trade_to_marginal_rate(prices[i] / price)[1]
            for j, rate, trade_to_marginal_rate in outward:
                if prices[j] * rate > price:
                    held -= trade_to_marginal_rate(price / prices[j])[0]
            return held

        return _root(surplus, prices[token], tolerance)

    def coordinate_descent_step(self, point: DualPoint) -> DualPoint:
        """Each token's price in turn set to where its own inflow and outflow balance, the others held.

        Slower than Newton's method but immune to kinks: it never raises the dual.
        """
        prices = point.prices.copy()
        tolerance = _BALANCED * point.imbalance_scale
        for token in sorted(range(len(prices)), key=lambda t: -abs(point.gradient[t])):
            if token != 1 and abs(point.gradient[token]) > tolerance:
                prices[token] = self.clamp_one(token, self._balanced_price(token, prices, tolerance))
        return DualPoint(self, prices)


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
