"""Exact output: the least input whose replayed output reaches the requested amount.

The search for an input is that of an order for it. Its route then gets its own least input for the requested output, in
integers, and the search runs again for that input while the routes get cheaper.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isqrt
from typing import TYPE_CHECKING

from swapcli.core.records import NamedTuple
from swapcli.core.routing.cancellation import SearchTimeUp
from swapcli.core.routing.competing_routes import input_with_gas
from swapcli.core.routing.least_input import AMOUNT_LIMIT, least_input
from swapcli.core.routing.market_capacity import max_input
from swapcli.core.routing.search.problem import MAX_RESIDUAL, RoutingProblem
from swapcli.core.routing.search.route_search import RouteSearch, SearchResult
from swapcli.core.routing.solver.newton import Solution

if TYPE_CHECKING:
    from swapcli.core.routing.search.warm_search import FormerSearch

_ESTIMATES = 4  # solutions without routes, to find the input of the first route. Empirical: most need two
_ESTIMATE_TOLERANCE = 3e-4  # of the requested output: rounding a solution loses about as much
_MAX_CLIMBS = 16  # searches until an input suffices. Empirical: most need one
_MAX_DESCENTS = 6  # searches for the least input of the best route. Empirical: most need none or one
_NEAR = 2e-2  # of the requested output: routes this close to it get their least input for exactly it
_CLOSE = 1e-3  # of the input: a route finished this close to its own input needs no further search
_SIMILAR = 0.25  # of an input: a search starts from the solution of one that differs by less
_MIN_GROWTH = 1.0001  # of an input that does not suffice
_STEP = 1.05  # factor on an input of which rounding loses too much: its square the next time, and so on
_LEAP = 64.0  # the same if even the solution brings too little, perhaps as only a dust pool is drained

Run = Callable[[RouteSearch, Solution | None], SearchResult | None]
"""Runs a search, perhaps from the solution of a similar order."""


class Shortfall(NamedTuple):
    """The result of a search without a sufficient input: the largest output found, 0 for none."""

    amount_out: int


def route_for_output(
    search_for: Callable[[int], RouteSearch], amount_out: int, first: int = 1
) -> SearchResult | Shortfall:
    """Return the cheapest route found for `amount_out`, with its least input. `first` estimates that input."""
    problem = search_for(first).problem
    value = problem.spot.value(problem.spec.source)
    state = _InputSearch(search_for, amount_out, RouteSearch.run)
    if value > 0.0 and amount_out / value < AMOUNT_LIMIT:
        state.search_from(lambda: _near_search(search_for, max(1, int(amount_out / value)), amount_out))
    return state.best or Shortfall(state.short_output)


def route_from(search_for: Callable[[int], RouteSearch], amount_out: int, former: FormerSearch) -> SearchResult | None:
    """As `route_for_output`, from the search for a similar output, on a former state of the market perhaps.

    None if a search from the start has to follow.
    """
    from swapcli.core.routing.search.warm_search import search_from

    search = search_for(former.amount_in)
    source = search.problem.graph.addresses[search.spec.source]
    elasticity = former.prices[source] * former.amount_in / former.amount_out
    amount = _extrapolate(former.amount_in, former.amount_out, elasticity, amount_out)
    if amount > _LEAP * former.amount_in:
        return None
    state = _InputSearch(search_for, amount_out, lambda search, _: search_from(search, former))
    state.search_from(lambda: search_for(max(1, int(amount))))
    return state.best if state.last else None


def _near_search(search_for: Callable[[int], RouteSearch], amount: int, amount_out: int) -> RouteSearch:
    """Return the search for an input whose solution, before rounding, brings about `amount_out`.

    The inputs start at `amount`, whose search is returned if solutions lead nowhere.
    """
    first = search = search_for(amount)
    known: Solution | None = None
    for _ in range(_ESTIMATES):
        solution = search.solve(known)
        if solution is None or solution.residual > MAX_RESIDUAL or solution.value <= 0.0:
            return first
        if abs(solution.value - amount_out) <= _ESTIMATE_TOLERANCE * amount_out:
            break
        following = _extrapolate(amount, solution.value, _elasticity(solution, search), amount_out)
        if not max(1.0, amount / _LEAP) <= following < min(AMOUNT_LIMIT, amount * _LEAP):
            return first
        known = solution if _is_similar(int(following), amount) else None
        amount = int(following)
        search = search_for(amount)
    return search


class _InputSearch:
    """Searches for the least input. `best` is the cheapest route found, and `last` the result of the last search; the
    largest input that does not suffice brings `short_output`."""

    def __init__(self, search_for: Callable[[int], RouteSearch], amount_out: int, run: Run) -> None:
        self._search_for, self._amount_out, self._run = search_for, amount_out, run
        self.best: SearchResult | None = None
        self.last: SearchResult | None = None
        self.short_output = 0

    def search_from(self, start: Callable[[], RouteSearch]) -> None:
        """Find the best route, from the input of the search `start` on; the best so far once time is up."""
        try:
            self._climb(start())
            if self.best:
                self._descend(self.best)
        except SearchTimeUp:
            self.best = self.best and self.best._replace(is_complete=False)

    def _climb(self, search: RouteSearch) -> None:
        """Search for growing inputs until one suffices, or none above is left."""
        short, excess = 0, AMOUNT_LIMIT
        step, leap = _STEP, _LEAP
        for _ in range(_MAX_CLIMBS):
            amount = search.spec.amount
            result = self._search(search)
            if self.best:
                return
            guess = inf
            if result:
                delivered = result.best.replay.amount_out
                short, self.short_output = max(short, amount), max(delivered, self.short_output)
                guess = _extrapolate(amount, delivered, _elasticity(result.solution, search), self._amount_out)
                if result.solution.value >= self._amount_out and guess > amount * step:
                    # Rounding loses what is missing, and the pools are almost drained.
                    guess, step = amount * step, step * step
            else:
                excess = min(excess, amount) if short else _max_input(search.problem)
            if guess > amount * leap:
                guess, leap = amount * leap, min(leap * leap, AMOUNT_LIMIT)
            following = max(int(guess), int(amount * _MIN_GROWTH)) + 1
            if following >= excess:
                following = _midpoint(short, excess)
                if following <= (short or amount):
                    return
            search = self._search_for(following)

    def _descend(self, best: SearchResult) -> None:
        """Search for the least input of the best route, while that gets less."""
        for _ in range(_MAX_DESCENTS):
            amount = best.best.amount_in
            if abs(amount - best.problem.spec.amount) <= _CLOSE * amount:
                return
            self._search(self._search_for(amount))
            if self.best is best or self.best is None:
                return
            best = self.best

    def _search(self, search: RouteSearch) -> SearchResult | None:
        """Return the result of a search, whose route becomes the best if it is. Raises `SearchTimeUp`."""
        last = self.last
        is_similar = last is not None and _is_similar(search.spec.amount, last.problem.spec.amount)
        result = self.last = self._run(search, last.solution if last and is_similar else None)
        if result and self._amount_out - result.best.replay.amount_out <= _NEAR * self._amount_out:
            found = _with_least_input(search, result, self._amount_out)
            if found and (self.best is None or input_with_gas(found.best) < input_with_gas(self.best.best)):
                self.best = found
        if result and not result.is_complete:
            raise SearchTimeUp
        return result


def _is_similar(amount: int, other: int) -> bool:
    """Return whether a search starts from the solution for another amount."""
    return abs(amount - other) <= _SIMILAR * amount


def _max_input(problem: RoutingProblem) -> int:
    """Return an upper bound on the input that the pools can take."""
    spec = problem.spec
    return int(min(max_input(problem.graph, spec.endpoints, spec.max_hops, check=spec.check), AMOUNT_LIMIT))


def _elasticity(solution: Solution, search: RouteSearch) -> float:
    """Return the marginal rate at a solution divided by its average rate."""
    return solution.prices[search.spec.source] * search.spec.amount / solution.value


def _extrapolate(amount: int, delivered: float, elasticity: float, amount_out: int) -> float:
    """Return the input that would bring `amount_out` if the pools together were one constant-product pool.

    For such a pool, input / output is linear in the input. For a whole market it is nearly so, from tiny orders to
    those that drain the pools. Infinite if no input would.
    """
    rise = max(0.0, (1.0 - elasticity) / delivered)  # of input / output per unit of input
    left = 1.0 - rise * amount_out
    return (amount / delivered - rise * amount) * amount_out / left if left > 0.0 else inf


def _midpoint(low: int, high: int) -> int:
    """Return the middle of the two, geometric if they are far apart."""
    return isqrt(low * high) if 0 < 2 * low < high else (low + high) // 2


def _with_least_input(search: RouteSearch, result: SearchResult, amount_out: int) -> SearchResult | None:
    """Return `result` with the least input of its route for `amount_out`; None if the route cannot reach it."""
    best, single = result.best, result.best_single_path
    slope = result.prices.get(result.problem.spec.source, 0.0)
    found = least_input(search.scorer, best.route, amount_out, best.amount_in, best.replay, slope)
    if found is None:
        return None
    amount, replay = found
    single = search.scorer.score_if_accepted(single.route, amount) if single else None
    return result._replace(best=search.scorer.score_replay(best.route, amount, replay), best_single_path=single)
