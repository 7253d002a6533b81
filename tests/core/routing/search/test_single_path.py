"""The best path with one pool per hop is the best of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import PoolError
from swapcli.core.routing.graph.market_graph import Arc, MarketGraph
from swapcli.core.routing.replay import replay
from swapcli.core.routing.router import Router
from swapcli.core.routing.search.problem import LOW_PRECISION_UNITS, RoutingProblem
from swapcli.core.routing.search.single_path import (
    best_single_path,
    better_paths,
    better_single_path,
    max_single_path_output,
    single_route,
)
from tests.core.routing.build import graph_of, problem_of, problem_on, solved
from tests.core.routing.random_routes import simple_paths
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

hop_limits = st.integers(1, 4)


def every_path(graph: MarketGraph, max_hops: int) -> Iterator[tuple[Arc, ...]]:
    """All choices of one arc per hop over all paths from token 0 to token 1."""
    for path in simple_paths(lambda t: graph.best_rate_out[t], 0, 1, max_hops):
        yield from product(*(graph.arcs_by_pair[i][j] for i, j in pairwise(path)))


def amounts_along(path: tuple[Arc, ...] | list[Arc], amount: float) -> list[float]:
    """What reaches each pool of a path, and what the last one pays; 0 after a pool that cannot take it all.

    In whole units, as curves say, and exactly for few units.
    """
    amounts = [amount]
    for arc in path:
        if amount > arc.curve.capacity or amount < 1.0:
            amount = 0.0
        elif amount >= LOW_PRECISION_UNITS:
            amount = float(int(arc.curve.amount_out(amount)))
        else:
            amount = float(exact_output((arc,), int(amount)))
        amounts.append(amount)
    return amounts


def delivered(path: tuple[Arc, ...] | list[Arc], amount: float) -> float:
    """What a path pays in whole units; 0 where a pool cannot take it all."""
    return amounts_along(path, amount)[-1]


def exact_output(path: tuple[Arc, ...] | list[Arc], amount: int) -> int:
    """What the pools of a path pay one after another; 0 where one rejects its amount."""
    try:
        for arc in path:
            token_in, token_out = (build_token(t).address for t in (arc.token_in, arc.token_out))
            amount = arc.pool.swap(token_in, token_out, amount)[0]
    except PoolError:
        return 0
    return amount


def left(problem: RoutingProblem, path: tuple[Arc, ...] | list[Arc]) -> float:
    """What a path pays less the gas of its pools; nothing, and the gas all the same, where a pool cannot take it."""
    router, gas = problem.spec.router_gas, problem.spec.router_gas.token_between * (len(path) - 1)
    *taken, paid = amounts_along(path, float(problem.spec.amount))
    for arc, amount in zip(path, taken, strict=True):
        token_in, token_out = (problem.graph.addresses[token] for token in (arc.token_in, arc.token_out))
        gas += arc.pool.gas_units_to(token_in, token_out, arc.curve.rate(amount)) + router.each_swap
    return paid - gas * problem.spec.gas_value


def found(graph: MarketGraph, amount: int, max_hops: int) -> list[Arc]:
    return best_single_path(problem_on(graph, amount, max_hops), graph.arcs())


@given(seeds, amounts, hop_limits, st.booleans())
def test_equals_the_best_of_all_paths(seed: int, amount: int, max_hops: int, every_family: bool) -> None:
    graph = graph_of(build_random_market(seed, tokens=5, pools=9, every_family=every_family))
    path = found(graph, amount, max_hops)
    best = max((delivered(one, amount) for one in every_path(graph, max_hops)), default=0.0)
    assert delivered(path, amount) == best if path else best == 0.0


@given(seeds, st.integers(1, 2_000), hop_limits)
def test_small_amounts_take_the_exact_best_path(seed: int, amount: int, max_hops: int) -> None:
    """Rounding can cost half of a tiny amount, which curves do not show. These pools never round up."""
    problem = problem_of(build_random_market(seed, tokens=5, pools=14), amount, max_hops)
    best = max((exact_output(one, amount) for one in every_path(problem.graph, max_hops)), default=0)
    if best < LOW_PRECISION_UNITS:
        for path in (found(problem.graph, amount, max_hops), better_single_path(problem, 0.0)):
            assert (exact_output(path, amount) if path else 0) == best


@given(seeds, amounts, hop_limits, st.sampled_from([0.8, 30]))
def test_is_a_path_within_the_limit_also_with_arbitrage(seed: int, amount: int, max_hops: int, noise: float) -> None:
    graph = graph_of(build_random_market(seed, tokens=5, pools=12, noise=noise, every_family=True))
    path = found(graph, amount, max_hops)
    if path:
        tokens = [0, *(arc.token_out for arc in path)]
        assert [arc.token_in for arc in path] == tokens[:-1]
        assert tokens[-1] == 1
        assert len(set(tokens)) == len(tokens) <= max_hops + 1
        assert delivered(path, amount) >= max(
            (delivered((arc,), amount) for arc in graph.arcs_by_pair[0].get(1, [])), default=0
        )


@given(seeds, amounts, hop_limits, st.booleans(), st.integers(5, 12))
def test_the_best_single_path_is_found_or_none_is_better(
    seed: int, amount: int, max_hops: int, every_family: bool, tokens: int
) -> None:
    """From five tokens on nine pools to a dozen; many are dead ends."""
    problem = problem_of(
        build_random_market(seed, tokens=tokens, pools=12, every_family=every_family), amount, max_hops
    )
    among_all = found(problem.graph, amount, max_hops)
    best = delivered(among_all, amount) if among_all else 0.0
    for least in (0.0, best * 0.5, max(0.0, best - 1), best, best + 1):
        path = better_single_path(problem, least)
        assert path or best <= least
        if path:
            tokens_passed = [0, *(arc.token_out for arc in path)]
            assert [arc.token_in for arc in path] == tokens_passed[:-1]
            assert tokens_passed[-1] == 1
            assert len(set(tokens_passed)) == len(tokens_passed) <= max_hops + 1
            assert delivered(path, amount) >= max(best, least + 1)


@given(seeds, amounts, hop_limits, st.floats(-6, -1), st.booleans())
def test_with_gas_it_leaves_about_as_much_as_the_best_of_all(
    seed: int, amount: int, max_hops: int, digits: float, every_family: bool
) -> None:
    """The gas of a swap is up to a tenth of the order. About: on the way gas counts at the rates of small amounts."""
    graph = graph_of(build_random_market(seed, tokens=5, pools=12, every_family=every_family))
    gas_value = problem_on(graph, amount, max_hops).spot_output() * 10**digits / 100_000
    problem = problem_on(graph, amount, max_hops, gas_value)
    paths = [path for path in every_path(graph, max_hops) if delivered(path, amount)]
    best = max((left(problem, path) for path in paths), default=None)
    among, anywhere = best_single_path(problem, graph.arcs()), better_single_path(problem, -inf)
    assert bool(among) == bool(anywhere) == (best is not None)
    if best is not None:
        slack = 1e-3 * max(delivered(path, amount) for path in paths)
        assert min(left(problem, among), left(problem, anywhere)) >= best - slack


def test_a_hop_more_has_to_pay_for_its_gas() -> None:
    a, b, c = build_token(0), build_token(1), build_token(2)
    direct = build_constant_product(0, a, b, 10**24, 10**24)
    around = [
        build_constant_product(1, a, c, 10**24, 10**24, 500),
        build_constant_product(2, c, b, 10**24, 10**24, 500),
    ]
    graph = graph_of(build_market([direct, *around], [a, b, c]))
    for gas_value, hops in ((0.0, 2), (1e12, 2), (1e14, 1)):
        problem = problem_on(graph, 10**21, 4, gas_value)
        assert len(best_single_path(problem, graph.arcs())) == len(better_single_path(problem, -inf)) == hops


def test_an_order_below_the_gas_cost_still_has_a_path() -> None:
    a, b, c = build_token(0), build_token(1), build_token(2)
    graph = graph_of(
        build_market(
            [build_constant_product(k, i, j, 10**24, 10**24) for k, (i, j) in enumerate([(a, c), (c, b)])], [a, b, c]
        )
    )
    problem = problem_on(graph, 10**15, 4, 1e15)
    assert len(best_single_path(problem, graph.arcs())) == len(better_single_path(problem, -inf)) == 2


@given(seeds, amounts)
def test_a_better_one_does_without_what_refused(seed: int, amount: int) -> None:
    problem = problem_of(build_random_market(seed), amount)
    refused: set[str] = set()
    while path := better_single_path(problem, 0.0, refused):
        assert not refused & {arc.pool.key for arc in path}
        refused.add(path[0].pool.key)
    assert refused >= {arc.pool.key for arc in found(problem.graph, amount, 6)[:1]}


@given(seeds, amounts)
def test_its_route_replays_to_what_it_promises(seed: int, amount: int) -> None:
    market = build_random_market(seed)
    graph = graph_of(market)
    path = found(graph, amount, 4)
    if not path:
        return
    route = single_route(graph, path)
    assert [hop[0].pool for hop in route.segments[0].hops] == [arc.pool.key for arc in path]
    try:
        steps = replay(market.pools, route, amount).steps
    except PoolError:
        return
    assert [step.rate for step in steps] == [1_000_000] * len(path)
    rounded_away = 0.0
    for arc in path:
        rounded_away = rounded_away * arc.rate + 2.0
    assert steps[-1].amount_out == pytest.approx(delivered(path, amount), rel=1e-9, abs=rounded_away)


def test_a_pool_that_cannot_take_the_order_is_passed_by() -> None:
    a, b = build_token(0), build_token(1)
    narrow, dear = build_concentrated(0, a, b, 10**18, 1.0, 600), build_constant_product(1, a, b, 10**24, 10**23)
    graph = graph_of(build_market([narrow, dear], [a, b]))
    assert [arc.pool for arc in found(graph, 10**10, 1)] == [narrow]
    assert [arc.pool for arc in found(graph, 10**21, 1)] == [dear]


def test_an_intermediate_token_with_few_decimals_costs_rounding() -> None:
    """Over c the rates are better by half a percent, but c has so few units that a third of three gets lost."""
    a, b, c = build_token(0), build_token(1), build_token(2, decimals=0)
    direct = build_constant_product(0, a, b, 10**24, 10**24, fee_ppm=6_000)
    around = [
        build_constant_product(1, a, c, 10**24, 10**6, fee_ppm=0),
        build_constant_product(2, c, b, 10**6, 10**24, fee_ppm=0),
    ]
    graph = graph_of(build_market([direct, *around], [a, b, c]))
    assert len(found(graph, 10**21, 4)) == 2
    assert len(found(graph, 3 * 10**18 - 1, 4)) == 1


def test_an_order_that_is_too_small_for_every_path_has_none() -> None:
    a, b = build_token(0), build_token(1)
    graph = graph_of(build_market([build_constant_product(0, a, b, 10**24, 10**20)], [a, b]))
    assert found(graph, 10, 4) == []


@given(seeds, amounts, st.integers(1, 4), st.sampled_from([1e-1, 1e-6]))
def test_no_path_pays_more_than_its_bound(seed: int, amount: int, max_hops: int, tolerance: float) -> None:
    """At the prices of a poor solution, too."""
    problem = problem_of(build_random_market(seed, tokens=6, pools=18, every_family=True), amount, max_hops)
    known = solved(problem, tolerance)
    if known is None:
        return
    most = max_single_path_output(problem, known.solution, 0.0)
    for path in every_path(problem.graph, max_hops):
        assert delivered(path, float(amount)) <= most * (1 + 1e-9)


@given(seeds, amounts, hop_limits)
def test_several_ways_lead_to_a_path_no_worse(seed: int, amount: int, max_hops: int) -> None:
    """Each number of hops gives a path that pays more than those before; none passes a token twice."""
    problem = problem_on(graph_of(build_random_market(seed, pools=14, noise=30, every_family=True)), amount, max_hops)
    paths = list(better_paths(problem, 0.0, ways=3))
    paid = [delivered(tuple(path), amount) for path in paths]
    assert all(earlier < later for earlier, later in pairwise(paid))
    for path in paths:
        assert len({arc.token_in for arc in path}) == len(path) <= max_hops
    one_way = better_single_path(problem, 0.0)
    assert not one_way or max(paid, default=0.0) >= delivered(tuple(one_way), amount)


def test_tokens_too_far_from_the_target_are_worth_nothing_on_the_way() -> None:
    """An order worth less than its gas looks at more of them than are extended."""
    tokens = [build_token(n) for n in range(80)]
    pools = [build_constant_product(1, tokens[0], tokens[1], 10**24, 10**24)]
    for n, token in enumerate(tokens[2:], 2):
        pools.append(build_constant_product(2 * n, tokens[0], token, 10**24, 10**24))
        pools.append(build_constant_product(2 * n + 1, token, tokens[1], 10**24, 10**24))
    problem = problem_of(build_market(pools, tokens), 10**18, max_hops=1)
    assert [len(path) for path in better_paths(problem, -1e30, ways=3)] == [1]


def test_of_several_ways_to_a_token_the_best_need_not_lead_on() -> None:
    """With much arbitrage: the best way to the fifth token passes tokens that a better path on needs."""
    market = build_random_market(697021571, pools=24, noise=30, every_family=True)
    order = build_order(market, 1, 0, 28_784_208_103_911_232)
    quote = Router(market).quote(order, gas_price_wei=0)
    assert quote.amount_out >= 29_903_917_713_926_114  # of a path of five hops
    fewer_hops = Router(market).quote(order._replace(max_hops=3), gas_price_wei=0)
    assert quote.amount_out > fewer_hops.amount_out * 1.2
