"""The tokens and arcs that an order is solved over: started small, grown by what the solution's prices call for."""

from __future__ import annotations

from collections.abc import Collection
from math import inf, log

from swapcli.routing.graph import Arc, Graph
from swapcli.routing.solver import Prices

_LEAST_GAP = 1e-7


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


def detours(graph: Graph, prices: Prices, source: int, target: int, least_flow: float) -> Prices:
    """Tokens outside `prices` through which a detour i -> x -> k pays at them, each with a price to start from.

    `least_flow` is the value below which a detour's estimated flow is not worth carrying.
    """
    cost, value = _cheapest(graph, prices, target), _dearest(graph, prices, source)
    found: Prices = {}
    for x, (price_in, i) in cost.items():
        price_out, k = value.get(x, (0.0, -1))
        if price_out > price_in * (1.0 + _LEAST_GAP) and i != k:
            gap = log(price_out / price_in)
            conductance = _series(
                prices[i] * sum(arc.depth for arc in graph.pairs[i][x][:3]),
                price_out * sum(arc.depth for arc in graph.pairs[x][k][:3]),
            )
            if conductance * gap > least_flow:
                found[x] = (price_in * price_out) ** 0.5
    return found


def _cheapest(graph: Graph, prices: Prices, target: int) -> dict[int, tuple[float, int]]:
    """Least price at which each outside token can be bought, and from which token."""
    core, best = graph.core, graph.best
    cost: dict[int, tuple[float, int]] = {}
    for i, price in prices.items():
        if i == target:
            continue
        for x, rate in best[i].items():
            if x not in prices and x in core:
                paid = price / rate
                if paid < cost.get(x, (inf,))[0]:
                    cost[x] = (paid, i)
    return cost


def _dearest(graph: Graph, prices: Prices, source: int) -> dict[int, tuple[float, int]]:
    """Best price that each outside token sells for, and into which token."""
    core, best_into = graph.core, graph.best_into
    value: dict[int, tuple[float, int]] = {}
    for k, price in prices.items():
        if k == source:
            continue
        for x, rate in best_into[k].items():
            if x not in prices and x in core:
                got = price * rate
                if got > value.get(x, (0.0,))[0]:
                    value[x] = (got, k)
    return value


def _series(first: float, second: float) -> float:
    return first * second / (first + second) if first + second > 0.0 else 0.0
