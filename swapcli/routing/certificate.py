"""A proven bound on what any router could still add to a quote.

Any prices v > 0 bound the output of every routing: D(v) = amount * v_in + the worth of every pool's best trade at v.
Tokens that a solution gives no price get the best value that they have in terms of the priced ones, at which no pool is
worth selling them into. Those that only dust can be sold for get the price at which no pool is worth buying them from:
what dust pools then offer for them is all that they add to the bound.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from math import inf

from swapcli.model.route import Certificate
from swapcli.routing.graph.market_graph import Arc, MarketGraph
from swapcli.routing.solver.dual import Prices

_ROUNDS = 12  # where a market holds arbitrage, values would rise without end
_MIN_PRICE_RATIO = 1e-250  # of two prices: below it curves overflow


def build_certificate(
    graph: MarketGraph,
    filtered_graph: MarketGraph,
    prices: list[Prices],
    order: tuple[int, int, float],
    amount_out: int,
    is_allowed: Callable[[Arc], bool],
) -> Certificate:
    """The least bounds that any of `prices` gives: over all arcs of `graph`, and over those that `allowed` accepts.

    `filtered_market` is the graph without dust, which prices are extended over.

    `order` is (source, target, amount in base units); a pool with several directions counts each as if it were a pool
    of its own, which can only raise the bound. Floats may put a bound a unit below what was delivered: none is less
    than `amount_out`.
    """
    every = [_add_purchase_costs(graph, extend_prices(filtered_graph, known, order[1])) for known in prices]
    bounds = [_dual_bounds(graph, known, order, is_allowed) for known in every]
    bound, acyclic = (max(min(column), float(amount_out)) for column in zip(*bounds, strict=True))
    pools = {arc.pool.key for arc in graph.arcs()}
    return Certificate(bound, _gap_bps(bound, amount_out), acyclic, _gap_bps(acyclic, amount_out), len(pools))


def _dual_bounds(
    graph: MarketGraph, prices: Prices, order: tuple[int, int, float], allowed: Callable[[Arc], bool]
) -> tuple[float, float]:
    """The dual over all arcs and over the allowed ones."""
    source, _, amount = order
    bound = acyclic = amount * prices[source]
    for arc in graph.arcs():
        worth = surplus(arc, prices)
        if worth > 0.0:
            bound += worth
            if allowed(arc):
                acyclic += worth
    return bound, acyclic


def surplus(arc: Arc, prices: Prices) -> float:
    """Worth of the arc's best trade at `prices`, in units of the output token."""
    price_in, price_out = prices.get(arc.token_in, 0.0), prices.get(arc.token_out, 0.0)
    if price_in <= 0.0 or price_out * arc.rate <= price_in:
        return 0.0
    amount_in, amount_out, _ = arc.trade_to_marginal_rate(max(price_in / price_out, _MIN_PRICE_RATIO))
    return price_out * amount_out - price_in * amount_in


def extend_prices(graph: MarketGraph, prices: Prices, target: int) -> Prices:
    """`prices` with a value for every token that can be sold, through any number of pools, into a priced one."""
    values = dict(prices)
    front = set(prices)
    for rounds in count():
        found: Prices = {}
        for j in front:
            for i, rate in graph.best_rate_in[j].items():
                value = values[j] * rate
                if i in prices or (rounds >= _ROUNDS and i in values):
                    continue
                if value > max(values.get(i, 0.0), found.get(i, 0.0)):
                    found[i] = value
        if not found:
            break
        values.update(found)
        front = set(found)
    values[target] = 1.0
    return values


def _add_purchase_costs(graph: MarketGraph, prices: Prices) -> Prices:
    """`prices` with the least price at which each other token can be bought, through any number of pools."""
    costs = dict(prices)
    front = set(prices)
    for _ in range(_ROUNDS):
        found: Prices = {}
        for i in front:
            for j, rate in graph.best_rate_out[i].items():
                if j not in prices and costs[i] / rate < min(costs.get(j, inf), found.get(j, inf)):
                    found[j] = costs[i] / rate
        if not found:
            break
        costs.update(found)
        front = set(found)
    return costs


def _gap_bps(bound: float, amount_out: int) -> float:
    return (bound / amount_out - 1.0) * 1e4 if amount_out else inf
