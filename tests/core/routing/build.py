"""Small markets of real pools for the routing tests."""

from __future__ import annotations

from swapcli.core.model.market import MarketState
from swapcli.core.routing.graph.market_graph import MarketGraph
from swapcli.core.routing.graph.order_market import SpotPrices
from swapcli.core.routing.search.problem import FINE, CandidateSolution, RoutingProblem, SwapSpec


def graph_of(traded_market: MarketState) -> MarketGraph:
    """All pools of `traded_market` as a graph whose token numbers are those of the market."""
    return MarketGraph(traded_market.pools.values(), traded_market.tokens)


def problem_of(traded_market: MarketState, amount: int, max_hops: int = 6, gas_value: float = 0.0) -> RoutingProblem:
    """The order that sells `amount` of token 0 for token 1."""
    return problem_on(graph_of(traded_market), amount, max_hops, gas_value)


def problem_on(graph: MarketGraph, amount: int, max_hops: int = 6, gas_value: float = 0.0) -> RoutingProblem:
    """The same on a graph."""
    return RoutingProblem(graph, SpotPrices(graph, 1, max_hops), SwapSpec(0, 1, amount, max_hops, gas_value))


def solved(problem: RoutingProblem, tolerance: float = FINE) -> CandidateSolution | None:
    """The problem solved over the whole market, without growth; None where no path joins the two tokens."""
    prices = {t: price for t in range(len(problem.graph.addresses)) if (price := problem.spot.value(t)) > 0.0}
    if not problem.spot.path(0):
        return None
    arcs = problem.arcs_between(prices)
    return CandidateSolution(problem.solve(arcs, prices | {1: 1.0}, tolerance), arcs)
