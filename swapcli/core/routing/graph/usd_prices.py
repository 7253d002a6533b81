"""USD prices from the pools themselves.

The network's dollar stablecoins are anchored at 1; in a market without stablecoins, its tokens' reference prices are
used instead. Every other token gets the depth-weighted mid price of its pools with one neighbour: the neighbour on the
widest path from an anchor. The widest path is the one whose shallowest pair is deepest (Dijkstra's algorithm with the
minimum depth as the width of a path).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum, inf, log2, sqrt

from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.market_graph import MarketGraph
from swapcli.core.routing.graph.widest_path_prices import PathPrice, widest_path_prices

_DEPTH_RATE_DROP = 1e-3
"""The decrease of the rate over which depth is measured: the depth of a pool is its output until then.

A steep slope at the first unit alone requires no capital.
"""
_STEPS_PER_OCTAVE = 4  # of reference values: coarse enough that few change with a block, fine enough for all their uses
_MAX_RATIO_TO_MEDIAN = 2.0  # pools further from the median rate are abandoned or manipulated


def reference_values(graph: MarketGraph, usd_values: Mapping[int, float]) -> dict[int, float]:
    """Return a value for a base unit of every token that has pools, to compare sizes.

    Tokens without a value in `usd_values` are priced in units of the unpriced token with the most neighbours.
    """
    values = dict(usd_values)
    left = {token for token in range(len(graph.addresses)) if token not in values and graph.arcs_by_pair[token]}
    while left:
        hub = max(left, key=lambda token: (len(graph.neighbours(token)), -token))
        found = usd_prices(graph, {hub: 1.0})
        values = found | values
        left -= found.keys()
    return values


def round_values(values: Mapping[int, float]) -> dict[int, float]:
    """Return `values` rounded to about a tenth.

    Most rounded values stay the same from block to block, and so do results derived from them.
    """
    return {token: _rounded(value) for token, value in values.items()}


def _rounded(value: float) -> float:
    if not 0.0 < value < inf:
        return value
    return float(2.0 ** (round(log2(value) * _STEPS_PER_OCTAVE) / _STEPS_PER_OCTAVE))


def usd_prices(graph: MarketGraph, anchor_prices: Mapping[int, float]) -> dict[int, float]:
    """Return USD per base unit of every token that the anchors reach, from USD per base unit of the anchors."""
    return {token: path.price for token, path in usd_price_paths(graph, anchor_prices).items()}


def usd_price_paths(graph: MarketGraph, anchor_prices: Mapping[int, float]) -> dict[int, PathPrice]:
    """Return the prices of `usd_prices` with the paths they come from; the width of a path is in USD."""

    def price_over(token: int, price: float, other: int) -> tuple[float, float]:
        rate, depth = mid_rate(graph, other, token)
        return rate * price, depth * price

    anchors = [(token, price, inf) for token, price in anchor_prices.items()]
    return widest_path_prices(anchors, graph.neighbours, price_over)


def mid_rate(graph: MarketGraph, token: int, other: int) -> tuple[float, float]:
    """Return the mid rate, in units of `other` per unit of `token`, and the depth, in units of `other`.

    The rate is the mean of the pools' mid rates (the fees of the two directions cancel), weighted by depth. Pools far
    from the weighted median do not count: a pool without capital can offer any rate.
    """
    known = graph.mid_price_cache.get((token, other))
    if known is None:
        known = graph.mid_price_cache[token, other] = _compute_mid_rate(graph, token, other)
    return known


def mid_rate_pools(graph: MarketGraph, token: int, other: int) -> tuple[str, ...]:
    """Return the keys of the pools that `mid_rate` averages, the deepest first."""
    pools = sorted(_mid_rates(graph, token, other), key=lambda pool: -pool.depth)
    return tuple(pool.key for pool in pools)


class _PoolRate(NamedTuple):
    """The mid rate of a pool and its depth, as in `mid_rate`."""

    rate: float
    depth: float
    key: str


def _compute_mid_rate(graph: MarketGraph, token: int, other: int) -> tuple[float, float]:
    pools = _mid_rates(graph, token, other)
    total = fsum(pool.depth for pool in pools)  # `sum` rounds differently since Python 3.12; prices affect order sizes
    return (fsum(pool.rate * pool.depth for pool in pools) / total, total) if pools else (0.0, 0.0)


def _mid_rates(graph: MarketGraph, token: int, other: int) -> list[_PoolRate]:
    """Return the pools between two tokens that trade in both directions at rates near the weighted median."""
    backward = {arc.pool.key: arc for arc in graph.arcs_by_pair[other].get(token, ())}
    pools = []
    for arc in graph.arcs_by_pair[token].get(other, ()):
        back = backward.get(arc.pool.key)
        depth = arc.trade_to_marginal_rate(arc.rate * (1.0 - _DEPTH_RATE_DROP))[1] / _DEPTH_RATE_DROP if back else 0.0
        if back and depth > 0.0:
            pools.append(_PoolRate(sqrt(arc.rate / back.rate), depth, arc.pool.key))
    if not pools:
        return []
    median = _weighted_median([(pool.rate, pool.depth) for pool in pools])
    return [pool for pool in pools if median / _MAX_RATIO_TO_MEDIAN <= pool.rate <= median * _MAX_RATIO_TO_MEDIAN]


def _weighted_median(weighted: list[tuple[float, float]]) -> float:
    """Return the value at which half of the total weight is reached."""
    left = fsum(weight for _, weight in weighted) / 2
    for value, weight in sorted(weighted):
        left -= weight
        if left <= 0.0:
            return value
    return max(weighted)[0]
