"""USD prices from the pools themselves.

The network's dollar stablecoins are anchored at 1 (where the market knows none, the reference prices that came with its
tokens are). Every other token gets the depth-weighted mid price of its pools with the neighbour over which the thinnest
pair of the way is deepest.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush
from math import inf, sqrt

from swapcli.routing.graph.market_graph import MarketGraph

_DEPTH_RATE_DROP = 1e-3
"""Of a rate. What a pool really pays while its rate falls by so much tells its depth: a slope alone costs nothing."""


_MAX_RATIO_TO_MEDIAN = 2.0  # times the median rate: no pool that anybody trades with is so far off


def reference_values(graph: MarketGraph, usd_values: Mapping[int, float]) -> dict[int, float]:
    """Return the value of a base unit of every token that has pools, for comparisons of size.

    `priced` are those with a price. The others are in the unit of the one among them with the most neighbours.
    """
    values = dict(usd_values)
    left = {token for token in range(len(graph.addresses)) if token not in values and graph.arcs_by_pair[token]}
    while left:
        hub = max(left, key=lambda token: (len(graph.neighbours(token)), -token))
        found = usd_prices(graph, {hub: 1.0})
        values = found | values
        left -= found.keys()
    return values


def usd_prices(graph: MarketGraph, anchor_prices: Mapping[int, float]) -> dict[int, float]:
    """Return USD per base unit of every token that the anchors reach, from USD per base unit of the anchors."""
    prices: dict[int, float] = {}
    heap = [(-inf, token, price) for token, price in anchor_prices.items()]
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


def mid_rate(graph: MarketGraph, token: int, other: int) -> tuple[float, float]:
    """Return units of `other` per unit of `token` between the two directions, and the depth, in units of `other`.

    The mean of the pools' mid rates (the fees of the two directions cancel), weighted by their depth. Pools far from
    the median, where half of the depth lies on either side, do not count: one of next to nothing could offer any rate.
    """
    known = graph.mid_price_cache.get((token, other))
    if known is None:
        known = graph.mid_price_cache[token, other] = _compute_mid_rate(graph, token, other)
    return known


def _compute_mid_rate(graph: MarketGraph, token: int, other: int) -> tuple[float, float]:
    backward = {arc.pool.key: arc for arc in graph.arcs_by_pair[other].get(token, ())}
    mids = []
    for arc in graph.arcs_by_pair[token].get(other, ()):
        back = backward.get(arc.pool.key)
        depth = arc.trade_to_marginal_rate(arc.rate * (1.0 - _DEPTH_RATE_DROP))[1] / _DEPTH_RATE_DROP if back else 0.0
        if back and depth > 0.0:
            mids.append((sqrt(arc.rate / back.rate), depth))
    if not mids:
        return 0.0, 0.0
    median = _weighted_median(mids)
    near = [
        (rate, depth) for rate, depth in mids if median / _MAX_RATIO_TO_MEDIAN <= rate <= median * _MAX_RATIO_TO_MEDIAN
    ]
    total = sum(depth for _, depth in near)
    return sum(rate * depth for rate, depth in near) / total, total


def _weighted_median(weighted: list[tuple[float, float]]) -> float:
    """The value at which half of the weight is reached."""
    left = sum(weight for _, weight in weighted) / 2
    for value, weight in sorted(weighted):
        left -= weight
        if left <= 0.0:
            return value
    return max(weighted)[0]
