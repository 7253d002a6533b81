"""USD prices: what is left out of a hurried answer, and what never changes with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.model.market import Market
from swapcli.routing.graph import Graph
from swapcli.routing.prices import usd_prices
from swapcli.routing.router import Router
from tests.routing.build import UNIT, constant_product, market, random_market, seeds, token

DOLLAR = {1: 1.0}


def graph_of(held: Market) -> Graph:
    return Graph(held.pools.values(), held.tokens)


@given(seeds, st.sets(st.integers(0, 7)))
def test_a_token_costs_the_same_whether_it_alone_is_wanted_or_every_token(seed: int, wanted: set[int]) -> None:
    graph = graph_of(random_market(seed, tokens=8, every_family=True))
    every, some = usd_prices(graph, DOLLAR), usd_prices(graph, DOLLAR, wanted)
    assert some.items() <= every.items()
    assert wanted & every.keys() <= some.keys()


def test_nothing_is_priced_beyond_what_is_wanted() -> None:
    chain = [token(k) for k in range(5)]
    held = market([constant_product(k, chain[k], chain[k + 1], UNIT, UNIT) for k in range(4)], chain)
    assert usd_prices(graph_of(held), DOLLAR, {1}) == DOLLAR
    assert usd_prices(graph_of(held), DOLLAR, {3}).keys() == {0, 1, 2, 3}


def test_a_wanted_token_without_a_way_to_the_dollar_has_no_price() -> None:
    apart = [token(k) for k in range(4)]
    held = market([constant_product(k, apart[k], apart[k + 1], UNIT, UNIT) for k in (0, 2)], apart)
    assert usd_prices(graph_of(held), DOLLAR, {2}).keys() == {0, 1}


@given(seeds)
def test_a_router_gives_the_same_prices_when_first_asked_and_later(seed: int) -> None:
    held = random_market(seed, tokens=8)
    tokens = list(held.tokens.values())
    router = Router(held)
    first = [Router(held).usd_prices(one)[0] for one in tokens]
    assert [router.usd_prices(one)[0] for one in tokens] == first
    assert router.usd_prices(*tokens) == tuple(first)


def test_a_token_that_the_market_does_not_hold_has_no_price() -> None:
    assert Router(random_market(1)).usd_prices(token(1), token(99)) == (1.0, None)


def test_prices_in_units_follow_the_decimals() -> None:
    a, usd = token(0), token(1, decimals=6)
    held = market([constant_product(0, a, usd, 10**21, 3_000 * 10**9)], [a, usd])
    (price,) = Router(held).usd_prices(a)
    assert price == pytest.approx(3_000)
