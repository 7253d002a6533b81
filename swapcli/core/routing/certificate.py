"""A proven upper bound on what any router could still add to a quote.

Any prices v > 0 bound the output of every routing: D(v) = amount * v_source + the surplus of every pool's best trade at
v. Tokens that a solution does not price get their best value in terms of the priced ones, at which no pool profits from
selling them. Tokens that can be sold only to dust pools get the lowest cost of buying them, at which no pool profits
from buying them: only the offers of the dust pools add to the bound.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from swapcli.core.model.quote import Certificate
from swapcli.core.routing.graph.best_paths import add_purchase_costs, extend_prices
from swapcli.core.routing.graph.market_graph import Arc, MarketGraph, Prices


def build_certificate(
    graph: MarketGraph,
    filtered_graph: MarketGraph,
    prices: list[Prices],
    order: tuple[int, int, float],
    amount_out: int,
    is_allowed: Callable[[Arc], bool],
) -> Certificate:
    """Return the least bounds that any of `prices` give: over all arcs of `graph`, and over the allowed ones.

    `order` is (source, target, amount in base units). Prices are extended over `filtered_graph`, which has no dust.
    A pool with several directions counts each as a pool of its own, which can only raise the bound. Floats may put a
    bound a unit below the delivered output: no returned bound is less than `amount_out`.
    """
    all_prices = [add_purchase_costs(graph, extend_prices(filtered_graph, known, order[1])) for known in prices]
    bounds = [_dual_bounds(graph, known, order, is_allowed) for known in all_prices]
    bound, acyclic = (max(min(column), float(amount_out)) for column in zip(*bounds, strict=True))
    pools = {arc.pool.key for arc in graph.arcs()}
    return Certificate(bound, _gap_bps(bound, amount_out), acyclic, _gap_bps(acyclic, amount_out), len(pools))


def _dual_bounds(
    graph: MarketGraph, prices: Prices, order: tuple[int, int, float], is_allowed: Callable[[Arc], bool]
) -> tuple[float, float]:
    """Return the value of the dual over all arcs and over the allowed ones."""
    source, _, amount = order
    bound = acyclic = amount * prices[source]
    for arc in graph.arcs():
        value = surplus(arc, prices)
        if value > 0.0:
            bound += value
            if is_allowed(arc):
                acyclic += value
    return bound, acyclic


def surplus(arc: Arc, prices: Prices) -> float:
    """Return the profit of the arc's best trade at `prices`, in units of the order's output token."""
    price_in, price_out = prices.get(arc.token_in, 0.0), prices.get(arc.token_out, 0.0)
    if price_in <= 0.0 or price_out * arc.rate <= price_in:
        return 0.0
    amount_in, amount_out = arc.best_trade(price_in, price_out)
    return price_out * amount_out - price_in * amount_in


def _gap_bps(bound: float, amount_out: int) -> float:
    return (bound / amount_out - 1.0) * 1e4 if amount_out else inf
