"""The routes that follow a candidate solution: rounded to shares, over all of its pools or fewer, and replayed."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from swapcli.core.errors import PoolError
from swapcli.core.model.quote import SHARES_PER_ROUTE, WHOLE_PERCENTS, has_whole_percents
from swapcli.core.routing.search.acyclic import share_on_long_paths, shorten_paths
from swapcli.core.routing.search.candidate_rounding import CAPACITY_MARGINS, CandidateRounding
from swapcli.core.routing.search.gas_pruning import estimated_net_output, prune_for_gas
from swapcli.core.routing.search.problem import CandidateSolution, RoutingProblem
from swapcli.core.routing.search.scored_route import RouteScorer, ScoredRoute

_MAX_PRUNED_CANDIDATES = 3  # solutions over fewer pools that are rounded and replayed, best estimate first. Empirical
_SIMILAR_LOSS = 0.9  # of what one solution loses by rounding, others over almost the same pools lose too. Empirical
_MAX_ROUNDED_POOLS = 300  # above it, only the best of a solution and its pruned ones is rounded. Bounds the work


class CandidateRoutes:
    """Turns the candidate solutions of one problem into routes, whose exact replays `scorer` compares.

    Example: `CandidateRoutes(problem, scorer).follow(candidate)`.
    """

    def __init__(self, problem: RoutingProblem, scorer: RouteScorer) -> None:
        self._problem, self._scorer = problem, scorer
        self._share_step = problem.spec.share_step

    def follow(self, candidate: CandidateSolution) -> Iterator[ScoredRoute | None]:
        """Yield routes that follow a solution, and cheaper ones over fewer of its pools.

        Where gas has a price, the solution itself mostly costs too much: it is rounded only if that may pay.
        """
        has_gas = self._problem.spec.gas_value > 0.0
        if has_gas and len(candidate.solution.trades) > _MAX_ROUNDED_POOLS:
            candidate, has_gas = self._pruned(candidate), False
        if has_gas:
            yield from self._routes_net_of_gas(candidate)
            return
        rounded = self.round(candidate)
        yield rounded
        shorter = shorten_paths(self._problem, candidate) if rounded is None or rounded.rerouted else None
        if shorter:
            yield self.round(shorter)

    def _routes_net_of_gas(self, candidate: CandidateSolution) -> Iterator[ScoredRoute | None]:
        """Yield routes over the pools of a solution or fewer, without paths of too many hops where those carry much."""
        if share_on_long_paths(self._problem, candidate) > self._share_step / (2 * SHARES_PER_ROUTE):
            yield self.round(candidate)
            yield from self._cheaper_routes(shorten_paths(self._problem, candidate) or candidate)
            return
        is_rerouted = False
        for route in self._cheaper_routes(candidate):
            is_rerouted = is_rerouted or route.rerouted > 0
            yield route
        shorter = shorten_paths(self._problem, candidate) if is_rerouted else None
        if shorter:
            yield from self._cheaper_routes(shorter)

    def _pruned(self, candidate: CandidateSolution) -> CandidateSolution:
        """Return the solution with the best estimated net output over the candidate's pools or fewer."""
        pruned = prune_for_gas(self._problem, candidate, 1)
        return max([candidate, *pruned], key=lambda each: estimated_net_output(self._problem, each))

    def _cheaper_routes(self, candidate: CandidateSolution) -> Iterator[ScoredRoute]:
        """Yield routes over the pools of a solution or fewer, best estimate first, while they may beat the others."""
        stages = [*prune_for_gas(self._problem, candidate, _MAX_PRUNED_CANDIDATES), candidate]
        estimates = [estimated_net_output(self._problem, stage) for stage in stages]
        least_estimate = -inf
        for estimate, stage in sorted(zip(estimates, stages, strict=True), key=lambda each: -each[0]):
            if estimate <= least_estimate:
                break
            found = self.round(stage)
            if found:
                yield found
                least_estimate = max(least_estimate, found.net + _SIMILAR_LOSS * (estimate - found.net))

    def round(self, candidate: CandidateSolution) -> ScoredRoute | None:
        """Return the route of a solution, rounded and replayed; None if no rounding succeeds.

        Where shares are finer than a percent, whole percents compete with them: the router rounds every amount down, so
        that fewer paths may pay more.
        """
        rounding, share_step = CandidateRounding(self._problem, candidate), self._share_step
        found = self._replay_rounded(rounding, share_step)
        if found is None:
            self._share_step = WHOLE_PERCENTS  # the order fills its pools, and finer shares fill them too closely
        if share_step == WHOLE_PERCENTS or (found and has_whole_percents(found.route)):
            return found
        if found and not rounding.may_pay_more(WHOLE_PERCENTS, found.replay.amount_out, share_step):
            return found
        whole = self._replay_rounded(rounding, WHOLE_PERCENTS)
        return max((each for each in (found, whole) if each), key=lambda each: each.net, default=None)

    def _replay_rounded(self, rounding: CandidateRounding, share_step: int) -> ScoredRoute | None:
        """Return the replayed route in multiples of `share_step`.

        If a pool rejects its share, hops are filled less, and finally without it. None if no attempt succeeds.
        """
        rejected_pools = frozenset[str]()
        for capacity_margin in CAPACITY_MARGINS:
            rounded = rounding.route(share_step, capacity_margin, rejected_pools)
            if rounded is None:
                return None
            route, rerouted = rounded
            try:
                found = self._scorer.score(route, self._problem.spec.amount)
                return found._replace(rerouted=rerouted)
            except PoolError as error:
                if capacity_margin == CAPACITY_MARGINS[-1]:
                    rejected_pools |= {str(error.details.get("pool"))}
        return None
