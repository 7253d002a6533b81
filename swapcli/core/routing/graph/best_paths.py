"""Find the best paths over at most k hops, by relaxation in layers, and the results that follow from best rates alone.

There is one layer per hop, as in the Bellman-Ford algorithm stopped after k rounds. The hop limit holds exactly, and
arbitrage cycles, on which products of rates grow without limit, do no harm.

Callers supply the inner loop that extends one layer, because their labels and rules differ. Calling it once per layer
instead of once per edge keeps the overhead low.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from swapcli.core.annotations import TypeVar
from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import MAX_PRICE, MIN_PRICE, MarketGraph, Prices

_Label = TypeVar("_Label")

_MAX_IMPROVING_HOPS = 12
"""The number of hops after which prices extend to new tokens only.

Arbitrage cycles would raise known prices without limit. The best paths of real markets have at most eight hops, the
default limit of a route.
"""
_ROUNDING_UP = 1.0 + 1e-12
"""A factor for rounding up: more than floats lose in a rate and its product with a price, and far below a basis
point."""


def relax_layers(
    start: Mapping[int, _Label], max_hops: int, extend: Callable[[Mapping[int, _Label], int], dict[int, _Label]]
) -> Iterator[dict[int, _Label]]:
    """Yield the labels that the first hop from `start` improves, then the labels that the second hop improves, and so
    on up to `max_hops`.

    `extend(front, hop)` returns the labels that improve with one more hop from the tokens of `front`; `hop` counts from
    0. The layers end early once nothing improves.
    """
    front = start
    for hop in range(max_hops):
        front = layer = extend(front, hop)
        if not layer:
            return
        yield layer


def best_labels(
    start: Mapping[int, _Label],
    max_hops: int,
    extend: Callable[[Mapping[int, _Label], Mapping[int, _Label], int], dict[int, _Label]],
) -> dict[int, _Label]:
    """Return the best label of each token over at most `max_hops` hops from `start`.

    `extend(front, best, hop)` is as in `relax_layers`, with the best labels of fewer hops.
    """
    best = dict(start)
    for layer in relax_layers(start, max_hops, lambda front, hop: extend(front, best, hop)):
        best.update(layer)
    return best


def best_spot_rate(graph: MarketGraph, endpoints: TokenPair, max_hops: int) -> float:
    """Return the best rate of a path between `endpoints` for an infinitely small order; no order gets a better one."""
    source, target = endpoints

    def extend(front: Mapping[int, float], best: Mapping[int, float], _: int) -> dict[int, float]:
        improved: dict[int, float] = {}
        for j, value in front.items():
            for i, rate in graph.best_rate_in[j].items() if j != source else ():
                if i != target and value * rate > max(best.get(i, 0.0), improved.get(i, 0.0)):
                    improved[i] = value * rate
        return improved

    return best_labels({target: 1.0}, max_hops, extend).get(source, 0.0)


def price_tokens(graph: MarketGraph, filtered_graph: MarketGraph, prices: Prices, target: int) -> Prices:
    """Return prices of all tokens for a bound over `graph`.

    Known `prices` are extended over `filtered_graph`, which has no dust. Tokens that only dust pools buy get their
    purchase cost as price; tokens that nothing sells get the price that dust pools pay. All other tokens are worth next
    to nothing or are not connected to a priced token. These tokens get the smallest price, at which the holdings of all
    pools are worth nothing.
    """
    costs = add_purchase_costs(graph, extend_prices(filtered_graph, prices, target))
    return dict.fromkeys(range(len(graph.addresses)), MIN_PRICE) | extend_prices(graph, costs, target)


def extend_prices(graph: MarketGraph, prices: Prices, target: int) -> Prices:
    """Return `prices`, extended to every token that can be sold for a priced token over any number of hops.

    New prices stay between `MIN_PRICE` and `MAX_PRICE`, because the product of a few absurd rates can overflow a float.
    A token worth less than `MIN_PRICE` gets no price. Prices are rounded up, so that no pool gains by selling these
    tokens, even in exact arithmetic.
    """

    def extend(front: Mapping[int, float], best: Mapping[int, float], hop: int) -> Prices:
        improved: Prices = {}
        for j in front:
            for i, rate in graph.best_rate_in[j].items():
                if i in prices or (hop >= _MAX_IMPROVING_HOPS and i in best):
                    continue
                value = min(best[j] * rate * _ROUNDING_UP, MAX_PRICE)
                if value > max(best.get(i, 0.0), improved.get(i, 0.0), MIN_PRICE):
                    improved[i] = value
        return improved

    return best_labels(prices, _any_number_of_hops(graph), extend) | {target: 1.0}


def add_purchase_costs(graph: MarketGraph, prices: Prices) -> Prices:
    """Return `prices`, extended to tokens that can be bought with priced ones, at their lowest cost, rounded down."""

    def extend(front: Mapping[int, float], best: Mapping[int, float], hop: int) -> Prices:
        improved: Prices = {}
        for i in front:
            for j, rate in graph.best_rate_out[i].items():
                if j in prices or (hop >= _MAX_IMPROVING_HOPS and j in best):
                    continue
                cost = best[i] / rate / _ROUNDING_UP
                if cost < min(best.get(j, MAX_PRICE), improved.get(j, MAX_PRICE)):
                    improved[j] = max(cost, MIN_PRICE)
        return improved

    return best_labels(prices, _any_number_of_hops(graph), extend)


def _any_number_of_hops(graph: MarketGraph) -> int:
    return _MAX_IMPROVING_HOPS + len(graph.addresses)
