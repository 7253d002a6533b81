"""The market at the scale of an order: what slices are worth, and which pools are dust to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.routing.graph.dust_filter import SLICE_FRACTION, DustFilter, PaidSlices, pays_for_slice
from swapcli.routing.graph.market_graph import MarketGraph
from swapcli.routing.graph.spot_prices import SpotPrices
from swapcli.routing.graph.usd_prices import mid_rate, reference_values, usd_prices
from tests.routing.build import graph_of
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
    values = reference_values(market, usd_prices(market, {1: 1.0}))
    sized = SpotPrices(market, 1, 6, {t: order_value * UNIT / value for t, value in values.items()})
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


@given(seeds, st.lists(st.floats(-6, 9), max_size=5))
def test_what_other_slices_say_of_a_pool_changes_no_answer(seed: int, digits: list[float]) -> None:
    market = graph_of(build_random_market(seed, every_family=True))
    values, paid = reference_values(market, usd_prices(market, {1: 1.0})), PaidSlices()
    for slice_value in (10.0**each * UNIT for each in digits):
        for arc in market.arcs():
            value_in, value_out = values[arc.token_in], values[arc.token_out]
            expected = pays_for_slice(arc.curve, max(slice_value / value_in, 1.0), value_in / value_out)
            assert paid.pays(arc, slice_value, value_in, value_out) == expected
