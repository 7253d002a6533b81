"""The errors for orders without a route: the reason, and what would have a route."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.errors import NoRoute
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.routing.cancellation import no_cancellation
from swapcli.core.routing.market_capacity import max_output
from swapcli.core.routing.no_route import exceeds_liquidity
from swapcli.core.routing.router import Router
from swapcli.core.routing.search.route_search import RouteSearch
from tests.core.routing.build import graph_of, problem_of
from tests.examples import examples
from tests.support.pools import (
    build_concentrated,
    build_constant_product,
    build_market,
    build_order,
    build_random_market,
    build_token,
    seeds,
)

A, B, C = build_token(0), build_token(1), build_token(2)


def refusal(market: MarketState, calls: Order) -> NoRoute:
    with pytest.raises(NoRoute) as caught:
        Router(market).quote(calls)
    return caught.value


def narrow_market() -> MarketState:
    """One pool that takes 3,000 and a bit of token 0, behind one that takes anything."""
    pools = [build_constant_product(0, A, C, 10**27, 10**27), build_concentrated(1, C, B, 10**23, 1.0, 600)]
    return build_market(pools, [A, B, C])


@pytest.mark.parametrize("reverse", [False, True])
def test_an_order_that_drains_the_pools_is_told_what_they_have(reverse: bool) -> None:
    """The reported maximum has a route, but for a part in a thousand."""
    market = narrow_market()
    calls = build_order(market, 0, 1, 10**24)._replace(reverse=reverse)
    error = refusal(market, calls)
    verb, name, symbol = ("bought", "max_amount_out", "T1") if reverse else ("sold", "max_amount_in", "T0")
    assert "every path runs out of liquidity; at most 3," in error.message
    assert error.message.endswith(f"{symbol} can be {verb}")
    assert error.hint == "try a smaller amount"
    most = int(str(error.details[name]))
    quote = Router(market).quote(calls._replace(amount=most * 999 // 1000))
    assert (quote.amount_out if reverse else quote.amount_in) >= most * 0.99
    assert name in refusal(market, calls._replace(amount=most + 1)).details


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("amount", [10**25, 10**30, 10**60])
def test_what_a_bound_shows_is_refused_before_the_search(amount: int, reverse: bool) -> None:
    """A search asks what trades pay at a rate; the bound asks for capacities alone."""
    market = narrow_market()
    router = Router(market)
    router.index.warm()
    trades = 0
    for arc in router.index.graph().arcs():

        def counted(rate: float) -> tuple[float, float, float]:
            nonlocal trades
            trades += 1
            return rate, 1.0, 0.0

        arc.trade_to_marginal_rate = counted
    with pytest.raises(NoRoute):
        router.quote(build_order(market, 0, 1, amount)._replace(reverse=reverse))
    assert not trades


@settings(max_examples=examples(6, full=20))
@given(seeds, st.floats(18, 33), st.booleans())
def test_what_is_refused_before_the_search_has_no_route(seed: int, digits: float, reverse: bool) -> None:
    market = build_random_market(seed, tokens=4, pools=6, every_family=True)
    amount = int(10**digits)
    calls = build_order(market, 0, 1, amount)._replace(reverse=reverse)
    refused = exceeds_liquidity(calls, graph_of(market), (0, 1), 6, no_cancellation)
    if refused is None:
        return
    inputs = [10**k for k in range(15, 36)] if reverse else [amount]
    for tried in inputs:
        outcome = RouteSearch(problem_of(market, tried), market.pools).run()
        assert outcome is None or (reverse and outcome.best.replay.amount_out < amount)


def test_only_less_than_a_unit_is_too_small() -> None:
    """However little is sold for a requested output: a unit of token 0 is worth billions of token 1 here."""
    market = build_market([build_constant_product(0, A, B, 10**9, 10**27)], [A, B])
    for requested in (1, 10**6, 10**17, 10**26):
        assert Router(market).quote(build_order(market, 0, 1, requested)._replace(reverse=True)).amount_out >= requested
    drained = refusal(market, build_order(market, 0, 1, 10**27)._replace(reverse=True))
    assert "runs out of liquidity" in drained.message
    small = refusal(market, build_order(market, 1, 0, 10**17))
    assert "too small: less than one smallest unit would change hands" in small.message
    assert small.hint == "try a larger amount"


@pytest.mark.parametrize(("seed", "digits"), [(16, 25)])
def test_an_unreachable_output_error_names_the_largest_one_found(seed: int, digits: int) -> None:
    """More than any route over whole percents brings, and less than the pools hold."""
    market = build_random_market(seed, tokens=8, pools=30, every_family=True)
    calls = build_order(market, 0, 1, 10**digits)._replace(reverse=True)
    most = max_output(graph_of(market), (0, 1), calls.max_hops)
    error = refusal(market, calls._replace(amount=int(most * 0.99)))
    assert "runs out of liquidity; the most that a route was found for is" in error.message
    assert 0 < int(str(error.details["max_found_out"])) < most * 0.99
    assert error.hint == "try a smaller amount"
