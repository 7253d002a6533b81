"""The dual problem of an order in which each used direction of a pool costs gas, as does each intermediate token.

At prices v, in units of the output token, with g the smallest gas of a pool's swap and h the gas of an intermediate
token,

    D(v) = amount * v_source - base + sum over tokens t of max(0, sum over arcs from t of max(0, s - g) - h)

bounds the output after gas of any acyclic route. This is weak duality, where an unused pool has no gas. Here s = max of
v_out * f(x) - v_in * x over 0 <= x <= c is the surplus of an arc's best trade, where c is the most of the sold token
that the order can bring to the arc (`token_limits`). Without this limit, gas would cost a small order next to nothing,
since a line through the origin and the best trade charges gas only in proportion. h is not charged for the source.

Fixing some arcs as used or unused gives the subproblems of a branch and bound: the bound of a branch bounds its routes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log

from swapcli.core.annotations import Final
from swapcli.core.records import NamedTuple
from swapcli.core.routing.gas import least_swap_gas
from swapcli.core.routing.graph.market_graph import MAX_PRICE, MIN_PRICE, MIN_PRICE_RATIO, Arc, Prices
from swapcli.core.routing.search.problem import SwapSpec

_LOWEST, _HIGHEST = log(MIN_PRICE), log(MAX_PRICE)
_RATE_STEPS: Final = 8  # towards a pool's least rate. Empirical: they double the number of correct digits
_SAME_RATE: Final = 1.0 + 1e-9


class PricedArc(NamedTuple):
    """An arc with the smallest gas of its swap and its largest input.

    The gas is in base units of the output token, the input in base units of the sold token. `gas_units` is the same gas
    in gas units.
    """

    arc: Arc
    gas: float
    limit: float
    gas_units: int

    def surplus(self, price_in: float, price_out: float) -> float:
        """Return the surplus, before gas, of the best trade at the given prices of its tokens; 0 if every trade
        loses."""
        return self.best_trade(price_in, price_out)[0] if price_out * self.arc.rate > price_in else 0.0

    def best_trade(self, price_in: float, price_out: float) -> tuple[float, float, float, float]:
        """Return the surplus, the amounts in and out, and the change of the input per unit of change in the logarithm
        of the rate."""
        amount_in, amount_out, slope = self.arc.trade_to_marginal_rate(max(price_in / price_out, MIN_PRICE_RATIO))
        if amount_in > self.limit:
            amount_in, amount_out, slope = self.limit, self.arc.curve.amount_out(self.limit), 0.0
        return price_out * amount_out - price_in * amount_in, amount_in, amount_out, slope


class Fixed(NamedTuple):
    """The arcs, by number, that a branch always uses, and the arcs that the branch never uses."""

    used: frozenset[int] = frozenset()
    unused: frozenset[int] = frozenset()


class GasDual:
    """The dual over some arcs of one order. The prices of `tokens` are the variables; the target's price is 1."""

    def __init__(self, spec: SwapSpec, amount: float, arcs: Sequence[PricedArc]) -> None:
        self._source, self._target = spec.endpoints
        self._amount = amount
        self._base = spec.gas_value * spec.router_gas.base
        self._token_gas = spec.gas_value * spec.router_gas.token_between
        self.arcs = arcs
        tokens = {self._source}.union(*((each.arc.token_in, each.arc.token_out) for each in arcs))
        self.tokens = sorted(tokens - {self._target})
        self._by_token: dict[int, list[tuple[int, PricedArc]]] = {}
        for number, each in enumerate(arcs):
            self._by_token.setdefault(each.arc.token_in, []).append((number, each))

    def prices(self, logarithms: Sequence[float]) -> Prices:
        """Return the prices with these `logarithms`, which are in the order of `tokens`."""
        within = (exp(max(_LOWEST, min(_HIGHEST, each))) for each in logarithms)
        return dict(zip(self.tokens, within, strict=True)) | {self._target: 1.0}

    def evaluate(self, logarithms: Sequence[float], fixed: Fixed) -> tuple[float, list[float]]:
        """Return the bound at the prices with these `logarithms`, and its gradient in the logarithms (a subgradient at
        a kink)."""
        prices, flows = self.prices(logarithms), dict.fromkeys((*self.tokens, self._target), 0.0)
        flows[self._source] = self._amount
        bound = self._amount * prices[self._source] - self._base
        for token, leaving in self._by_token.items():
            value, trades, is_used = 0.0, [], False
            price_in = prices[token]
            for arc_number, each in leaving:
                arc, must_trade = each.arc, arc_number in fixed.used
                price_out = prices[arc.token_out]
                if arc_number in fixed.unused or (price_out * arc.rate <= price_in and not must_trade):
                    continue
                surplus, amount_in, amount_out, _ = each.best_trade(price_in, price_out)
                if surplus > each.gas or must_trade:
                    value += surplus - each.gas
                    trades.append((arc.token_out, amount_in, amount_out))
                    is_used |= must_trade
            if token != self._source:
                value -= self._token_gas
            if value > 0.0 or is_used:
                bound += value
                for token_out, amount_in, amount_out in trades:
                    flows[token] -= amount_in
                    flows[token_out] += amount_out
        return bound, [flows[token] * prices[token] for token in self.tokens]

    def curvatures(self, prices: Prices) -> list[float]:
        """Return rough second derivatives by the logarithms of the prices, used to scale the first step."""
        found = dict.fromkeys((*self.tokens, self._target), 0.0)
        for each in self.arcs:
            arc = each.arc
            price_in, price_out = prices[arc.token_in], prices[arc.token_out]
            if price_out * arc.rate > price_in:
                surplus, amount_in, _, slope = each.best_trade(price_in, price_out)
                if surplus > each.gas:
                    change = price_in * max(slope, amount_in)
                    found[arc.token_in] += change
                    found[arc.token_out] += change
        return [found[token] for token in self.tokens]

    def used_arcs(self, prices: Prices, fixed: Fixed) -> list[Arc]:
        """Return the arcs that pay for their gas at `prices`, or that are fixed as used."""
        return [
            each.arc
            for number, each in enumerate(self.arcs)
            if number in fixed.used
            or (
                number not in fixed.unused
                and each.surplus(prices[each.arc.token_in], prices[each.arc.token_out]) > each.gas
            )
        ]

    def nearest_kink(self, prices: Prices, fixed: Fixed) -> int | None:
        """Return the number of the arc to branch on. Among the arcs with a surplus close to their gas, it is the arc
        whose use costs most, because fixing it changes the bound most. None if there is no such arc."""
        found, most = None, 0.0
        for number, each in enumerate(self.arcs):
            if number in fixed.used or number in fixed.unused:
                continue
            surplus = each.surplus(prices[each.arc.token_in], prices[each.arc.token_out])
            weight = each.gas - 2.0 * abs(surplus - each.gas)
            if weight > most:
                found, most = number, weight
        return found


