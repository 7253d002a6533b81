"""The routes for a candidate solution: rounded to shares, over all of its pools or fewer, and replayed."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from swapcli.core.errors import PoolError
from swapcli.core.model.quote import Route
from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import Arc
from swapcli.core.routing.search.acyclic import MIN_HOP_FRACTION, notable_flow, shorten_paths
from swapcli.core.routing.search.gas_pruning import estimated_net_output, prune_for_gas
from swapcli.core.routing.search.order_flow import arcs_reusing_a_pool, continuous_flow
from swapcli.core.routing.search.problem import CandidateSolution, RoutingProblem
from swapcli.core.routing.search.rounding import FlowRounding
from swapcli.core.routing.search.scored_route import RouteScorer, ScoredRoute
from swapcli.core.routing.solver.newton import Solution

_CAPACITY_MARGIN = 1 - 2e-4  # of a hop's capacity: rounding earlier hops changes what arrives
_MAX_REJECTED_POOLS = 4  # that a rounding omits before it gives up
_MAX_PRUNED_CANDIDATES = 3  # solutions over fewer pools that are rounded and replayed, best estimate first. Empirical
_SIMILAR_LOSS = 0.9  # of the rounding loss of one solution: others over almost the same pools lose as much. Empirical
_MAX_ROUNDED_POOLS = 300  # with more, only the best by estimate is rounded. This bounds the work


class CandidateRoutes:
    """A maker of routes from the candidate solutions of one problem. `scorer` compares the routes by exact replays.

    Example: `CandidateRoutes(problem, scorer).follow(candidate)`.
    """

    def __init__(self, problem: RoutingProblem, scorer: RouteScorer) -> None:
        self._problem, self._scorer = problem, scorer
        self.potential = self.expected = -inf
        """`potential` is the highest net output that a route would have had without rounding losses.

        `expected` counts only the difference between a replay and the output that its rounding predicted, in either
        direction, as lost.
        """

    def follow(self, candidate: CandidateSolution) -> Iterator[ScoredRoute]:
        """Yield routes for a solution, and cheaper ones over fewer of its pools.

        If part of the order needs paths with too many hops, routes for the solution without these paths come last.
        """
        is_rerouted = True
        for found in self._cheaper_routes(candidate):
            is_rerouted = found.rerouted > 0
            yield found
        shorter = shorten_paths(self._problem, candidate) if is_rerouted else None
        if shorter:
            yield from self._cheaper_routes(shorter)

    def _cheaper_routes(self, candidate: CandidateSolution) -> Iterator[ScoredRoute]:
        """Yield routes over the pools of a solution or fewer, best estimate first, while they may beat the others."""
        problem, stages = self._problem, [candidate]
        if problem.spec.gas_value > 0.0:
            stages = [*prune_for_gas(problem, candidate, _MAX_PRUNED_CANDIDATES), candidate]
        estimates = [estimated_net_output(problem, stage) for stage in stages]
        least_estimate = -inf
        for estimate, stage in sorted(zip(estimates, stages, strict=True), key=lambda each: -each[0]):
            if estimate <= least_estimate:
                break
            found = self.round(stage)
            if found:
                yield found
                least_estimate = max(least_estimate, found.net + _SIMILAR_LOSS * (estimate - found.net))
            if len(candidate.solution.trades) > _MAX_ROUNDED_POOLS:
                break

    def round(self, candidate: CandidateSolution) -> ScoredRoute | None:
        """Return the replayed route of a solution.

        If a pool rejects its share, the share moves elsewhere, or the hop omits the pool. None if every attempt fails.
        """
        problem, solution, rejected_pools = self._problem, candidate.solution, frozenset[str]()
        spec = problem.spec
        for _ in range(1 + _MAX_REJECTED_POOLS):
            rounding = self._rounding(candidate, rejected_pools)
            if rounding is None:
                return None
            shares = rounding.shares(spec.share_step, spec.check)
            rounded = rounding.route(shares, problem.graph, float(spec.amount), spec.max_hops, spec.share_step)
            if rounded is None:
                return None
            route, rerouted = rounded
            try:
                found = self._scorer.score(route, spec.amount)
            except PoolError as error:
                if repaired := self._repair(route, solution):
                    return self._record(repaired, solution.value, -inf)
                rejected_pools |= {str(error.details.get("pool"))}
                continue
            expected = problem.order_value(solution.prices) - rounding.loss(shares) if not rerouted else -inf
            return self._record(found._replace(rerouted=rerouted), solution.value, expected)
        return None

    def _record(self, found: ScoredRoute, value: float, expected: float) -> ScoredRoute:
        """Record the potential of a route: the `value` of its solution, and the output `expected` from its rounding."""
        paid = found.replay.amount_out
        self.potential = max(self.potential, found.net + value - paid)
        self.expected = max(self.expected, found.net + (abs(expected - paid) if expected > 0.0 else value - paid))
        return found

    def _repair(self, route: Route, solution: Solution) -> ScoredRoute | None:
        from swapcli.core.routing.search.exact_finish import ShareSearch

        search = ShareSearch(self._problem, self._scorer, route)
        search.join((), solution)
        return search.repair()

    def _rounding(self, candidate: CandidateSolution, rejected_pools: frozenset[str]) -> FlowRounding | None:
        """Return the rounding of the flow over the usable pools; None if no flow is left."""
        problem, solution = self._problem, candidate.solution
        unusable = arcs_reusing_a_pool(solution.trades, solution.prices)  # too small to be excluded with the cycles
        arcs = dict[TokenPair, list[Arc]]()
        for trade in solution.trades:
            if trade.arc.pool.key not in rejected_pools and id(trade.arc) not in unusable:
                arcs.setdefault((trade.arc.token_in, trade.arc.token_out), []).append(trade.arc)
        values = {pair: value for pair, value in notable_flow(problem, solution).items() if pair in arcs}
        flow = continuous_flow(
            values, arcs, problem.spec.endpoints, float(problem.spec.amount), solution.prices, MIN_HOP_FRACTION
        )
        return FlowRounding(flow, solution.prices, _CAPACITY_MARGIN) if flow.hops else None
