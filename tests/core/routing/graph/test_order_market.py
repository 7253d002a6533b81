"""The market as an order sees it: which pools are dust to it, and spot prices.

Spot prices of infinitely small orders are the best products of first-unit rates over all paths within the hop limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import prod

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.routing.graph.market_graph import MarketGraph
from swapcli.core.routing.graph.order_market import (
    SLICE_FRACTION,
    DustFilter,
    PaidSlices,
    SlicePairs,
    SpotPrices,
    amount_out_for_all,
    pays_for_slice,
)
from swapcli.core.routing.graph.usd_prices import mid_rate, reference_values, usd_prices
from tests.core.routing.build import graph_of
from tests.core.routing.random_routes import simple_paths
from tests.support.pools import UNIT, build_constant_product, build_market, build_random_market, build_token, seeds

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


A, USD, C, D = (build_token(number) for number in range(4))


def graph(*pools: object) -> MarketGraph:
    return MarketGraph(pools, [each.address for each in (A, USD, C, D)])  # type: ignore[arg-type]


def scales(market: MarketGraph) -> DustFilter:
    values = reference_values(market, usd_prices(market, {1: 1.0}))
    return DustFilter(market, lambda: values)


DEEP = build_constant_product(0, A, USD, 10**3 * UNIT, 3 * 10**6 * UNIT)
BRIDGE = (
    build_constant_product(1, A, C, 10**3 * UNIT, 10**3 * UNIT),
    build_constant_product(2, C, USD, 10**3 * UNIT, 3 * 10**6 * UNIT),
)


@given(seeds, st.floats(1, 1e6))
def test_a_slice_pays_no_more_per_unit_than_the_spot_price(seed: int, order_value: float) -> None:
    market = graph_of(build_random_market(seed, every_family=True))
    sized = scales(market).filtered_market(0, 1, order_value * UNIT, 6).spot
    spot = SpotPrices(market, 1, 6)
    for t in range(len(market.addresses)):
        assert sized.value(t) <= spot.value(t) * (1 + 1e-12)


@pytest.mark.parametrize("reserves", [(1, 10**12), (10**3, 10**18), (10**9, 10**15)])
def test_a_pool_of_next_to_nothing_sets_no_price_and_is_left_out(reserves: tuple[int, int]) -> None:
    dust = build_constant_product(3, C, USD, *reserves)
    order = 10 * UNIT
    clean = scales(graph(DEEP, *BRIDGE)).filtered_market(0, 1, order, 6)
    dusted = scales(graph(DEEP, *BRIDGE, dust)).filtered_market(0, 1, order, 6)
    assert dusted.spot.values == pytest.approx(clean.spot.values)
    assert dusted.graph.best_rate_out[2][1] == clean.graph.best_rate_out[2][1]
    assert {arc.pool.key for arc in dusted.graph.arcs_by_pair[2][1]} == {BRIDGE[1].key}


def test_a_pool_that_is_dust_to_a_large_order_serves_a_small_one() -> None:
    small = build_constant_product(3, A, USD, UNIT // 1_000, 4 * UNIT)
    market = scales(graph(DEEP, *BRIDGE, small))
    keys = [
        {arc.pool.key for arc in market.filtered_market(0, 1, amount, 6).graph.arcs_by_pair[0][1]}
        for amount in (UNIT // 10, 10**23)
    ]
    assert keys == [{DEEP.key, small.key}, {DEEP.key}]


def test_orders_of_about_one_size_share_a_market() -> None:
    market = scales(graph(DEEP, *BRIDGE))
    assert market.filtered_market(0, 1, 20 * UNIT, 6) is market.filtered_market(0, 1, 21 * UNIT, 6)
    spot = market.filtered_market(0, 1, 20 * UNIT, 6).spot
    assert spot.slices is not None
    assert SLICE_FRACTION / 16 * 20 * UNIT <= spot.slices[0] <= SLICE_FRACTION * 20 * UNIT


def test_a_pool_far_from_the_others_has_no_say_in_a_mid_rate() -> None:
    """Weighed by depth alone, a millionth of the depth at a billion times the rate would set the price."""
    absurd = build_constant_product(3, A, USD, 10**6, 3 * UNIT)
    assert mid_rate(graph(DEEP, absurd), 0, 1) == mid_rate(graph(DEEP), 0, 1)


def test_tokens_without_usd_prices_get_relative_values() -> None:
    market = graph(build_constant_product(0, C, D, 10**3 * UNIT, 5 * 10**3 * UNIT))
    values = reference_values(market, usd_prices(market, {1: 1.0}))
    assert values[2] / values[3] == pytest.approx(5.0)


@given(seeds, st.floats(-3, 4))
def test_best_rates_are_those_for_a_slice(seed: int, digits: float) -> None:
    market = graph_of(build_random_market(seed, every_family=True))
    found = scales(market).filtered_market(0, 1, 10.0**digits * UNIT, 6)
    slices = found.spot.slices
    assume(slices is not None and not found.spot.is_dust(0, 0.1))
    assert slices is not None
    for arcs in (arcs for row in found.graph.arcs_by_pair for arcs in row.values()):
        amount_in, rate = slices[arcs[0].token_in], found.graph.best_rate_out[arcs[0].token_in][arcs[0].token_out]
        paid = max(arc.curve.amount_out(amount_in) for arc in arcs if amount_in <= arc.curve.capacity)
        assert paid * (1 - 1e-12) <= rate * amount_in <= paid / (1 - 0.011)


@given(seeds, st.lists(st.floats(-3, 12), min_size=2, max_size=6))
def test_orders_of_other_sizes_change_no_market(seed: int, digits: list[float]) -> None:
    pools = build_random_market(seed, every_family=True)
    shared = scales(graph_of(pools))
    for amount in (10.0**each * UNIT for each in digits):
        found, alone = (each.filtered_market(0, 1, amount, 6) for each in (shared, scales(graph_of(pools))))
        assert found.spot.values == alone.spot.values
        assert found.graph.best_rate_out == alone.graph.best_rate_out
        assert found.graph.best_rate_in == alone.graph.best_rate_in
        keys = [
            [[arc.pool.key for arc in arcs] for row in each.graph.arcs_by_pair for arcs in row.values()]
            for each in (found, alone)
        ]
        assert keys[0] == keys[1]


@given(seeds, st.lists(st.floats(-6, 9), max_size=5))
def test_what_other_slices_say_of_a_pool_changes_no_answer(seed: int, digits: list[float]) -> None:
    market = graph_of(build_random_market(seed, every_family=True))
    values, paid = reference_values(market, usd_prices(market, {1: 1.0})), PaidSlices()
    for slice_value in (10.0**each * UNIT for each in digits):
        slices = {token: max(slice_value / value, 1.0) for token, value in values.items()}
        pairs = SlicePairs(paid, slice_value, slices, values)
        for i, row in enumerate(market.arcs_by_pair):
            for j, arcs in row.items():
                paying = [arc for arc in arcs if pays_for_slice(arc.curve, slices[i], values[i] / values[j])]
                takes_all = any(amount_out_for_all(arc, slices[i]) for arc in paying)
                assert pairs.select((i, j), arcs)[0] == (paying if takes_all else [])
