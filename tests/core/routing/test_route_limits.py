"""Routes that one transaction must carry: they fit, and are no worse than they must be."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import NoRoute
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.quote import Quote
from swapcli.core.routing.gas import fits_block
from swapcli.core.routing.replay import replay
from swapcli.core.routing.route_limits import FitsCalldata
from swapcli.core.routing.router import Router
from tests.support.markets import embedded_source
from tests.support.pools import amounts, build_order, build_random_market, seeds

GAS_PRICES = st.sampled_from([0, 10**6, 10**9])


def with_block_gas(market: MarketState, limit: int) -> MarketState:
    return market._replace(network=market.network._replace(block_gas_limit=limit))


def quote_or_none(
    market: MarketState, order: Order, gas_price_wei: int, fits_calldata: FitsCalldata | None = None
) -> Quote | None:
    try:
        return Router(market, fits_calldata=fits_calldata).quote(order, gas_price_wei=gas_price_wei)
    except NoRoute:
        return None


def fits_steps(limit: int) -> FitsCalldata:
    """Return a limit of the calldata to a number of steps."""
    return lambda steps, pools: len(steps) <= limit and all(step.pool in pools for step in steps)


@given(seeds, amounts, st.integers(250_000, 1_000_000), GAS_PRICES, st.booleans())
def test_a_quote_fits_the_block_and_is_exact(seed: int, amount: int, limit: int, price: int, reverse: bool) -> None:
    market = build_random_market(seed)
    order = build_order(market, 0, 1, amount)._replace(reverse=reverse)
    free, limited = (quote_or_none(each, order, price) for each in (market, with_block_gas(market, limit)))
    if free is None:
        assert limited is None
        return
    if fits_block(free.gas_units, limit):
        assert limited is not None
        assert limited._replace(time_s=0) == free._replace(time_s=0)
    if limited is not None:
        assert fits_block(limited.gas_units, limit)
        assert limited.gas_price_wei == price
        assert replay(market.pools, limited.route, limited.amount_in).amount_out == limited.amount_out
        if reverse:
            assert limited.amount_out >= order.amount


@given(seeds, amounts, st.integers(1, 8), GAS_PRICES, st.booleans())
def test_the_calldata_of_a_quote_fits_and_is_exact(
    seed: int, amount: int, limit: int, price: int, reverse: bool
) -> None:
    market = build_random_market(seed)
    order = build_order(market, 0, 1, amount)._replace(reverse=reverse)
    free, limited = (quote_or_none(market, order, price, each) for each in (None, fits_steps(limit)))
    if free is None:
        assert limited is None
        return
    if len(free.steps) <= limit:
        assert limited is not None
        assert limited._replace(time_s=0) == free._replace(time_s=0)
    if limited is not None:
        assert len(limited.steps) <= limit
        assert replay(market.pools, limited.route, limited.amount_in).amount_out == limited.amount_out
        if reverse:
            assert limited.amount_out >= order.amount


def test_a_split_order_gets_fewer_pools_in_less_calldata() -> None:
    source = embedded_source("base")
    order = Order(source.token("WETH"), source.token("USDC"), 3_000 * 10**18)
    free = Router(source.market).quote(order)
    outputs = [free.amount_out]
    for limit in (len(free.steps) * 3 // 4, len(free.steps) // 2):
        quote = Router(source.market, fits_calldata=fits_steps(limit)).quote(order)
        assert limit // 2 < len(quote.steps) <= limit
        outputs.append(quote.amount_out)
    assert outputs == sorted(outputs, reverse=True)


def test_an_order_without_a_small_route_names_the_router() -> None:
    source = embedded_source("base")
    order = Order(source.token("WETH"), source.token("USDC"), 10**18)
    with pytest.raises(NoRoute, match="calldata for the router fibrous of base is too large"):
        Router(source.market, fits_calldata=lambda _steps, _pools: False).quote(order)


@pytest.mark.slow
def test_a_split_order_gets_fewer_pools_in_a_small_block() -> None:
    source = embedded_source("base")
    market = source.market
    order = Order(source.token("WETH"), source.token("USDC"), 3_000 * 10**18)
    free = Router(market).quote(order)
    outputs = [free.amount_out]
    for share in (0.8, 0.6, 0.4):
        limit = int(free.gas_units * 1.5 * share)
        quote = Router(with_block_gas(market, limit)).quote(order)
        assert fits_block(quote.gas_units, limit)
        assert len(quote.steps) < len(free.steps)
        outputs.append(quote.amount_out)
    assert outputs == sorted(outputs, reverse=True)
    assert free.best_single_path_out is not None
    assert outputs[-1] > free.best_single_path_out


def test_an_order_without_a_fitting_route_names_the_setting() -> None:
    source = embedded_source("base")
    order = Order(source.token("WETH"), source.token("USDC"), 10**18)
    with pytest.raises(NoRoute, match="no route fits in a block of base, whose gas limit is 100,000") as caught:
        Router(with_block_gas(source.market, 100_000)).quote(order)
    assert caught.value.hint
    assert "networks.base.block_gas_limit" in caught.value.hint
    assert caught.value.details == {"block_gas_limit": 100_000}


# --- limits of the order on its pools


def pools_of(quote: Quote) -> int:
    return len({step.pool for step in quote.steps})


@given(seeds, amounts, st.integers(1, 6), GAS_PRICES, st.booleans())
def test_an_order_limits_its_pools_and_knows_the_cost(
    seed: int, amount: int, count: int, price: int, reverse: bool
) -> None:
    market = build_random_market(seed, every_family=True)
    order = build_order(market, 0, 1, amount)._replace(reverse=reverse)
    free, limited = (quote_or_none(market, each, price) for each in (order, order._replace(max_pools=count)))
    if limited is None:
        return
    assert free is not None
    assert pools_of(limited) <= count
    assert limited.unlimited_amount == (free.amount_in if reverse else free.amount_out)
    assert free.unlimited_amount is None
    assert replay(market.pools, limited.route, limited.amount_in).amount_out == limited.amount_out
    if pools_of(free) <= count:
        assert (limited.route, limited.amount_in) == (free.route, free.amount_in)


@given(seeds, amounts, GAS_PRICES)
def test_a_single_path_has_one_pool_a_hop(seed: int, amount: int, price: int) -> None:
    market = build_random_market(seed)
    order = build_order(market, 0, 1, amount)
    simple = quote_or_none(market, order._replace(single_path=True), price)
    if simple is None:
        return
    assert [len(hop) for segment in simple.route.segments for hop in segment.hops] == [1] * pools_of(simple)
    assert len(simple.route.segments) == 1
    assert simple.amount_out == simple.best_single_path_out


@pytest.mark.slow
def test_few_pools_are_almost_always_the_best_ones() -> None:
    """Against the best of all sets of that many pools; draining orders may miss it."""
    equal = total = 0
    for seed in range(24):
        market = build_random_market(seed, pools=7, every_family=seed % 2 == 0)
        order = build_order(market, 0, 1, 10 ** (16 + seed % 5))
        before = 0
        for count in (1, 2, 3):
            found = quote_or_none(market, order._replace(max_pools=count), 0)
            sets = [
                market._replace(pools={k: market.pools[k] for k in keys}) for keys in combinations(market.pools, count)
            ]
            best = max((each.amount_out for few in sets if (each := quote_or_none(few, order, 0))), default=0)
            if found is not None:
                total += 1
                equal += found.amount_out >= best * (1 - 1e-6)
                assert found.amount_out >= before  # more pools never pay less
                before = found.amount_out
    assert total > 40
    assert equal >= 0.95 * total


def test_no_route_within_the_limit_is_said_so() -> None:
    market = build_random_market(3, pools=4)
    far = next(
        order
        for j in range(1, len(market.tokens))
        if (order := build_order(market, 0, j, 10**18))
        and (found := quote_or_none(market, order, 0))
        and min(len(segment.hops) for segment in found.route.segments) > 1
    )
    with pytest.raises(NoRoute, match="no route uses a single pool"):
        Router(market).quote(far._replace(max_pools=1), gas_price_wei=0)
