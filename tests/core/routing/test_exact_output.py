"""Exact output: enough, and one unit less is not."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from swapcli.core.errors import NoRoute, PoolError
from swapcli.core.model.market import MarketState
from swapcli.core.routing.exact_output import Shortfall, route_for_output
from swapcli.core.routing.graph.market_graph import MarketGraph
from swapcli.core.routing.graph.order_market import SpotPrices
from swapcli.core.routing.replay import replay
from swapcli.core.routing.router import Router
from swapcli.core.routing.search.problem import RoutingProblem, SwapSpec
from swapcli.core.routing.search.route_search import RouteSearch, SearchResult
from tests.examples import examples
from tests.support.pools import (
    build_constant_product,
    build_market,
    build_order,
    build_random_market,
    build_token,
    seeds,
)


@settings(max_examples=examples(1, full=30))
@given(seeds, st.floats(12, 26), st.booleans())
@example(71730, 25.71875, True)
@example(594002372, 22.8459, False)
@example(115535296, 24.4311, True)
@example(838578566, 23.1612, True)
@example(795670846, 25.7337, False)
def test_what_exact_input_pays_is_had_for_that_input_at_most(seed: int, digits: float, every_family: bool) -> None:
    """From orders that hardly move a price to those that drain the pools."""
    market, amount = build_random_market(seed, every_family=every_family), int(10**digits)
    router = Router(market)
    try:
        forward = router.quote(build_order(market, 0, 1, amount))
    except NoRoute:
        return
    requested = forward.amount_out
    try:
        quote = router.quote(build_order(market, 0, 1, requested)._replace(reverse=True))
    except NoRoute as refused:
        # The last hundredth of what drained pools hold comes in leaps, and the refusal says how much was found.
        found, impact = int(str(refused.details["max_found_out"])), forward.price_impact or 0.0
        if found < 0.99 * requested or impact < 0.99:
            raise
        return
    assert quote.amount_out >= requested
    assert replay(market.pools, quote.route, quote.amount_in).amount_out == quote.amount_out
    if quote.amount_in > 10**9:
        assert replay(market.pools, quote.route, quote.amount_in - 1).amount_out < requested
        # Where the order moves the prices far and fills pools, output comes in steps of whole percents.
        steps = 0.1 * (quote.price_impact or 0.0) ** 2
        if quote.amount_in > amount * (1 + 1e-5 + steps) + 1:  # a last part in a thousand may cost anything
            nearly = build_order(market, 0, 1, requested - requested // 1000)._replace(reverse=True)
            assert router.quote(nearly).amount_in <= amount


@pytest.mark.parametrize("pool", ["dust", "wrong side"])
def test_a_pool_that_promises_a_price_for_nothing_hides_no_route(pool: str) -> None:
    """Its first unit is worth billions, so that a search from the zero-size price begins far below any real input."""
    a, b = build_token(0), build_token(1)
    dust = (10**3, 10**21) if pool == "dust" else (1, 10**12)
    market = build_market(
        [build_constant_product(0, a, b, 10**24, 10**24), build_constant_product(1, a, b, *dust)], [a, b]
    )
    for requested in (10**13, 10**18, 10**22, 5 * 10**23):
        amount = Router(market).quote(build_order(market, 0, 1, requested)._replace(reverse=True)).amount_in
        assert Router(market).quote(build_order(market, 0, 1, amount)).amount_out >= requested * (1 - 1e-6)
        alone = build_market([market.pools[key] for key in list(market.pools)[:1]], [a, b])
        assert amount <= Router(alone).quote(build_order(alone, 0, 1, requested)._replace(reverse=True)).amount_in


def searched(market: MarketState, requested: int) -> tuple[SearchResult | Shortfall, list[int]]:
    """The outcome for `amount_out` units of token 1, and the inputs that were tried for it."""
    graph = MarketGraph(market.pools.values(), market.tokens)
    spot = SpotPrices(graph, 1, 6)
    tried: list[int] = []

    def search_for(amount: int) -> RouteSearch:
        tried.append(amount)
        return RouteSearch(RoutingProblem(graph, spot, SwapSpec(0, 1, amount, 6, 0.0)), market.pools)

    return route_for_output(search_for, requested), tried[1:]


@pytest.mark.parametrize("requested", [1, 150, 1500, 9_999])
def test_an_output_that_only_comes_in_steps_is_found(requested: int) -> None:
    """Token 2 has so few units that every one of them brings hundreds of token 1."""
    a, b, coarse = build_token(0), build_token(1), build_token(2, decimals=0)
    pools = [build_constant_product(0, a, coarse, 10**21, 10**3), build_constant_product(1, coarse, b, 10**3, 10**6)]
    market = build_market(pools, [a, b, coarse])
    outcome, tried = searched(market, requested)
    assert isinstance(outcome, SearchResult)
    route, amount = outcome.best.route, outcome.best.amount_in
    assert replay(market.pools, route, amount).amount_out == outcome.best.replay.amount_out >= requested
    with suppress(PoolError):
        assert replay(market.pools, route, amount - 1).amount_out < requested
    assert len(tried) <= 16


@given(seeds, st.integers(40, 78))
def test_what_no_input_brings_is_given_up_soon(seed: int, digits: int) -> None:
    market = build_random_market(seed)
    outcome, tried = searched(market, 10**digits)
    assert isinstance(outcome, Shortfall)
    assert len(tried) <= 8


def test_more_than_the_pools_hold_has_no_route() -> None:
    a, b = build_token(0), build_token(1)
    market = build_market([build_constant_product(0, a, b, 10**24, 10**24)], [a, b])
    with pytest.raises(NoRoute):
        Router(market).quote(build_order(market, 0, 1, 10**24)._replace(reverse=True))
