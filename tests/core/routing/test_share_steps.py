"""Finer shares of segments pay no less than whole percents."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.errors import NoRoute
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.quote import HUNDREDTHS, MAX_SEGMENTS, SHARES_PER_ROUTE, WHOLE_PERCENTS
from swapcli.core.model.route_result import build_result
from swapcli.core.routing.replay import replay
from swapcli.core.routing.router import Router
from swapcli.core.routing.search.route_search import SearchResult
from swapcli.interface.route import parse_result, render_result
from tests.support.pools import build_order, build_random_market, build_wide_market, seeds

digits = st.floats(15, 22)
gas_prices = st.sampled_from([0, 10**6, 10**9])
steps = st.sampled_from([HUNDREDTHS, 10, 20])
DRAINING = 0.5
"""Of the output at spot prices: below it the order drains pools, and a local search decides instead of an optimum."""


def searched(market: MarketState, order: Order, gas_price_wei: int, step: int) -> SearchResult | None:
    try:
        return Router(market).search(order, gas_price_wei=gas_price_wei, share_step=step)
    except NoRoute:
        return None


def assert_no_worse(market: MarketState, order: Order, gas_price_wei: int, step: int) -> None:
    whole = searched(market, order, gas_price_wei, WHOLE_PERCENTS)
    finer = searched(market, order, gas_price_wei, step)
    assert (whole is None) == (finer is None)
    if whole and finer and whole.best.replay.amount_out > DRAINING * whole.problem.spot_output():
        assert finer.best.net >= whole.best.net


@settings(deadline=None)
@given(seeds, digits, gas_prices, steps)
def test_finer_shares_pay_no_less_after_gas(seed: int, size: float, gas_price_wei: int, step: int) -> None:
    market = build_random_market(seed, tokens=6, pools=20, every_family=True)
    assert_no_worse(market, build_order(market, 0, 1, int(10**size)), gas_price_wei, step)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_finer_shares_pay_more_in_a_wide_market(seed: int) -> None:
    market = build_wide_market(300)
    order = build_order(market, seed, seed + 7, 10 ** (20 + seed % 3))
    assert_no_worse(market, order, 0, HUNDREDTHS)


@given(seeds, digits, steps)
def test_routes_have_shares_of_the_step(seed: int, size: float, step: int) -> None:
    market = build_random_market(seed, tokens=6, pools=20, every_family=True)
    found = searched(market, build_order(market, 0, 1, int(10**size)), 0, step)
    segments = found.best.route.segments if found else ()
    assert len(segments) <= MAX_SEGMENTS
    assert all(segment.share % step == 0 for segment in segments)
    assert not segments or sum(segment.share for segment in segments) == SHARES_PER_ROUTE


@given(seeds, digits)
def test_a_parsed_fine_route_pays_what_was_quoted(seed: int, size: float) -> None:
    market = build_random_market(seed, tokens=6, pools=20)
    order = build_order(market, 0, 1, int(10**size))
    try:
        quote = Router(market).quote(order, share_step=HUNDREDTHS)
    except NoRoute:
        return
    result = build_result(quote, order, market.network, market.pools, ApiVersion.V1, timestamp_ms=0)
    parsed = parse_result(json.loads(json.dumps(render_result(result, market.network))), market.network)
    assert parsed.route == quote.route
    assert replay(market.pools, parsed.route, parsed.input_amount).amount_out == quote.amount_out


@given(seeds, st.floats(16, 20))
def test_an_exact_output_needs_no_more_input(seed: int, size: float) -> None:
    market = build_random_market(seed, tokens=5, pools=14)
    order = build_order(market, 0, 1, int(10**size))._replace(reverse=True)
    whole, finer = (searched(market, order, 0, step) for step in (WHOLE_PERCENTS, HUNDREDTHS))
    if whole and finer:
        assert finer.best.replay.amount_out >= order.amount
        assert finer.best.amount_in <= whole.best.amount_in * (1 + 1e-6)
