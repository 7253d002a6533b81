"""Find the route for each order on each graph: the continuous optimum, its rounding, and pruning for gas.

The exact replay of every candidate route, net of gas, decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf

from swapcli.core.errors import PoolError
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Route, Step
from swapcli.core.model.router_execution import RATES, Execution
from swapcli.core.records import NamedTuple
from swapcli.core.routing.cancellation import SearchTimeUp, without_time_limit
from swapcli.core.routing.graph.best_paths import extend_prices
from swapcli.core.routing.graph.market_graph import Arc, Prices
from swapcli.core.routing.graph.order_market import SpotPrices
from swapcli.core.routing.search.acyclic import (
    acyclic_candidates,
    has_cycles,
)
from swapcli.core.routing.search.candidate_routes import CandidateRoutes
from swapcli.core.routing.search.column_generation import (
    ActiveSet,
    expand_active_set,
    start_prices,
)
from swapcli.core.routing.search.order_flow import flow_values
from swapcli.core.routing.search.problem import (
    FINEST,
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
    better_single_path,
    max_single_path_output,
    several_ways,
    single_route,
)
from swapcli.core.routing.solver.newton import Solution

_MAX_REJECTED_POOLS = 8  # pools left out of a path, before the search for a single path ends
_BOUND_ITERATIONS = 12  # over the whole market: with much arbitrage, more would take minutes
_MAX_SHORTFALL = 5e-4  # of the solution's output: a route that loses more drains its pools or rounds badly
_MIN_GAIN = 1e-6  # of the output: a hundredth of a basis point is not worth a replay
_SAME_OUTPUT = 1e-7  # a thousandth of a basis point: no path is worth a search for less
MAX_RESIDUAL = 1e-2  # above it the solution is inaccurate, and the previous, smaller active set is rounded as well


class SearchResult(NamedTuple):
    """The result of a search: the best route, the best with one pool per hop, and the solution that the best follows.

    `optimum` is the acyclic solution of greatest value, of which another route may have lost more by rounding.
    `is_complete` is False if the search ran out of time. `unlimited` is the best route without the order's limit on
    pools, None where it has none.
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

    def bounding_prices(self) -> list[Prices]:
        """Return prices for a certificate: those of the route's arcs refined, and those solved over
        the whole market.

        The latter come without and with arcs into the source and out of the target.
        """
        problem, graph = self.problem, self.problem.graph
        source, target = problem.spec.endpoints
        fine = problem.solve(problem.arcs_between(self.prices, self.exclusions), self.prices, FINEST, _BOUND_ITERATIONS)
        used = {source, target}.union(*flow_values(fine))
        known = extend_prices(graph, {t: price for t, price in fine.prices.items() if t in used}, target)
        every = [arc for arc in graph.arcs() if arc.token_out in known and arc.token_in in known]
        forward = [arc for arc in every if arc.token_in != target and arc.token_out != source]
        solved = [problem.solve(arcs, known, FINEST, _BOUND_ITERATIONS).prices for arcs in (forward, every)]
        return [fine.prices, known, *solved]


