"""The dual problem of an order: its value and its gradient at given prices.

At prices v (in units of the output token) every arc has one best trade: sell until its marginal rate falls to
v_in / v_out. The dual

    D(v) = amount * v_source + sum over arcs of (v_out * out - v_in * in)

bounds the output of every routing from above and is convex. Where its gradient, the net inflow of each token, is zero,
the trades form the optimal flow.

Sources: Angeris, Chitra, Evans, Boyd, Optimal Routing for CFMMs (2021); Diamandis, Resnick, Chitra, Angeris, An
Efficient Algorithm for Optimal Routing Through CFMMs (2023).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import count
from math import exp

from swapcli.routing.graph.digraph import TokenPair
from swapcli.routing.graph.market_graph import Arc
from swapcli.routing.solver.constants import COORDINATE_TOL, EXHAUSTED_RATIO, MAX_PRICE, MIN_PRICE, TURNOVER_WEIGHT
from swapcli.routing.solver.roots import find_log_root

PriceCeiling = Callable[[int], float]
"""Gives the highest price of a token: its spot price, which no order raises."""

_PairArc = tuple[int, float, Callable[[float], tuple[float, float, float]]]
"""(number, spot rate, trade function) of an arc of one pair of tokens."""

_IncidentPair = tuple[int, list[_PairArc]]
"""(token at the other end, arcs) of a pair."""

ActiveArc = tuple[int, int, int, float, float]
"""An arc that trades: its number, token in, token out, flow (value in), conductance. A plain tuple, since the innermost
loop of the solver builds them."""


class DualPoint:
    """The dual at one vector of prices: its value, each token's net inflow as value, and the arcs that trade.

    `imbalance_scale` is the value that imbalances are compared with, `residual` the worst of them as a part of it.
    """

    __slots__ = ("active_flows", "gradient", "imbalance_scale", "is_exhausted", "prices", "residual", "value")

    def __init__(self, problem: Dual, prices: list[float]) -> None:
        self.prices = prices
        gradient = [0.0] * len(prices)
        gradient[0] = problem.amount * prices[0]
        value = gradient[0]
        active: list[ActiveArc] = []
        for i, j, arcs in problem.pairs:
            price_in, price_out = prices[i], prices[j]
            for k, rate, trade_to_marginal_rate in arcs:
                if price_out * rate <= price_in:
                    break
                amount_in, amount_out, slope = trade_to_marginal_rate(price_in / price_out)
                if amount_in > 0.0:
                    spent, received = price_in * amount_in, price_out * amount_out
                    gradient[i] -= spent
                    gradient[j] += received
                    if received > spent:  # false only through rounding at extreme prices
                        value += received - spent
                    active.append((k, i, j, spent, price_in * slope))
        gradient[1] = 0.0
        self.value, self.gradient, self.active_flows = value, gradient, active
        self.is_exhausted = gradient[0] > 0.0 and prices[0] <= problem.source_floor
        turnover = sum([spent for _, _, _, spent, _ in active])
        self.imbalance_scale = problem.amount * prices[0] + TURNOVER_WEIGHT * turnover
        self.residual = max(map(abs, gradient)) / self.imbalance_scale


class Dual:
    """The dual of an order over some arcs. Tokens are renumbered: 0 is the source, 1 the target, whose price is 1.

    `arcs` are (token in, token out, spot rate), by number as in `all_arcs`. `pairs` are (token in, token out, arcs),
    the arc with the best spot rate first: no arc trades after one that does not.
    """

    def __init__(self, arcs: Sequence[Arc], source: int, target: int, amount: float, ceiling: PriceCeiling) -> None:
        self.tokens = [source, target]
        number = {source: 0, target: 1}
        for arc in arcs:
            for token in (arc.token_in, arc.token_out):
                if token not in number:
                    number[token] = len(self.tokens)
                    self.tokens.append(token)
        by_pair: dict[TokenPair, list[Arc]] = {}
        for arc in arcs:
            by_pair.setdefault((number[arc.token_in], number[arc.token_out]), []).append(arc)
        for parallel in by_pair.values():
            parallel.sort(key=lambda arc: -arc.rate)
        self.all_arcs = [arc for parallel in by_pair.values() for arc in parallel]
        self.arcs = [(number[arc.token_in], number[arc.token_out], arc.rate) for arc in self.all_arcs]
        numbers = count()
        self.pairs: list[tuple[int, int, list[_PairArc]]] = [
            (i, j, [(next(numbers), arc.rate, arc.trade_to_marginal_rate) for arc in parallel])
            for (i, j), parallel in by_pair.items()
        ]
        self.ceiling = [ceiling(token) for token in self.tokens]
        self.source_floor = min(self.ceiling[0] * EXHAUSTED_RATIO, MAX_PRICE)
        self.amount = amount

    def clamp(self, prices: list[float]) -> list[float]:
        """Return `prices` limited to their ceilings, and the source's to the floor at which its pools are full."""
        clamped = [max(min(price, top, MAX_PRICE), MIN_PRICE) for price, top in zip(prices, self.ceiling, strict=True)]
        clamped[0] = self.clamp_one(0, clamped[0])
        return clamped

    def clamp_one(self, token: int, price: float) -> float:
        """Return the price of one token within its limits; see `clamp`."""
        price = max(min(price, self.ceiling[token], MAX_PRICE), MIN_PRICE)
        return price if token else max(price, self.source_floor)

    @cached_property
    def depths(self) -> list[float]:
        """`Arc.depth` of each arc."""
        return [arc.depth for arc in self.all_arcs]

    def arcs_within(self, prices: list[float], max_log_change: float) -> Iterator[int]:
        """Yield the numbers of the arcs that may trade once the logarithm of no price has changed by more than that."""
        margin = exp(2.0 * max_log_change)
        for i, j, arcs in self.pairs:
            min_rate = prices[i] / (prices[j] * margin)
            for k, rate, _ in arcs:
                if rate <= min_rate:
                    break
                yield k

    @cached_property
    def _incident(self) -> list[tuple[list[_IncidentPair], list[_IncidentPair]]]:
        """The pairs into and out of each token."""
        incident: list[tuple[list[_IncidentPair], list[_IncidentPair]]] = [([], []) for _ in self.tokens]
        for i, j, arcs in self.pairs:
            incident[j][0].append((i, arcs))
            incident[i][1].append((j, arcs))
        return incident

    def _balanced_price(self, token: int, prices: list[float], tolerance: float) -> float:
        """Return the price of `token` at which its inflow and outflow differ by a value of at most `tolerance`."""
        inward, outward = self._incident[token]
        injected = self.amount if token == 0 else 0.0

        def surplus(price: float) -> float:
            balance = injected
            for i, arcs in inward:
                price_in = prices[i]
                for _, rate, trade_to_marginal_rate in arcs:
                    if price * rate <= price_in:
                        break
                    balance += trade_to_marginal_rate(price_in / price)[1]
            for j, arcs in outward:
                price_out = prices[j]
                for _, rate, trade_to_marginal_rate in arcs:
                    if price_out * rate <= price:
                        break
                    balance -= trade_to_marginal_rate(price / price_out)[0]
            return balance

        return find_log_root(surplus, prices[token], tolerance)

    def coordinate_descent_step(self, point: DualPoint) -> DualPoint:
        """Return the point where each token's price in turn balances its own flows, the other prices fixed.

        Slower than Newton's method but immune to kinks: it never raises the dual.
        """
        prices = point.prices.copy()
        tolerance = COORDINATE_TOL * point.imbalance_scale
        for token in sorted(range(len(prices)), key=lambda t: -abs(point.gradient[t])):
            if token != 1 and abs(point.gradient[token]) > tolerance:
                prices[token] = self.clamp_one(token, self._balanced_price(token, prices, tolerance))
        return DualPoint(self, prices)
