"""Makes a solution's flow acyclic: real markets hold small arbitrage, which the unrestricted optimum collects in cycles
that a router must not run."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from swapcli.routing.search.flow import (
    Link,
    beyond_reach,
    cycle_breakers,
    flow_values,
    longest_path,
    second_uses,
    worth_bought,
    worth_sold,
)
from swapcli.routing.search.greedy import acyclic_order
from swapcli.routing.search.problem import Problem, Solved
from swapcli.routing.solver.dual import Prices
from swapcli.routing.solver.newton import Solution, Trade

LEAST_HOP = 1e-4
"""Share of the order below which a hop's flow is not looked at."""

_ROUNDS = 40
_SLICES = 12
_NOWHERE = 1 << 30


def made_acyclic(problem: Problem, solved: Solved) -> list[Solved]:
    """Solutions over fewer arcs whose flow an acyclic route can carry, the best first: at least one."""
    found = [_broken_up(problem, solved)]
    if second_uses(_notable_trades(problem, solved.solution), solved.solution.prices):
        found.append(_broken_up(problem, solved, worth_bought))
    if cycle_breakers(notable_flow(problem, solved.solution)):
        found.extend(_oriented(problem, solved))
    return sorted(found, key=lambda one: -one.solution.value)


def shortened(problem: Problem, solved: Solved) -> Solved | None:
    """The solution without the weakest hop of each path that is too long; None where no path is."""
    if len(longest_path(notable_flow(problem, solved.solution))) <= problem.task.max_hops:
        return None
    for _ in range(_ROUNDS):
        links = _weakest_of_long(notable_flow(problem, solved.solution), problem.task.max_hops)
        if not links:
            break
        solved = _broken_up(problem, problem.resolved(solved, solved.banned.also(links)))
    return solved


def _weakest_of_long(values: dict[Link, float], max_hops: int) -> set[Link]:
    weakest: set[Link] = set()
    while len(path := longest_path(values)) > max_hops:
        weakest.add(min(path, key=lambda link: values[link]))
        values = {link: v for link, v in values.items() if link not in weakest}
    return weakest


def notable_flow(problem: Problem, solution: Solution) -> dict[Link, float]:
    """Value through each hop, without those that carry next to nothing."""
    least = LEAST_HOP * problem.order_value(solution.prices)
    return {link: value for link, value in flow_values(solution).items() if value > least}


def _notable_trades(problem: Problem, solution: Solution) -> list[Trade]:
    least = LEAST_HOP * problem.order_value(solution.prices)
    return [t for t in solution.trades if t.amount_in * solution.prices[t.arc.token_in] > least]


def _broken_up(problem: Problem, solved: Solved, worth: Callable[[Trade, Prices], float] = worth_sold) -> Solved:
    """Ban the weakest hop of each cycle, hops on long paths only, and second uses of a pool, those of less worth; solve
    again; repeat."""
    for _ in range(_ROUNDS):
        values = notable_flow(problem, solved.solution)
        links = cycle_breakers(values) or beyond_reach(values, problem.task.ends, problem.task.max_hops)
        arcs = second_uses(_notable_trades(problem, solved.solution), solved.solution.prices, worth)
        if not links and not arcs:
            break
        solved = problem.resolved(solved, solved.banned.also(links, arcs))
    return solved


def _oriented(problem: Problem, solved: Solved) -> Iterator[Solved]:
    """The solution over the hops that lead forward in the order of a flow built path by path, where there are any."""
    task = problem.task
    order = acyclic_order(solved.arcs, task.ends, float(task.amount), task.max_hops, _SLICES, task.check)
    place = {token: k for k, token in enumerate(order)}
    links = {(arc.token_in, arc.token_out) for arc in solved.arcs}
    backward = {(i, j) for i, j in links if place.get(i, _NOWHERE) >= place.get(j, -1)}
    if links != backward:
        yield _broken_up(problem, problem.resolved(solved, solved.banned.also(backward)))
