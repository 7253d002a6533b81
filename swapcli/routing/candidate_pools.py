"""The pools that a route could want if the state were different from what is known, and what each could add at most."""

from __future__ import annotations

from collections.abc import Mapping, Set
from heapq import nlargest
from math import exp
from typing import NamedTuple

from swapcli.routing.graph.market_graph import Arc, MarketGraph, Prices
from swapcli.routing.graph.paths import extend_prices
from swapcli.routing.search.route_search import SearchResult

PRICE_MARGIN = 0.01
"""Logarithm of a rate: further than that rates have rarely moved since they were stored."""


class PoolGains(NamedTuple):
    """What the pools beside a route could add to it, keys in order of that.

    `gains` are parts of its output. `left(n)` bounds what all pools but the first n could add together.
    """

    keys: tuple[str, ...]
    gains: tuple[float, ...]

    def remaining(self, count: int) -> float:
        """Return the sum of what the pools from number `count` on could add."""
        return sum(self.gains[count:])

    def take_until(self, tolerance: float, limit: int) -> tuple[str, ...]:
        """Return the first pools, as many as leave no more than `tolerance` to the others; `limit` at most."""
        left, count = self.remaining(0), 0
        while count < min(limit, len(self.keys)) and left > tolerance:
            left -= self.gains[count]
            count += 1
        return self.keys[:count]


def route_pools(result: SearchResult) -> tuple[str, ...]:
    """Return the keys of the pools of the outcome's route, each once, in its order."""
    return tuple(dict.fromkeys(step.pool for step in result.best.replay.steps))


def pool_gains(
    graph: MarketGraph, result: SearchResult, known_pools: Set[str], margin: float, *, all_paths: bool = False
) -> PoolGains:
    """Return what the pools of `graph` beside those `taken` could add to the outcome, were their rates a little better.

    At the dual prices of a solution any pool adds at most the surplus of its best trade. No pool of an acyclic route
    trades more than about the whole order, so it also adds at most the order at the advantage of its first unit.
    `margin` is how much better a rate may have become, as a logarithm. Tokens without a price in the solution have
    none here either, or with `whole` the best that they bring in terms of the priced ones: then the sum is a bound
    over all paths.
    """
    task = result.problem.spec
    prices = extend_prices(graph, result.prices, task.target) if all_paths else result.prices
    order_value = _order_value(result, prices)
    gains: dict[str, float] = {}
    for arc in graph.arcs():
        key = arc.pool.key
        if key not in known_pools and arc.token_out != task.source and arc.token_in != task.target:
            gain = _gain(arc, prices, margin, order_value)
            if gain > 0.0:
                gains[key] = max(gains.get(key, 0.0), gain)
    output = float(result.best.replay.amount_out) or 1.0
    keys = sorted(gains, key=lambda key: -gains[key])
    return PoolGains(tuple(keys), tuple(gains[key] / output for key in keys))


def _order_value(result: SearchResult, prices: Mapping[int, float]) -> float:
    """Return the order's worth in units of the target, of its input or of its output where that is more."""
    found, task = result.best, result.problem.spec
    return max(found.amount_in * prices.get(task.source, 0.0), float(found.replay.amount_out))


def _gain(arc: Arc, prices: Prices, margin: float, max_input_value: float) -> float:
    """Return the worth of the arc's best trade, of at most `most` in input, in units of the target."""
    price_in, price_out = prices.get(arc.token_in, 0.0), prices.get(arc.token_out, 0.0) * exp(margin)
    advantage = price_out * arc.rate - price_in
    if price_in <= 0.0 or advantage <= 0.0:
        return 0.0
    amount_in, amount_out, _ = arc.trade_to_marginal_rate(price_in / price_out)
    return min(price_out * amount_out - price_in * amount_in, max_input_value * advantage / price_in)


def closest_pools(graph: MarketGraph, result: SearchResult, known_pools: Set[str], limit: int) -> tuple[str, ...]:
    """Return the keys of at most `limit` pools beside those `taken`, those first that miss the best rates by least."""
    spot, task = result.problem.spot, result.problem.spec
    found: dict[str, float] = {}
    for arc in graph.arcs():
        key = arc.pool.key
        if key not in known_pools and arc.token_out != task.source and arc.token_in != task.target:
            value_in = spot.value(arc.token_in)
            near = arc.rate * spot.value(arc.token_out) / value_in if value_in else 0.0
            found[key] = max(found.get(key, 0.0), near)
    return tuple(nlargest(limit, found, key=lambda key: found[key]))
