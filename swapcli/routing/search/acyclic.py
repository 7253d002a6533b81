"""Makes a solution's flow acyclic: real markets hold small arbitrage, which the unrestricted optimum collects in cycles
that a router must not run."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from swapcli.routing.graph.digraph import TokenPair, feedback_arcs, longest_path, unreachable_within
from swapcli.routing.graph.market_graph import Prices
from swapcli.routing.search.flow import arcs_reusing_a_pool, flow_values, value_in, value_out
from swapcli.routing.search.greedy import acyclic_order
from swapcli.routing.search.problem import CandidateSolution, RoutingProblem
from swapcli.routing.solver.newton import Solution, Trade

MIN_HOP_FRACTION = 1e-4
"""Share of the order below which a hop's flow is not looked at."""

_ROUNDS = 40
_SLICES = 12
_NOWHERE = 1 << 30


def acyclic_candidates(problem: RoutingProblem, candidate: CandidateSolution) -> list[CandidateSolution]:
    """Solutions over fewer arcs whose flow an acyclic route can carry, the best first: at least one."""
    candidates = [_break_cycles(problem, candidate)]
    if arcs_reusing_a_pool(_notable_trades(problem, candidate.solution), candidate.solution.prices):
        candidates.append(_break_cycles(problem, candidate, value_out))
    if feedback_arcs(notable_flow(problem, candidate.solution)):
        candidates.extend(_orient_greedily(problem, candidate))
    return sorted(candidates, key=lambda one: -one.solution.value)


def shorten_paths(problem: RoutingProblem, candidate: CandidateSolution) -> CandidateSolution | None:
    """The solution without the weakest hop of each path that is too long; None where no path is."""
    if len(longest_path(notable_flow(problem, candidate.solution))) <= problem.spec.max_hops:
        return None
    for _ in range(_ROUNDS):
        links = _weakest_hops_of_long_paths(notable_flow(problem, candidate.solution), problem.spec.max_hops)
        if not links:
            break
        candidate = _break_cycles(problem, problem.solve_excluding(candidate, candidate.exclusions.union(links)))
    return candidate


def _weakest_hops_of_long_paths(values: dict[TokenPair, float], max_hops: int) -> set[TokenPair]:
    weakest: set[TokenPair] = set()
    while len(path := longest_path(values)) > max_hops:
        weakest.add(min(path, key=lambda link: values[link]))
        values = {link: v for link, v in values.items() if link not in weakest}
    return weakest


def notable_flow(problem: RoutingProblem, solution: Solution) -> dict[TokenPair, float]:
    """Value through each hop, without those that carry next to nothing."""
    least = MIN_HOP_FRACTION * problem.order_value(solution.prices)
    return {link: value for link, value in flow_values(solution).items() if value > least}


def _notable_trades(problem: RoutingProblem, solution: Solution) -> list[Trade]:
    least = MIN_HOP_FRACTION * problem.order_value(solution.prices)
    return [t for t in solution.trades if t.amount_in * solution.prices[t.arc.token_in] > least]


def _break_cycles(
    problem: RoutingProblem, candidate: CandidateSolution, trade_value: Callable[[Trade, Prices], float] = value_in
) -> CandidateSolution:
    """Ban the weakest hop of each cycle, hops on long paths only, and second uses of a pool, those of less worth; solve
    again; repeat."""
    for _ in range(_ROUNDS):
        values = notable_flow(problem, candidate.solution)
        links = feedback_arcs(values) or unreachable_within(values, problem.spec.endpoints, problem.spec.max_hops)
        arcs = arcs_reusing_a_pool(_notable_trades(problem, candidate.solution), candidate.solution.prices, trade_value)
        if not links and not arcs:
            break
        candidate = problem.solve_excluding(candidate, candidate.exclusions.union(links, arcs))
    return candidate


def _orient_greedily(problem: RoutingProblem, candidate: CandidateSolution) -> Iterator[CandidateSolution]:
    """The solution over the hops that lead forward in the order of a flow built path by path, where there are any."""
    task = problem.spec
    order = acyclic_order(candidate.arcs, task.endpoints, float(task.amount), task.max_hops, _SLICES, task.check)
    place = {token: k for k, token in enumerate(order)}
    links = {(arc.token_in, arc.token_out) for arc in candidate.arcs}
    backward = {(i, j) for i, j in links if place.get(i, _NOWHERE) >= place.get(j, -1)}
    if links != backward:
        yield _break_cycles(problem, problem.solve_excluding(candidate, candidate.exclusions.union(backward)))
