"""Search for an order that drains its market, so that it pays at least as much as a smaller order.

A pool that is thin for the order may provide much of its output, so the search repeats without the dust filter. Once
the pools are full, the surplus of the order gains nothing, but some path must take it. That path comes first: the rest
of the order gets the best route on the pools after the surplus. Both routes are then joined into one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Step, Swap
from swapcli.core.model.router_execution import Execution
from swapcli.core.routing.cancellation import CancelCheck, SearchTimeUp
from swapcli.core.routing.graph.digraph import TokenPair, topological_order
from swapcli.core.routing.graph.market_graph import MarketGraph
from swapcli.core.routing.graph.order_market import SpotPrices
from swapcli.core.routing.replay import Replay
from swapcli.core.routing.search.exact_finish import ShareSearch
from swapcli.core.routing.search.exact_paths import exact_paths
from swapcli.core.routing.search.problem import RoutingProblem
from swapcli.core.routing.search.rounding import decompose_into_paths, largest_remainder
from swapcli.core.routing.search.route_search import RouteSearch, SearchResult
from swapcli.core.routing.search.scored_route import ScoredRoute

_MAX_HALVINGS: Final = 12  # of the order: with smaller parts, less than two shares are left
_BISECTIONS: Final = 6  # of the best part: moving shares compensates for smaller errors. Empirical
_MAX_CHECKS: Final = 6_000  # in searches of parts: about a second. Empirical: later ones gain next to nothing
_MAX_ROUNDING_LOSS: Final = 1e-2  # of the output: the most that moving shares may gain
_REDUCTIONS: Final = (0.0, 1e-4, 1e-3, 1e-2)  # of the amounts besides the surplus: rounded shares may overfill a pool


def search_drained_market(
    problem: RoutingProblem,
    graph: MarketGraph,
    pools: Mapping[str, Pool],
    execution: Execution,
    found: SearchResult | None,
) -> SearchResult | None:
    """Return the best of `found` and of routes over the whole `graph`; `pools` by key execute them.

    Routes for parts of the order leave the rest to a path that can take it.
    """
    search = RouteSearch(problem._replace(graph=graph), pools, execution)
    wide = search.run() if graph is not problem.graph else None
    best = max((each for each in (found, wide) if each), key=lambda each: each.best.net, default=None)
    if best and not (best.is_complete and best.drains_market):
        return best
    try:
        return _with_surplus(search, best)
    except SearchTimeUp:
        return best and best._replace(is_complete=False)


def _with_surplus(search: RouteSearch, found: SearchResult | None) -> SearchResult | None:
    """Return the best of `found` and the routes of parts of the order plus a path for the surplus."""
    limit = _WorkLimit(search.spec.check, _MAX_CHECKS)
    problem = search.problem._replace(spec=search.spec._replace(check=limit))
    parts = _best_parts(RouteSearch(problem, search.scorer.pools, search.scorer.execution), limit)
    candidates = [each._replace(problem=search.problem) for each in (found, *parts) if each]
    finished = [each._replace(best=_finished(search, each)) for each in candidates]
    best = max(finished, key=lambda each: each.best.net, default=None)
    return found._replace(best=best.best) if found and best else best


def _finished(search: RouteSearch, result: SearchResult) -> ScoredRoute:
    """Return the route of a result, with its shares decided by exact replays."""
    best = result.best
    shares = ShareSearch(search.problem, search.scorer, best.route, _MAX_ROUNDING_LOSS * best.net, 0.0)
    shares.join(search.scorer.known(best.amount_in), result.solution)
    *_, best = best, *shares.run(best)
    return best


class _WorkLimit:
    """A check that stops the work after a number of calls, which is the same on every machine."""

    def __init__(self, check: CancelCheck, max_calls: int) -> None:
        self._check, self._calls_left = check, max_calls

    @property
    def is_reached(self) -> bool:
        """Whether the work stopped because of the limit."""
        return self._calls_left < 0

    def __call__(self) -> None:
        """Raise `SearchTimeUp` if the limit is reached; otherwise call the limited check, which may raise its own
        errors."""
        self._calls_left -= 1
        if self.is_reached:
            raise SearchTimeUp
        self._check()


def _best_parts(search: RouteSearch, limit: _WorkLimit) -> Iterator[SearchResult | None]:
    """Yield two routes for the whole order, each an extension of a route for a part: the best part by halving, and the
    best part found.

    The output rises with the part until the pools are full; a larger part has no route, or pays less. Once the work
    limit is reached, the best part so far is used.
    """
    best: SearchResult | None = None
    low = high = search.spec.amount
    for _ in range(_MAX_HALVINGS):
        high, low = low, low // 2
        result = _with_part(search, low, limit)
        if best and not (result and result.best.net > best.best.net):
            low, high = high, 2 * high
            break
        best = result
    yield best
    for _ in range(_BISECTIONS if best else 0):
        part = (low + high) // 2
        result = _with_part(search, part, limit)
        if best and result and result.best.net > best.best.net:
            best, low = result, part
        else:
            high = part
    yield best


def _with_part(search: RouteSearch, part: int, limit: _WorkLimit) -> SearchResult | None:
    """Return the route for the whole order that extends the best one for `part`; None without one, or at the limit."""
    try:
        return None if limit.is_reached else _extend(search, part)
    except SearchTimeUp:
        if limit.is_reached:
            return None
        raise


def _extend(search: RouteSearch, part: int) -> SearchResult | None:
    problem, scorer, spec = search.problem, search.scorer, search.spec
    if not part:
        return None
    paths = exact_paths(problem.graph, spec.endpoints, spec.amount - part, spec.max_hops, spec.check)
    surpluses = (scorer.score_if_accepted(path, spec.amount - part) for path in paths)
    surplus = max((each.replay for each in surpluses if each), key=lambda each: each.amount_out, default=None)
    if surplus is None:
        return None
    beside = _beside(problem, part, surplus, scorer.pools)
    result = RouteSearch(beside, {**scorer.pools, **surplus.pools_after}, scorer.execution).run()
    if result is None:
        return None
    if not result.is_complete:
        raise SearchTimeUp
    joined = _joined(search, surplus, result.best.replay)
    return result._replace(problem=problem, best=joined, best_single_path=None) if joined else None


def _joined(search: RouteSearch, surplus: Replay, part: Replay) -> ScoredRoute | None:
    """Return one route with the swaps of both; None if it cannot be executed."""
    for reduction in _REDUCTIONS:
        used = [(step, 1.0 - reduction) for step in part.steps]
        route = _route(search.problem, [*used, *((step, 1.0) for step in surplus.steps)])
        scored = search.scorer.score_if_accepted(route, search.spec.amount) if route else None
        if scored:
            return scored
    return None


def _beside(problem: RoutingProblem, part: int, surplus: Replay, pools: Mapping[str, Pool]) -> RoutingProblem:
    """Return the order for `part` on the market after the surplus."""
    spec, after = problem.spec._replace(amount=part), surplus.pools_after
    graph = problem.graph.with_changes([pools[key] for key in after], after.values(), problem.graph.addresses)
    return RoutingProblem(graph, SpotPrices(graph, spec.target, spec.max_hops), spec)


def _route(problem: RoutingProblem, weighted: Iterable[tuple[Step, float]]) -> Route | None:
    """Return the route whose pools get the weighted amounts of the steps, as closely as shares allow.

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
