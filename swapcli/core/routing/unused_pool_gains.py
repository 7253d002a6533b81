"""Find unused pools that could improve a route if their state had changed, and bound the improvement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from heapq import nlargest
from math import exp

from swapcli.core.model.order import Order
from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.best_paths import extend_prices
from swapcli.core.routing.graph.market_graph import MAX_PRICE, Arc, MarketGraph, Prices
from swapcli.core.routing.market_index import MarketIndex
from swapcli.core.routing.search.route_search import SearchResult

PRICE_MARGIN = 0.01
"""The logarithm of a rate. Rates rarely move by more than 1% between reading the stored state and the quote."""

_MAX_GAIN = MAX_PRICE
"""A cap on gains: the prices of absurd pools cause larger ones, which would add up to infinity."""


class PoolGains(NamedTuple):
    """Upper bounds on the gains that pools outside a route could add to it; keys with the largest gain come first.

    `gains` are fractions of the route's output. `remaining(n)` bounds the total gain of all pools after the first n.
    """

    keys: tuple[str, ...]
    gains: tuple[float, ...]

    def remaining(self, count: int) -> float:
        """Return the total gain of the pools from number `count` on."""
        return sum(self.gains[count:])

    def take_until(self, tolerance: float, limit: int) -> tuple[str, ...]:
        """Return the first pools, at most `limit`, after which the remaining gain is at most `tolerance`."""
        left, count = 0.0, len(self.keys)
        while count and left + self.gains[count - 1] <= tolerance:
            left += self.gains[count - 1]
            count -= 1
        return self.keys[: min(count, limit)]


def route_pools(result: SearchResult) -> tuple[str, ...]:
    """Return the keys of the pools in the route, each once, in order."""
    return tuple(dict.fromkeys(step.pool for step in result.best.replay.steps))


def pool_gains(
    index: MarketIndex,
    order: Order,
    result: SearchResult,
    known_pools: Set[str],
    margin: float,
    *,
    all_paths: bool = False,
) -> PoolGains:
    """Return the possible gains over the result for an order if the rates of pools outside `known_pools` were slightly
    better.

    The result may come from another market with the same tokens.

    At the dual prices of a solution, a pool adds at most the surplus of its best trade. No pool of an acyclic route
    trades much more than the whole order, so a pool also adds at most the order's value times the advantage of its spot
    rate. `margin` is how much better a rate may be, as a logarithm. Tokens without a price in the solution have no
    gain; with `all_paths` they get the best value in terms of priced ones, and the sum bounds all paths.
    """
    return index.without_broken_pools(
        lambda: _pool_gains(index.graph(order.excluded_protocols), result, known_pools, margin, all_paths=all_paths)
    )


def _pool_gains(
    graph: MarketGraph, result: SearchResult, known_pools: Set[str], margin: float, *, all_paths: bool
) -> PoolGains:
    task = result.problem.spec
    prices = extend_prices(graph, result.prices, task.target) if all_paths else result.prices
    order_value = _order_value(result, prices)
    output = float(result.best.replay.amount_out) or 1.0
    limit = _MAX_GAIN * output
    gains: dict[str, float] = {}
    for arc in graph.arcs():
        key = arc.pool.key
        if key not in known_pools and arc.token_out != task.source and arc.token_in != task.target:
            gain = min(limit, _gain(arc, prices, margin, order_value))  # also caps NaN, if it comes first
            if gain > 0.0:
                gains[key] = max(gains.get(key, 0.0), gain)
    keys = sorted(gains, key=lambda key: -gains[key])
    return PoolGains(tuple(keys), tuple(gains[key] / output for key in keys))


def _order_value(result: SearchResult, prices: Mapping[int, float]) -> float:
    """Return the larger of the values of the input and the output, in units of the target."""
    best_ratios, task = result.best, result.problem.spec
    return max(best_ratios.amount_in * prices.get(task.source, 0.0), float(best_ratios.replay.amount_out))


def _gain(arc: Arc, prices: Prices, margin: float, max_input_value: float) -> float:
    """Return the surplus of the best trade with at most `max_input_value` of input, in units of the target."""
    price_in, price_out = prices.get(arc.token_in, 0.0), prices.get(arc.token_out, 0.0) * exp(margin)
    advantage = price_out * arc.rate - price_in
    if price_in <= 0.0 or advantage <= 0.0:
        return 0.0
    amount_in, amount_out = arc.best_trade(price_in, price_out)
    return min(price_out * amount_out - price_in * amount_in, max_input_value * advantage / price_in)


def closest_pools(
    index: MarketIndex, order: Order, result: SearchResult, known_pools: Set[str], limit: int
) -> tuple[str, ...]:
    """Return the keys of at most `limit` pools outside `known_pools`, with the rates closest to the best first."""
    return index.without_broken_pools(
        lambda: _closest_pools(index.graph(order.excluded_protocols), result, known_pools, limit)
    )


def _closest_pools(graph: MarketGraph, result: SearchResult, known_pools: Set[str], limit: int) -> tuple[str, ...]:
    spot, task = result.problem.spot, result.problem.spec
    best_ratios: dict[str, float] = {}
    for arc in graph.arcs():
        key = arc.pool.key
        if key not in known_pools and arc.token_out != task.source and arc.token_in != task.target:
            value_in = spot.value(arc.token_in)
            ratio = arc.rate * spot.value(arc.token_out) / value_in if value_in else 0.0
            best_ratios[key] = max(best_ratios.get(key, 0.0), ratio)
    return tuple(nlargest(limit, best_ratios, key=lambda key: best_ratios[key]))


def deepest_anchor_pools(index: MarketIndex, addresses: Iterable[str]) -> tuple[str, ...]:
    """Return the key of the deepest pool for each pair of a token in `addresses` and an anchor, which is a stablecoin
    or the wrapped native token."""
    network, tokens = index.market.network, tuple(addresses)
    wrapped = (network.wrapped_native.address,) if network.wrapped_native else ()

    def deepest() -> tuple[str, ...]:
        graph = index.graph()
        number_of = graph.token_index
        anchors = [number_of[address] for address in (*network.stablecoins, *wrapped) if address in number_of]
        pairs = [
            graph.arcs_by_pair[number_of[token]].get(anchor, ())
            for token in tokens
            if token in number_of
            for anchor in anchors
        ]
        return tuple(dict.fromkeys(max(arcs, key=lambda arc: arc.depth).pool.key for arcs in pairs if arcs))

    return index.without_broken_pools(deepest)
