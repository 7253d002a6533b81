"""The market as a graph: what is joined, how well at first, and which tokens can lie between others."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import NoRoute
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.routing.graph.market_graph import MarketGraph
from swapcli.core.routing.graph.usd_prices import mid_rate
from swapcli.core.routing.router import Router
from tests.core.routing.build import graph_of
from tests.core.routing.random_routes import simple_paths
from tests.support.pools import build_constant_product, build_market, build_random_market, build_token, seeds


@st.composite
def markets(draw: st.DrawFn) -> MarketState:
    """From trees to nets, in one part or several, of every family."""
    tokens = draw(st.integers(2, 9))
    pools = draw(st.integers(tokens // 2, 2 * tokens))
    return build_random_market(
        draw(seeds), tokens=tokens, pools=pools, noise=draw(st.sampled_from([0.8, 30])), every_family=True
    )


graphs = markets().map(graph_of)


def joined(*pairs: tuple[int, int], tokens: int) -> MarketGraph:
    """A graph of one deep pool per pair."""
    known = [build_token(k) for k in range(tokens)]
    pools = [build_constant_product(n, known[i], known[j], 10**24, 10**24) for n, (i, j) in enumerate(pairs)]
    return graph_of(build_market(pools, known))


@given(markets())
def test_every_direction_of_every_pool_is_an_arc_of_its_own(market: MarketState) -> None:
    arcs = list(graph_of(market).arcs())
    assert len(arcs) == sum(len(pool.tokens) * (len(pool.tokens) - 1) for pool in market.pools.values())
    addresses = list(market.tokens)
    for arc in arcs:
        token_in, token_out = addresses[arc.token_in], addresses[arc.token_out]
        assert {token_in, token_out} <= set(arc.pool.tokens)
        assert arc.rate == arc.pool.curve(token_in, token_out).start_rate > 0.0


def test_a_drained_pool_has_no_arc_in_its_empty_direction() -> None:
    a, b = build_token(0), build_token(1)
    graph = graph_of(build_market([build_constant_product(0, a, b, 10**24, 0)], [a, b]))
    assert list(graph.arcs()) == []
    assert graph.neighbours(0) == set()


@given(graphs)
def test_arcs_of_a_pair_are_sorted_best_rate_first(graph: MarketGraph) -> None:
    for i, targets in enumerate(graph.arcs_by_pair):
        assert graph.best_rate_out[i].keys() == targets.keys()
        for j, arcs in targets.items():
            assert all((arc.token_in, arc.token_out) == (i, j) for arc in arcs)
            assert all(one.rate >= other.rate for one, other in pairwise(arcs))
            assert graph.best_rate_out[i][j] == graph.best_rate_in[j][i] == max(arc.rate for arc in arcs)
    assert sum(map(len, graph.best_rate_out)) == sum(map(len, graph.best_rate_in))


@given(graphs)
def test_neighbours_share_a_pool_whichever_sells(graph: MarketGraph) -> None:
    for t in range(len(graph.addresses)):
        shared = {arc.token_out for arc in graph.arcs() if arc.token_in == t}
        assert graph.neighbours(t) == shared | {arc.token_in for arc in graph.arcs() if arc.token_out == t}


@given(graphs)
def test_depth_is_the_input_that_a_small_fall_of_the_rate_takes(graph: MarketGraph) -> None:
    fall = 1e-6
    for arc in graph.arcs():
        taken = arc.curve.trade_to_marginal_rate(arc.rate * (1 - fall))[0]
        assert arc.depth == pytest.approx(taken / fall, rel=1e-2)


@given(graphs)
def test_depth_of_a_pair_is_that_of_its_five_best_arcs(graph: MarketGraph) -> None:
    for i, targets in enumerate(graph.arcs_by_pair):
        for j, arcs in targets.items():
            ranked = sorted(arcs, key=lambda arc: -arc.rate)
            assert graph.pair_depth(i, j) == pytest.approx(sum(arc.depth for arc in ranked[:5]))
            assert graph.pair_depth(i, j) == graph.pair_depth(i, j) > 0.0


# --- pruning


@given(graphs)
def test_between_core_tokens_only_core_tokens_lie(graph: MarketGraph) -> None:
    for a, b in combinations(sorted(graph.two_core), 2):
        for path in simple_paths(graph.neighbours, a, b, 5):
            assert set(path) <= graph.two_core


@given(graphs)
def test_the_two_core_is_what_remains_after_pruning_dead_ends(graph: MarketGraph) -> None:
    left = set(range(len(graph.addresses)))
    while dead_ends := {t for t in left if len(graph.neighbours(t) & left) <= 1}:
        left -= dead_ends
    assert graph.two_core == left


@given(graphs)
def test_every_path_from_a_dead_end_starts_with_its_core_path(graph: MarketGraph) -> None:
    for t in range(len(graph.addresses)):
        way = graph.path_to_core(t)
        assert way[0] == t
        assert len(set(way)) == len(way)
        assert all(j in graph.neighbours(i) for i, j in pairwise(way))
        assert not set(way[:-1]) & graph.two_core
        for core_token in graph.two_core:
            for path in simple_paths(graph.neighbours, t, core_token, 6):
                assert path[: len(way)] == way


@given(graphs)
def test_ways_of_one_tree_meet(graph: MarketGraph) -> None:
    """Two dead ends that are joined at all have a token of their ways in common, or both end in the core."""
    for a, b in combinations(range(len(graph.addresses)), 2):
        if any(simple_paths(graph.neighbours, a, b, len(graph.addresses))):
            one, other = graph.path_to_core(a), graph.path_to_core(b)
            assert set(one) & set(other) or {one[-1], other[-1]} <= graph.two_core


def test_of_a_ring_with_a_tail_the_ring_is_the_core() -> None:
    graph = joined((0, 1), (1, 2), (2, 0), (2, 3), (3, 4), tokens=6)
    assert graph.two_core == {0, 1, 2}
    assert [graph.path_to_core(t) for t in (1, 4, 5)] == [[1], [4, 3, 2], [5]]


def test_a_tree_has_no_core_and_all_paths_lead_to_one_root() -> None:
    graph = joined((0, 1), (1, 2), (1, 3), tokens=4)
    assert graph.two_core == set()
    assert len({graph.path_to_core(t)[-1] for t in range(4)}) == 1


@given(graphs)
def test_best_rates_to_and_from_the_core_omit_only_dead_ends(graph: MarketGraph) -> None:
    for i, j in ((arc.token_in, arc.token_out) for arc in graph.arcs()):
        assert graph.core_rate_out[i].get(j) == (graph.best_rate_out[i][j] if j in graph.two_core else None)
        assert graph.core_rate_in[j].get(i) == (graph.best_rate_out[i][j] if i in graph.two_core else None)
    assert all(set(row) <= graph.two_core for row in (*graph.core_rate_out, *graph.core_rate_in))


# --- moving on


@st.composite
def moves(draw: st.DrawFn) -> tuple[MarketState, MarketState, frozenset[str]]:
    """A market, what becomes of it, and the keys of the pools that differ: some moved, some gone, some new, and some
    that are called changed though they are not. New tokens stand behind the old ones."""
    whole = draw(markets())
    keys = sorted(whole.pools)
    selected = st.sets(st.sampled_from(keys))
    gone, new, touched = draw(selected), draw(selected), draw(selected)
    before = {key: pool for key, pool in whole.pools.items() if key not in new}
    after = {key: _traded(pool) if key in touched else pool for key, pool in whole.pools.items() if key not in gone}
    market = {token for pool in before.values() for token in pool.tokens}
    tokens = {**{a: t for a, t in whole.tokens.items() if a in market}, **whole.tokens}
    first = {a: t for a, t in tokens.items() if a in market}
    return (
        whole._replace(tokens=first, pools=before),
        whole._replace(tokens=tokens, pools=after),
        frozenset(gone | new | touched),
    )


def _traded(pool: Pool) -> Pool:
    sold, bought = pool.tokens[:2]
    curve = pool.curve(sold, bought)
    return pool.swap(sold, bought, max(10**6, int(curve.trade_to_marginal_rate(curve.start_rate * 0.99)[0])))[1]


def reported(graph: MarketGraph) -> object:
    """All that a graph says, in a form that can be compared."""
    tokens = range(len(graph.addresses))
    return (
        graph.addresses,
        graph.token_index,
        [
            {j: sorted((-arc.rate, arc.pool.key) for arc in arcs) for j, arcs in row.items()}
            for row in graph.arcs_by_pair
        ],
        graph.best_rate_out,
        graph.best_rate_in,
        [{j: graph.pair_depth(i, j) for j in row} for i, row in enumerate(graph.arcs_by_pair)],
        {(i, j): mid_rate(graph, i, j) for i, j in permutations(tokens, 2)},
        graph.two_core,
        graph.core_rate_out,
        graph.core_rate_in,
        [graph.path_to_core(t)[-1] in graph.two_core for t in tokens],
    )


@given(moves(), st.booleans())
def test_a_changed_graph_equals_one_built_from_the_new_pools(
    move: tuple[MarketState, MarketState, frozenset[str]], is_known: bool
) -> None:
    before, after, changed = move
    graph = graph_of(before)
    if is_known:
        reported(graph)
    moved = graph.with_changes(selected(before, changed), selected(after, changed), after.tokens)
    assert reported(moved) == reported(graph_of(after))
    assert reported(graph) == reported(graph_of(before)), "the former is as it was"


def selected(market: MarketState, keys: frozenset[str]) -> list[Pool]:
    return [market.pools[key] for key in sorted(keys) if key in market.pools]


@given(markets(), st.booleans())
def test_a_graph_of_some_pools_equals_one_built_from_them(market: MarketState, is_known: bool) -> None:
    graph = graph_of(market)
    if is_known:
        reported(graph)
    included = {key: pool for number, (key, pool) in enumerate(market.pools.items()) if number % 3}
    assert reported(graph.with_pools(lambda pool: pool.key in included)) == reported(
        MarketGraph(included.values(), market.tokens)
    )
    assert reported(graph) == reported(graph_of(market)), "the former is as it was"


@given(moves(), st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(3, 20)), max_size=4))
def test_a_router_that_has_moved_quotes_as_a_new_one(
    move: tuple[MarketState, MarketState, frozenset[str]], orders: list[tuple[int, int, int]]
) -> None:
    before, after, changed = move
    router = Router(before)
    router.index.warm()
    every = list(before.tokens.values())
    for i, j, digits in orders:
        for excluded in (frozenset[str](), frozenset({"v2"})):
            if i != j and max(i, j) < len(every):
                quoted(router, Order(every[i], every[j], 10**digits, excluded_protocols=excluded))
    moved, new = router.with_changes(after, changed), Router(after)
    moved.index.warm()
    tokens = list(after.tokens.values())
    assert moved.index.usd_prices(*tokens) == new.index.usd_prices(*tokens)
    for i, j, digits in orders:
        if i != j and max(i, j) < len(tokens):
            for excluded in (frozenset[str](), frozenset({"v2"})):
                requested = Order(tokens[i], tokens[j], 10**digits, excluded_protocols=excluded)
                assert quoted(moved, requested) == quoted(new, requested)


def quoted(router: Router, requested: Order) -> tuple[int, float | None] | None:
    try:
        quote = router.quote(requested)
    except NoRoute:
        return None
    return quote.amount_out, quote.price_out_usd


@st.composite
def seven_token_graphs(draw: st.DrawFn) -> MarketGraph:
    return graph_of(
        build_random_market(draw(seeds), tokens=7, pools=draw(st.integers(7, 20)), every_family=draw(st.booleans()))
    )


@given(seven_token_graphs(), st.sets(st.integers(2, 6)), st.integers(1, 6))
def test_exactly_the_arcs_on_short_paths_are_included(graph: MarketGraph, between: set[int], max_hops: int) -> None:
    tokens = {0, 1} | between
    taken = graph.arcs_between(tokens, (0, 1), max_hops)
    assert len({id(arc) for arc in taken}) == len(taken)
    assert not any(arc.token_out == 0 or arc.token_in == 1 for arc in taken)
    assert all({arc.token_in, arc.token_out} <= tokens for arc in taken)
    links = {(arc.token_in, arc.token_out) for arc in taken}
    assert sorted(map(id, taken)) == sorted(id(arc) for i, j in links for arc in graph.arcs_by_pair[i][j])
    for path in simple_paths(lambda t: graph.best_rate_out[t].keys() & tokens, 0, 1, max_hops):
        assert set(pairwise(path)) <= links


@given(seven_token_graphs(), st.sets(st.integers(2, 6)))
def test_within_one_hop_there_are_only_direct_arcs(graph: MarketGraph, between: set[int]) -> None:
    direct = graph.arcs_by_pair[0].get(1, [])
    assert graph.arcs_between({0, 1} | between, (0, 1), 1) == direct
