"""Which pools an order could want: its route's, and those that would be next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import exp
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.errors import NoRoute, PoolError
from swapcli.model.order import Order
from swapcli.model.pool import Pool
from swapcli.routing import Router
from swapcli.routing.replay import replay
from tests.routing.build import UNIT, constant_product, market, token
from tests.store.build import wide_market

WIDE = wide_market(400)


@given(st.integers(0, 20), st.integers(0, 20), st.integers(1, 80))
def test_the_routes_own_pools_come_first_and_no_more_than_asked_follow(i: int, j: int, most: int) -> None:
    tokens = list(WIDE.tokens.values())
    if i == j:
        return
    order = Order(tokens[i], tokens[j], 10 ** tokens[i].decimals)
    router = Router(WIDE)
    try:
        quote = router.quote(order)
    except NoRoute:
        return
    keys = router.considered(order, most)
    used = {step.pool for step in quote.steps}
    assert set(keys[: len(used)]) == used
    assert len(keys) == len(set(keys)) == max(len(used), min(most, len(WIDE.pools)))


@pytest.mark.parametrize("seed", range(6))
def test_a_quote_over_them_alone_is_as_good_though_every_price_has_moved(seed: int) -> None:
    rng = Random(seed)
    tokens = list(WIDE.tokens.values())
    order = Order(tokens[0], tokens[1], 5 * 10**18)
    keys = Router(WIDE).considered(order, 64)
    moved = replace(WIDE, pools={key: _moved(rng, pool) for key, pool in WIDE.pools.items()})
    best = Router(moved).quote(order).amount_out
    part = replace(moved, pools={key: moved.pools[key] for key in keys})
    assert Router(part).quote(order).amount_out >= best * (1 - 2e-3)


def _moved(rng: Random, pool: Pool) -> Pool:
    """The pool after somebody else's small trade."""
    sold, bought = rng.sample(pool.tokens, 2)
    curve = pool.curve(sold, bought)
    try:
        return pool.swap(sold, bought, max(int(curve.trade_to(curve.start_rate * (1 - 2e-3))[0]), 1))[1]
    except PoolError:
        return pool


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_lost_where_tokens_are_worth_something_else_and_all_pools_followed(seed: int) -> None:
    rng = Random(seed)
    worths = {address: exp(rng.gauss(0.0, 0.004)) for address in WIDE.tokens}
    moved = replace(WIDE, pools={key: _followed(pool, worths) for key, pool in WIDE.pools.items()})
    tokens = list(WIDE.tokens.values())
    for _ in range(4):
        sold, bought = rng.sample(tokens[:20], 2)
        order = Order(sold, bought, max(1, int(10 ** (sold.decimals + rng.uniform(-1, 2)))))
        try:
            best = Router(moved).quote(order).amount_out
        except NoRoute:
            continue
        keys = Router(WIDE).considered(order, 48)
        part = replace(moved, pools={key: moved.pools[key] for key in keys})
        assert Router(part).quote(order).amount_out >= best * (1 - 2e-5) - 1


def _followed(pool: Pool, worths: Mapping[str, float]) -> Pool:
    """The pool once arbitrage has brought it to other worths of its tokens."""
    sold, bought = sorted(pool.tokens, key=lambda address: worths[address])
    curve = pool.curve(sold, bought)
    amount = int(curve.trade_to(curve.start_rate * worths[sold] / worths[bought])[0])
    try:
        return pool.swap(sold, bought, amount)[1] if amount > 1_000 else pool
    except PoolError:
        return pool


def test_the_next_best_pool_is_asked_for_before_one_that_is_far_off() -> None:
    a, b = token(0), token(1)
    best = constant_product(0, a, b, 1000 * UNIT, 1000 * UNIT)
    next_best = constant_product(1, a, b, 1000 * UNIT, 995 * UNIT)
    far_off = constant_product(2, a, b, 10**6 * UNIT, 5 * 10**5 * UNIT)
    held = market([far_off, next_best, best], [a, b])
    order = Order(a, b, UNIT)
    assert Router(held).considered(order, 1) == (best.key,)
    assert Router(held).considered(order, 2) == (best.key, next_best.key)
    assert set(Router(held).considered(order, 9)) == set(held.pools)


def test_a_route_of_many_pools_is_read_whole() -> None:
    a, b = token(0), token(1)
    held = market([constant_product(k, a, b, 1000 * UNIT, 1000 * UNIT) for k in range(10)], [a, b])
    order = Order(a, b, 100 * UNIT)
    assert set(Router(held).considered(order, 3)) == set(held.pools)


def test_prices_are_told_by_the_deepest_pool_with_each_anchor() -> None:
    weth, usdc, other = token(0), token(1, 6), token(2)
    deep = constant_product(0, weth, usdc, 1000 * UNIT, 2_000_000 * 10**6)
    shallow = constant_product(1, weth, usdc, UNIT, 2_000 * 10**6)
    third = constant_product(2, weth, other, 100 * UNIT, 100 * UNIT)
    held = market([shallow, deep, third], [weth, usdc, other])
    router = Router(held)
    assert held.network.stablecoins == (usdc.address,)
    assert router.pricing([weth.address]) == (deep.key,)
    assert set(router.pricing([other.address, weth.address])) == {third.key, deep.key}
    assert router.pricing(["0xunknown"]) == ()
    assert replay(held.pools, router.quote(Order(weth, usdc, UNIT)).route, UNIT).amount_out > 0
