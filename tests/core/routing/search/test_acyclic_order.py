"""A flow built slice by slice gives an order of tokens in which every path leads forward."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.routing.graph.digraph import topological_order
from swapcli.core.routing.graph.market_graph import Arc, MarketGraph
from swapcli.core.routing.search.acyclic_order import acyclic_order
from swapcli.core.routing.search.single_path import best_single_path
from tests.core.routing.build import graph_of, problem_on
from tests.core.routing.random_routes import simple_paths
from tests.support.pools import (
    build_concentrated,
    build_constant_product,
    build_market,
    build_random_market,
    build_token,
    seeds,
)

amounts = st.floats(14, 20).map(lambda digits: 10.0**digits)
hop_limits = st.integers(1, 5)
slice_counts = st.integers(1, 12)
A, B, C = (build_token(k) for k in range(3))


@st.composite
def graphs(draw: st.DrawFn) -> MarketGraph:
    """With arbitrage, of every family."""
    noise = draw(st.sampled_from([0.8, 3, 30]))
    return graph_of(build_random_market(draw(seeds), pools=draw(st.integers(6, 18)), noise=noise, every_family=True))


def delivered(path: list[Arc], amount: float) -> float:
    for arc in path:
        amount = arc.curve.amount_out(amount)
    return amount


@given(graphs(), amounts, hop_limits, slice_counts)
def test_the_source_is_first_the_target_last_and_tokens_unique(
    graph: MarketGraph, amount: float, max_hops: int, slices: int
) -> None:
    order = acyclic_order(graph.arcs(), (0, 1), amount, max_hops, slices)
    reachable = any(simple_paths(lambda t: graph.best_rate_out[t], 0, 1, max_hops))
    assert reachable or not order
    if order:
        assert (order[0], order[-1]) == (0, 1)
        assert len(set(order)) == len(order)


@given(graphs(), amounts, hop_limits, slice_counts)
def test_every_token_is_on_a_forward_path_within_the_limit(
    graph: MarketGraph, amount: float, max_hops: int, slices: int
) -> None:
    order = acyclic_order(graph.arcs(), (0, 1), amount, max_hops, slices)
    place = {t: k for k, t in enumerate(order)}

    def onward(t: int) -> list[int]:
        return [j for j in graph.best_rate_out[t] if place.get(j, -1) > place[t]]

    forward = list(simple_paths(onward, 0, 1, max_hops)) if order else []
    assert {t for path in forward for t in path} == set(order)


def sliced(graph: MarketGraph, amount: float, max_hops: int, slices: int) -> set[int]:
    """Tokens that a flow of slices passes through, each slice on the best of all paths of arcs."""
    sold: dict[int, float] = {}
    forward: set[tuple[int, int]] = set()

    def added(path: tuple[Arc, ...]) -> tuple[float, list[float]]:
        market, amounts_in = amount / slices, []
        for arc in path:
            amounts_in.append(market)
            before = sold.get(id(arc), 0.0)
            if before + market > arc.curve.capacity:
                return 0.0, []
            market = arc.curve.amount_out(before + market) - arc.curve.amount_out(before)
        return market, amounts_in

    all_arcs = list(simple_paths(lambda t: graph.best_rate_out[t], 0, 1, max_hops))
    for _ in range(slices):
        usable = [p for p in all_arcs if topological_order(forward | set(pairwise(p))) is not None]
        choices = [arcs for p in usable for arcs in product(*(graph.arcs_by_pair[i][j] for i, j in pairwise(p)))]
        best = max(choices, key=lambda arcs: added(arcs)[0], default=())
        paid, amounts_in = added(best)
        if not paid:
            break
        for arc, x in zip(best, amounts_in, strict=True):
            sold[id(arc)] = sold.get(id(arc), 0.0) + x
            forward.add((arc.token_in, arc.token_out))
    return {t for link in forward for t in link}


@given(seeds, amounts, st.integers(1, 3), st.integers(1, 6))
def test_every_slice_without_arbitrage_takes_the_best_path(
    seed: int, amount: float, max_hops: int, slices: int
) -> None:
    graph = graph_of(build_random_market(seed, tokens=5, pools=9))
    assert set(acyclic_order(graph.arcs(), (0, 1), amount, max_hops, slices)) == sliced(graph, amount, max_hops, slices)


@given(graphs(), amounts, hop_limits)
def test_one_slice_takes_the_best_single_path(graph: MarketGraph, amount: float, max_hops: int) -> None:
    order = acyclic_order(graph.arcs(), (0, 1), amount, max_hops, 1)
    best = best_single_path(problem_on(graph, int(amount), max_hops), graph.arcs())
    pools = [arc.pool.key for arc in best]
    if not best or len(set(pools)) < len(pools):
        return
    paid = amount
    for i, j in pairwise(order):
        paid = max(arc.curve.amount_out(paid) for arc in graph.arcs_by_pair[i][j])
    assert paid == pytest.approx(delivered(best, amount), rel=1e-6)


def test_later_slices_go_around_what_the_earlier_filled() -> None:
    direct = build_constant_product(0, A, B, 10**21, 10**21)
    around = [build_constant_product(1, A, C, 10**24, 99 * 10**22), build_constant_product(2, C, B, 10**24, 10**24)]
    graph = graph_of(build_market([direct, *around], [A, B, C]))
    assert acyclic_order(graph.arcs(), (0, 1), 1e17, 3, 4) == [0, 1]
    assert acyclic_order(graph.arcs(), (0, 1), 1e21, 3, 4) == [0, 2, 1]


def test_a_slice_that_no_pool_can_take_ends_the_flow() -> None:
    narrow = build_concentrated(0, A, B, 10**18, 1.0, 600)
    graph = graph_of(build_market([narrow], [A, B]))
    assert acyclic_order(graph.arcs(), (0, 1), 1e15, 3, 4) == [0, 1]
    assert acyclic_order(graph.arcs(), (0, 1), 1e21, 3, 4) == []
