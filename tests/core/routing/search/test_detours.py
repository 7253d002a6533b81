"""Tokens outside the solved subgraph that are worth a detour."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import inf, log, prod
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swapcli.core.model.token import Token
from swapcli.core.routing.graph.digraph import edge_distances
from swapcli.core.routing.graph.market_graph import MarketGraph, Prices
from swapcli.core.routing.graph.order_market import SpotPrices
from swapcli.core.routing.search.detours import Detour, DetourSearch, HopBudget
from swapcli.core.routing.search.problem import RoutingProblem
from tests.core.routing.build import graph_of, problem_of
from tests.core.routing.random_routes import simple_paths
from tests.support.pools import UNIT, build_constant_product, build_market, build_random_market, build_token, seeds

amounts = st.floats(16, 21).map(lambda digits: int(10**digits))
A, B, C, D, E = (build_token(k) for k in range(5))


def inside(problem: RoutingProblem, tokens: set[int]) -> Prices | None:
    """Prices of a solution over `tokens`; None where they do not join the ends or it did not settle."""
    start = {t: price for t in tokens if (price := problem.spot.value(t)) > 0.0}
    arcs = problem.arcs_between(start)
    found = problem.solve(arcs, start | {1: 1.0}, 1e-6) if arcs else None
    return found.prices if found and found.residual < 1e-4 else None


class Found(NamedTuple):
    """All detours of a market and the best of them, by token, at the prices of an order with this value."""

    graph: MarketGraph
    prices: Prices
    order_value: float
    every: dict[int, Detour]
    few: dict[int, Detour]


def find_every_and_few(seed: int, amount: int, outside: int, count: int) -> Found | None:
    """Return all detours of a random market by token, and at least `count` of them; None if it has no prices."""
    problem = problem_of(build_random_market(seed, tokens=12, pools=30), amount)
    prices = inside(problem, {0, 1})
    if prices is None:
        return None
    order = problem.graph, prices, (0, 1), problem.order_value(prices)
    every, few = DetourSearch(*order).find(outside), DetourSearch(*order).find(outside, count)
    assert few.max_gain == every.max_gain
    return Found(problem.graph, prices, order[-1], every.by_token, few.by_token)


@given(seeds, st.sets(st.integers(2, 6)), amounts, st.integers(1, 3))
def test_a_token_that_gains_is_sold_for_more_than_it_costs(
    seed: int, between: set[int], amount: int, outside: int
) -> None:
    problem = problem_of(build_random_market(seed, tokens=7, pools=14), amount)
    prices = inside(problem, {0, 1} | between)
    if prices is None:
        return
    offers = DetourSearch(problem.graph, prices, (0, 1), problem.order_value(prices)).find(outside).by_token
    assert not offers.keys() & prices.keys()
    for x, offer in offers.items():
        if offer.gain > 0.0:
            cost, _ = offers_for(problem.graph, prices, x, 2 * outside - 1)
            _, value = offers_for(problem.graph, prices, x, outside)
            assert value > cost


@example(801, 10**16, 1)
@given(seeds, amounts, st.integers(1, 6))
def test_of_few_detours_none_gains_less_than_one_left_out(seed: int, amount: int, count: int) -> None:
    """Over one outside token, whose value over cost bounds the gain.

    It bounds nothing if a neighbour outside has a better offer than those inside: a detour over two outside tokens,
    which another search is for.
    """
    found = find_every_and_few(seed, amount, 1, count)
    if found is None:
        return
    every, few = found.every, found.few
    assert few.items() <= every.items()
    assert len(few) >= min(count, len(every))
    least = sorted((each.gain for each in few.values()), reverse=True)[:count][-1:]
    for x in every.keys() - few.keys():
        (cost, value), (better_cost, better_value) = (offers_for(found.graph, found.prices, x, k) for k in (1, 2))
        assert found.order_value * min(1.0, log(value / cost)) <= least[0] * (1 + 1e-9)
        if every[x].gain > least[0]:
            assert better_cost < cost or better_value > value


@given(seeds, amounts, st.integers(2, 3), st.integers(1, 6))
def test_few_long_detours_are_among_all_of_them(seed: int, amount: int, outside: int, count: int) -> None:
    """Over more outside tokens one left out may gain more: a neighbour outside may have the better offer."""
    found = find_every_and_few(seed, amount, outside, count)
    if found is None:
        return
    every, few = (
        {token: detour for token, detour in each.items() if detour.gain > 0.0} for each in (found.every, found.few)
    )
    assert few.items() <= every.items()
    assert len(few) >= min(count, len(every))


def chains(graph: MarketGraph, prices: Prices, source: int, target: int, outside: int) -> Iterator[list[float]]:
    """Rates along every path that passes through tokens without a price only."""
    for path in simple_paths(lambda t: graph.best_rate_out[t], source, target, outside):
        if not set(path[1:-1]) & prices.keys():
            yield [graph.best_rate_out[i][j] for i, j in pairwise(path)]


def cost_over(graph: MarketGraph, prices: Prices, source: int, x: int, outside: int) -> float:
    """What a unit of x costs when it is bought for `source`."""
    return min((prices[source] / prod(rates) for rates in chains(graph, prices, source, x, outside)), default=inf)


def value_over(graph: MarketGraph, prices: Prices, x: int, target: int, outside: int) -> float:
    """What a unit of x brings when it is sold for `target`."""
    return max((prices[target] * prod(rates) for rates in chains(graph, prices, x, target, outside)), default=0.0)


def offers_for(graph: MarketGraph, prices: Prices, x: int, outside: int) -> tuple[float, float]:
    """Return the lowest cost and the highest value of x over at most so many outside tokens, itself included."""
    cost = min(cost_over(graph, prices, t, x, outside) for t in prices if t != 1)
    return cost, max(value_over(graph, prices, x, t, outside) for t in prices if t != 0)


def chain(length: int) -> MarketGraph:
    """A thin pool between the ends, and a deep way over `length` other tokens."""
    known = [build_token(k) for k in range(2 + length)]
    thin = build_constant_product(0, A, B, 10**21, 10**21)
    way = [A, *known[2:], B]
    deep = [build_constant_product(k, i, j, 10**24, 10**24, 100) for k, (i, j) in enumerate(pairwise(way), 1)]
    return graph_of(build_market([thin, *deep], known))


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_a_chain_of_outside_tokens_is_found_with_the_whole_way(length: int) -> None:
    """Over three outside tokens from each end, so that of a long way the ends meet in the middle."""
    graph = chain(length)
    offers = DetourSearch(graph, {0: 0.9, 1: 1.0}, (0, 1), 1e20).find(3).by_token
    assert set(offers) == set(range(2, 2 + length))
    for x, offer in offers.items():
        assert 0.9 < offer.price < 1.0
        if offer.gain > 0.0:
            assert {x, *offer.outside_path} == set(offers)
    assert set(DetourSearch(graph, {0: 0.9, 1: 1.0}, (0, 1), 1e20).find(1).by_token) == ({2} if length == 1 else set())


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("max_hops", [1, 2, 3, 4, 5, 6])
def test_a_chain_that_makes_every_path_too_long_is_not_offered(length: int, max_hops: int) -> None:
    graph = chain(length)
    reach = HopBudget({0: 0, 1: 1}, {1: 0, 0: 1}, max_hops, SpotPrices(graph, 1, max_hops).hops_to_target)
    offers = DetourSearch(graph, {0: 0.9, 1: 1.0}, (0, 1), 1e20, reach).find(3).by_token
    assert set(offers) == (set(range(2, 2 + length)) if length < max_hops else set())


@given(seeds, st.sets(st.integers(2, 9)), amounts, st.integers(1, 6))
def test_whatever_is_offered_lies_on_a_path_that_is_short_enough(
    seed: int, between: set[int], amount: int, max_hops: int
) -> None:
    """Out of the inside, over the token, and back inside."""
    problem = problem_of(build_random_market(seed, tokens=20, pools=30), amount, max_hops)
    prices = inside(problem, {0, 1} | between)
    if prices is None:
        return
    links = {(arc.token_in, arc.token_out) for arc in problem.arcs_between(prices)}
    reach = HopBudget(
        edge_distances(links, 0), edge_distances([(j, i) for i, j in links], 1), max_hops, problem.spot.hops_to_target
    )
    out = edge_distances([(i, j) for i, row in enumerate(problem.graph.best_rate_out) for j in row if j], 0)
    back = edge_distances([(j, i) for i, row in enumerate(problem.graph.best_rate_out) for j in row if i != 1], 1)
    for x in DetourSearch(problem.graph, prices, (0, 1), problem.order_value(prices), reach).find(3).by_token:
        assert out[x] + back[x] <= max_hops


def test_a_detour_that_loses_or_carries_nothing_is_not_offered() -> None:
    direct = build_constant_product(0, A, B, 10**24, 10**24)
    dear = [
        build_constant_product(1, A, C, 10**24, 10**24, 20_000),
        build_constant_product(2, C, B, 10**24, 10**24, 20_000),
    ]
    tiny = [build_constant_product(3, A, D, 10**9, 10**9, 0), build_constant_product(4, D, B, 10**9, 10**9, 0)]
    graph = graph_of(build_market([direct, *dear, *tiny], [A, B, C, D]))
    assert DetourSearch(graph, {0: 0.98, 1: 1.0}, (0, 1), float(UNIT)).find(1).by_token == {}
    cheaper = DetourSearch(graph, {0: 0.95, 1: 1.0}, (0, 1), float(UNIT)).find(1).by_token
    assert set(cheaper) == {2}
    assert cheaper[2].price == pytest.approx(0.95**0.5, rel=1e-2)
    assert cheaper[2].outside_path == ()


def out_of_tune(*rates: tuple[Token, Token, float]) -> MarketGraph:
    """Pools without fees at these rates of the first unit."""
    pools = [build_constant_product(k, i, j, 10**24, int(rate * 10**24), 0) for k, (i, j, rate) in enumerate(rates)]
    return graph_of(build_market(pools, [A, B, C, D]))


@pytest.mark.parametrize(
    "rates",
    [
        [(A, B, 0.9), (A, C, 1.00), (A, C, 1.05), (C, B, 1.1)],
        [(A, B, 0.9), (A, C, 1.00), (C, B, 1.1), (C, B, 1.0)],
    ],
    ids=["beside the source", "beside the target"],
)
def test_arbitrage_within_a_pair_hides_no_detour_over_it(rates: list[tuple[Token, Token, float]]) -> None:
    """The source only sells and the target only buys, though their pools would have them do both."""
    assert set(DetourSearch(out_of_tune(*rates), {0: 1.0, 1: 1.0}, (0, 1), 1e20).find(1).by_token) == {2}


@pytest.mark.parametrize(("price", "is_offered"), [(0.95, True), (1.2, False)])
def test_a_neighbour_with_arbitrage_uses_the_side_that_helps(price: float, is_offered: bool) -> None:
    """d is inside at a price; it would sell c at price / 1.05 and buy it at the price, and b pays 1 for c."""
    graph = out_of_tune((A, B, 0.9), (A, D, 0.9), (D, B, 0.9), (D, C, 1.05), (D, C, 1.0), (C, B, 1.0))
    offers = DetourSearch(graph, {0: 1.0, 1: 1.0, 3: price}, (0, 1), 1e20).find(1).by_token
    assert (2 in offers) == is_offered


def test_ways_that_gain_back_and_forth_lead_on_all_the_same() -> None:
    """Between c and d there is arbitrage; the way to b is over both."""
    graph = out_of_tune((A, B, 0.9), (A, C, 1.0), (C, D, 1.0), (C, D, 1.02), (D, B, 1.0))
    assert set(DetourSearch(graph, {0: 0.9, 1: 1.0}, (0, 1), 1e20).find(3).by_token) == {2, 3}
