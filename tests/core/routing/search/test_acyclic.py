"""What is left of a solution after its cycles are broken can be run by an acyclic route."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.routing.graph.digraph import TokenPair, longest_path, topological_order, unreachable_within
from swapcli.core.routing.search.acyclic import (
    MIN_HOP_FRACTION,
    break_cycles,
    notable_flow,
    shorten_paths,
)
from swapcli.core.routing.search.acyclic_order import orient_greedily
from swapcli.core.routing.search.order_flow import flow_values
from swapcli.core.routing.search.problem import CandidateSolution, RoutingProblem
from swapcli.core.routing.search.single_path import best_single_path
from tests.core.routing.build import problem_of, solved
from tests.core.routing.random_routes import simple_paths
from tests.support.pools import build_constant_product, build_market, build_random_market, build_token, seeds

amounts = st.floats(15, 21).map(lambda digits: int(10**digits))
hop_limits = st.integers(1, 6)
noises = st.sampled_from([3, 30])


def solved_market(
    seed: int, amount: int, noise: float, max_hops: int
) -> tuple[RoutingProblem, CandidateSolution] | None:
    problem = problem_of(build_random_market(seed, pools=18, noise=noise, every_family=True), amount, max_hops)
    found = solved(problem)
    return (problem, found) if found and len(problem.spot.path(0)) <= max_hops + 1 else None


def notable_pools(problem: RoutingProblem, found: CandidateSolution) -> list[str]:
    """Pools that trade more than next to nothing, once per direction."""
    prices, least = found.solution.prices, MIN_HOP_FRACTION * problem.order_value(found.solution.prices)
    return [t.arc.pool.key for t in found.solution.trades if t.amount_in * prices[t.arc.token_in] > least]


@given(seeds, amounts, noises, hop_limits)
def test_the_flow_is_acyclic_within_hops_and_reuses_no_pool(
    seed: int, amount: int, noise: float, max_hops: int
) -> None:
    drawn = solved_market(seed, amount, noise, max_hops)
    if drawn is None:
        return
    problem, found = drawn
    result = break_cycles(problem, found)
    flow = notable_flow(problem, result.solution)
    assert topological_order(flow) is not None
    assert unreachable_within(flow, problem.spec.endpoints, max_hops) == set()
    pools = notable_pools(problem, result)
    assert len(set(pools)) == len(pools)


@given(seeds, amounts, noises)
def test_excluded_arcs_never_trade(seed: int, amount: int, noise: float) -> None:
    drawn = solved_market(seed, amount, noise, 6)
    if drawn is None:
        return
    problem, found = drawn
    result = break_cycles(problem, found)
    assert all(result.exclusions.allows(arc) for arc in result.arcs)
    assert {id(t.arc) for t in result.solution.trades} <= {id(arc) for arc in result.arcs}


@given(seeds, amounts)
def test_fewer_arcs_never_raise_the_dual(seed: int, amount: int) -> None:
    drawn = solved_market(seed, amount, 3, 6)
    if drawn and drawn[1].solution.residual < 1e-2:
        problem, found = drawn
        assert break_cycles(problem, found).solution.value <= found.solution.value * (1 + 1e-3)


@given(seeds, amounts)
def test_without_arbitrage_a_settled_flow_drops_only_small_parts(seed: int, amount: int) -> None:
    problem = problem_of(build_random_market(seed, pools=18), amount)
    found = solved(problem, 1e-6)
    if found and found.solution.residual <= 1e-6:
        assert break_cycles(problem, found).solution.value >= found.solution.value * (1 - 10 * MIN_HOP_FRACTION)


def test_a_ring_that_gains_is_opened() -> None:
    """a sells to b over c or d; between c, d and e a ring gains 20%."""
    a, b, c, d, e = (build_token(k) for k in range(5))
    ways = [(a, c, 1.0), (c, b, 1.0), (a, d, 1.0), (d, b, 1.0), (c, d, 1.07), (d, e, 1.07), (e, c, 1.07)]
    pools = [build_constant_product(k, i, j, 10**24, int(rate * 10**24)) for k, (i, j, rate) in enumerate(ways)]
    problem = problem_of(build_market(pools, [a, b, c, d, e]), 10**22)
    found = solved(problem)
    assert found
    ring = {(2, 3), (3, 4), (4, 2)}
    assert ring <= flow_values(found.solution).keys()
    greedy = orient_greedily(problem, found)
    result = max([break_cycles(problem, found), *([greedy] if greedy else [])], key=lambda c: c.solution.value)
    assert not ring <= notable_flow(problem, result.solution).keys()
    single = 1e22
    for arc in best_single_path(problem, problem.graph.arcs()):
        single = arc.curve.amount_out(single)
    assert single > 1.05 * 1e22  # most of the ring can still be used on the way
    assert result.solution.value >= single * (1 - 1e-9)


def test_hops_below_one_basis_point_of_the_order_are_ignored() -> None:
    a, b = build_token(0), build_token(1)
    deep, thin = (build_constant_product(k, a, b, x, x, 3000) for k, x in enumerate((10**24, 10**18)))
    around = [
        build_constant_product(k, i, j, 10**17, 10**17, 0)
        for k, (i, j) in enumerate([(a, build_token(2)), (build_token(2), b)], 2)
    ]
    problem = problem_of(build_market([deep, thin, *around], [a, b, build_token(2)]), 10**22)
    found = solved(problem)
    assert found
    assert flow_values(found.solution).keys() == {(0, 1), (0, 2), (2, 1)}
    assert notable_flow(problem, found.solution).keys() == {(0, 1)}


# --- too long paths


@given(seeds, amounts, st.integers(1, 4))
def test_shortened_no_path_has_more_hops_than_allowed(seed: int, amount: int, max_hops: int) -> None:
    drawn = solved_market(seed, amount, 0.8, max_hops)
    if drawn is None:
        return
    problem, found = drawn
    before = break_cycles(problem, found)
    result = shorten_paths(problem, before)
    too_long = len(longest_path(notable_flow(problem, before.solution))) > max_hops
    assert (result is not None) == too_long
    if result:
        links = list(notable_flow(problem, result.solution))
        assert len(longest_path(links)) <= max_hops
        assert topological_order(links) is not None
        assert result.solution.value <= before.solution.value * (1 + 1e-3) or before.solution.residual > 1e-2


def test_a_flow_is_shortened_where_it_carries_least() -> None:
    """Two ways of two hops each with a bridge: over the bridge there are three, and it is the narrowest."""
    a, b, c, d = (build_token(k) for k in range(4))
    depth = {(a, c): 30, (c, b): 10, (a, d): 10, (d, b): 30, (c, d): 3}
    pools = [
        build_constant_product(k, i, j, x * 10**21, x * 10**21, 500) for k, ((i, j), x) in enumerate(depth.items())
    ]
    problem = problem_of(build_market(pools, [a, b, c, d]), 5 * 10**21, max_hops=6)
    free = solved(problem)
    assert free
    assert longest_path(notable_flow(problem, free.solution)) == [(0, 2), (2, 3), (3, 1)]
    limited = problem_of(build_market(pools, [a, b, c, d]), 5 * 10**21, max_hops=2)
    result = shorten_paths(limited, free)
    assert result
    carried: set[TokenPair] = set(notable_flow(limited, result.solution))
    assert carried == {(0, 2), (2, 1), (0, 3), (3, 1)}
    assert all(set(pairwise(p)) <= carried for p in simple_paths(lambda t: [j for i, j in carried if i == t], 0, 1, 2))
    assert result.solution.value == pytest.approx(free.solution.value, rel=0.05)
