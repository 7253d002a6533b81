"""The most of each token that an order can bring, by any acyclic routing over a few hops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.core.routing.certificate import surplus
from swapcli.core.routing.graph.best_paths import best_labels
from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import MarketGraph, Prices

_FEW_ARCS: Final = 4  # into a token: the sum counts what reaches them once for each. Empirical


def token_limits(
    graph: MarketGraph, endpoints: TokenPair, amount: float, max_hops: int, prices: Prices
) -> Mapping[int, float]:
    """Return the limit of each token that `amount` of the source can reach on the way to the target, in base units.

    `endpoints` are (source, target). A unit that takes a path becomes at most the product of its spot rates. And at any
    `prices` no routing brings more value than that of the order and the surplus of every pool's best trade: weak
    duality. Where few pools sell a token, they bring no more than they pay for all that can reach them. The least of
    these counts.
    """
    source, target = endpoints
    products = _best_products(graph, endpoints, amount, max_hops - 1)
    value = amount * prices[source]
    value += sum(surplus(arc, prices) for arc in graph.arcs() if arc.token_out != source and arc.token_in != target)
    limits = {source: amount}
    for token, product in products.items():
        price = prices.get(token, 0.0)
        if token != source:
            limits[token] = min(product, value / price) if price > 0.0 else product
    for token in products:
        entering = [(i, graph.arcs_by_pair[i][token]) for i in graph.best_rate_in[token] if i in limits]
        if token != source and sum(len(arcs) for _, arcs in entering) <= _FEW_ARCS:
            paid = sum(arc.curve.amount_out(min(limits[i], arc.curve.capacity)) for i, arcs in entering for arc in arcs)
            limits[token] = min(limits[token], paid)
    return limits


def _best_products(graph: MarketGraph, endpoints: TokenPair, amount: float, max_hops: int) -> Mapping[int, float]:
    """Return `amount` times the best product of spot rates over at most `max_hops` hops, by token."""

    def extend(front: Mapping[int, float], best: Mapping[int, float], _: int) -> dict[int, float]:
        improved: dict[int, float] = {}
        for i, held in front.items():
            for j, arcs in graph.arcs_by_pair[i].items():
                bought = held * arcs[0].rate
                if j not in endpoints and bought > max(best.get(j, 0.0), improved.get(j, 0.0)):
                    improved[j] = bought
        return improved

    return best_labels({endpoints[0]: amount}, max_hops, extend)
