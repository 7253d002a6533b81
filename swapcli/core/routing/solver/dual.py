"""The dual problem of an order: its value and its gradient at given prices.

At prices v (in units of the output token), every arc has one best trade: sell until its marginal rate falls to v_in /
v_out. The dual

    D(v) = amount * v_source + sum over arcs of (v_out * out - v_in * in)

is convex and bounds the output of every routing from above. At prices where its gradient, the net inflow of each token,
is zero, the trades form the optimal flow.

Sources: Angeris, Chitra, Evans, Boyd, Optimal Routing for CFMMs (2021); Diamandis, Resnick, Chitra, Angeris, An
Efficient Algorithm for Optimal Routing Through CFMMs (2023).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from operator import attrgetter

from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import MAX_PRICE, MIN_PRICE, Arc
from swapcli.core.routing.solver.constants import COORDINATE_PART, COORDINATE_TOL, OUTPUT_WEIGHT
from swapcli.core.routing.solver.roots import find_log_root

_TradeFunction = Callable[[float], tuple[float, float, float]]

_IncidentPair = tuple[int, list[tuple[float, _TradeFunction]]]
"""(token at the other end, spot rate and trade function of each arc) of a pair."""

_TOKENS, _RATE = attrgetter("token_in", "token_out"), attrgetter("rate")


PairFlows = tuple[TokenPair, list[Arc], list[float], list[float]]
"""The arcs of a pair that trade, each with its flow (value in) and its conductance: the change of its flow per unit of
the logarithm of its rate."""


def clamp(price: float) -> float:
    """Return `price`, clamped to the allowed range of prices."""
    return max(min(price, MAX_PRICE), MIN_PRICE)


class DualPoint:
    """The dual at one vector of prices: its value, each token's net inflow as a value, and the arcs that trade.

    `arcs`, `amounts_in`, `amounts_out` and `slopes` are parallel lists, since the innermost loop of the solver builds
    them. `pairs` are (token in, token out, stop): the arcs of a pair end before `stop`, where the arcs of the next pair
    begin. `imbalance_scale` is the value with which imbalances are compared, and `residual` the worst imbalance as a
    fraction of that value.
    """

    __slots__ = (
        "amounts_in",
        "amounts_out",
        "arcs",
        "gradient",
        "imbalance_scale",
        "pairs",
        "prices",
        "residual",
        "slopes",
        "value",
    )

    def __init__(self, problem: Dual, prices: list[float]) -> None:
        gradient = [0.0] * len(prices)
        gradient[0] = problem.amount * prices[0]
        value = gradient[0]
        pairs: list[tuple[int, int, int]] = []
        trading: list[Arc] = []
        amounts_in: list[float] = []
        amounts_out: list[float] = []
        slopes: list[float] = []
        for i, j, arcs in problem.pairs:
            price_in, price_out = prices[i], prices[j]
            rate = price_in / price_out
            total_in = total_out = 0.0
            for arc in arcs:
                if arc.rate <= rate:
                    break
                trade_to_marginal_rate = arc.trade_to_marginal_rate
                amount_in, amount_out, slope = trade_to_marginal_rate(rate)
                if amount_out > amount_in * rate:  # otherwise nothing or, by rounding at extreme prices, a loss
                    trading.append(arc)
                    amounts_in.append(amount_in)
                    amounts_out.append(amount_out)
                    slopes.append(slope)
                    total_in += amount_in
                    total_out += amount_out
            if total_in > 0.0:
                pairs.append((i, j, len(trading)))
                value_in, value_out = price_in * total_in, price_out * total_out
                gradient[i] -= value_in
                gradient[j] += value_out
                value += max(0.0, value_out - value_in)
        gradient[1] = 0.0
        self.prices, self.value, self.gradient, self.pairs = prices, value, gradient, pairs
        self.arcs, self.amounts_in, self.amounts_out, self.slopes = trading, amounts_in, amounts_out, slopes
        self.imbalance_scale = problem.amount * prices[0] + OUTPUT_WEIGHT * value
        self.residual = max(map(abs, gradient)) / self.imbalance_scale

    def pair_slices(self) -> Iterator[tuple[int, int, slice]]:
        """Yield (token in, token out, slice of its arcs in the lists) for each pair that trades."""
        start = 0
        for i, j, stop in self.pairs:
            yield i, j, slice(start, stop)
            start = stop

    def pair_flows(self) -> Iterator[PairFlows]:
        """Yield the flows of each pair that trades."""
        arcs, amounts_in, slopes, start = self.arcs, self.amounts_in, self.slopes, 0
        for i, j, stop in self.pairs:
            price = self.prices[i]
            flows = [price * amount for amount in amounts_in[start:stop]]
            yield (i, j), arcs[start:stop], flows, [price * slope for slope in slopes[start:stop]]
            start = stop


class Dual:
    """The dual of an order over some arcs. Tokens are renumbered: 0 is the source, and 1 the target with price 1.

    `pairs` are (token in, token out, arcs), with the best spot rate first: after an arc that does not trade, no other
    does. `tokens` maps the numbers used here to the tokens, and `number` is the inverse.
    """

    def __init__(self, arcs: Sequence[Arc], source: int, target: int, amount: float) -> None:
        number = {source: 0, target: 1}
        by_pair: dict[TokenPair, list[Arc]] = {}
        for (token_in, token_out), group in groupby(arcs, _TOKENS):
            pair = number.setdefault(token_in, len(number)), number.setdefault(token_out, len(number))
            by_pair.setdefault(pair, []).extend(group)
        for parallel in by_pair.values():
            parallel.sort(key=_RATE, reverse=True)
        self.pairs = [(i, j, parallel) for (i, j), parallel in by_pair.items()]
        self.tokens, self.number = list(number), number
        self.amount = amount

    @cached_property
    def _incident(self) -> list[tuple[list[_IncidentPair], list[_IncidentPair]]]:
        """The pairs into and out of each token."""
        incident: list[tuple[list[_IncidentPair], list[_IncidentPair]]] = [([], []) for _ in self.tokens]
        for i, j, arcs in self.pairs:
            trades: list[tuple[float, _TradeFunction]] = [(arc.rate, arc.trade_to_marginal_rate) for arc in arcs]
            incident[j][0].append((i, trades))
            incident[i][1].append((j, trades))
        return incident

    def _balanced_price(self, token: int, prices: list[float], tolerance: float) -> float:
        """Return the price of `token` at which the values of its inflow and outflow differ by at most `tolerance`."""
        inward, outward = self._incident[token]
        injected = self.amount if token == 0 else 0.0

        def surplus(price: float) -> tuple[float, float]:
            """Return inflow minus outflow at `price`, and the derivative by its logarithm.

            The arcs of a pair come best rate first: after an arc that does not trade, no other does.
            """
            balance, slope = injected, 0.0
            for i, arcs in inward:
                least_rate = prices[i] / price
                for rate, trade_to_marginal_rate in arcs:
                    if rate <= least_rate:
                        break
                    amount_in, amount_out, arc_slope = trade_to_marginal_rate(least_rate)
                    if amount_out > amount_in * least_rate:
                        balance += amount_out
                        slope += least_rate * arc_slope
            for j, arcs in outward:
                least_rate = price / prices[j]
                for rate, trade_to_marginal_rate in arcs:
                    if rate <= least_rate:
                        break
                    amount_in, amount_out, arc_slope = trade_to_marginal_rate(least_rate)
                    if amount_out > amount_in * least_rate:
                        balance -= amount_in
                        slope += arc_slope
            return balance, slope

        return find_log_root(surplus, prices[token], tolerance)

    def coordinate_descent_step(self, point: DualPoint) -> DualPoint:
        """Return the point reached by adjusting each token's price in turn to balance the token's own flows, with the
        other prices fixed.

        This is slower than Newton's method but immune to kinks: it never raises the dual.
        """
        prices = point.prices.copy()
        tolerance = COORDINATE_TOL * point.imbalance_scale
        for token in sorted(range(len(prices)), key=lambda t: -abs(point.gradient[t])):
            imbalance = abs(point.gradient[token])
            if token != 1 and imbalance > tolerance:
                left = max(tolerance, COORDINATE_PART * imbalance)
                prices[token] = clamp(self._balanced_price(token, prices, left))
        return DualPoint(self, prices)
