"""USD prices from the pools themselves.

The network's dollar stablecoins are anchored at 1 (where the market knows none, the reference prices that came with its
tokens are). Every other token gets the depth-weighted mid price of its pools with the neighbour over which the thinnest
pair of the way is deepest.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from heapq import heappop, heappush
from math import inf, sqrt

from swapcli.routing.graph import Graph

_NEARBY = 1e-3
"""Of a rate. What a pool really pays while its rate falls by so much tells its depth: a slope alone costs nothing."""


def reference_values(graph: Graph, anchored: Mapping[int, float]) -> dict[int, float]:
    """Return the value of a base unit of every token that has pools, for comparisons of size.

    In the unit of the anchors where they reach a token. Tokens that no anchor reaches are in the unit of the one among
    them with the most neighbours.
    """
    values = usd_prices(graph, anchored)
    left = {token for token in range(len(graph.addresses)) if token not in values and graph.pairs[token]}
    while left:
        hub = max(left, key=lambda token: (len(graph.neighbours(token)), -token))
        found = usd_prices(graph, {hub: 1.0})
        values = found | values
        left -= found.keys()
    return values


def usd_prices(graph: Graph, anchored: Mapping[int, float], wanted: Set[int] | None = None) -> dict[int, float]:
    """USD per base unit of every token that the anchors reach, from USD per base unit of the anchors.

    Ends as soon as all `wanted` tokens have their prices, which are the same either way.
    """
    prices: dict[int, float] = {}
    heap = [(-inf, token, price) for token, price in anchored.items()]
    heap.sort()
    while heap:
        width, token, price = heappop(heap)
        if token in prices:
            continue
        prices[token] = price
        if wanted is not None and wanted <= prices.keys():
            break
        for other in graph.neighbours(token):
            if other in prices:
                continue
            rate, depth = mid_rate(graph, other, token)
            if rate > 0.0:
                heappush(heap, (max(width, -depth * price), other, rate * price))
    return prices


def mid_rate(graph: Graph, token: int, other: int) -> tuple[float, float]:
    """Units of `other` per unit of `token` between the two directions, and the depth, in units of `other`.

    The mean of the pools' mid rates (the fees of the two directions cancel), weighted by their depth.
    """
    known = graph.mids.get((token, other))
    if known is None:
        known = graph.mids[token, other] = _mid_rate(graph, token, other)
    return known


def _mid_rate(graph: Graph, token: int, other: int) -> tuple[float, float]:
    backward = {arc.pool.key: arc for arc in graph.pairs[other].get(token, ())}
    weighted = total = 0.0
    for arc in graph.pairs[token].get(other, ()):
        back = backward.get(arc.pool.key)
        if back is None:
            continue
        depth = arc.trade_to(arc.rate * (1.0 - _NEARBY))[1] / _NEARBY
        weighted += depth * sqrt(arc.rate / back.rate)
        total += depth
    return (weighted / total, total) if total > 0.0 else (0.0, 0.0)
