"""Searches that start from those of similar orders pay as much as searches from the start."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import Cancelled, NoRoute
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.quote import HUNDREDTHS, WHOLE_PERCENTS
from swapcli.core.routing.router import Router
from swapcli.core.routing.search.route_search import RouteSearch, SearchResult
from swapcli.core.routing.search_memory import SearchMemory
from tests.support.pools import (
    UNIT,
    after_some_swaps,
    build_constant_product,
    build_market,
    build_order,
    build_random_market,
    build_token,
    seeds,
)

_MAX_LOSS = 1e-6  # of the output, 0.01 basis points
_GAS_PRICE_WEI = 10**9

ratios = st.floats(0.8, 1.25)
share_steps = st.sampled_from([WHOLE_PERCENTS, HUNDREDTHS])
digits = st.integers(14, 22)


def found(router: Router, order: Order, share_step: int, gas_price_wei: int = 0) -> SearchResult | None:
    try:
        return router.search(order, share_step=share_step, gas_price_wei=gas_price_wei)
    except NoRoute:
        return None


def assert_pays_as_much(result: SearchResult | None, cold: SearchResult | None) -> None:
    assert (result is None) == (cold is None)
    if result and cold:
        assert result.best.net >= cold.best.net - _MAX_LOSS * cold.best.replay.amount_out - 1


def assert_costs_no_more(result: SearchResult | None, cold: SearchResult | None, gas_price_wei: int) -> None:
    """The input is the wrapped native token, so that gas is part of the cost."""
    assert (result is None) == (cold is None)
    if result and cold:
        cost, cold_cost = (each.best.amount_in + gas_price_wei * each.best.gas_units for each in (result, cold))
        assert cost <= cold_cost + _MAX_LOSS * cold.best.amount_in + 1


@given(seeds, digits, ratios, share_steps, st.sampled_from([0, _GAS_PRICE_WEI]))
def test_another_amount_pays_as_much(seed: int, power: int, ratio: float, share_step: int, gas_price_wei: int) -> None:
    market = build_random_market(seed, tokens=6, pools=24)
    router = Router(market, memory=SearchMemory())
    found(router, build_order(market, 0, 1, 10**power), share_step, gas_price_wei)
    order = build_order(market, 0, 1, int(10**power * ratio))
    assert_pays_as_much(
        found(router, order, share_step, gas_price_wei), found(Router(market), order, share_step, gas_price_wei)
    )


@given(seeds, digits, ratios, share_steps, st.sampled_from([0, _GAS_PRICE_WEI]))
def test_the_next_states_pay_as_much(seed: int, power: int, ratio: float, share_step: int, gas_price_wei: int) -> None:
    market = build_random_market(seed, tokens=6, pools=24)
    router = Router(market, memory=SearchMemory())
    found(router, build_order(market, 0, 1, 10**power), share_step, gas_price_wei)
    for block in range(2):
        market, changed = after_some_swaps(market, seed + block)
        router = router.with_changes(market, changed)
        order = build_order(market, 0, 1, int(10**power * ratio))
        assert_pays_as_much(
            found(router, order, share_step, gas_price_wei), found(Router(market), order, share_step, gas_price_wei)
        )


@given(seeds, digits, ratios, share_steps, st.sampled_from([0, _GAS_PRICE_WEI]))
def test_exact_outputs_cost_no_more(seed: int, power: int, ratio: float, share_step: int, gas_price_wei: int) -> None:
    market = build_random_market(seed, tokens=6, pools=24)
    router = Router(market, memory=SearchMemory())
    order = build_order(market, 0, 1, 10**power)._replace(reverse=True)
    first = found(router, order, share_step, gas_price_wei)
    if first:
        assert first.best.replay.amount_out >= order.amount
    market, changed = after_some_swaps(market, seed)
    router = router.with_changes(market, changed)
    order = order._replace(amount=int(10**power * ratio))
    result = found(router, order, share_step, gas_price_wei)
    if result:
        assert result.best.replay.amount_out >= order.amount
    assert_costs_no_more(result, found(Router(market), order, share_step, gas_price_wei), gas_price_wei)


def test_the_least_input_is_a_unit() -> None:
    """A unit of the input buys more than twice what the orders ask for."""
    tokens = [build_token(0), build_token(1)]
    market = build_market([build_constant_product(0, tokens[0], tokens[1], 1_000, 10**24)], tokens)
    memory = CountingMemory()
    router = Router(market, memory=memory)
    for amount_out in (400 * UNIT, 320 * UNIT):
        assert router.search(build_order(market, 0, 1, amount_out)._replace(reverse=True)).best.amount_in == 1
    assert memory.reused == 1


def deep_market(pairs: int) -> MarketState:
    tokens = [build_token(k) for k in range(pairs + 1)]
    pools = [
        build_constant_product(2 * k + side, tokens[0], token, (10**6 + side) * UNIT, 10**6 * UNIT)
        for k, token in enumerate(tokens[1:])
        for side in (0, 1)
    ]
    return build_market(pools, tokens)


class CountingMemory(SearchMemory):
    """Counts the searches that started from remembered ones."""

    reused = 0

    def search(self, order: Order, search_for: Callable[[int], RouteSearch], first: int) -> SearchResult | None:
        """Like `SearchMemory.search`."""
        result = super().search(order, search_for, first)
        self.reused += result is not None
        return result


def test_only_the_latest_searches_are_remembered() -> None:
    memory, market = CountingMemory(), deep_market(150)
    router = Router(market, memory=memory)
    for k in range(1, 151):
        router.search(build_order(market, 0, k, UNIT))
    assert len(memory) == 128
    assert memory.reused == 0
    router.search(build_order(market, 0, 150, UNIT))
    router.search(build_order(market, 0, 1, UNIT))
    assert (len(memory), memory.reused) == (128, 1)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("percent", "reused"), [(70, 0), (81, 1), (100, 1), (124, 1), (130, 0)])
def test_only_similar_amounts_start_from_another(percent: int, reused: int, reverse: bool) -> None:
    memory, market = CountingMemory(), deep_market(1)
    router = Router(market, memory=memory)
    router.search(build_order(market, 0, 1, 1000 * UNIT)._replace(reverse=reverse))
    order = build_order(market, 0, 1, 10 * percent * UNIT)._replace(reverse=reverse)
    best, cold = router.search(order).best, Router(market).search(order).best
    assert memory.reused == reused
    assert best.replay.amount_out == cold.replay.amount_out
    assert best.amount_in == cold.amount_in


@pytest.mark.parametrize("reverse", [False, True])
def test_without_its_pools_an_order_is_searched_from_the_start(reverse: bool) -> None:
    memory, market = CountingMemory(), deep_market(1)
    router = Router(market, memory=memory)
    order = build_order(market, 0, 1, 1000 * UNIT)._replace(reverse=reverse)
    router.search(order)
    keys = frozenset(sorted(market.pools)[:1])
    fewer = market._replace(pools={key: pool for key, pool in market.pools.items() if key not in keys})
    moved = router.with_changes(fewer, keys)
    assert moved.search(order).best == Router(fewer).search(order).best
    empty = fewer._replace(pools={})
    with pytest.raises(NoRoute):
        moved.with_changes(empty, frozenset(fewer.pools)).search(order)


def test_a_cancelled_search_leaves_the_memory_in_use() -> None:
    memory, market = CountingMemory(), deep_market(1)
    router = Router(market, memory=memory)
    order = build_order(market, 0, 1, 1000 * UNIT)
    router.search(order)
    with pytest.raises(Cancelled):
        router.search(order, is_cancelled=lambda: True)
    late = router.search(order, is_time_up=lambda: True)
    assert not late.is_complete
    assert late.best.replay.amount_out == router.search(order).best.replay.amount_out
    assert memory.reused == 2
