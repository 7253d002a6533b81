"""Make a solution's flow acyclic by excluding arcs and solving again.

Real markets contain small amounts of arbitrage. The unrestricted optimum collects it in cycles, which a router must not
execute.
"""

from __future__ import annotations

from swapcli.core.routing.graph.digraph import TokenPair, feedback_arcs, longest_path, unreachable_within
from swapcli.core.routing.search.order_flow import arcs_reusing_a_pool, flow_values
from swapcli.core.routing.search.problem import CandidateSolution, RoutingProblem
from swapcli.core.routing.solver.newton import Solution, Trade

MIN_HOP_FRACTION = 1e-4
"""The fraction of the order below which a hop's flow is ignored: a hundredth of the smallest share of a segment."""

_MAX_ROUNDS = 40  # rounds of solving again; real markets need up to four


def has_cycles(problem: RoutingProblem, solution: Solution) -> bool:
    """Return whether the flow of `solution` has cycles that carry more than a negligible amount."""
    return bool(feedback_arcs(notable_flow(problem, solution)))


def has_long_paths(problem: RoutingProblem, candidate: CandidateSolution) -> bool:
    """Return whether the flow has a path with more hops than allowed."""
    return len(longest_path(notable_flow(problem, candidate.solution))) > problem.spec.max_hops


def shorten_paths(problem: RoutingProblem, candidate: CandidateSolution) -> CandidateSolution | None:
    """Return the solution without the weakest hop of each path that is too long; None if there is no such path."""
    if not has_long_paths(problem, candidate):
        return None
    for _ in range(_MAX_ROUNDS):
        pairs = _weakest_hops_of_long_paths(notable_flow(problem, candidate.solution), problem.spec.max_hops)
        if not pairs:
            break
        candidate = break_cycles(problem, problem.solve_excluding(candidate, candidate.exclusions.union(pairs)))
    return candidate


def _weakest_hops_of_long_paths(values: dict[TokenPair, float], max_hops: int) -> set[TokenPair]:
    weakest: set[TokenPair] = set()
    while len(path := longest_path(values)) > max_hops:
        weakest.add(min(path, key=lambda pair: values[pair]))
        values = {pair: v for pair, v in values.items() if pair not in weakest}
    return weakest


def notable_flow(problem: RoutingProblem, solution: Solution) -> dict[TokenPair, float]:
    """Return the value of the flow through each hop, without hops that carry a negligible amount."""
    min_value = MIN_HOP_FRACTION * problem.order_value(solution.prices)
    return {pair: value for pair, value in flow_values(solution).items() if value > min_value}


def is_acyclic(problem: RoutingProblem, solution: Solution) -> bool:
    """Return whether an acyclic route of allowed length can carry the flow of `solution`, with each pool used once."""
    values = notable_flow(problem, solution)
    if feedback_arcs(values) or unreachable_within(values, problem.spec.endpoints, problem.spec.max_hops):
        return False
    return not arcs_reusing_a_pool(_notable_trades(problem, solution), solution.prices)


def _notable_trades(problem: RoutingProblem, solution: Solution) -> list[Trade]:
    min_value = MIN_HOP_FRACTION * problem.order_value(solution.prices)
    return [t for t in solution.trades if t.amount_in * solution.prices[t.arc.token_in] > min_value]


def break_cycles(problem: RoutingProblem, candidate: CandidateSolution) -> CandidateSolution:
    """Return a solution over fewer arcs, such that an acyclic route can carry its flow."""
    for _ in range(_MAX_ROUNDS):
        pairs, arcs = obstacles(problem, candidate.solution)
        if not pairs and not arcs:
            break
        candidate = problem.solve_excluding(candidate, candidate.exclusions.union(pairs, arcs))
    return candidate


def obstacles(problem: RoutingProblem, solution: Solution) -> tuple[set[TokenPair], set[int]]:
    """Return the hops and the IDs of arcs that prevent an acyclic route from carrying the flow of `solution`.

    The obstacles are the weakest hop of each cycle or, without cycles, hops used only by paths that are too long, plus
    the smaller trade of each pool that trades in two directions.
    """
    values = notable_flow(problem, solution)
    pairs = feedback_arcs(values) or unreachable_within(values, problem.spec.endpoints, problem.spec.max_hops)
    return pairs, arcs_reusing_a_pool(_notable_trades(problem, solution), solution.prices)
