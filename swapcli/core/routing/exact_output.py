"""Exact output: find the smallest input whose replayed output reaches the requested amount.

The search for an input runs like an order that sells this input. The route it finds then gets the smallest input for
the requested output, in integers. The search repeats with that input as long as routes get cheaper.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isqrt

from swapcli.core.annotations import TYPE_CHECKING
from swapcli.core.records import NamedTuple
from swapcli.core.routing.cancellation import SearchTimeUp
from swapcli.core.routing.competing_routes import input_with_gas
from swapcli.core.routing.least_input import AMOUNT_LIMIT, least_input
from swapcli.core.routing.market_capacity import max_input
from swapcli.core.routing.search.problem import MAX_RESIDUAL, CandidateSolution, RoutingProblem
from swapcli.core.routing.search.route_search import RouteSearch, SearchResult
from swapcli.core.routing.solver.newton import Solution

if TYPE_CHECKING:
    from swapcli.core.routing.search.warm_search import FormerSearch

_MAX_ESTIMATES = 4  # solutions of each kind (over few tokens, over all) for the first input. Empirical: most need two
_NEAR_ESTIMATE = 1e-3  # of an input: the small solutions are mostly no more accurate than this
_MAX_CLIMBS = 7  # searches until an input suffices. Empirical: most need one
_MAX_DESCENTS = 4  # searches for the smallest input of the best route. Empirical: most need none or one
_NEAR = 2e-2  # of the requested output: routes this close to it get their least input for exactly it
_SAME = 1e-6  # of an input: routes for two inputs this close have the same shares
_CLOSE = 1e-3  # of an input: for a smaller difference, a route whose rounding loses little is as good
_SMALL_GAP = 1e-5  # of the input: a route whose rounding loses less has little to gain. Empirical, as all of these gaps
_LARGE_GAP = 3e-5  # of the input: if rounding loses more, a search from the start may find a better route
_HUGE_GAP = 1e-2  # of the input, in drained pools: if rounding loses more, a smaller input may round better
_PROBES = (0.5, 0.25, 0.125)  # of a huge gap: how much smaller the inputs are that are tried
_MIN_GROWTH = 1.0001  # of an input that does not suffice
_STEP = 1.05  # factor on an input that rounding wastes; squared each time
_LEAP = 64.0  # the largest factor if even the solution brings too little, perhaps from a dust pool

Run = Callable[[RouteSearch], SearchResult | None]


class Shortfall(NamedTuple):
    """The result of a search without a sufficient input: the largest output found, 0 if none."""

    amount_out: int


def route_for_output(
    search_for: Callable[[int], RouteSearch], amount_out: int, first: int = 1, run: Run = RouteSearch.run
) -> SearchResult | Shortfall:
    """Return the cheapest route found for `amount_out`, with its smallest input.

    `first` is an estimate of that input. `run` performs one search for an order that sells a given input.
    """
    problem = search_for(first).problem
    value = problem.spot.value(problem.spec.source)
    state = _InputSearch(search_for, amount_out, run)
    if value > 0.0 and amount_out / value < AMOUNT_LIMIT:
        state.search_from(lambda: _near_search(search_for, max(1, int(amount_out / value)), amount_out))
    return state.best or Shortfall(state.short_output)


def route_from(search_for: Callable[[int], RouteSearch], amount_out: int, former: FormerSearch) -> SearchResult | None:
    """Do the same as `route_for_output`, starting from the search for a similar output, perhaps on an earlier state of
    the market.

    Return None if a search from scratch must follow.
    """
    from swapcli.core.routing.search.warm_search import search_from

    search = search_for(former.amount_in)
    source = search.problem.graph.addresses[search.spec.source]
    elasticity = former.prices[source] * former.amount_in / former.amount_out
    amount = _extrapolate(former.amount_in, former.amount_out, elasticity, amount_out)
    if amount > _LEAP * former.amount_in:
        return None
    state = _InputSearch(search_for, amount_out, lambda search: search_from(search, former))
    state.search_from(lambda: search_for(max(1, int(amount))))
    return state.best if state.last else None


def _near_search(search_for: Callable[[int], RouteSearch], amount: int, amount_out: int) -> RouteSearch:
    """Return a search for an input whose solution, before rounding, pays about `amount_out`.

    The inputs start at `amount`. Solutions over few tokens usually suffice; larger ones follow only if they do not.
    """
    search = search_for(amount)
    for solve, near in ((RouteSearch.estimate, _NEAR_ESTIMATE), (RouteSearch.solve, _NEAR)):
        for _ in range(_MAX_ESTIMATES):
            solution, amount = solve(search), search.spec.amount
            if solution is None or solution.residual > MAX_RESIDUAL or solution.value <= 0.0:
                break
            following = _extrapolate(amount, solution.value, _elasticity(solution, search), amount_out)
            if abs(following - amount) <= near * amount:
                return search
            if not max(1.0, amount / _LEAP) <= following < min(AMOUNT_LIMIT, amount * _LEAP):
                break
            search = search_for(int(following))
    return search


class _InputSearch:
    """Searches for the smallest input.

    `best` is the cheapest route found, `last` the result of the last search, and `short_output` the output of the
    largest insufficient input.
    """

    def __init__(self, search_for: Callable[[int], RouteSearch], amount_out: int, run: Run) -> None:
        self._search_for, self._amount_out, self._run = search_for, amount_out, run
        self.best: SearchResult | None = None
        self.last: SearchResult | None = None
        self.short_output = 0
        self._gap = 0.0

    def search_from(self, start: Callable[[], RouteSearch]) -> None:
        """Find the best route, beginning with the input of the search `start`; return the best so far once time is
        up."""
        try:
            self._climb(start())
            if self.best:
                self._descend(self.best)
        except SearchTimeUp:
            self.best = self.best and self.best._replace(is_complete=False)

    def _climb(self, search: RouteSearch) -> None:
        """Search for growing inputs until one suffices or there is no larger one."""
        short, excess = 0, AMOUNT_LIMIT
        step, leap = _STEP, _LEAP
        for _ in range(_MAX_CLIMBS):
            amount = search.spec.amount
            result = self._search(search)
            if self.best:
                return
            guess = inf
            if result:
                solution, delivered = result.solution, result.best.replay.amount_out
                short, self.short_output = max(short, amount), max(delivered, self.short_output)
                price = solution.prices[search.spec.source]
                if solution.residual <= MAX_RESIDUAL and solution.value + price * (excess - amount) < self._amount_out:
                    return  # more input pays no more than its marginal rate
                guess = _extrapolate(amount, delivered, _elasticity(solution, search), self._amount_out)
                if 2.0 * solution.value > self._amount_out + delivered and guess > amount * step:
                    # Rounding causes most of the shortfall, and the pools are almost drained.
                    guess, step = amount * step, step * step
            else:
                excess = min(excess, amount) if short else _max_input(search.problem)
            if guess > amount * leap:
                guess, leap = amount * leap, min(leap * leap, AMOUNT_LIMIT)
            following = max(int(guess), int(amount * _MIN_GROWTH)) + 1
            if following >= excess:
                excess = excess if short else min(excess, amount)
                following = _midpoint(short, excess)
                if following <= short:
                    return
            search = self._search_for(following)

    def _descend(self, best: SearchResult) -> None:
        """Follow the best solution to the smallest input of its route, as long as that input falls."""
        for _ in range(_MAX_DESCENTS):
            amount, searched = best.best.amount_in, best.problem.spec.amount
            distance = abs(amount - searched) / amount
            if distance > _NEAR:
                self._search(self._search_for(amount))
            elif distance > _CLOSE or (distance > _SAME and self._gap > _SMALL_GAP):
                self._finish(*_follow_again(self._search_for(amount), best))
            if self.best is best and self._gap > _LARGE_GAP:
                self._search(self._search_for(amount))
            for part in _PROBES:
                if self.best is best and self._gap > _HUGE_GAP:
                    self._search(self._search_for(max(1, int(amount * (1.0 - part * self._gap)))))
            if self.best is best or self.best is None:
                return
            best = self.best

    def _search(self, search: RouteSearch) -> SearchResult | None:
        """Return the result of a search, and keep its route if it is the cheapest. Raises `SearchTimeUp`."""
        result = self.last = self._run(search)
        if result and self._amount_out - result.best.replay.amount_out <= _NEAR * self._amount_out:
            self._finish(search, result)
        if result and not result.is_complete:
            raise SearchTimeUp
        return result

    def _finish(self, search: RouteSearch, result: SearchResult) -> None:
        """Give the route of a result its smallest input, and keep it if it is the cheapest."""
        found = _with_least_input(search, result, self._amount_out)
        if found and (self.best is None or input_with_gas(found.best) < input_with_gas(self.best.best)):
            self.best = found
            lost = search.routes.potential - result.best.net
            self._gap = lost / (result.prices[search.spec.source] * search.spec.amount)


def _follow_again(search: RouteSearch, result: SearchResult) -> tuple[RouteSearch, SearchResult]:
    """Return the search for a similar input, and its result over the pools of `result`."""
    spec = result.problem.spec._replace(amount=search.spec.amount)
    problem, arcs = result.problem._replace(spec=spec), result.problem.arcs_between(result.prices, result.exclusions)
    search = RouteSearch(problem, search.scorer.pools, search.scorer.execution)
    candidate = CandidateSolution(problem.solve(arcs, result.prices), arcs, result.exclusions)
    best = search.scorer.score(result.best.route, spec.amount)
    best = max([best, *search.routes.follow(candidate)], key=lambda each: each.net)
    solution = candidate.solution
    return search, search.finish(result._replace(problem=problem, best=best, solution=solution, optimum=solution))


def _max_input(problem: RoutingProblem) -> int:
    """Return an upper bound on the input that the pools can take."""
    spec = problem.spec
    return int(min(max_input(problem.graph, spec.endpoints, spec.max_hops, check=spec.check), AMOUNT_LIMIT))


def _elasticity(solution: Solution, search: RouteSearch) -> float:
    """Return the marginal rate at a solution divided by its average rate."""
    return solution.prices[search.spec.source] * search.spec.amount / solution.value


def _extrapolate(amount: int, delivered: float, elasticity: float, amount_out: int) -> float:
    """Return the input that would pay `amount_out` if the pools together were one constant-product pool.

    For such a pool, input / output is linear in the input. For a whole market it is nearly so, from tiny orders to
    those that drain the pools. Infinite if no input suffices.
    """
    rise = max(0.0, (1.0 - elasticity) / delivered)  # of input / output per unit of input
    left = 1.0 - rise * amount_out
    return (amount / delivered - rise * amount) * amount_out / left if left > 0.0 else inf


def _midpoint(low: int, high: int) -> int:
    """Return the midpoint of two numbers, the geometric mean if they are far apart."""
    return isqrt(low * high) if 0 < 2 * low < high else (low + high) // 2


def _with_least_input(search: RouteSearch, result: SearchResult, amount_out: int) -> SearchResult | None:
    """Return `result` with the smallest input of its route for `amount_out`; None if the route cannot reach it."""
    best, single = result.best, result.best_single_path
    slope = result.prices.get(result.problem.spec.source, 0.0)
    found = least_input(search.scorer, best.route, amount_out, best.amount_in, best.replay, slope)
    if found is None:
        return None
    amount, replay = found
    single = search.scorer.score_if_accepted(single.route, amount) if single else None
    return result._replace(best=search.scorer.score_replay(best.route, amount, replay), best_single_path=single)
