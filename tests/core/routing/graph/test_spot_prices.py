"""Zero-size prices are the best product of first-unit rates over all paths within the hop limit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.routing.graph.market_graph import MarketGraph
from swapcli.core.routing.graph.spot_prices import SpotPrices
from tests.core.routing.build import graph_of
from tests.core.routing.random_routes import simple_paths
from tests.support.pools import build_constant_product, build_market, build_random_market, build_token, seeds

hop_limits = st.integers(1, 5)


@st.composite
def graphs(draw: st.DrawFn, noise: float = 0.8) -> MarketGraph:
    """From trees to nets; without arbitrage unless `noise` exceeds 1."""
    tokens = draw(st.integers(2, 8))
    pools = draw(st.integers(tokens, 3 * tokens))
    return graph_of(build_random_market(draw(seeds), tokens=tokens, pools=pools, noise=noise, every_family=True))


def paths(graph: MarketGraph, source: int, target: int, max_hops: int) -> Iterator[list[int]]:
    return simple_paths(lambda t: graph.best_rate_out[t], source, target, max_hops)


def product(graph: MarketGraph, path: list[int]) -> float:
    return prod(graph.best_rate_out[i][j] for i, j in pairwise(path))


def brute_value(
    graph: MarketGraph, source: int, target: int, max_hops: int, avoid: frozenset[int] = frozenset()
) -> float:
    """The best product over every simple path that passes through none of `avoid`."""
    return max(
        (product(graph, p) for p in paths(graph, source, target, max_hops) if not avoid & set(p[1:-1])), default=0.0
    )


@given(graphs(), hop_limits)
def test_values_are_the_best_product_of_rates_within_the_limit(graph: MarketGraph, max_hops: int) -> None:
    for target in range(min(3, len(graph.addresses))):
        spot = SpotPrices(graph, target, max_hops)
        for t in range(len(graph.addresses)):
            expected = brute_value(graph, t, target, max_hops)
            assert spot.value(t) == pytest.approx(expected, rel=1e-12)


@given(graphs(), hop_limits)
def test_the_path_attains_the_value_within_the_hop_limit(graph: MarketGraph, max_hops: int) -> None:
    spot = SpotPrices(graph, 0, max_hops)
    for source in range(1, len(graph.addresses)):
        path = spot.path(source)
        if any(paths(graph, source, 0, max_hops)):
            assert (path[0], path[-1]) == (source, 0)
            assert len(set(path)) == len(path) <= max_hops + 1
            assert product(graph, path) == pytest.approx(spot.value(source), rel=1e-12)
        else:
            assert not path


@given(graphs(noise=30), hop_limits)
def test_with_arbitrage_a_path_is_found_where_there_is_one(graph: MarketGraph, max_hops: int) -> None:
    spot = SpotPrices(graph, 0, max_hops)
    for source in range(1, len(graph.addresses)):
        path = spot.path(source)
        if any(paths(graph, source, 0, max_hops)):
            assert (path[0], path[-1]) == (source, 0)
            assert len(set(path)) == len(path) <= max_hops + 1
            assert all(j in graph.best_rate_out[i] for i, j in pairwise(path))
        else:
            assert not path


@given(graphs(), hop_limits)
def test_no_arc_is_worth_a_trade_at_the_values_of_enough_hops(graph: MarketGraph, more: int) -> None:
    spot = SpotPrices(graph, 0, len(graph.addresses) + more)
    for arc in graph.arcs():
        if arc.token_in in spot.values:
            assert spot.values.get(arc.token_out, 0.0) * arc.rate <= spot.values[arc.token_in] * (1 + 1e-12)


@given(graphs(), hop_limits)
def test_more_hops_never_lower_a_value(graph: MarketGraph, max_hops: int) -> None:
    fewer, more = (SpotPrices(graph, 0, limit) for limit in (max_hops, max_hops + 1))
    for t in range(len(graph.addresses)):
        assert more.value(t) >= fewer.value(t) * (1 - 1e-12)


@given(graphs(), hop_limits, st.data())
def test_no_path_passes_through_what_is_avoided(graph: MarketGraph, max_hops: int, data: st.DataObject) -> None:
    avoid = frozenset(data.draw(st.sets(st.sampled_from(range(len(graph.addresses)))))) - {0}
    spot = SpotPrices(graph, 0, max_hops, avoided_tokens=avoid)
    for source in set(range(1, len(graph.addresses))) - avoid:
        assert not avoid & set(spot.path(source))
        assert spot.value(source) == pytest.approx(brute_value(graph, source, 0, max_hops, avoid), rel=1e-12)


@given(graphs(), hop_limits)
def test_the_fewest_hops_are_those_of_the_shortest_path(graph: MarketGraph, max_hops: int) -> None:
    spot = SpotPrices(graph, 0, max_hops)
    for t in graph.two_core - {0}:
        lengths = [len(path) - 1 for path in paths(graph, t, 0, max_hops)]
        assert spot.hops_to_target.get(t) == min(lengths, default=None)


@given(graphs(noise=30), hop_limits)
def test_the_target_is_worth_one_also_with_arbitrage(graph: MarketGraph, max_hops: int) -> None:
    """And no path gains by running through it."""
    spot = SpotPrices(graph, 0, max_hops)
    assert spot.value(0) == 1.0
    for t in graph.two_core - {0}:
        assert spot.value(t) >= brute_value(graph, t, 0, max_hops) * (1 - 1e-12)
    two = SpotPrices(graph, 0, 2)
    for t in range(1, len(graph.addresses)):
        assert two.value(t) == pytest.approx(brute_value(graph, t, 0, 2), rel=1e-12)


@given(graphs() | graphs(noise=30), hop_limits)
def test_no_path_within_the_hop_limit_beats_the_values(graph: MarketGraph, max_hops: int) -> None:
    spot = SpotPrices(graph, 0, max_hops)
    assert spot.values_within(0) == {0: 1.0}
    assert spot.values_within(max_hops) == spot.values_within(max_hops + 3) == spot.values
    for hops in range(1, max_hops + 1):
        known = spot.values_within(hops)
        for source in graph.two_core - {0}:
            for path in paths(graph, source, 0, hops):
                assert known[source] >= product(graph, path) * (1 - 1e-12)


def test_a_dead_end_beyond_the_limit_has_no_path_or_value() -> None:
    chain = [build_token(k) for k in range(4)]
    pools = [build_constant_product(k, i, j, 10**24, 10**24) for k, (i, j) in enumerate(pairwise(chain))]
    graph = graph_of(build_market(pools, chain))
    for max_hops in (1, 2):
        spot = SpotPrices(graph, 0, max_hops)
        assert (spot.path(3), spot.value(3)) == ([], 0.0)
    assert SpotPrices(graph, 0, 3).path(3) == [3, 2, 1, 0]


def test_a_token_that_no_pool_joins_has_no_value() -> None:
    a, b, c = (build_token(k) for k in range(3))
    graph = graph_of(build_market([build_constant_product(0, a, b, 10**24, 10**24)], [a, b, c]))
    spot = SpotPrices(graph, 0, 6)
    assert (spot.value(2), spot.path(2)) == (0.0, [])


# --- the best output of an amount


def paid_along(graph: MarketGraph, path: list[int], amount: float) -> float:
    for i, j in pairwise(path):
        amount = max(arc.curve.amount_out(amount) for arc in graph.arcs_by_pair[i][j])
    return amount


@given(graphs(), hop_limits, st.floats(12, 27))
def test_the_best_output_is_that_of_the_best_path(graph: MarketGraph, max_hops: int, digits: float) -> None:
    amount, spot = 10.0**digits, SpotPrices(graph, 1, max_hops)
    best = max((paid_along(graph, path, amount) for path in paths(graph, 0, 1, max_hops)), default=0.0)
    assert spot.best_output(0, amount, 0.0) == pytest.approx(best, rel=1e-9)
    assert spot.best_output(0, amount, 2.0 * best) == 2.0 * best
