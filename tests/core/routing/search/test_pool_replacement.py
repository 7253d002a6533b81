"""Replacing pools raises the output net of gas, and finds the best pools of a hop."""

from __future__ import annotations

from itertools import combinations

from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import NoRoute
from swapcli.core.model.market import MarketState
from swapcli.core.routing.graph.market_graph import Arc
from swapcli.core.routing.router import Router
from swapcli.core.routing.search.problem import CandidateSolution, Exclusions, RoutingProblem
from swapcli.core.routing.search.route_search import RouteSearch, SearchResult
from swapcli.core.routing.search.scored_route import ScoredRoute
from swapcli.core.routing.search.single_path import single_route
from tests.core.routing.build import problem_of
from tests.support.pools import (
    amounts,
    build_concentrated,
    build_constant_product,
    build_market,
    build_order,
    build_random_market,
    build_token,
    seeds,
)

A, B, C = build_token(0), build_token(1), build_token(2)
gas_fractions = st.floats(-5.0, -1.0).map(lambda digits: 10**digits)
"""Of the order: the gas of a swap."""


def search_on(market: MarketState, amount: int, gas_fraction: float) -> RouteSearch:
    problem = problem_of(market, amount, 4)
    gas_value = problem.spot_output() * gas_fraction / 100_000
    return RouteSearch(problem._replace(spec=problem.spec._replace(gas_value=gas_value)), market.pools)


def route_over(search: RouteSearch, arcs: list[Arc]) -> ScoredRoute | None:
    """The route over these pools with the best shares."""
    problem = search.problem
    candidate = CandidateSolution(problem.solve(arcs, start_prices(problem)), arcs)
    return max((route for route in search.routes.follow(candidate) if route), key=lambda route: route.net, default=None)


def start_prices(problem: RoutingProblem) -> dict[int, float]:
    return {token: problem.spot.value(token) for token in range(len(problem.graph.addresses))}


def before_and_after(search: RouteSearch, path: list[Arc]) -> tuple[ScoredRoute, ScoredRoute] | None:
    """A single path before and after the search; None if it cannot carry the order."""
    found = search.scorer.score_if_accepted(single_route(search.problem.graph, path), search.spec.amount)
    if found is None:
        return None
    problem = search.problem
    solution = problem.solve(list(problem.graph.arcs()), start_prices(problem))
    result = SearchResult(problem, found, found, solution, Exclusions(), solution)
    return found, search.improve_pools(result).best


def serves_one_hop_each(found: ScoredRoute) -> bool:
    hops = {(step.pool, step.token_in, step.token_out) for step in found.replay.steps}
    return len({pool for pool, _, _ in hops}) == len(hops)


@given(seeds, amounts, gas_fractions, st.booleans())
def test_the_net_output_never_falls(seed: int, amount: int, gas_fraction: float, every_family: bool) -> None:
    """No pool of several tokens serves more hops than before."""
    market = build_random_market(seed, tokens=4, pools=16, every_family=every_family)
    search = search_on(market, amount, gas_fraction)
    path = search.best_single_path(list(search.problem.graph.arcs()))
    assume(path is not None)
    assert path
    solution = search.problem.solve(list(search.problem.graph.arcs()), start_prices(search.problem))
    result = SearchResult(search.problem, path, path, solution, Exclusions(), solution)
    best = search.improve_pools(result).best
    assert best.net >= path.net
    assert serves_one_hop_each(best) or not serves_one_hop_each(path)


@given(seeds, st.integers(0, 34).map(lambda digits: 10**digits), gas_fractions, st.booleans())
def test_any_order_is_quoted_or_rejected(seed: int, amount: int, gas_fraction: float, reverse: bool) -> None:
    """Also routes that fill pools, and those that use one pool of several tokens twice."""
    market = build_random_market(seed, tokens=4, pools=10, every_family=True, noise=30)
    value = problem_of(market, amount, 4).spot.value(0)
    gas_price_wei = int(amount * gas_fraction / 100_000 * (1.0 / value if reverse and value else 1.0))
    try:
        quote = Router(market).quote(
            build_order(market, 0, 1, amount)._replace(reverse=reverse), gas_price_wei=gas_price_wei
        )
    except NoRoute:
        return
    assert quote.amount_out >= amount if reverse else quote.amount_in == amount


@given(seeds, amounts, gas_fractions, st.integers(0, 3))
def test_from_any_pool_of_a_pair_it_finds_the_best_ones(
    seed: int, amount: int, gas_fraction: float, first: int
) -> None:
    """Within a basis point, about what whole percents lose."""
    market = build_random_market(seed, tokens=2, pools=4)
    search = search_on(market, amount, gas_fraction)
    arcs = search.problem.graph.arcs_by_pair[0].get(1, [])
    found = before_and_after(search, [arcs[first % len(arcs)]]) if arcs else None
    if found:
        subsets = (list(subset) for count in range(1, len(arcs) + 1) for subset in combinations(arcs, count))
        best = max(
            (route.net for route in (route_over(search, subset) for subset in subsets) if route), default=found[0].net
        )
        assert found[1].net >= best - 1e-4 * abs(best)


def test_a_direct_pool_replaces_two_hops_whose_gas_it_saves() -> None:
    market = build_market(
        [
            build_constant_product(0, A, B, 10**24, 10**24, 500),
            build_constant_product(1, A, C, 10**24, 10**24, 100),
            build_constant_product(2, C, B, 10**24, 10**24, 100),
        ],
        [A, B, C],
    )
    for gas_fraction, pools in ((1e-4, [1, 2]), (1e-2, [0])):
        search = search_on(market, 10**18, gas_fraction)
        by_pair = search.problem.graph.arcs_by_pair
        found = before_and_after(search, [by_pair[0][2][0], by_pair[2][1][0]])
        assert found
        assert [step.pool for step in found[1].replay.steps] == [list(market.pools)[k] for k in pools]


def test_a_pool_of_less_gas_replaces_one_that_pays_a_little_more() -> None:
    expensive = build_concentrated(0, A, B, 10**23, 1.0, 6_000, fee_ppm=100)
    cheap = build_constant_product(1, A, B, 10**24, 10**24, 150)
    market = build_market([expensive, cheap], [A, B])
    search = search_on(market, 10**18, 1e-2)
    arcs = {arc.pool.key: arc for arc in search.problem.graph.arcs_by_pair[0][1]}
    found = before_and_after(search, [arcs[expensive.key]])
    assert found
    assert found[1].replay.amount_out < found[0].replay.amount_out
    assert [step.pool for step in found[1].replay.steps] == [cheap.key]


def test_without_gas_nothing_is_replaced() -> None:
    market = build_market([build_constant_product(k, A, B, 10**24, 10**24, 3000 - k) for k in range(2)], [A, B])
    search = search_on(market, 10**20, 0.0)
    found = before_and_after(search, [search.problem.graph.arcs_by_pair[0][1][1]])
    assert found
    assert found[0] == found[1]
