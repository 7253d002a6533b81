"""Which pools an order could want beside its route's, and what they could add at most."""

from __future__ import annotations

from math import fsum

from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import NoRoute
from swapcli.core.model.order import Order
from swapcli.core.routing.graph.best_paths import extend_prices
from swapcli.core.routing.replay import replay
from swapcli.core.routing.router import Router
from swapcli.core.routing.unused_pool_gains import (
    PoolGains,
    closest_pools,
    deepest_anchor_pools,
    pool_gains,
    route_pools,
)
from tests.core.routing.build import graph_of
from tests.support.pools import (
    UNIT,
    build_constant_product,
    build_market,
    build_order,
    build_random_market,
    build_token,
    seeds,
)

TINY = 1e-6


@given(seeds, st.integers(18, 23), st.integers(4, 20))
def test_no_pools_beside_some_add_more_than_they_bid(seed: int, digits: int, some: int) -> None:
    """Where there is no arbitrage."""
    whole = build_random_market(seed, pools=24, tokens=5)
    keys = sorted(whole.pools)[:some]
    part = whole._replace(pools={key: whole.pools[key] for key in keys})
    requested = build_order(whole, 0, 1, 10**digits)
    try:
        outcome = Router(part).search(requested)
    except NoRoute:
        return
    bids = pool_gains(Router(whole).index, requested, outcome, set(keys), 0.0, all_paths=True)
    assert set(bids.keys).isdisjoint(keys)
    prices = extend_prices(graph_of(whole), outcome.prices, 1)
    without = requested.amount * prices[0] + sum(arc.surplus(prices) for arc in graph_of(part).arcs())
    most = without + bids.remaining(0) * outcome.best.replay.amount_out
    assert Router(whole).search(requested).best.replay.amount_out <= most * (1 + TINY)


@given(st.lists(st.floats(1e-9, 1.0) | st.just(1e120), max_size=8), st.integers(0, 9), st.floats(0.0, 2.0))
def test_the_first_pools_are_taken_until_the_others_add_little(
    unsorted: list[float], limit: int, tolerance: float
) -> None:
    gains = tuple(sorted(unsorted, reverse=True))
    bids = PoolGains(tuple(map(str, range(len(gains)))), gains)
    taken = bids.take_until(tolerance, limit)
    assert taken == bids.keys[: len(taken)]
    rest, before = gains[len(taken) :], gains[max(len(taken) - 1, 0) :]
    assert len(taken) == limit or fsum(rest) <= tolerance * (1 + 1e-12)
    assert not taken or fsum(before) >= tolerance * (1 - 1e-12)


def far_and_near() -> tuple[Router, Order, list[str]]:
    """The best pool of a pair, one half a percent below, and a deep one far off."""
    a, b = build_token(0), build_token(1)
    best = build_constant_product(0, a, b, 1000 * UNIT, 1000 * UNIT)
    next_best = build_constant_product(1, a, b, 1000 * UNIT, 995 * UNIT)
    far_off = build_constant_product(2, a, b, 10**6 * UNIT, 5 * 10**5 * UNIT)
    return Router(build_market([far_off, next_best, best], [a, b])), Order(a, b, UNIT // 100), [best.key, next_best.key]


def test_a_pool_bids_that_is_within_the_margin() -> None:
    router, requested, (best, next_best) = far_and_near()
    outcome = router.search(requested)
    assert route_pools(outcome) == (best,)
    assert pool_gains(router.index, requested, outcome, {best}, 0.0).keys == ()
    assert pool_gains(router.index, requested, outcome, {best}, 0.01).keys == (next_best,)
    assert pool_gains(router.index, requested, outcome, {best, next_best}, 0.01).keys == ()


def test_no_pool_bids_more_than_the_order_at_its_advantage() -> None:
    router, requested, (best, _) = far_and_near()
    bids = pool_gains(router.index, requested, router.search(requested), {best}, 0.01)
    assert 0.0 < bids.remaining(0) <= 0.0051
    assert bids.remaining(1) == 0.0


@given(seeds, st.floats(1e-6, 0.1), st.integers(0, 12))
def test_selected_pools_gain_most_and_miss_only_the_tolerance(seed: int, tolerance: float, limit: int) -> None:
    whole = build_random_market(seed, pools=24, tokens=5, noise=3.0)
    requested = build_order(whole, 0, 1, 10**20)
    router = Router(whole)
    try:
        outcome = router.search(requested)
    except NoRoute:
        return
    bids = pool_gains(router.index, requested, outcome, set(route_pools(outcome)), 0.01)
    assert list(bids.gains) == sorted(bids.gains, reverse=True)
    taken = bids.take_until(tolerance, limit)
    assert taken == bids.keys[: len(taken)]
    assert len(taken) <= limit
    assert len(taken) == min(limit, len(bids.keys)) or bids.remaining(len(taken)) <= tolerance + TINY
    if taken:
        assert bids.remaining(len(taken) - 1) > tolerance - TINY


def test_the_nearest_are_those_whose_rates_are_best() -> None:
    router, requested, (best, next_best) = far_and_near()
    outcome = router.search(requested)
    assert closest_pools(router.index, requested, outcome, {best}, 1) == (next_best,)
    assert len(closest_pools(router.index, requested, outcome, {best}, 9)) == 2


def test_prices_are_told_by_the_deepest_pool_with_each_anchor() -> None:
    weth, usdc, other = build_token(0), build_token(1, 6), build_token(2)
    deep = build_constant_product(0, weth, usdc, 1000 * UNIT, 2_000_000 * 10**6)
    shallow = build_constant_product(1, weth, usdc, UNIT, 2_000 * 10**6)
    third = build_constant_product(2, weth, other, 100 * UNIT, 100 * UNIT)
    market = build_market([shallow, deep, third], [weth, usdc, other])
    router = Router(market)
    assert market.network.stablecoins == (usdc.address,)
    assert deepest_anchor_pools(router.index, [weth.address]) == (deep.key,)
    assert set(deepest_anchor_pools(router.index, [other.address, weth.address])) == {third.key, deep.key}
    assert deepest_anchor_pools(router.index, ["0xunknown"]) == ()
    assert replay(market.pools, router.quote(Order(weth, usdc, UNIT)).route, UNIT).amount_out > 0