def price_arcs(arcs: Sequence[Arc], spec: SwapSpec, limits: Mapping[int, float]) -> list[PricedArc]:
    """Return the arcs that can be part of an acyclic route, with their gas and limits."""
    source, target = spec.endpoints
    router, gas_of = spec.router_gas, dict[str, int]()
    priced: list[PricedArc] = []
    for arc in arcs:
        limit = limits.get(arc.token_in, 0.0)
        if arc.token_out == source or arc.token_in == target or limit <= 0.0:
            continue
        units = gas_of.get(arc.pool.key)
        if units is None:
            units = gas_of[arc.pool.key] = least_swap_gas(arc.pool, router)
        priced.append(PricedArc(arc, spec.gas_value * units, limit, units))
    return priced


def least_rate(each: PricedArc, gain: float) -> float:
    """Return a rate above which no trade of an arc gains more than `gain`, in units of the bought token.

    The returned rate is the largest average rate of a trade's output beyond `gain`: each step goes from the best trade
    at a rate to that trade's average rate (Dinkelbach, 1967).
    """
    arc = each.arc
    amount = min(each.limit, arc.curve.capacity)
    if amount <= 0.0:
        return arc.rate
    rate = max((arc.curve.amount_out(amount) - gain) / amount, arc.rate * MIN_PRICE_RATIO)
    for _ in range(_RATE_STEPS):
        amount_in, amount_out, _ = arc.trade_to_marginal_rate(rate)
        if amount_in >= amount:
            return rate
        if amount_in <= 0.0:
            break
        better = (amount_out - gain) / amount_in
        if better <= rate * _SAME_RATE:
            return better * _SAME_RATE
        rate = better
    return arc.rate
