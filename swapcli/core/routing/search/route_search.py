"""Find the route for an order: the continuous optimum, pruned for gas, rounded and replayed exactly.

The replay with the best output after gas wins. Further searches follow only if `Gaps` shows that they may gain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import inf

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Route, Step
from swapcli.core.model.router_execution import RATES, Execution
from swapcli.core.records import NamedTuple
from swapcli.core.routing.cancellation import SearchTimeUp, without_time_limit
from swapcli.core.routing.graph.market_graph import Arc, Prices
from swapcli.core.routing.graph.order_market import SpotPrices
from swapcli.core.routing.search.acyclic import break_cycles, has_cycles
from swapcli.core.routing.search.candidate_routes import CandidateRoutes
from swapcli.core.routing.search.column_generation import (
    ActiveSet,
    expand_active_set,
    path_prices,
    start_prices,
)
from swapcli.core.routing.search.gaps import Gaps, Refinement
from swapcli.core.routing.search.problem import (
    MAX_RESIDUAL,
    MUCH_ARBITRAGE,
    ROUGH,
    CandidateSolution,
    Exclusions,
    RoutingProblem,
    SwapSpec,
)
from swapcli.core.routing.search.scored_route import RouteScorer, ScoredRoute
from swapcli.core.routing.search.single_path import (
    best_single_path,
    better_paths,
    better_single_path,
    max_single_path_output,
    single_route,
)
from swapcli.core.routing.solver.newton import Solution

_MAX_REJECTED_POOLS = 8  # pools that a search for a single path omits before it gives up
_WAYS = 3  # paths kept for each token if there is much arbitrage. Empirical
_MAX_SHORTFALL = 5e-4  # of the solution's output: a route that loses more drains its pools or rounds badly
_SAME_OUTPUT = 1e-7  # a thousandth of a basis point: no path is worth a search for less
_DRAINED = 0.5  # of the output at spot prices
_CLOSED = 1e-5  # of a solution's value: a route that loses less to full pools is as good as the best
_WORTHLESS = 2e-3  # of the output. Empirical: if the input is worth more, further searches gain nothing


class SearchResult(NamedTuple):
    """The result of a search: the best route, the best route with one pool per hop, and the solution behind the best
    route.

    `optimum` is the acyclic solution with the highest value; its own route may have lost more by rounding than `best`.
    `is_complete` is False if the search ran out of time. `unlimited` is the best route without the order's limit on
    pools; None if it has no limit.
    """

    problem: RoutingProblem
    best: ScoredRoute
    best_single_path: ScoredRoute | None
    solution: Solution
    exclusions: Exclusions
    optimum: Solution
    is_complete: bool = True
    unlimited: ScoredRoute | None = None

    @property
    def prices(self) -> Prices:
        """The solution's prices, in units of the target."""
        return self.solution.prices

    @property
    def drains_market(self) -> bool:
        """Whether the order fills its pools: more input would yield next to nothing, and a different route may pay
        more."""
        problem, solution, amount_out = self.problem, self.optimum, self.best.replay.amount_out
        if amount_out > _DRAINED * problem.spot_output():
            return False
        is_full = problem.order_value(solution.prices) < _WORTHLESS * amount_out
        return solution.residual > MAX_RESIDUAL or (is_full and amount_out < solution.value * (1.0 - _CLOSED))


