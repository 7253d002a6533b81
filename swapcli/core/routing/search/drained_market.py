"""Search for an order that drains its market: it never pays less than a smaller one would.

A pool that is thin for the order may pay much of its output, so the search repeats without a filter for dust. Once the
pools are full, a surplus of the order has no use, but some path must take it. That path comes first: the rest of the
order gets the best route on the pools as the surplus has left them. Both together are one route.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Step, Swap
from swapcli.core.model.router_execution import Execution
from swapcli.core.routing.cancellation import SearchTimeUp
from swapcli.core.routing.graph.digraph import TokenPair, topological_order
from swapcli.core.routing.graph.market_graph import MarketGraph
from swapcli.core.routing.graph.order_market import SpotPrices
from swapcli.core.routing.replay import Replay
from swapcli.core.routing.search.exact_climb import climb
from swapcli.core.routing.search.exact_finish import ShareSearch
from swapcli.core.routing.search.exact_paths import exact_paths
from swapcli.core.routing.search.problem import RoutingProblem
from swapcli.core.routing.search.rounding import decompose_into_paths, largest_remainder
from swapcli.core.routing.search.route_search import RouteSearch, SearchResult
from swapcli.core.routing.search.scored_route import ScoredRoute

_WORTHLESS: Final = 1e-3  # of the output: if more input is worth less, the pools are full
_MAX_RESIDUAL: Final = 1e-2  # above it the solution is inaccurate
_PARTS: Final = 5  # halvings of the order, of which the best begins the bisection
_BISECTIONS: Final = 8  # then the part is known to a thousandth
_MAX_SURPLUS_PATHS: Final = 3  # for each part, those that pay most. Bounds the work
_MAX_ROUNDING_LOSS: Final = 1e-2  # of the output: what moves of shares may gain
_REDUCTIONS: Final = (0.0, 1e-4, 1e-3, 1e-2)  # of the amounts beside the surplus: rounded shares may overfill a pool


def search_drained_market(
    problem: RoutingProblem,
    graph: MarketGraph,
    pools: Mapping[str, Pool],
    execution: Execution,
    found: SearchResult | None,
) -> SearchResult | None:
    """Return the best of `found` and of routes over the whole `graph`; `pools` by key execute them."""
    search = RouteSearch(problem._replace(graph=graph), pools, execution)
    wide = search.run() if graph is not problem.graph else None
    best = max((each for each in (found, wide) if each), key=lambda each: each.best.net, default=None)
    if best and (not best.is_complete or not _has_surplus(best)):
        return best
    try:
        return _with_surplus(search, best)
    except SearchTimeUp:
        return best and best._replace(is_complete=False)


def _has_surplus(result: SearchResult) -> bool:
    """Return whether more input would bring next to nothing, or the solution is far off."""
    problem, solution = result.problem, result.optimum
    worth = problem.order_value(solution.prices)
    return solution.residual > _MAX_RESIDUAL or worth < _WORTHLESS * result.best.replay.amount_out


def _with_surplus(search: RouteSearch, found: SearchResult | None) -> SearchResult | None:
    """Return the best of `found` and a route of a part of the order with a path for its surplus."""
    problem, scorer, extension = search.problem, search.scorer, _Extension(search)
    routes = [climb(problem, scorer, each) for each in (found and found.best, extension.best()) if each]
    best, result = max(routes, key=lambda each: each.net, default=None), found or extension.last
    if best is None or result is None:
        return found
    shares = ShareSearch(problem, scorer, best.route, _MAX_ROUNDING_LOSS * best.net, 0.0)
    shares.join(scorer.known(best.amount_in), result.solution)
    *_, best = best, *shares.run(best)
    return result._replace(best=climb(problem, scorer, best))


class _Extension:
    """Finds the best route for a whole order that extends one for a part of it.

    `last` is the result of the last search of a part, for the whole order.
    """

    def __init__(self, search: RouteSearch) -> None:
        self._problem, self._scorer = search.problem, search.scorer
        self.last: SearchResult | None = None

    def best(self) -> ScoredRoute | None:
        """Return the best route found.

        The output rises with the part up to the one that fills the pools, and falls after it: a bisection leads there.
        """
        parts = [self._problem.spec.amount >> halvings for halvings in range(1, _PARTS + 1)]
        found = [(extended, part) for part in parts if part and (extended := self._extended(part))]
        if not found:
            return None
        best, low = max(found, key=lambda each: each[0].net)
        high = 2 * low
        for _ in range(_BISECTIONS):
            part = (low + high) // 2
            extended = self._extended(part)
            if extended and extended.net > best.net:
                best, low = extended, part
            else:
                high = part
        return best

    def _extended(self, part: int) -> ScoredRoute | None:
        """Return the best route that extends one of `part`."""
        problem, scorer, spec = self._problem, self._scorer, self._problem.spec
        routes = exact_paths(problem.graph, spec.endpoints, spec.amount - part, spec.max_hops, spec.check)
        scored = (scorer.score_if_accepted(route, spec.amount - part) for route in routes)
        surpluses = sorted((each.replay for each in scored if each), key=lambda each: -each.amount_out)
        joined: list[ScoredRoute] = []
        for surplus in surpluses[:_MAX_SURPLUS_PATHS]:
            beside = _beside(problem, part, surplus, scorer.pools)
            search = RouteSearch(beside, {**scorer.pools, **surplus.pools_after}, scorer.execution)
            result = search.run()
            if result and not result.is_complete:
                raise SearchTimeUp
            if result:
                self.last = result._replace(problem=problem, best_single_path=None)
                joined += self._joined(surplus, result.best.replay)
        return max(joined, key=lambda each: each.net, default=None)

    def _joined(self, surplus: Replay, part: Replay) -> Iterator[ScoredRoute]:
        """Yield the route of the swaps of both, if it can be executed."""
        for reduction in _REDUCTIONS:
            used = [(step, 1.0 - reduction) for step in part.steps]
            route = _route(self._problem, [*used, *((step, 1.0) for step in surplus.steps)])
            scored = self._scorer.score_if_accepted(route, self._problem.spec.amount) if route else None
            if scored:
                yield scored
                return


def _beside(problem: RoutingProblem, part: int, surplus: Replay, pools: Mapping[str, Pool]) -> RoutingProblem:
    """Return the order of `part` on the market after the surplus."""
    spec, after = problem.spec._replace(amount=part), surplus.pools_after
    graph = problem.graph.with_changes([pools[key] for key in after], after.values(), problem.graph.addresses)
    return RoutingProblem(graph, SpotPrices(graph, spec.target, spec.max_hops), spec)


def _route(problem: RoutingProblem, weighted: Iterable[tuple[Step, float]]) -> Route | None:
    """Return the route whose pools get the amounts of steps with their weights, as far as shares can say.

    None if its tokens form a cycle, or if no path is within the hop limit.
    """
    spec, index = problem.spec, problem.graph.token_index
    amounts: dict[TokenPair, dict[str, float]] = {}
    for step, weight in weighted:
        pools = amounts.setdefault((index[step.token_in], index[step.token_out]), {})
        pools[step.pool] = pools.get(step.pool, 0.0) + step.amount_in * weight
    order = topological_order(amounts)
    if order is None:
        return None
    carried, shares = {spec.source: 1.0}, dict[TokenPair, float]()
    for token in order:
        leaving = {pair: sum(pools.values()) for pair, pools in amounts.items() if pair[0] == token}
        for pair, amount in leaving.items():
            shares[pair] = carried[token] * amount / sum(leaving.values())
            carried[pair[1]] = carried.get(pair[1], 0.0) + shares[pair]
    paths = decompose_into_paths(shares, spec.endpoints, spec.max_hops, 0.5 / SHARES_PER_ROUTE)
    steps, total = SHARES_PER_ROUTE // spec.share_step, sum(width for _, width in paths)
    rounded = largest_remainder([width / total * steps for _, width in paths], steps)
    hops = {pair: _hop(problem, pair, pools) for pair, pools in amounts.items()}
    found = zip(paths, rounded, strict=True)
    segments = [Segment(n * spec.share_step, tuple(hops[pair] for pair in path)) for (path, _), n in found if n]
    return Route(tuple(segments)) if segments else None


def _hop(problem: RoutingProblem, pair: TokenPair, amounts: Mapping[str, float]) -> tuple[Swap, ...]:
    total, (token_in, token_out) = sum(amounts.values()), (problem.graph.addresses[token] for token in pair)
    shares = largest_remainder([amount / total * SHARES_PER_HOP for amount in amounts.values()], SHARES_PER_HOP)
    return tuple(Swap(key, token_in, token_out, n) for key, n in zip(amounts, shares, strict=True) if n)
