"""The errors for orders without a route: the reason, and what would have a route."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.errors import NoRoute
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
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


@settings(max_examples=examples(4, full=20))
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
    assert "too small to buy even one base unit" in small.message
    assert small.hint == "try a larger amount"


@pytest.mark.parametrize(("seed", "digits"), [(16, 25)])
def test_an_unreachable_output_error_names_the_largest_one_found(seed: int, digits: int) -> None:
    """More than any route over whole percents brings, and less than the pools hold."""
    market = build_random_market(seed, tokens=8, pools=30, every_family=True)
    calls = build_order(market, 0, 1, 10**digits)._replace(reverse=True)
    most = max_output(graph_of(market), (0, 1), calls.max_hops)
    error = refusal(market, calls._replace(amount=int(most * 0.99)))
    assert "runs out of liquidity; the largest amount with a route is" in error.message
    assert 0 < int(str(error.details["max_found_out"])) < most * 0.99
    assert error.hint == "try a smaller amount"


def hint_of(market: MarketState, order: Order) -> str:
    """Return the hint of the error for an order, empty if it has a route."""
    try:
        Router(market).quote(order)
    except NoRoute as error:
        return error.hint or ""
    return ""


def extended_market(*pools: Pool) -> MarketState:
    """A market whose network does not list the protocol "more" in its interface."""
    market = build_market(list(pools), [A, B, C])
    names = (("one", 4, False), ("more", 100, True))
    protocols = tuple(ProtocolInfo(number, name, name, is_extended=is_extended) for name, number, is_extended in names)
    return market._replace(network=market.network._replace(protocols=protocols))


LISTED = build_constant_product(0, A, B, 10**24, 10**24, protocol="one")
EXTENDED = build_constant_product(1, B, C, 10**24, 10**24, protocol="more")
OF_PAIR = build_constant_product(2, A, B, 10**26, 10**26, protocol="more")
ADD = "add the extended protocols (--extended-protocols): more has pools for this order"


@pytest.mark.parametrize(
    ("pools", "target", "limits", "hint"),
    [
        ([LISTED, EXTENDED], 2, {}, ADD),
        ([LISTED, EXTENDED], 2, {"max_hops": 2}, f"allow more hops, or {ADD}"),
        ([LISTED, EXTENDED], 2, {"max_hops": 1}, "allow more hops"),
        ([LISTED, EXTENDED], 2, {"direct": True}, "allow more hops"),
        ([LISTED], 2, {}, "no pools of this market connect them"),
        ([LISTED, OF_PAIR], 1, {"amount": 10**40}, f"try a smaller amount, or {ADD}"),
        ([LISTED, EXTENDED], 1, {"amount": 10**40}, "try a smaller amount"),
        ([LISTED, OF_PAIR], 1, {"amount": 10**25, "reverse": True}, f"try a smaller amount, or {ADD}"),
        ([LISTED, OF_PAIR], 1, {"amount": 1}, "try a larger amount"),
    ],
)
def test_extended_protocols_are_named_where_they_have_pools(
    pools: list[Pool], target: int, limits: dict[str, Any], hint: str
) -> None:
    market = extended_market(*pools)
    order = build_order(market, 0, target, 10**20)._replace(excluded_protocols=frozenset({"more"}), **limits)
    assert hint_of(market, order) == hint
    if ADD in hint and "amount" not in limits:
        found = Router(market).quote(order._replace(excluded_protocols=frozenset()))
        assert {step.pool for step in found.steps} & {EXTENDED.key, OF_PAIR.key}
    assert "--extended-protocols" not in hint_of(market, order._replace(excluded_protocols=frozenset()))