class RouteSearch:
    """The search for one order; `pools` by key execute the replays, as `execution` says.

    Example: `RouteSearch(problem, market.pools).run()`.
    """

    def __init__(self, problem: RoutingProblem, pools: Mapping[str, Pool], execution: Execution = RATES) -> None:
        self.problem = problem
        self.scorer = RouteScorer(problem.spec, pools, execution)
        self.routes = CandidateRoutes(problem, self.scorer)
        self._best_so_far: SearchResult | None = None
        self._known: Solution | None = None
        self._active: ActiveSet | None = None

    @property
    def spec(self) -> SwapSpec:
        """The swap to find a route for."""
        return self.problem.spec

    def run(self, known: Solution | None = None) -> SearchResult | None:
        """Return the route with the best output net of gas; the best so far once time is up.

        `known` is the solution of a similar order, if there is one: it saves most of the way to the present one. None
        when no route carries the order.
        """
        self._known = known
        try:
            return self._search()
        except SearchTimeUp:
            found = [each for each in (self._best_so_far, self._first_answer()) if each]
            best = max(found, key=lambda each: each.best.net, default=None)
            return best._replace(is_complete=False) if best else None

    def solve(self, known: Solution | None = None) -> Solution | None:
        """Return the rough solution that `run` starts from afterwards, without a route; `known` and None are as there.

        Raises `SearchTimeUp`.
        """
        path = self._first_path()
        if len(path) < 2:
            return None
        self._active = expand_active_set(self.problem, [path], known)
        return self._active.stages[-1].solution

    def _search(self) -> SearchResult | None:
        """Search, and decide the shares exactly."""
        result = self._search_problem()
        return self.finish(result) if result else None

    def finish(self, result: SearchResult) -> SearchResult:
        """Return `result` with shares decided by exact replays, where better ones, or less gas, may gain enough."""
        found, min_gain = result.best, self._min_gain(result)
        gap = self.routes.potential - found.net
        if max(gap, self.spec.gas_value * found.gas_units) <= min_gain:
            return result
        self._record_best(result)
        from swapcli.core.routing.search.exact_finish import ShareSearch

        search = ShareSearch(self.problem, self.scorer, found, gap, min_gain)
        search.join(self.scorer.known(found.amount_in), result.solution)
        for better in search.run():
            result = result._replace(best=better)
            self._record_best(result)
        return result

    def _min_gain(self, result: SearchResult) -> float:
        """Return what is not worth a replay: a cent, a hundredth of a basis point, two units of the coarsest token."""
        prices, index = result.optimum.prices, self.problem.graph.token_index
        unit = max(prices.get(index[step.token_out], 0.0) for step in result.best.replay.steps)
        return max(self.spec.cent, _MIN_GAIN * result.best.replay.amount_out, 2.0 * unit)

    def _search_problem(self) -> SearchResult | None:
        path = self._first_path()
        if len(path) < 2:
            return None
        active = self._active or expand_active_set(self.problem, [path], self._known)
        result = self._search_over(active)
        max_output = max_single_path_output(self.problem, active.stages[-1].solution, active.outside_gain)
        better = self.find_better_single_path(result.best if result else None, max_output)
        best = better or (result.best if result else None)
        unrestricted = active.stages[-1].solution.value
        if best and unrestricted > (1.0 + MUCH_ARBITRAGE) * best.net:
            better = self._find_other_way(best) or better
        if better is None:
            return result
        active = expand_active_set(self.problem, [path, self._tokens_of_first_path(better.route)])
        results = [each for each in (result, self._search_over(active, better)) if each]
        optimum = max((each.optimum for each in results), key=lambda each: each.value)
        return max(results, key=lambda each: each.best.net)._replace(optimum=optimum)

    def _first_path(self) -> list[int]:
        """Return the best path at spot prices, without pools that are dust to the order."""
        graph, spot, spec = self.problem.graph, self.problem.spot, self.spec
        path = spot.path(spec.source)
        if all(j in graph.arcs_by_pair[i] for i, j in pairwise(path)):
            return path
        return SpotPrices(graph, spec.target, spec.max_hops, spot.slices).path(spec.source)

    def _search_over(self, active: ActiveSet, floor: ScoredRoute | None = None) -> SearchResult | None:
        """Return the best route over an active set, or `floor` if that is better."""
        stages = active.stages
        single = found = floor or self.best_single_path(stages[-1].arcs)
        if found:
            self._record_best(self._result(found, single, stages[-1], stages[-1].solution))
        best_candidate: CandidateSolution | None = None
        optimum: Solution | None = None
        for candidate in self._acyclic_candidates(stages):
            best_candidate = best_candidate or candidate
            if optimum is None or candidate.solution.value > optimum.value:
                optimum = candidate.solution
            if found and candidate.solution.value <= found.net:
                continue
            for route in self.routes.follow(candidate):
                if route and (found is None or route.net > found.net):
                    found, best_candidate = route, candidate
                    self._record_best(self._result(found, single, candidate, optimum))
        return self._result(found, single, best_candidate, optimum) if found and best_candidate and optimum else None

    def _acyclic_candidates(self, stages: Sequence[CandidateSolution]) -> Iterator[CandidateSolution]:
        """Yield acyclic solutions: those that are found at once, and then better ones that take longer."""
        candidates = acyclic_candidates(self.problem, stages[-1])
        if max(candidates[0].solution.residual, stages[-1].solution.residual) > MAX_RESIDUAL:
            candidates += [each for stage in stages[-2:-1] for each in acyclic_candidates(self.problem, stage)]
        yield from candidates
        active = stages[-1]
        if self._has_cycle_gap(active, max(each.solution.value for each in candidates)):
            from swapcli.core.routing.search.token_orders import better_orders

            yield from better_orders(self.problem, active, max(candidates, key=lambda each: each.solution.value))

    def _has_cycle_gap(self, active: CandidateSolution, value: float) -> bool:
        """Return whether an acyclic flow may be worth more than `value`.

        None is worth more than the solution without that limit.
        """
        gap = active.solution.value - value
        return gap > self.problem.min_reordering_gain(active.solution) and has_cycles(self.problem, active.solution)

    def _result(
        self, best: ScoredRoute, single: ScoredRoute | None, candidate: CandidateSolution, optimum: Solution
    ) -> SearchResult:
        return SearchResult(self.problem, best, single, candidate.solution, candidate.exclusions, optimum)

    def _record_best(self, result: SearchResult) -> None:
        """Record `result` as the answer when time is up, if it is the best so far."""
        if self._best_so_far is None or result.best.net > self._best_so_far.best.net:
            self._best_so_far = result

    def _first_answer(self) -> SearchResult | None:
        """Return the least answer when time is up: the best single path at spot prices, or its pools in parallel.

        Neither takes long, so that they are found in any case.
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
        """Return the best route over some arcs, solved from `prices`; None if no route carries the order."""
        solved = CandidateSolution(self.problem.solve(arcs, prices), arcs)
        found = (
            route for each in acyclic_candidates(self.problem, solved) for route in self.routes.follow(each) if route
        )
        return max(found, key=lambda each: each.net, default=None)

    def find_better_single_path(self, found: ScoredRoute | None, max_output: float = inf) -> ScoredRoute | None:
        """Return a path with one pool per hop, anywhere in the market, that beats `found`; None if there is none.

        No such path pays more than `max_output`, before gas. Pools that reject their amount, or pay much less for it
        than their curve by rounding, are left out of the next path.
        """
        spec, rejected_pools = self.spec, set[str]()
        min_net = found.net + spec.router_gas.base * spec.gas_value if found else -inf
        if max_output * (1.0 - _SAME_OUTPUT) - self.problem.min_swap_gas_cost <= min_net:
            return None
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

    def _find_other_way(self, found: ScoredRoute) -> ScoredRoute | None:
        """Return a single path that beats `found`, of those over several ways to each token; None if there is none."""
        paths = several_ways(self.problem, found.net + self.spec.router_gas.base * self.spec.gas_value)
        routes = (single_route(self.problem.graph, path) for path in paths)
        scored = (self.scorer.score_if_accepted(route, self.spec.amount) for route in routes)
        best = max((each for each in scored if each), key=lambda each: each.net, default=found)
        return best if best.net > found.net else None

    def _tokens_of_first_path(self, route: Route) -> list[int]:
        """Return the tokens of the first path of `route`."""
        index, hops = self.problem.graph.token_index, route.segments[0].hops
        return [index[hops[0][0].token_in], *(index[hop[0].token_out] for hop in hops)]


def _rounding_pool(path: Sequence[Arc], steps: Sequence[Step]) -> str | None:
    """Return the pool on a replayed path that pays least of what its curve says; None if none falls short by much."""
    least, found = 1.0 - _MAX_SHORTFALL, None
    for arc, step in zip(path, steps, strict=True):
        expected = arc.curve.amount_out(float(step.amount_in))
        if step.amount_out < least * expected:
            least, found = step.amount_out / expected, arc.pool.key
    return found
