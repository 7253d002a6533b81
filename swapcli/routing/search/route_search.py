"""Finds the route for one order on one graph: the continuous optimum, its rounding, and what gas makes of it.

Every candidate is judged by its exact replay, net of gas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import inf
from typing import NamedTuple

from swapcli.errors import PoolError
from swapcli.model.pool import Pool
from swapcli.model.route import Route
from swapcli.routing.cancellation import SearchTimeUp
from swapcli.routing.gas import BASE_GAS, route_gas
from swapcli.routing.graph.digraph import TokenPair
from swapcli.routing.graph.market_graph import Arc, Prices
from swapcli.routing.graph.paths import extend_prices
from swapcli.routing.graph.spot_prices import SpotPrices
from swapcli.routing.replay import Replay, replay
from swapcli.routing.search.active_set import expand_active_set, start_prices
from swapcli.routing.search.acyclic import MIN_HOP_FRACTION, acyclic_candidates, notable_flow, shorten_paths
from swapcli.routing.search.flow import arcs_reusing_a_pool, continuous_flow, flow_values, trades_by_pair
from swapcli.routing.search.gas_pruning import estimated_net_output, prune_for_gas
from swapcli.routing.search.problem import FINEST, CandidateSolution, Exclusions, RoutingProblem, SwapSpec
from swapcli.routing.search.rounding import build_route, hop_losses, whole_percents
from swapcli.routing.search.single_path import best_single_path, better_single_path, single_route
from swapcli.routing.solver.newton import Solution

_NEAR_MARGINAL = 0.99  # of a hop's marginal rate: pools that a little more input would wake up
_MAX_IDLE_POOLS = 3
_CAPACITY_MARGINS = (
    1 - 2e-4,
    0.997,
    *[0.98] * 4,
)  # of a hop's capacity: rounding the hops before it changes what arrives
_MAX_PRUNED_CANDIDATES = 3  # solutions over fewer pools that are rounded: their gas is only estimated before
_MAX_DETOUR_ROUNDS = 3
_MAX_REJECTED_POOLS = 8  # pools that refuse their part of the best path, one after the other
_LOW_PRECISION_UNITS = 30_000  # an intermediate balance of fewer units loses more by rounding down than a route may
_ROUNDING_LOSS = 3e-5
_BOUND_MAX_HOPS = 40  # for a bound on any routing, whose paths have no limit
_BOUND_ITERATIONS = 12  # over the whole market: where it holds much arbitrage a better bound is worth no minutes
_MAX_SHORTFALL = 5e-4  # a route that delivers less by this part drains its pools, or rounds badly
_MAX_RESIDUAL = 1e-2  # a residual above which earlier, smaller neighbourhoods are tried as well


class ScoredRoute(NamedTuple):
    """A route with its exact replay, and its worth after gas in base units of the target.

    `rerouted_percent` is the percent that only paths with too many hops would have carried.
    """

    route: Route
    amount_in: int
    replay: Replay
    gas_units: int
    net: float
    rerouted_percent: int = 0


class SearchResult(NamedTuple):
    """What a search ended with: the best route, the best with one pool per hop, and prices to certify it.

    `is_complete` is False where the search ran out of time.
    """

    problem: RoutingProblem
    best: ScoredRoute
    best_single_path: ScoredRoute | None
    solution: Solution
    exclusions: Exclusions
    is_complete: bool = True

    @property
    def prices(self) -> Prices:
        """The solution's prices, in units of the target."""
        return self.solution.prices

    def bounding_prices(self) -> list[Prices]:
        """Return prices for a certificate: refined over the arcs that the route may use, and solved for over the whole
        market, without and with what leads back into the source or on from the target."""
        problem, graph = self.problem, self.problem.graph
        source, target = problem.spec.endpoints
        fine = problem.solve(problem.arcs_between(self.prices, self.exclusions), self.prices, FINEST, _BOUND_ITERATIONS)
        used = {source, target}.union(*flow_values(fine))
        known = extend_prices(graph, {t: price for t, price in fine.prices.items() if t in used}, target)
        every = [arc for arc in graph.arcs() if arc.token_out in known and arc.token_in in known]
        forward = [arc for arc in every if arc.token_in != target and arc.token_out != source]
        wide = problem._replace(spot=SpotPrices(graph, target, _BOUND_MAX_HOPS))
        solved = [wide.solve(arcs, known, FINEST, _BOUND_ITERATIONS).prices for arcs in (forward, every)]
        return [fine.prices, known, *solved]


