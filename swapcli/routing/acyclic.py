"""Makes a solution's flow acyclic: real markets hold small arbitrage, and the unrestricted optimum collects it in cycles
that a router must not run."""

from __future__ import annotations

from swapcli.routing.flow import Link, cycle_breakers, flow_values, longest_path, second_uses
from swapcli.routing.greedy import acyclic_order
from swapcli.routing.problem import Problem, Solved
from swapcli.routing.solver import Solution, Trade

LEAST_HOP = 1e-4
"""Share of the order below which a hop's flow is not looked at."""

_ROUNDS = 40
_SLICES = 12
_NOWHERE = 1 << 30


def acyclic_solutions(problem: Problem, solved: Solved) -> list[Solved]:
    """Solutions over fewer arcs whose flow an acyclic route can carry: the best found, and where that leads over paths
    with too many hops, one without such paths."""
    best = _broken_up(problem, solved)
    if cycle_breakers(notable_flow(problem, solved.solution)):
        oriented = _oriented(problem, solved)
        if oriented and oriented.solution.value > best.solution.value:
            best = oriented
    shortened = _shortened(problem, best)
    return [best] if shortened is best else [best, shortened]


def notable_flow(problem: Problem, solution: Solution) -> dict[Link, float]:
    """Value through each hop, without those that carry next to nothing."""
    least = LEAST_HOP * problem.order_value(solution.prices)
    return {link: value for link, value in flow_values(solution).items() if value > least}


def _notable_trades(problem: Problem, solution: Solution) -> list[Trade]:
    least = LEAST_HOP * problem.order_value(solution.prices)
    return [t for t in solution.trades if t.amount_in * solution.prices[t.arc.token_in] > least]


def _broken_up(problem: Problem, solved: Solved) -> Solved:
    """Ban the weakest hop of each cycle and second uses of a pool, solve again, and repeat until neither is left."""
    for _ in range(_ROUNDS):
        links = cycle_breakers(notable_flow(problem, solved.solution))
        arcs = second_uses(_notable_trades(problem, solved.solution), solved.solution.prices)
        if not links and not arcs:
            break
        solved = problem.resolved(solved, solved.banned.also(links, arcs))
    return solved


def _shortened(problem: Problem, solved: Solved) -> Solved:
    """`solved` itself, or the solution without the weakest hops of its paths that are too long."""
    for _ in range(_ROUNDS):
        links = _too_long(notable_flow(problem, solved.solution), problem.task.max_hops)
        if not links:
            break
        solved = _broken_up(problem, problem.resolved(solved, solved.banned.also(links)))
    return solved


def _too_long(values: dict[Link, float], max_hops: int) -> set[Link]:
    """The weakest hop of each path with too many hops."""
    broken: set[Link] = set()
    while len(path := longest_path(values)) > max_hops:
        weakest = min(path, key=lambda link: values[link])
        broken.add(weakest)
        del values[weakest]
    return broken


def _oriented(problem: Problem, solved: Solved) -> Solved | None:
    """The solution over the hops that lead forward in the order of a flow built path by path."""
    task = problem.task
    order = acyclic_order(solved.arcs, task.source, task.target, float(task.amount), task.max_hops, _SLICES)
    place = {token: k for k, token in enumerate(order)}
    links = {(arc.token_in, arc.token_out) for arc in solved.arcs}
    backward = {(i, j) for i, j in links if place.get(i, _NOWHERE) >= place.get(j, -1)}
    if links == backward:
        return None
    return _broken_up(problem, problem.resolved(solved, solved.banned.also(backward)))
