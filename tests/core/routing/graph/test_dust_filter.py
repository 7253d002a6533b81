"""The market at the scale of an order: what slices are worth, and which pools are dust to it."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.routing.graph.dust_filter import SLICE_FRACTION, DustFilter, PaidSlices, SlicePairs, pays_for_slice
from swapcli.core.routing.graph.market_graph import MarketGraph
from swapcli.core.routing.graph.spot_prices import SpotPrices, amount_out_for_all
from swapcli.core.routing.graph.usd_prices import mid_rate, reference_values, usd_prices
from tests.core.routing.build import graph_of
from tests.support.pools import UNIT, build_constant_product, build_random_market, build_token, seeds

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
