"""Start a search from the result for a similar order: a different amount of the same pair, or the same order on a later
state.

The prices of the earlier result are close to the current ones, and its pools can usually fill the current order, too.
The search solves over these pools alone. It then checks at the new prices that nothing else would improve the result:
no other pool between the same tokens pays for its gas, and no detour over further tokens pays. A search from scratch is
needed if much could be gained, if the flow has cycles that could be broken in several ways, or if the route follows its
solution less closely than the earlier one did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set

from swapcli.core.errors import InvalidRoute
from swapcli.core.model.quote import Route
from swapcli.core.records import NamedTuple
from swapcli.core.routing.cancellation import SearchTimeUp
from swapcli.core.routing.graph.digraph import TokenPair, edge_distances
from swapcli.core.routing.graph.market_graph import Arc, Prices
from swapcli.core.routing.search.acyclic import is_acyclic
from swapcli.core.routing.search.column_generation import min_detour_gas_cost, tokens_to_add
from swapcli.core.routing.search.gas_pruning import gas_cost
from swapcli.core.routing.search.problem import FINE, MAX_RESIDUAL, CandidateSolution, Exclusions, RoutingProblem
from swapcli.core.routing.search.route_search import RouteSearch, SearchResult
from swapcli.core.routing.search.scored_route import ScoredRoute
from swapcli.core.routing.solver.newton import Solution, Trade

_ArcKey = tuple[str, str, str]
"""The key of a pool, and the addresses of the tokens in and out: identifies an arc on all states."""

_MAX_ROUNDS = 4  # of solving with additional arcs and tokens. Empirical: most orders need one
_MAX_ADDED_TOKENS = 6  # per round: as many as in the first round of a search from scratch
# Part of a solution's output: if a route loses more (drained pools, few units, gas), its order is searched from
# scratch.
_MAX_LOSS = 5e-3
_LOSS_GROWTH = 1.1  # the maximum loss relative to the earlier route's. Empirical: with 1.5, some orders get less
_LOSS_MARGIN = 1e-6  # the same for routes with almost no loss: 0.01 basis points


class FormerSearch(NamedTuple):
    """The results of a search that a similar order can reuse: prices by address, arcs, routes, and the amounts of the
    best route.

    `arcs` are the arcs that carried flow: others between the same tokens matter only if gas is free. `loss` is the
    fraction of the solution's output that the route lost.
    """

    prices: dict[str, float]
    arcs: frozenset[_ArcKey]
    route: Route
    single_path: Route | None
    amount_in: int
    amount_out: int
    loss: float


def summarize(result: SearchResult) -> FormerSearch | None:
    """Return the data from which a search for a similar order can start; None if it should start from scratch."""
    problem, solution = result.problem, result.solution
    if not result.is_complete or not solution.trades or solution.value <= 0.0:
        return None
    loss, single = _loss(result), result.best_single_path
    if loss > _MAX_LOSS or result.exclusions.pairs or result.exclusions.arcs:
        return None
    addresses = problem.graph.addresses
    prices = {addresses[token]: price for token, price in problem.used_prices(solution).items()}
    arcs = frozenset(_key(trade.arc, addresses) for trade in solution.trades)
    best = result.best
    return FormerSearch(prices, arcs, best.route, single and single.route, best.amount_in, best.replay.amount_out, loss)


def search_from(search: RouteSearch, former: FormerSearch) -> SearchResult | None:
    """Return the result of `search`, starting from the result for a similar order; None if it must start from scratch.

    Once time is up, the result is the earlier route. Raises `Cancelled`.
    """
    known, single = (_score(search, route) for route in (former.route, former.single_path))
    try:
        return _search(search, former, known, single)
    except SearchTimeUp:
        solution = Solution(_known_prices(search.problem, former), [], 0.0, 1.0, 0)
        return known and SearchResult(
            search.problem, known, single, solution, Exclusions(), solution, is_complete=False
        )


def _score(search: RouteSearch, route: Route | None) -> ScoredRoute | None:
    """Return an earlier route with its current amounts; None if it has become invalid."""
    try:
        return search.scorer.score_if_accepted(route, search.spec.amount) if route else None
    except InvalidRoute:
        return None


def _search(
    search: RouteSearch, former: FormerSearch, known: ScoredRoute | None, known_single: ScoredRoute | None
) -> SearchResult | None:
    candidate = _solve(search.problem, former)
    if candidate is None:
        return None
    single = _better(search.best_single_path(candidate.arcs), known_single)
    found = _better(known, single)
    for route in search.routes.follow(candidate):
        found = _better(found, route)
    if found is None:
        return None
    result = SearchResult(search.problem, found, single, candidate.solution, candidate.exclusions, candidate.solution)
    try:
        result = search.finish(result)
    except SearchTimeUp:
        return result._replace(is_complete=False)
    if _loss(result) > _LOSS_GROWTH * former.loss + _LOSS_MARGIN:
        return None
    found = result.best
    # Rounding to whole units may favour a path other than the one closest to the solution.
    may_be_beaten = search.spec.gas_value > 0.0 or (len(found.route.segments) == 1 and not _is_optimal(result))
    return None if may_be_beaten and search.find_better_single_path(found) else result


def _solve(problem: RoutingProblem, former: FormerSearch) -> CandidateSolution | None:
    """Return the solution over the arcs of the earlier one and everything else that pays at its prices.

    None if still more would pay, if no path is left, or if no acyclic route can carry the flow.
    """
    prices, added, attempts = _known_prices(problem, former), set[int](), Counter[int]()
    addresses = problem.graph.addresses
    for _ in range(_MAX_ROUNDS):
        usable = arcs = problem.arcs_between(prices)
        if problem.spec.gas_value > 0.0:
            arcs = [
                arc
                for arc in usable
                if _key(arc, addresses) in former.arcs or id(arc) in added or _touches(arc, attempts)
            ]
        if not _connects(arcs, problem.spec.endpoints):
            return None
        candidate = CandidateSolution(problem.solve(arcs, prices, FINE), arcs)
        solution = candidate.solution
        prices = prices | solution.prices
        paying = _paying_arcs(problem, usable, arcs, prices)
        tokens, _ = tokens_to_add(problem, candidate, _MAX_ADDED_TOKENS, attempts, min_detour_gas_cost(problem))
        if not paying and not tokens:
            is_usable = solution.residual <= MAX_RESIDUAL and is_acyclic(problem, solution)
            return candidate if is_usable else None
        added |= paying
        attempts.update(tokens.keys())
        prices = prices | tokens
    return None


def _paying_arcs(problem: RoutingProblem, usable: list[Arc], solved: list[Arc], prices: Prices) -> set[int]:
    """Return the IDs of usable arcs outside the solved ones whose best trade at `prices` pays for its gas."""
    known = set(map(id, solved)) if len(solved) < len(usable) else set(map(id, usable))
    return {
        id(trade.arc)
        for trade in _trades(usable, known, prices)
        if trade.surplus > gas_cost(problem, trade.arc, trade.amount_in)
    }


def _trades(arcs: Iterable[Arc], known: Set[int], prices: Prices) -> Iterator[Trade]:
    """Yield the best trades at `prices` of the arcs that are not known, if there are any."""
    for arc in arcs:
        gain = arc.surplus(prices) if id(arc) not in known else 0.0
        if gain > 0.0:
            amount_in, amount_out = arc.best_trade(prices[arc.token_in], prices[arc.token_out])
            yield Trade(arc, amount_in, amount_out, gain)


def _better(route: ScoredRoute | None, other: ScoredRoute | None) -> ScoredRoute | None:
    return max((each for each in (route, other) if each), key=lambda each: each.net, default=None)


def _touches(arc: Arc, tokens: Iterable[int]) -> bool:
    return any(token in (arc.token_in, arc.token_out) for token in tokens)


def _connects(arcs: Iterable[Arc], endpoints: TokenPair) -> bool:
    source, target = endpoints
    return target in edge_distances([(arc.token_in, arc.token_out) for arc in arcs], source)


def _is_optimal(result: SearchResult) -> bool:
    """Return whether the best route loses at most 0.01 basis points of its solution's output."""
    return _loss(result) <= _LOSS_MARGIN


def _loss(result: SearchResult) -> float:
    """Return the part of the solution's output that the best route loses.

    Rates are compared, because a route for an exact output has its least input, which differs slightly from the
    solution's.
    """
    rate = result.best.replay.amount_out / result.solution.value
    return 1.0 - rate * (result.problem.spec.amount / result.best.amount_in)


def _key(arc: Arc, addresses: Sequence[str]) -> _ArcKey:
    return arc.pool.key, addresses[arc.token_in], addresses[arc.token_out]


def _known_prices(problem: RoutingProblem, former: FormerSearch) -> Prices:
    """Return the earlier prices, by number, of the tokens that the market has."""
    index = problem.graph.token_index
    return {index[address]: price for address, price in former.prices.items() if address in index}
