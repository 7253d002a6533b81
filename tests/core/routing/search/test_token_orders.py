"""Other orders of the tokens raise the value of an acyclic solution, and leave it acyclic."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.routing.search.acyclic import break_cycles, is_acyclic, notable_flow
from swapcli.core.routing.search.order_flow import arcs_reusing_a_pool
from swapcli.core.routing.search.problem import FINE, CandidateSolution, Exclusions, RoutingProblem
from swapcli.core.routing.search.token_orders import Branching, better_orders, exchange_paths
from tests.core.routing.build import problem_of, solved
from tests.support.pools import build_constant_product, build_market, build_random_market, build_token, seeds

amounts = st.floats(15, 21).map(lambda digits: int(10**digits))


def acyclic_over(problem: RoutingProblem, excluded: set[tuple[int, int]]) -> CandidateSolution:
    """The solution over all arcs but those of some pairs, without its cycles."""
    found = solved(problem)
    assert found
    candidate = problem.solve_excluding(found, Exclusions(frozenset(excluded)))
    assert is_acyclic(problem, candidate.solution)
    return candidate


def min_gain(problem: RoutingProblem, candidate: CandidateSolution) -> float:
    return problem.min_reordering_gain(candidate.solution)


@given(seeds, amounts, st.sampled_from([3.0, 30.0]), st.integers(2, 6))
def test_the_value_rises_and_no_cycle_appears(seed: int, amount: int, noise: float, max_hops: int) -> None:
    problem = problem_of(build_random_market(seed, pools=18, noise=noise, every_family=True), amount, max_hops)
    found = solved(problem)
    if found is None or len(problem.spot.path(0)) > max_hops + 1:
        return
    best = break_cycles(problem, found)
    if not is_acyclic(problem, best.solution):
        return
    for better in better_orders(problem, found, best):
        assert better.solution.value > best.solution.value
        assert is_acyclic(problem, better.solution)
        best = better


@given(seeds, amounts)
def test_branching_ends_with_the_best_of_all_orders(seed: int, amount: int) -> None:
    """Every order of the intermediate tokens is solved over the hops that lead forward in it."""
    problem = problem_of(build_random_market(seed, tokens=5, pools=12, noise=30.0), amount)
    found = solved(problem)
    if found is None:
        return
    start = break_cycles(problem, found)
    if not is_acyclic(problem, start.solution):
        return
    branching = Branching(problem, start, min_gain(problem, found), max_failed=100)
    best = branching.search(found)
    assert is_acyclic(problem, best.solution)
    for order in permutations(range(2, 5)):
        place = {token: k for k, token in enumerate((0, *order, 1))}
        forward = [arc for arc in found.arcs if place[arc.token_in] < place[arc.token_out]]
        if not any(arc.token_in == 0 for arc in forward) or not any(arc.token_out == 1 for arc in forward):
            continue
        solution = problem.solve(forward, found.solution.prices)
        reuses = arcs_reusing_a_pool(solution.trades, solution.prices)
        if branching.is_proven and not reuses and solution.residual <= FINE:
            assert solution.value <= best.solution.value * (1 + 1e-5) + min_gain(problem, found)


def test_arbitrage_apart_from_the_order_is_left_alone() -> None:
    """c, d and e form a ring that gains, which a path from a to b does not touch but at c."""
    a, b, c, d, e = (build_token(k) for k in range(5))
    ways = [(a, c, 1.0), (c, b, 1.0), (c, d, 1.05), (d, e, 1.05), (e, c, 1.05)]
    pools = [build_constant_product(k, i, j, 10**24, int(rate * 10**24)) for k, (i, j, rate) in enumerate(ways)]
    problem = problem_of(build_market(pools, [a, b, c, d, e]), 10**22)
    found = solved(problem)
    assert found
    assert found.solution.value > break_cycles(problem, found).solution.value * 1.01
    assert not list(better_orders(problem, found, break_cycles(problem, found)))


def test_an_excluded_path_that_pays_comes_back() -> None:
    """a sells to b over c; the way over d pays 1% more for a small part of the order."""
    a, b, c, d = (build_token(k) for k in range(4))
    ways = [(a, c, 10**24, 1.0), (c, b, 10**24, 1.0), (c, d, 10**21, 1.01), (d, b, 10**21, 1.0)]
    pools = [build_constant_product(k, i, j, x, int(rate * x)) for k, (i, j, x, rate) in enumerate(ways)]
    problem = problem_of(build_market(pools, [a, b, c, d]), 10**20)
    before = acyclic_over(problem, {(2, 3), (3, 1)})
    better = exchange_paths(problem, before, min_gain(problem, before))
    assert notable_flow(problem, better.solution).keys() == {(0, 2), (2, 1), (2, 3), (3, 1)}
    assert better.solution.value > before.solution.value * (1 + 1e-5)


def test_a_hop_turns_round_where_that_pays() -> None:
    """From a both c and d lead to b, and between them each way pays, but only one can be used: d to c pays more."""
    a, b, c, d = (build_token(k) for k in range(4))
    ways = [(a, c, 1.0), (c, b, 1.0), (a, d, 1.0), (d, b, 1.0), (c, d, 1.02), (d, c, 1.10)]
    pools = [build_constant_product(k, i, j, 10**24, int(rate * 10**24)) for k, (i, j, rate) in enumerate(ways)]
    problem = problem_of(build_market(pools, [a, b, c, d]), 10**22)
    before = acyclic_over(problem, {(3, 2)})
    assert (2, 3) in notable_flow(problem, before.solution)
    better = exchange_paths(problem, before, min_gain(problem, before))
    assert (3, 2) in notable_flow(problem, better.solution)
    assert better.solution.value > before.solution.value * 1.01


def test_a_detour_must_earn_its_gas() -> None:
    a, b, c = (build_token(k) for k in range(3))
    ways = [(a, b, 10**24, 1.0), (a, c, 10**21, 1.01), (c, b, 10**21, 1.0)]
    pools = [build_constant_product(k, i, j, x, int(rate * x)) for k, (i, j, x, rate) in enumerate(ways)]
    market, amount = build_market(pools, [a, b, c]), 10**20
    free = problem_of(market, amount)
    before = acyclic_over(free, {(0, 2)})
    assert exchange_paths(free, before, min_gain(free, before)) is not before
    costly = problem_of(market, amount, gas_value=amount / 1e5)
    assert exchange_paths(costly, before, min_gain(costly, before)) is before
