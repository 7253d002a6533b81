"""The tokens and arcs that an order is solved over: started small, grown by what the solution's prices call for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import exp, inf, log, sqrt
from typing import NamedTuple

from swapcli.routing.dual import Prices
from swapcli.routing.flow import beyond_reach
from swapcli.routing.graph import Arc, Graph

_LEAST_GAP = 1e-7
_LEAST_DETOUR = 5e-4
_HALVINGS = 12


def arcs_among(graph: Graph, tokens: Collection[int], ends: tuple[int, int], max_hops: int) -> list[Arc]:
    """Arcs between `tokens` on paths of at most `max_hops` hops: none into the source or out of the target."""
    pairs, (source, target) = graph.pairs, ends
    links = [(i, j) for i in tokens if i != target for j in tokens if j != source and j in pairs[i]]
    useless = beyond_reach(links, ends, max_hops)
    return [arc for i, j in links if (i, j) not in useless for arc in pairs[i][j]]


class Detour(NamedTuple):
    """A token through which a detour pays: a price to start from, about what it gains, its neighbours on the way."""

    price: float
    gain: float
    before: int
    after: int


def detours(graph: Graph, prices: Prices, ends: tuple[int, int], order_value: float, outside: int) -> dict[int, Detour]:
    """Tokens outside `prices` on detours that pay at them, over at most `outside` such tokens.

    `ends` are the order's tokens, `order_value` is what flows in. A detour whose estimated flow could not be told from
    nothing in whole percents is left out.
    """
    inside = {t: (price, -1) for t, price in prices.items()}
    costs = inside | _cheapest(graph, prices, ends[1], outside)
    values = inside | _dearest(graph, prices, ends[0], outside)
    found: dict[int, Detour] = {}
    for x, (price_in, before) in costs.items():
        price_out, after = values.get(x, _NEVER)
        if x not in prices and price_out > price_in * (1.0 + _LEAST_GAP):
            price, flow, gain = _through(*_sides(graph, x, costs, values, ends), order_value)
            if flow > _LEAST_DETOUR * order_value:
                found[x] = Detour(price, gain, before, after)
    return found | _on_the_way(graph, found, costs, values, prices)


def _on_the_way(
    graph: Graph, found: Mapping[int, Detour], costs: _Offers, values: _Offers, prices: Prices
) -> dict[int, Detour]:
    """Outside tokens that the found detours lead over though they gain nothing alone.

    Of a long way the near end may have no value of its own yet, and the far end no cost: there they are those of the
    token that the way leads to or comes from.
    """
    added: dict[int, Detour] = {}
    for x in found:
        value, after, t = values[x][0], x, costs[x][1]
        while t not in prices and t not in found and t not in added:
            cost, before = costs[t]
            value = max(values.get(t, _NEVER)[0], graph.best[t][after] * value)
            added[t] = Detour(sqrt(cost * value), 0.0, before, after)
            after, t = t, before
        cost, before, t = costs[x][0], x, values[x][1]
        while t not in prices and t not in found and t not in added:
            value, after = values[t]
            cost = min(costs.get(t, (inf, -1))[0], cost / graph.best[before][t])
            added[t] = Detour(sqrt(cost * value), 0.0, before, after)
            before, t = t, after
    return added


_Offers = dict[int, tuple[float, int]]
"""Per token a price and the neighbour at which it is had, -1 for a token inside."""

_NEVER = (0.0, -1)

_Side = list[tuple[float, float]]
"""(logarithm of the price at which a neighbour starts to trade, value traded per unit of it) for each neighbour."""


def _sides(graph: Graph, x: int, costs: _Offers, values: _Offers, ends: tuple[int, int]) -> tuple[_Side, _Side]:
    """Who sells x and who buys it, without those whose own offer comes from x.

    A neighbour inside that would do both is an arbitrage of its own and left out.
    """
    source, target = ends
    selling, buying = [], []
    nobody = (0.0, x)
    for i, rate in graph.best_into[x].items():
        price, via = costs.get(i, nobody)
        if via != x and i != target and (via >= 0 or rate * graph.best[x].get(i, 0.0) <= 1.0):
            selling.append((log(price / rate), price * graph.pair_depth(i, x)))
    for k, rate in graph.best[x].items():
        price, via = values.get(k, nobody)
        if via != x and k != source and (via >= 0 or rate * graph.best_into[x].get(k, 0.0) <= 1.0):
            buying.append((log(price * rate), price * rate * graph.pair_depth(x, k)))
    return selling, buying


def _through(selling: _Side, buying: _Side, most: float) -> tuple[float, float, float]:
    """The price at which as much of x is sold as bought, the value that flows there, and about what it gains."""
    if not selling or not buying:
        return 0.0, 0.0, 0.0
    low, high = min(selling)[0], max(buying)[0]
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        sold = sum(depth * (middle - start) for start, depth in selling if start < middle)
        bought = sum(depth * (start - middle) for start, depth in buying if start > middle)
        low, high = (low, middle) if sold > bought else (middle, high)
    flow = min(sold, bought, most)
    return exp(middle), flow, flow * min(1.0, max(buying)[0] - min(selling)[0])


def _cheapest(graph: Graph, prices: Prices, target: int, outside: int) -> _Offers:
    """The least price at which each outside token is had for the priced ones, over `outside` tokens at most."""
    best = graph.core_best
    costs: _Offers = {}
    front = {t: price for t, price in prices.items() if t != target}
    for _ in range(outside):
        found: Prices = {}
        for i, price in front.items():
            for x, rate in best[i].items():
                cost = price / rate
                if x not in prices and (x not in costs or cost < costs[x][0]):
                    costs[x] = (cost, i)
                    found[x] = cost
        front = found
    return costs


def _dearest(graph: Graph, prices: Prices, source: int, outside: int) -> _Offers:
    """The best price that each outside token brings in terms of the priced ones, over `outside` tokens at most."""
    best_into = graph.core_best_into
    values: _Offers = {}
    front = {t: price for t, price in prices.items() if t != source}
    for _ in range(outside):
        found: Prices = {}
        for k, price in front.items():
            for x, rate in best_into[k].items():
                value = price * rate
                if x not in prices and (x not in values or value > values[x][0]):
                    values[x] = (value, k)
                    found[x] = value
        front = found
    return values
