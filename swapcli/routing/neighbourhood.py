"""The tokens and arcs that an order is solved over: started small, grown by what the solution's prices call for."""

from __future__ import annotations

from collections.abc import Collection
from heapq import nlargest
from math import log, sqrt

from swapcli.routing.graph import Arc, Graph
from swapcli.routing.solver import Prices

_LEAST_GAP = 1e-7
_DEEPEST = 3  # pools of a pair that estimate how much a detour carries
_LEAST_DETOUR = 5e-4


def arcs_among(graph: Graph, tokens: Collection[int], source: int, target: int, max_hops: int) -> list[Arc]:
    """Arcs between `tokens` that a path of at most `max_hops` hops can use: none into the source or out of the target."""
    pairs = graph.pairs
    links = [(i, j) for i in tokens if i != target for j in tokens if j != source and j in pairs[i]]
    from_source = _distances(links, source)
    to_target = _distances([(j, i) for i, j in links], target)
    far = max_hops + 1
    return [
        arc
        for i, j in links
        if from_source.get(i, far) + 1 + to_target.get(j, far) <= max_hops
        for arc in pairs[i][j]
    ]


def _distances(links: list[tuple[int, int]], start: int) -> dict[int, int]:
    """Hops from `start` to each token that it reaches."""
    onward: dict[int, list[int]] = {}
    for i, j in links:
        onward.setdefault(i, []).append(j)
    distance, front = {start: 0}, [start]
    while front:
        reached = [j for i in front for j in onward.get(i, ()) if j not in distance]
        distance.update(dict.fromkeys(reached, distance[front[0]] + 1))
        front = list(dict.fromkeys(reached))
    return distance


_Offer = tuple[float, int]
"""A price, and the neighbouring token at which it is had."""


def detours(graph: Graph, prices: Prices, ends: tuple[int, int], order_value: float, most: int, outside: int) -> Prices:
    """Tokens outside `prices` on detours that pay at them, over at most `outside` such tokens, with prices to start from.

    `ends` are the order's tokens, `order_value` is what flows in. At most the `most` that would gain most are given, and
    none whose estimated flow could not be told from nothing in whole percents.
    """
    source, target = ends
    least_flow = _LEAST_DETOUR * order_value
    cost, value = _cheapest(graph, prices, target, outside), _dearest(graph, prices, source, outside)
    found: list[tuple[float, int, float]] = []
    for x, (price_in, i) in cost.items():
        price_out, k = value.get(x, (0.0, i))
        if price_out > price_in * (1.0 + _LEAST_GAP) and i != k:
            conductance = _series(
                price_in * graph.best[i][x] * sum(arc.depth for arc in graph.pairs[i][x][:_DEEPEST]),
                price_out * sum(arc.depth for arc in graph.pairs[x][k][:_DEEPEST]),
            )
            gap = log(price_out / price_in)
            if conductance * gap > least_flow:
                found.append((min(conductance * gap, order_value) * gap, x, sqrt(price_in * price_out)))
    return {x: price for _, x, price in nlargest(most, found)}


def _cheapest(graph: Graph, prices: Prices, target: int, outside: int) -> dict[int, _Offer]:
    """The least price at which each outside token is had for the priced ones, over `outside` tokens at most."""
    best = graph.core_best
    offers: dict[int, _Offer] = {}
    front = {t: price for t, price in prices.items() if t != target}
    for _ in range(outside):
        found: dict[int, float] = {}
        for i, price in front.items():
            for x, rate in best[i].items():
                cost = price / rate
                if x not in prices and (x not in offers or cost < offers[x][0]):
                    offers[x] = (cost, i)
                    found[x] = cost
        front = found
    return offers


def _dearest(graph: Graph, prices: Prices, source: int, outside: int) -> dict[int, _Offer]:
    """The best price that each outside token brings in terms of the priced ones, over `outside` tokens at most."""
    best_into = graph.core_best_into
    offers: dict[int, _Offer] = {}
    front = {t: price for t, price in prices.items() if t != source}
    for _ in range(outside):
        found: dict[int, float] = {}
        for k, price in front.items():
            for x, rate in best_into[k].items():
                value = price * rate
                if x not in prices and (x not in offers or value > offers[x][0]):
                    offers[x] = (value, k)
                    found[x] = value
        front = found
    return offers


def _series(first: float, second: float) -> float:
    return first * second / (first + second) if first + second > 0.0 else 0.0
