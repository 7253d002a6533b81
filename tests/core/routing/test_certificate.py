"""The certificate's bound holds for every route, at any prices, on any market."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import exp, inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import NoRoute, PoolError
from swapcli.core.model.market import MarketState
from swapcli.core.routing.certificate import prove_output
from swapcli.core.routing.dual_terms import float_above, sum_up, terms_at
from swapcli.core.routing.graph.best_paths import extend_prices, price_tokens
from swapcli.core.routing.graph.market_graph import MIN_PRICE, MarketGraph, Prices
from swapcli.core.routing.graph.order_market import SpotPrices
from swapcli.core.routing.replay import replay
from swapcli.core.routing.router import Router
from tests.core.routing.build import graph_of
from tests.core.routing.random_routes import random_route
from tests.examples import few_rows
from tests.support.pools import (
    UNIT,
    amounts,
    build_constant_product,
    build_market,
    build_order,
    build_random_market,
    build_token,
    seeds,
)

A, B, C, D = (build_token(k) for k in range(4))


@st.composite
def markets(draw: st.DrawFn) -> MarketState:
    """Of every family, with and without arbitrage."""
    return build_random_market(
        draw(seeds), pools=draw(st.integers(6, 16)), noise=draw(st.sampled_from([0.8, 3, 30])), every_family=True
    )


def outputs(traded_market: MarketState, amount: int, seed: int) -> list[int]:
    """What five random routes pay."""
    rng, paid = random.Random(seed), []
    for route in filter(None, (random_route(rng, traded_market) for _ in range(5))):
        try:
            paid.append(replay(traded_market.pools, route, amount).amount_out)
        except PoolError:
            continue
    return paid


@given(markets(), amounts, seeds, st.sampled_from([0.0, 0.01, 1.0]))
def test_at_any_prices_no_route_pays_more_than_the_bound(
    traded_market: MarketState, amount: int, seed: int, distance: float
) -> None:
    graph, rng = graph_of(traded_market), random.Random(seed)
    near = SpotPrices(graph, 1, 6).values
    prices = {t: near.get(t, 1.0) * exp(rng.gauss(0, distance)) for t in range(6)} | {1: 1.0}
    certificate = prove_output(graph, graph, [prices], (0, 1, amount), 1, lambda _: True).certificate
    for paid in outputs(traded_market, amount, seed):
        assert paid <= certificate.bound * (1 + 1e-9)
    assert certificate.acyclic_bound == certificate.bound


@given(markets(), amounts, seeds)
def test_no_route_pays_more_than_the_bound_of_a_quote(traded_market: MarketState, amount: int, seed: int) -> None:
    try:
        quote = Router(traded_market).quote(build_order(traded_market, 0, 1, amount), certify=True)
    except NoRoute:
        return
    certificate = quote.certificate
    assert certificate is not None
    for paid in [quote.amount_out, quote.best_single_path_out or 0, *outputs(traded_market, amount, seed)]:
        assert paid <= certificate.bound * (1 + 1e-7)
    assert quote.amount_out * (1 - 1e-7) <= certificate.acyclic_bound <= certificate.bound
    assert certificate.gap_bps == pytest.approx((certificate.bound / quote.amount_out - 1) * 1e4)
    assert certificate.acyclic_gap_bps == pytest.approx((certificate.acyclic_bound / quote.amount_out - 1) * 1e4)
    assert certificate.pools_checked == len(traded_market.pools)


@given(markets(), amounts)
def test_the_bound_is_the_least_of_those_of_all_prices(traded_market: MarketState, amount: int) -> None:
    graph, rng = graph_of(traded_market), random.Random(amount)
    several = [{t: exp(rng.gauss(0, 1)) for t in range(6)} | {1: 1.0} for _ in range(3)]
    calls = (0, 1, amount)
    single = [prove_output(graph, graph, [prices], calls, 1, lambda _: True).certificate.bound for prices in several]
    assert prove_output(graph, graph, several, calls, 1, lambda _: True).certificate.bound == min(single)


def test_a_market_without_arbitrage_is_certified_to_the_rounding() -> None:
    pools = [
        build_constant_product(k, i, j, 10**24, 10**24) for k, (i, j) in enumerate([(A, B), (A, C), (C, B), (B, D)])
    ]
    traded_market = build_market(pools, [A, B, C, D])
    certificate = Router(traded_market).quote(build_order(traded_market, 0, 1, 10**22), certify=True).certificate
    assert certificate is not None
    assert 0.0 <= certificate.acyclic_gap_bps <= certificate.gap_bps < 0.01


@pytest.mark.parametrize(
    ("seed", "amount"), few_rows([(49, 21598315540843292), (14, 34209181915107440), (59, 132107469635532960)], 1)
)
def test_a_sparse_market_is_certified_over_paths_of_any_length(seed: int, amount: int) -> None:
    """A bound is on any routing, and there some tokens are worth most over more hops than a route may have."""
    traded_market = build_random_market(seed, tokens=150, pools=300)
    certificate = Router(traded_market).quote(build_order(traded_market, 0, 1, amount), certify=True).certificate
    assert certificate is not None
    assert certificate.gap_bps < 200


def test_tokens_that_carry_little_count_at_their_spot_prices() -> None:
    """Both pools of each of 20 tokens would be drained by a slice of the order, which brings less than a unit does."""
    side = [build_token(k) for k in range(4, 24)]
    pools = [build_constant_product(0, A, B, 10**24, 10**24)]
    for k, token in enumerate(side):
        pools.append(build_constant_product(3 * k + 1, A, token, 10**19, 10**19))
        pools.append(build_constant_product(3 * k + 2, token, B, 10**19, 14 * 10**18))
        pools.append(build_constant_product(3 * k + 3, token, B, 10**24, 5 * 10**23))
    traded_market = build_market(pools, [A, B, C, D, *side])
    order = build_order(traded_market, 0, 1, 10**23)
    certificate = Router(traded_market).quote(order, certify=True, share_step=1).certificate
    assert certificate is not None
    assert certificate.acyclic_gap_bps < 1  # 5.0 with the rates of slices; 0.8 is what shares below 0.01% would bring


def test_tokens_at_the_end_of_a_long_chain_have_a_value() -> None:
    """Else what they bring would be missing from the bound."""
    chain = [build_token(k) for k in range(60)]
    pools = [build_constant_product(k, i, j, 10**24, 10**24) for k, (i, j) in enumerate(pairwise(chain))]
    values = extend_prices(graph_of(build_market(pools, chain)), {1: 1.0}, 1)
    assert set(values) == set(range(60))
    assert values[59] == pytest.approx(0.997**58)


def test_tokens_that_only_dust_joins_have_a_price_at_any_distance() -> None:
    """Else what they bring would be missing from the bound: the filtered market has only the pool of a and b."""
    chain = [B, *(build_token(k) for k in range(4, 34))]
    first = build_constant_product(0, A, B, 10**24, 10**24)
    dust = [build_constant_product(k, i, j, 10**6, 10**6) for k, (i, j) in enumerate(pairwise(chain), 1)]
    tokens = [A, B, *chain[1:]]
    whole, filtered = (graph_of(build_market(pools, tokens)) for pools in ([first, *dust], [first]))
    prices = price_tokens(whole, filtered, {1: 1.0}, 1)
    assert set(prices) == set(range(len(tokens)))
    assert prices[len(tokens) - 1] == pytest.approx(0.997**-30)
    assert all(arc.surplus(prices) == 0.0 for arc in whole.arcs() if arc.token_out > 1 and arc.token_in != 1)


def test_a_token_worth_less_than_floats_hold_has_the_least_price() -> None:
    chain = [build_token(k) for k in range(8)]
    pools = [build_constant_product(k, i, j, 10**2, 10**30) for k, (i, j) in enumerate(pairwise(chain))]
    graph = graph_of(build_market(pools, chain))
    prices = price_tokens(graph, graph, {0: 1.0}, 0)
    assert prices[7] == MIN_PRICE
    assert 0.0 < prices[2] < 1e-50


def test_bounds_of_terms_are_exact_sums_of_texts() -> None:
    """And infinite if floats overflow."""
    graph = graph_of(build_market([build_constant_product(0, A, B, 10**24, 10**24)], [A, B]))
    (term,) = terms_at(graph.arcs_by_pair[0][1], {0: 0.1, 1: 1.0})
    exact = Fraction("0.1") * 3 + Fraction(repr(term.value))
    assert Fraction(sum_up(3, 0.1, [term])) == exact
    assert exact <= Fraction(repr(float_above(sum_up(3, 0.1, [term]))))
    assert sum_up(1, 1.0, [term._replace(value=inf)]) == Decimal(inf)


@given(seeds, st.floats(0.5, 2.0))
def test_a_term_is_no_less_than_any_trade_gains(seed: int, factor: float) -> None:
    graph = graph_of(build_random_market(seed, every_family=True))
    near = SpotPrices(graph, 1, 6).values
    prices = {t: near.get(t, 1.0) * factor ** (t % 3) for t in range(6)} | {1: 1.0}
    values = {id(term.arc): term.value for term in terms_at(graph.arcs(), prices)}
    for arc in graph.arcs():
        for part in (1e-9, 1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0):
            sold = min(part * arc.depth, arc.curve.capacity)
            gain = prices[arc.token_out] * arc.curve.amount_out(sold) - prices[arc.token_in] * sold
            assert gain <= values.get(id(arc), 0.0)


@given(st.integers(2, 40), st.integers(0, 10**6))
def test_a_bound_is_never_less_than_what_dust_brought(amount: int, seed: int) -> None:
    traded_market = build_random_market(seed, every_family=True)
    try:
        quote = Router(traded_market).quote(build_order(traded_market, 0, 1, amount), certify=True)
    except NoRoute:
        return
    assert quote.certificate is not None
    assert quote.amount_out <= quote.certificate.acyclic_bound <= quote.certificate.bound
    assert quote.certificate.gap_bps >= quote.certificate.acyclic_gap_bps >= 0.0


def test_unroutable_arbitrage_counts_only_in_the_wider_bound() -> None:
    """The ring b, c, d gains 20%, but a route to b does not leave b."""
    ring = [
        build_constant_product(k, i, j, 10**24, 12 * 10**23) for k, (i, j) in enumerate([(B, C), (C, D), (D, B)], 1)
    ]
    traded_market = build_market([build_constant_product(0, A, B, 10**24, 10**24), *ring], [A, B, C, D])
    certificate = Router(traded_market).quote(build_order(traded_market, 0, 1, 10**20), certify=True).certificate
    assert certificate is not None
    assert certificate.acyclic_gap_bps < 0.1
    assert certificate.gap_bps > 100


def test_nothing_paid_is_infinitely_far_from_the_bound() -> None:
    traded_market = build_market([build_constant_product(0, A, B, 10**24, 10**24)], [A, B])
    graph = graph_of(traded_market)
    assert prove_output(graph, graph, [{0: 1.0, 1: 1.0}], (0, 1, 10**18), 0, lambda _: True).certificate.gap_bps == inf


# --- its parts


@given(markets(), seeds)
def test_a_surplus_is_what_the_best_trade_is_value(traded_market: MarketState, seed: int) -> None:
    graph, rng = graph_of(traded_market), random.Random(seed)
    near = SpotPrices(graph, 1, 6).values
    prices: Prices = {t: near.get(t, 1.0) * exp(rng.gauss(0, 0.3)) for t in range(6)}
    for arc in graph.arcs():
        best = arc.surplus(prices)
        price_in, price_out = prices[arc.token_in], prices[arc.token_out]
        capacity = min(arc.curve.capacity, 1e30)
        for part in (1e-6, 1e-4, 1e-2, 0.1, 0.3, 1.0):
            sold = min(part * arc.depth, capacity)
            value = price_out * arc.curve.amount_out(sold) - price_in * sold
            assert value <= best + 1e-7 * price_in * sold


def test_an_arc_that_loses_has_no_surplus() -> None:
    graph = graph_of(build_market([build_constant_product(0, A, B, 10**24, 10**24, 3000)], [A, B]))
    (arc,) = graph.arcs_by_pair[0][1]
    assert arc.surplus({0: 0.997, 1: 1.0}) == arc.surplus({0: 1.0, 1: 1.0}) == 0.0
    assert arc.surplus({0: 1.0}) == 0.0
    assert arc.surplus({0: 0.996, 1: 1.0}) > 0.0


def test_an_arc_that_sells_a_worthless_token_gains_all_that_it_can_pay() -> None:
    """A token without a price counts as worthless, so that a bound which lacks one only grows."""
    graph = graph_of(build_market([build_constant_product(0, A, B, 10**24, 10**24, 3000)], [A, B]))
    (arc,) = graph.arcs_by_pair[0][1]
    assert arc.surplus({1: 1.0}) == arc.surplus({0: 0.0, 1: 1.0}) == pytest.approx(10**24)


@given(markets(), st.sets(st.integers(0, 5)))
def test_tokens_without_a_price_get_no_more_than_they_bring(traded_market: MarketState, priced: set[int]) -> None:
    graph = graph_of(traded_market)
    prices = priced_among(graph, priced)
    values = extend_prices(graph, prices, 1)
    assert all(values[t] == price for t, price in prices.items())
    for t in range(6):
        brought = [rate * values[j] for j, rate in graph.best_rate_out[t].items() if j in values]
        assert (t in values) == (t in prices or bool(brought))
        assert t not in values or t in prices or 0.0 < values[t] <= max(brought) * (1 + 1e-12)


@given(seeds, st.sets(st.integers(0, 5)))
def test_prices_extended_without_arbitrage_leave_no_surplus(seed: int, priced: set[int]) -> None:
    graph = graph_of(build_random_market(seed, every_family=True))
    prices = priced_among(graph, priced)
    values = extend_prices(graph, prices, 1)
    for t in values.keys() - prices.keys():
        assert values[t] == pytest.approx(max(rate * values.get(j, 0.0) for j, rate in graph.best_rate_out[t].items()))
    for arc in graph.arcs():
        if arc.token_in in values.keys() - prices.keys():
            assert arc.surplus(values) <= 1e-9 * UNIT * values[arc.token_in]


def priced_among(graph: MarketGraph, priced: set[int]) -> Prices:
    near = SpotPrices(graph, 1, 6).values
    return {t: near[t] for t in priced if t in near} | {1: 1.0}