class RouteSearch:
    """The search for one order; its replays use `pools` (by key) and `execution`.

    Example: `RouteSearch(problem, market.pools).run()`.
    """

    def __init__(self, problem: RoutingProblem, pools: Mapping[str, Pool], execution: Execution = RATES) -> None:
        self.problem = problem
        self.scorer = RouteScorer(problem.spec, pools, execution)
        self.routes = CandidateRoutes(problem, self.scorer)
        self._best: SearchResult | None = None
        self._single: ScoredRoute | None = None
        self._active: ActiveSet | None = None

    @property
    def spec(self) -> SwapSpec:
        """The swap for which to find a route."""
        return self.problem.spec

    def run(self) -> SearchResult | None:
        """Return the route with the best output after gas, or the best route so far once time is up.

        Return None if no route can fill the order.
        """
        try:
            return self._search()
        except SearchTimeUp:
            found = [each for each in (self._best, self._first_answer()) if each]
            best = max(found, key=lambda each: each.best.net, default=None)
            return best._replace(is_complete=False) if best else None

    def estimate(self) -> Solution | None:
        """Return a rough solution over the tokens of the best path and a few others; None without a path.

        Raises `SearchTimeUp`.
        """
        path = self._first_path()
        if len(path) < 2:
            return None
        prices = start_prices(self.problem, [path])
        return self.problem.solve(self.problem.arcs_between(prices), prices, ROUGH)

    def solve(self) -> Solution | None:
        """Return the rough solution from which `run` will start, or None without a path. Raises `SearchTimeUp`."""
        path = self._first_path()
        if len(path) < 2:
            return None
        self._active = expand_active_set(self.problem, [path])
        return self._active.last.solution

    def _search(self) -> SearchResult | None:
        """Follow the solution over the active set, then try the refinements for the gaps of the best route."""
        path, tried = self._first_path(), set[Refinement]()
        if len(path) < 2:
            return None
        active = self._active or expand_active_set(self.problem, [path])
        optimum = self._follow_active_set(active)
        while refinement := self._gaps(active, optimum).next_refinement(tried):
            tried.add(refinement)
            if refinement is Refinement.TOKEN_ORDERS:
                optimum = self._follow_token_orders(active.last, optimum)
            elif refinement is Refinement.SINGLE_PATHS:
                better = self._find_other_path(active.last)
                if better:
                    other = self._tokens_of_first_path(better.route)
                    active = expand_active_set(self.problem, [path, other])
                    found = self._follow_active_set(active, better), self._follow_along(other)
                    optimum = max(optimum, *found, key=_value)
                    tried.discard(Refinement.TOKEN_ORDERS)
            elif self._best:
                self._best = self.finish(self._best._replace(optimum=optimum.solution))
        return self._best and self._best._replace(optimum=optimum.solution)

    def _gaps(self, active: ActiveSet, optimum: CandidateSolution) -> Gaps:
        """Return the gaps of the best route so far; `optimum` is the best acyclic solution."""
        problem, spec, solution = self.problem, self.spec, active.last.solution
        cycles = solution.value - optimum.solution.value - problem.min_reordering_gain(solution)
        if cycles > 0.0 and not has_cycles(problem, solution):
            cycles = 0.0
        if self._best is None:
            return Gaps(cycles, inf, 0.0)
        found, min_gain = self._best.best, self._min_gain(self._best)
        max_output = max_single_path_output(problem, solution, active.outside_gain) * (1.0 - _SAME_OUTPUT)
        paths = max_output - problem.min_swap_gas_cost - found.net - spec.router_gas.base * spec.gas_value
        shares = max(abs(self.routes.potential - found.net), spec.gas_value * found.gas_units) - min_gain
        return Gaps(cycles, paths, shares)

    def _follow_active_set(self, active: ActiveSet, found: ScoredRoute | None = None) -> CandidateSolution:
        """Break the cycles of the solution over an active set, follow the acyclic one, and return it.

        `found` is the best single path, if it is known.
        """
        self._single = found or self.best_single_path(active.last.arcs)
        acyclic = break_cycles(self.problem, active.last)
        if self._single:
            self._record(self._single, acyclic)
        self._follow(acyclic)
        return acyclic

    def _follow_along(self, path: list[int]) -> CandidateSolution:
        """Follow the solution over all pools of a path, and return it.

        With arbitrage, solutions over more tokens may have a token order that excludes the path.
        """
        arcs = [arc for i, j in pairwise(path) for arc in self.problem.graph.arcs_by_pair[i][j]]
        along = CandidateSolution(self.problem.solve(arcs, path_prices(self.problem, path)[1]), arcs)
        self._follow(along)
        return along

    def _follow_token_orders(self, active: CandidateSolution, optimum: CandidateSolution) -> CandidateSolution:
        """Follow acyclic solutions of a higher value in other token orders, and return the best one."""
        from swapcli.core.routing.search.token_orders import better_orders

        for candidate in better_orders(self.problem, active, optimum):
            optimum = candidate
            self._follow(candidate)
        return optimum

    def _follow(self, candidate: CandidateSolution) -> None:
        """Prune and round an acyclic solution, and replay its routes, if one of them may become the best."""
        if self._best is None or candidate.solution.value > self._best.best.net:
            for route in self.routes.follow(candidate):
                self._record(route, candidate)

    def _record(self, route: ScoredRoute, candidate: CandidateSolution) -> None:
        """Record a route for `candidate` if it is the best so far."""
        if self._best is None or route.net > self._best.best.net:
            solution, exclusions = candidate.solution, candidate.exclusions
            self._best = SearchResult(self.problem, route, self._single, solution, exclusions, solution)

    def _find_other_path(self, active: CandidateSolution) -> ScoredRoute | None:
        """Return a single path that is better than the best route; None if none is found.

        With much arbitrage, several paths to each token are tried as well.
        """
        best = self._best.best if self._best else None
        better = self.find_better_single_path(best)
        found = better or best
        if found is None or active.solution.value <= (1.0 + MUCH_ARBITRAGE) * found.net:
            return better
        paths = better_paths(self.problem, found.net + self.spec.router_gas.base * self.spec.gas_value, _WAYS)
        routes = (single_route(self.problem.graph, path) for path in paths)
        scored = (self.scorer.score_if_accepted(route, self.spec.amount) for route in routes)
        other = max((each for each in scored if each), key=lambda each: each.net, default=found)
        return other if other.net > found.net else better

    def finish(self, result: SearchResult) -> SearchResult:
        """Return `result` with its shares decided by exact replays, if better shares or less gas may gain enough."""
        found, min_gain = result.best, self._min_gain(result)
        # A path that beats all solutions may gain from their hops, too. If no rounding succeeded, all hops may be
        # missing.
        gap = abs((self.routes.potential if self.routes.potential > -inf else result.optimum.value) - found.net)
        if max(gap, self.spec.gas_value * found.gas_units) <= min_gain:
            return result
        from swapcli.core.routing.search.exact_finish import ShareSearch

        search = ShareSearch(self.problem, self.scorer, found.route, gap, min_gain)
        search.join(self.scorer.known(found.amount_in), result.solution)
        for better in search.run(found, moves_shares=abs(self.routes.expected - found.net) > min_gain):
            self._best = result = result._replace(best=better)  # the result if time is up before the next one is found
        return result

    def _min_gain(self, result: SearchResult) -> float:
        """Return the gain over the best route that is not worth a replay; see `RoutingProblem.min_gain`."""
        prices, index = result.optimum.prices, self.problem.graph.token_index
        unit = max(prices.get(index[step.token_out], 0.0) for step in result.best.replay.steps)
        return self.problem.min_gain(result.best.replay.amount_out, unit)

    def _first_path(self) -> list[int]:
        """Return the best path at spot prices, without pools that are dust for the order."""
        graph, spot, spec = self.problem.graph, self.problem.spot, self.spec
        path = spot.path(spec.source)
        if all(j in graph.arcs_by_pair[i] for i, j in pairwise(path)):
            return path
        return SpotPrices(graph, spec.target, spec.max_hops, spot.slices).path(spec.source)

    def _first_answer(self) -> SearchResult | None:
        """Return a fallback for when time is up: the best single path at spot prices, or its pools in parallel.

        Both are found quickly, so the time limit does not apply to them.
        """
        spec = self.spec._replace(check=without_time_limit(self.spec.check))
        problem, path, graph = self.problem._replace(spec=spec), self._first_path(), self.problem.graph
        if len(path) < 2:
            return None
        search = RouteSearch(problem, self.scorer.pools, self.scorer.execution)
        prices = start_prices(problem, [path])
        arcs = problem.arcs_between(prices)
        single = search.best_single_path([*arcs, *(arc for i, j in pairwise(path) for arc in graph.arcs_by_pair[i][j])])
        coarse = CandidateSolution(problem.solve(arcs, prices, ROUGH), arcs)
        found = [each for each in (single, *search.routes.follow(coarse)) if each]
        best = max(found, key=lambda each: each.net, default=None) or search.find_better_single_path(None)
        return best and SearchResult(self.problem, best, single, coarse.solution, Exclusions(), coarse.solution)

    def best_single_path(self, arcs: list[Arc]) -> ScoredRoute | None:
        """Return the best route over `arcs` with one pool per hop; None if there is none."""
        path = best_single_path(self.problem, arcs)
        return self.scorer.score_if_accepted(single_route(self.problem.graph, path), self.spec.amount) if path else None

    def best_route_over(self, arcs: list[Arc], prices: Prices) -> ScoredRoute | None:
        """Return the best route over the given arcs, starting the solver at `prices`; None if no route can fill the
        order."""
        solved = break_cycles(self.problem, CandidateSolution(self.problem.solve(arcs, prices), arcs))
        return max((route for route in self.routes.follow(solved) if route), key=lambda each: each.net, default=None)

    def find_better_single_path(self, found: ScoredRoute | None) -> ScoredRoute | None:
        """Return a path with one pool per hop, anywhere in the market, that beats `found`; None if there is none.

        Pools that reject their amount, or that pay much less than their curve because of rounding, are omitted from the
        next path.
        """
        spec, rejected_pools = self.spec, set[str]()
        min_net = found.net + spec.router_gas.base * spec.gas_value if found else -inf
        for _ in range(_MAX_REJECTED_POOLS):
            spec.check()
            path = better_single_path(self.problem, min_net, rejected_pools)
            if not path:
                break
            try:
                route = single_route(self.problem.graph, path)
                better = self.scorer.score(route, spec.amount)
            except PoolError as error:
                rejected_pools.add(str(error.details.get("pool")))
                continue
            if found is None or better.net > found.net:
                return better
            rounding_pool = _rounding_pool(path, better.replay.steps)
            if rounding_pool is None:
                break
            rejected_pools.add(rounding_pool)
        return None

    def _tokens_of_first_path(self, route: Route) -> list[int]:
        """Return the tokens of the first path of `route`."""
        index, hops = self.problem.graph.token_index, route.segments[0].hops
        return [index[hops[0][0].token_in], *(index[hop[0].token_out] for hop in hops)]


def _value(candidate: CandidateSolution) -> float:
    return candidate.solution.value


def _rounding_pool(path: Sequence[Arc], steps: Sequence[Step]) -> str | None:
    """Return the pool on a replayed path that falls short of its curve the most; None if no pool falls short by
    much."""
    least, found = 1.0 - _MAX_SHORTFALL, None
    for arc, step in zip(path, steps, strict=True):
        expected = arc.curve.amount_out(float(step.amount_in))
        if step.amount_out < least * expected:
            least, found = step.amount_out / expected, arc.pool.key
    return found
