"""USD prices from the pools themselves.

The network's dollar stablecoins are anchored at 1 (where the market knows none, the reference prices that came with its
tokens are). Every other token gets the depth-weighted mid price of its pools with the neighbour over which the thinnest
pair of the way is deepest.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush
from math import inf, sqrt

from swapcli.routing.graph.market_graph import Graph

_NEARBY = 1e-3
"""Of a rate. What a pool really pays while its rate falls by so much tells its depth: a slope alone costs nothing."""


_FAR_OFF = 2.0  # times the median rate: no pool that anybody trades with is so far off


def reference_values(graph: Graph, priced: Mapping[int, float]) -> dict[int, float]:
    """Return the value of a base unit of every token that has pools, for comparisons of size.

    `priced` are those with a price. The others are in the unit of the one among them with the most neighbours.
    """
    values = dict(priced)
    left = {token for token in range(len(graph.addresses)) if token not in values and graph.pairs[token]}
    while left:
        hub = max(left, key=lambda token: (len(graph.neighbours(token)), -token))
        found = usd_prices(graph, {hub: 1.0})
        values = found | values
        left -= found.keys()
    return values


def usd_prices(graph: Graph, anchored: Mapping[int, float]) -> dict[int, float]:
    """Return USD per base unit of every token that the anchors reach, from USD per base unit of the anchors."""
    prices: dict[int, float] = {}
    heap = [(-inf, token, price) for token, price in anchored.items()]
    heap.sort()
    while heap:
        width, token, price = heappop(heap)
        if token in prices:
            continue
        prices[token] = price
        for other in graph.neighbours(token):
            if other in prices:
                continue
            rate, depth = mid_rate(graph, other, token)
            if rate > 0.0:
                heappush(heap, (max(width, -depth * price), other, rate * price))
    return prices


def mid_rate(graph: Graph, token: int, other: int) -> tuple[float, float]:
    """Return units of `other` per unit of `token` between the two directions, and the depth, in units of `other`.

    The mean of the pools' mid rates (the fees of the two directions cancel), weighted by their depth. Pools far from
    the median, where half of the depth lies on either side, do not count: one of next to nothing could offer any rate.
    """
    known = graph.mids.get((token, other))
    if known is None:
        known = graph.mids[token, other] = _mid_rate(graph, token, other)
    return known


def _mid_rate(graph: Graph, token: int, other: int) -> tuple[float, float]:
    backward = {arc.pool.key: arc for arc in graph.pairs[other].get(token, ())}
    mids = []
    for arc in graph.pairs[token].get(other, ()):
        back = backward.get(arc.pool.key)
        depth = arc.trade_to(arc.rate * (1.0 - _NEARBY))[1] / _NEARBY if back else 0.0
        if back and depth > 0.0:
            mids.append((sqrt(arc.rate / back.rate), depth))
    if not mids:
        return 0.0, 0.0
    median = _median(mids)
    near = [(rate, depth) for rate, depth in mids if median / _FAR_OFF <= rate <= median * _FAR_OFF]
    total = sum(depth for _, depth in near)
    return sum(rate * depth for rate, depth in near) / total, total


def _median(weighted: list[tuple[float, float]]) -> float:
    """The value at which half of the weight is reached."""
    left = sum(weight for _, weight in weighted) / 2
    for value, weight in sorted(weighted):
        left -= weight
        if left <= 0.0:
            return value
    return max(weighted)[0]
