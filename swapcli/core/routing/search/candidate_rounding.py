"""Round a candidate solution to a route.

If a pool rejects its share of a route, the next attempt leaves more headroom in each hop.
"""

from __future__ import annotations

from collections.abc import Iterator

from swapcli.core.model.quote import Route
from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import Arc
from swapcli.core.routing.search.acyclic import MIN_HOP_FRACTION, notable_flow
from swapcli.core.routing.search.order_flow import arcs_reusing_a_pool, continuous_flow, trades_by_pair
from swapcli.core.routing.search.problem import CandidateSolution, RoutingProblem
from swapcli.core.routing.search.rounding import FlowRounding, Shares

CAPACITY_MARGINS = (1 - 2e-4, 0.997, *[0.98] * 4)
"""Of a hop's capacity, by attempt: rounding earlier hops changes what arrives, by up to a percent of the order."""
_NEAR_MARGINAL = 0.99  # of a hop's marginal rate: idle pools above it would trade for a little more input
_MAX_IDLE_POOLS = 3  # of those per hop that rounding may use. Empirical

_SURE_LOSS = 0.9  # of the predicted loss of a route: no replay of many thousands lost less. Empirical

_Attempt = tuple[float, frozenset[str]]
"""The capacity margin, and the pools that rejected their share."""


class CandidateRounding:
    """Rounds one solution to routes, for any share step; what the steps have in common is computed once.

    Example: `CandidateRounding(problem, candidate).route(HUNDREDTHS, 0.98)`.
    """

    def __init__(self, problem: RoutingProblem, candidate: CandidateSolution) -> None:
        self._problem, self._candidate = problem, candidate
        self._flows: dict[_Attempt, FlowRounding | None] = {}
        self._shares: dict[tuple[int, _Attempt], Shares] = {}

    def route(
        self, share_step: int, capacity_margin: float, rejected_pools: frozenset[str] = frozenset()
    ) -> tuple[Route, int] | None:
        """Return the route in multiples of `share_step`, and the share rerouted; None if there is none.

        No hop is filled beyond `capacity_margin` of its capacity, and `rejected_pools` get nothing.
        """
        attempt = capacity_margin, rejected_pools
        rounding = self._rounding(attempt)
        if rounding is None:
            return None
        spec, shares = self._problem.spec, self._rounded(rounding, share_step, attempt)
        return rounding.route(shares, self._problem.graph, float(spec.amount), spec.max_hops, share_step)

    def may_pay_more(self, share_step: int, amount_out: int, other_step: int) -> bool:
        """Return whether the route in multiples of `share_step` may pay more than `amount_out`, which the route in
        multiples of `other_step` pays.

        The losses against the solution's prices predict the output of a route; what they leave out lowers it. A route
        over fewer hops may gain by its gas.
        """
        attempt = CAPACITY_MARGINS[0], frozenset[str]()
        rounding = self._rounding(attempt)
        if rounding is None:
            return False
        shares, other_shares = (self._rounded(rounding, step, attempt) for step in (share_step, other_step))
        if self._problem.spec.gas_value > 0.0 and shares.keys() != other_shares.keys():
            return True
        solution = self._candidate.solution
        predicted = self._problem.order_value(solution.prices) - rounding.loss(shares)
        return amount_out < solution.value - _SURE_LOSS * (solution.value - predicted)

    def _rounded(self, rounding: FlowRounding, share_step: int, attempt: _Attempt) -> Shares:
        found = self._shares.get((share_step, attempt))
        if found is None:
            found = self._shares[share_step, attempt] = rounding.shares(share_step, self._problem.spec.check)
        return found

    def _rounding(self, attempt: _Attempt) -> FlowRounding | None:
        """Return the rounding of the flow over the usable pools; None where no flow is left."""
        if attempt not in self._flows:
            self._flows[attempt] = self._new_rounding(*attempt)
        return self._flows[attempt]

    def _new_rounding(self, capacity_margin: float, rejected_pools: frozenset[str]) -> FlowRounding | None:
        problem, solution = self._problem, self._candidate.solution
        arcs = {pair: arcs for pair, arcs in self._usable_arcs(rejected_pools) if arcs}
        values = {pair: value for pair, value in notable_flow(problem, solution).items() if pair in arcs}
        flow = continuous_flow(
            values, arcs, problem.spec.endpoints, float(problem.spec.amount), solution.prices, MIN_HOP_FRACTION
        )
        return FlowRounding(flow, solution.prices, capacity_margin) if flow.hops else None

    def _usable_arcs(self, rejected_pools: frozenset[str]) -> Iterator[tuple[TokenPair, list[Arc]]]:
        """Yield the arcs of each used hop: those that trade and, with free gas, those close to trading."""
        solution = self._candidate.solution
        allowed: dict[TokenPair, list[Arc]] = {}
        for arc in self._candidate.arcs:
            allowed.setdefault((arc.token_in, arc.token_out), []).append(arc)
        used_pools = {trade.arc.pool.key for trade in solution.trades} | rejected_pools
        # Too small to be excluded when cycles were broken.
        weaker = arcs_reusing_a_pool(solution.trades, solution.prices)
        for pair, trades in trades_by_pair(solution.trades).items():
            arcs = [t.arc for t in trades if t.arc.pool.key not in rejected_pools and id(t.arc) not in weaker]
            if self._problem.spec.gas_value == 0.0:
                rate = solution.prices[pair[0]] / solution.prices[pair[1]] * _NEAR_MARGINAL
                idle = [arc for arc in allowed[pair] if arc.rate > rate and arc.pool.key not in used_pools]
                arcs += idle[:_MAX_IDLE_POOLS]
                used_pools.update(arc.pool.key for arc in idle[:_MAX_IDLE_POOLS])
            yield pair, arcs
