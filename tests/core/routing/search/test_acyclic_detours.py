"""Detours raise the value of an acyclic solution, and leave it acyclic."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.routing.search.acyclic import acyclic_candidates, is_acyclic, notable_flow
from swapcli.core.routing.search.acyclic_detours import AcyclicDetours
from swapcli.core.routing.search.problem import CandidateSolution, Exclusions, RoutingProblem
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


@given(seeds, amounts, st.sampled_from([3.0, 30.0]), st.integers(2, 6))
def test_the_value_never_falls_and_no_cycle_appears(seed: int, amount: int, noise: float, max_hops: int) -> None:
    problem = problem_of(build_random_market(seed, pools=18, noise=noise, every_family=True), amount, max_hops)
    found = solved(problem)
    if found is None or len(problem.spot.path(0)) > max_hops + 1:
        return
    for candidate in acyclic_candidates(problem, found):
        if not is_acyclic(problem, candidate.solution):
            continue
        better = AcyclicDetours(problem).add_detours(candidate)
        assert better.solution.value >= candidate.solution.value
        assert is_acyclic(problem, better.solution)


def test_an_excluded_path_that_pays_comes_back() -> None:
    """a sells to b over c; the way over d pays 1% more for a small part of the order."""
    a, b, c, d = (build_token(k) for k in range(4))
    ways = [(a, c, 10**24, 1.0), (c, b, 10**24, 1.0), (c, d, 10**21, 1.01), (d, b, 10**21, 1.0)]
    pools = [build_constant_product(k, i, j, x, int(rate * x)) for k, (i, j, x, rate) in enumerate(ways)]
    problem = problem_of(build_market(pools, [a, b, c, d]), 10**20)
    before = acyclic_over(problem, {(2, 3), (3, 1)})
    better = AcyclicDetours(problem).add_detours(before)
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
    better = AcyclicDetours(problem).add_detours(before)
    assert (3, 2) in notable_flow(problem, better.solution)
    assert better.solution.value > before.solution.value * 1.01


def test_a_detour_must_earn_its_gas() -> None:
    a, b, c = (build_token(k) for k in range(3))
    ways = [(a, b, 10**24, 1.0), (a, c, 10**21, 1.01), (c, b, 10**21, 1.0)]
    pools = [build_constant_product(k, i, j, x, int(rate * x)) for k, (i, j, x, rate) in enumerate(ways)]
    market, amount = build_market(pools, [a, b, c]), 10**20
    free = problem_of(market, amount)
    before = acyclic_over(free, {(0, 2)})
    assert AcyclicDetours(free).add_detours(before) is not before
    costly = problem_of(market, amount, gas_value=amount / 1e5)
    assert AcyclicDetours(costly).add_detours(before) is before
