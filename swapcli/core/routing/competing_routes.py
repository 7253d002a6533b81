"""Let routes found on other states compete with the result of a search: each is replayed exactly, and the best one
wins."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from swapcli.core.model.order import Order
from swapcli.core.model.quote import Route
from swapcli.core.records import NamedTuple
from swapcli.core.routing.search.problem import Exclusions
from swapcli.core.routing.search.route_search import RouteSearch, SearchResult
from swapcli.core.routing.search.scored_route import ScoredRoute
from swapcli.core.routing.solver.newton import Solution


class KnownRoute(NamedTuple):
    """A route found on a different state, with its input in base units."""

    route: Route
    amount_in: int

    @property
    def pools(self) -> frozenset[str]:
        """The keys of the pools that the route uses."""
        return frozenset(swap.pool for segment in self.route.segments for hop in segment.hops for swap in hop)


def is_better(order: Order, found: ScoredRoute, other: ScoredRoute | None, margin: float = 0.0) -> bool:
    """Return whether `found` is better than `other` by more than the fraction `margin` of its amount.

    Compares the output after gas, or, for a reverse order, the input plus gas.
    """
    if other is None:
        return True
    if order.reverse:
        return input_with_gas(found) < input_with_gas(other) * (1.0 - margin)
    return found.net > other.net + margin * other.replay.amount_out


def input_with_gas(found: ScoredRoute) -> float:
    """Return a route's input plus its gas cost in input units. Gas costs the same fraction of the input as of the
    output."""
    return found.amount_in * (2.0 - found.net / found.replay.amount_out)


def best_of(
    order: Order,
    result: SearchResult | None,
    known_routes: Iterable[KnownRoute],
    search_for: Callable[[int], RouteSearch],
) -> SearchResult | None:
    """Return `result` with its best route replaced by a better one of the `known_routes`, if the market has all pools
    of that route."""
    for candidate in known_routes:
        search = search_for(candidate.amount_in if order.reverse else order.amount)
        found = _score(order, candidate, search) if candidate.pools <= search.scorer.pools.keys() else None
        if found and is_better(order, found, result.best if result else None):
            result = result._replace(best=found) if result else _new_result(search, found)
    return result


def _score(order: Order, candidate: KnownRoute, search: RouteSearch) -> ScoredRoute | None:
    if not order.reverse:
        return search.scorer.score_if_accepted(candidate.route, order.amount)
    from swapcli.core.routing.least_input import least_input

    least = least_input(search.scorer, candidate.route, order.amount, candidate.amount_in)
    return search.scorer.score_replay(candidate.route, *least) if least else None


def _new_result(search: RouteSearch, found: ScoredRoute) -> SearchResult:
    """Return a result for a route when the search found none: any prices certify it, so it uses spot prices."""
    problem = search.problem
    index = problem.graph.token_index
    tokens = {index[token] for step in found.replay.steps for token in (step.token_in, step.token_out)}
    prices = {token: problem.spot.value(token) for token in tokens}
    priced = {token: price for token, price in prices.items() if price > 0.0} | {problem.spec.target: 1.0}
    solution = Solution(priced, [], found.net, 1.0, 0)
    return SearchResult(problem, found, None, solution, Exclusions(), solution)