class RouteSearch:
    """One order; `pools` by key execute the replays."""

    def __init__(self, problem: RoutingProblem, pools: Mapping[str, Pool]) -> None:
        self.problem, self.pools = problem, pools
        self._best_so_far: SearchResult | None = None

    @property
    def spec(self) -> SwapSpec:
        """What is asked."""
        return self.problem.spec

    def run(self) -> SearchResult | None:
        """Return the route with the best output net of gas, or the best one so far once the task's time is up; None
        when no route carries the order."""
        try:
            return self._search()
        except SearchTimeUp:
            return self._best_so_far._replace(is_complete=False) if self._best_so_far else None

    def _search(self) -> SearchResult | None:
        """Where a route loses by passing through a token of which it moves only a few units, try ways around it."""
        best = outcome = self._search_avoiding(self.problem)
        problem = self.problem
        for _ in range(_MAX_DETOUR_ROUNDS):
            coarse = low_precision_tokens(outcome) if outcome else frozenset[int]()
            if not coarse:
                break
            problem = problem.without_tokens(coarse)
            if best and problem.spot_output() <= best.best.net:
                break
            outcome = self._search_avoiding(problem)
            best = max((one for one in (best, outcome) if one), key=lambda one: one.best.net)
        return self._reallocate(best) if best else None

    def _reallocate(self, outcome: SearchResult) -> SearchResult:
        """`outcome` with its percents moved to where they bring more, if its route falls short of its solution."""
        found, solution = outcome.best, outcome.solution
        if found.replay.amount_out >= solution.value * (1.0 - _MAX_SHORTFALL):
            return outcome
        from swapcli.routing.search.share_reallocation import reallocate_shares

        better = self.score_route(reallocate_shares(outcome.problem, found.route, solution), found.amount_in)
        return outcome._replace(best=better) if better and better.net > found.net else outcome

    def _search_avoiding(self, problem: RoutingProblem) -> SearchResult | None:
        """Search on `problem`, which may avoid tokens."""
        search = self
        if problem is not self.problem:
            search = RouteSearch(problem, self.pools)
            search._best_so_far = self._best_so_far
        try:
            return search._search_problem()
        finally:
            self._best_so_far = search._best_so_far

    def _search_problem(self) -> SearchResult | None:
        path = self._first_path()
        if len(path) < 2:
            return None
        outcome = self._search_from([path])
        better = self._find_better_single_path(outcome.best if outcome else None)
        if better is None:
            return outcome
        again = self._search_from([path, self._tokens_of_first_path(better.route)], better)
        return max((one for one in (outcome, again) if one), key=lambda one: one.best.net)

    def _first_path(self) -> list[int]:
        """Return the best path at spot prices; where that needs pools that are dust to the order, the best without."""
        graph, spot, task = self.problem.graph, self.problem.spot, self.spec
        path = spot.path(task.source)
        if all(j in graph.arcs_by_pair[i] for i, j in pairwise(path)):
            return path
        return SpotPrices(graph, task.target, task.max_hops, spot.slices, self.problem.avoided_tokens).path(task.source)

    def _search_from(self, paths: list[list[int]], floor: ScoredRoute | None = None) -> SearchResult | None:
        """The best of what the neighbourhood that grows from `paths` has to offer, and of `floor`."""
        if self._best_so_far is None:
            self._record_single_path(paths[0])
        stages = expand_active_set(self.problem, paths)
        single = found = floor or self._best_single_path(stages[-1].arcs)
        candidates = acyclic_candidates(self.problem, stages[-1])
        if max(candidates[0].solution.residual, stages[-1].solution.residual) > _MAX_RESIDUAL:
            candidates += [one for stage in stages[-2:-1] for one in acyclic_candidates(self.problem, stage)]
        best_candidate = candidates[0]
        for candidate in candidates:
            if found and candidate.solution.value <= found.net:
                continue
            for route in self._routes(candidate):
                if route and (found is None or route.net > found.net):
                    found, best_candidate = route, candidate
                    self._record_best(
                        SearchResult(self.problem, found, single, best_candidate.solution, best_candidate.exclusions)
                    )
        return (
            SearchResult(self.problem, found, single, best_candidate.solution, best_candidate.exclusions)
            if found
            else None
        )

    def _record_best(self, outcome: SearchResult) -> None:
        """Keep `outcome` for when time is up, if it is the best so far."""
        if self._best_so_far is None or outcome.best.net > self._best_so_far.best.net:
            self._best_so_far = outcome

    def _record_single_path(self, path: list[int]) -> None:
        """Have a first answer before anything is solved: the best pools of one path."""
        graph = self.problem.graph
        arcs = [arc for i, j in pairwise(path) for arc in graph.arcs_by_pair[i][j]]
        found = self._best_single_path(arcs)
        if found:
            prices = start_prices(self.problem, [path])
            self._record_best(
                SearchResult(self.problem, found, found, Solution(prices, [], found.net, 0.0, 0), Exclusions())
            )

    def score_route(self, route: Route, amount_in: int) -> ScoredRoute | None:
        """`route` with its exact amounts for `amount_in`; None where a pool refuses."""
        try:
            return self._score(route, amount_in, replay(self.pools, route, amount_in))
        except PoolError:
            return None

    def _best_single_path(self, arcs: list[Arc]) -> ScoredRoute | None:
        path = best_single_path(self.problem, arcs)
        return self.score_route(single_route(self.problem.graph, path), self.spec.amount) if path else None

    def _routes(self, solved: CandidateSolution) -> Iterator[ScoredRoute | None]:
        """Routes that follow a solution, and cheaper ones over fewer of its pools."""
        rounded = self._round_and_replay(solved)
        yield rounded
        shorter = shorten_paths(self.problem, solved) if rounded is None or rounded.rerouted_percent else None
        if shorter:
            rounded = self._round_and_replay(shorter)
            yield rounded
        if self.spec.gas_value > 0.0:
            yield from self._cheaper_routes(shorter or solved, rounded)

    def _cheaper_routes(self, solved: CandidateSolution, best: ScoredRoute | None) -> Iterator[ScoredRoute]:
        """Routes over fewer pools as long as they may beat `best`."""
        for stage in prune_for_gas(self.problem, solved, _MAX_PRUNED_CANDIDATES):
            if best and estimated_net_output(self.problem, stage) <= best.net:
                break
            found = self._round_and_replay(stage)
            if found:
                yield found
                best = max(best or found, found, key=lambda one: one.net)

    def _find_better_single_path(self, found: ScoredRoute | None) -> ScoredRoute | None:
        """A path with one pool per hop anywhere in the market that beats `found`; None where there is none."""
        task, refused = self.spec, set[str]()
        least = found.net + BASE_GAS * task.gas_value if found else -inf
        for _ in range(_MAX_REJECTED_POOLS):
            task.check()
            path = better_single_path(self.problem, least, refused)
            if not path:
                break
            try:
                route = single_route(self.problem.graph, path)
                better = self._score(route, task.amount, replay(self.pools, route, task.amount))
                return better if found is None or better.net > found.net else None
            except PoolError as error:
                refused.add(str(error.details.get("pool")))
        return None

    def _tokens_of_first_path(self, route: Route) -> list[int]:
        """The tokens that the first path of `route` passes through."""
        index, hops = self.problem.graph.token_index, route.segments[0].hops
        return [index[hops[0][0].token_in], *(index[hop[0].token_out] for hop in hops)]

    # --- rounding

    def _round_and_replay(self, solved: CandidateSolution) -> ScoredRoute | None:
        """The solution on the wire's precision. Where a pool refuses its share, hops are filled less, or without it."""
        refused: set[str] = set()
        for headroom in _CAPACITY_MARGINS:
            rounded = self._round(solved, refused, headroom)
            if rounded is None:
                return None
            route, rerouted = rounded
            try:
                found = self._score(route, self.spec.amount, replay(self.pools, route, self.spec.amount))
                return found._replace(rerouted_percent=rerouted)
            except PoolError as error:
                if headroom == _CAPACITY_MARGINS[-1]:
                    refused.add(str(error.details.get("pool")))
        return None

    def _round(self, solved: CandidateSolution, refused: set[str], headroom: float) -> tuple[Route, int] | None:
        solution, amount = solved.solution, float(self.spec.amount)
        nearby = {link: arcs for link, arcs in self._usable_arcs(solved, refused) if arcs}
        values = {link: value for link, value in notable_flow(self.problem, solution).items() if link in nearby}
        flow = continuous_flow(values, nearby, self.spec.endpoints, amount, solution.prices, MIN_HOP_FRACTION)
        if not flow.hops:
            return None
        losses = hop_losses(flow, solution.prices, headroom)
        percents = whole_percents(flow, solution.prices, losses, self.spec.check)
        return build_route(percents, losses, flow, self.problem.graph, amount, self.spec.max_hops, headroom)

    def _usable_arcs(self, solved: CandidateSolution, refused: set[str]) -> Iterator[tuple[TokenPair, list[Arc]]]:
        """Per hop in use: the pools that trade, and with free gas those that a little more input would wake up."""
        solution = solved.solution
        allowed: dict[TokenPair, list[Arc]] = {}
        for arc in solved.arcs:
            allowed.setdefault((arc.token_in, arc.token_out), []).append(arc)
        taken = {trade.arc.pool.key for trade in solution.trades} | refused
        weaker = arcs_reusing_a_pool(
            solution.trades, solution.prices
        )  # too small for the solution to have been without them
        for link, trades in trades_by_pair(solution.trades).items():
            arcs = [t.arc for t in trades if t.arc.pool.key not in refused and id(t.arc) not in weaker]
            if self.spec.gas_value == 0.0:
                rate = solution.prices[link[0]] / solution.prices[link[1]] * _NEAR_MARGINAL
                idle = [arc for arc in allowed[link] if arc.rate > rate and arc.pool.key not in taken]
                arcs += idle[:_MAX_IDLE_POOLS]
                taken.update(arc.pool.key for arc in idle[:_MAX_IDLE_POOLS])
            yield link, arcs

    def _score(self, route: Route, amount_in: int, result: Replay) -> ScoredRoute:
        gas = route_gas(self.pools, result)
        return ScoredRoute(route, amount_in, result, gas, result.amount_out - gas * self.spec.gas_value)


def low_precision_tokens(outcome: SearchResult) -> frozenset[int]:
    """Tokens between the ends of which the route moves too few units, if the route falls short of the solution."""
    if outcome.best.replay.amount_out > outcome.solution.value * (1 - _ROUNDING_LOSS):
        return frozenset()
    moved: dict[str, int] = {}
    for step in outcome.best.replay.steps:
        moved[step.token_out] = moved.get(step.token_out, 0) + step.amount_out
    index = outcome.problem.graph.token_index
    coarse = {index[address] for address, amount in moved.items() if amount < _LOW_PRECISION_UNITS}
    return frozenset(coarse - {outcome.problem.spec.target})
