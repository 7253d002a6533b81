"""Moves of shares by exact replays help orders of few base units."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.quote import HUNDREDTHS, SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.core.routing.graph.digraph import topological_order
from swapcli.core.routing.search.exact_moves import move_shares_exactly, rounding_loss
from swapcli.core.routing.search.problem import RoutingProblem
from swapcli.core.routing.search.route_search import RouteSearch
from swapcli.core.routing.search.scored_route import ScoredRoute
from tests.core.routing.build import problem_of, solved
from tests.support.pools import build_constant_product, build_market, build_random_market, build_token, seeds

few_units = st.floats(1, 5).map(lambda digits: int(10**digits))


def search_over(problem: RoutingProblem) -> RouteSearch:
    return RouteSearch(problem, {arc.pool.key: arc.pool for arc in problem.graph.arcs()})


def moved(search: RouteSearch, found: ScoredRoute, others: list[ScoredRoute]) -> ScoredRoute:
    return move_shares_exactly(
        search.problem, found, others, lambda route: search.scorer.score_if_accepted(route, found.amount_in)
    )


@given(seeds, few_units, st.booleans())
def test_no_move_pays_less_and_all_shares_stay(seed: int, amount: int, fine: bool) -> None:
    problem = problem_of(build_random_market(seed, pools=14, noise=3.0), amount)
    if fine:
        problem = problem._replace(spec=problem.spec._replace(share_step=HUNDREDTHS))
    candidate, search = solved(problem), search_over(problem)
    routes = [route for route in search.routes.follow(candidate) if route] if candidate else []
    if not routes:
        return
    better = moved(search, routes[0], routes[1:])
    assert better.net >= routes[0].net
    assert sum(segment.share for segment in better.route.segments) == SHARES_PER_ROUTE
    assert all(segment.share % problem.spec.share_step == 0 for segment in better.route.segments)
    hops = {(hop[0].token_in, hop[0].token_out) for segment in better.route.segments for hop in segment.hops}
    assert topological_order(hops) is not None


def test_a_path_that_loses_a_unit_gives_its_share_away() -> None:
    """Half of 199 units over each of two equal pools loses a unit against all over one: rounding takes one of each."""
    a, b = build_token(0), build_token(1)
    pools = [build_constant_product(k, a, b, 10**9, 10**9, 3000) for k in range(2)]
    problem = problem_of(build_market(pools, [a, b]), 199)
    search = search_over(problem)
    keys = [pool.key for pool in pools]
    first, halves = (search.scorer.score_if_accepted(route_over(problem, *each), 199) for each in (keys[:1], keys))
    assert first
    assert halves
    assert 0.0 < rounding_loss(first, {0: 1.0, 1: 1.0}, problem.graph.token_index) < 0.01
    assert rounding_loss(halves, {0: 1.0, 1: 1.0}, problem.graph.token_index) > 0.01
    assert halves.net < first.net
    assert moved(search, halves, []).net == first.net
    assert moved(search, halves, [first]).net == first.net


def route_over(problem: RoutingProblem, *pools: str) -> Route:
    """Equal shares over pools of the first two tokens."""
    a, b = problem.graph.addresses[:2]
    share = SHARES_PER_ROUTE // len(pools)
    return Route(tuple(Segment(share, ((Swap(pool, a, b, SHARES_PER_HOP),),)) for pool in pools))
