"""Searches of a service start from those of similar orders, on later blocks too, unless a setting says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from random import Random

import pytest

from swapcli.core.errors import PoolError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.routing.search.route_search import RouteSearch, SearchResult
from swapcli.core.routing.search_memory import SearchMemory
from swapcli.faces.service import market_registry
from swapcli.faces.service.market_registry import MarketRegistry, ServiceRules
from swapcli.quoting.price_policy import PriceRequest
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK
from tests.support.markets import embedded_market
from tests.support.testnet import build_testnet_market


@pytest.mark.parametrize(("reuse_searches", "expected"), [(True, [False, True, True]), (False, [])])
def test_searches_are_reused_on_later_blocks(
    reuse_searches: bool, expected: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    reused: list[bool] = []

    class RecordedMemory(SearchMemory):
        """Records whether a search started from a remembered one."""

        def search(self, order: Order, search_for: Callable[[int], RouteSearch], first: int) -> SearchResult | None:
            """Like `SearchMemory.search`."""
            result = super().search(order, search_for, first)
            reused.append(result is not None)
            return result

    monkeypatch.setattr(market_registry, "SearchMemory", RecordedMemory)
    market = build_testnet_market()
    name = market.network.name
    registry = MarketRegistry(
        [market.network],
        {name: lambda: market},
        rules=ServiceRules(reuse_searches=reuse_searches),
        price_request=PriceRequest.OFFLINE,
    )
    source = registry.open_source(name)
    sold, bought = list(market.tokens.values())[:2]
    request = QuoteRequest(Order(sold, bought, 10**15), ApiVersion.V2)
    amounts = [source.quote(request).quote.amount_out for _ in range(2)]
    registry.set_source(source.with_changes(market, frozenset()))
    amounts.append(registry.open_source(name).quote(request).quote.amount_out)
    assert reused == expected
    assert len(set(amounts)) == 1


def test_without_the_memory_a_followed_market_quotes_as_a_new_one() -> None:
    """So do streams, whose workers and replicas have had other orders and have followed for different times."""
    market, rng, memory = embedded_market("base"), Random(3), SearchMemory()
    tokens = [each for each in market.tokens.values() if each.symbol in ("WETH", "USDC", "cbBTC", "AERO")]
    orders = [
        Order(sold, bought, int(3_000 / float(sold.price_usd or 1) * 10**sold.decimals))
        for sold, bought in permutations(tokens, 2)
    ]
    source, reused = InMemorySource(market, SYSTEM_CLOCK, memory=memory), 0
    for block in range(1, 4):
        changed = {key: after for key in market.pools if (after := pushed(source.market.pools[key], rng)) is not None}
        state = market._replace(pools={**source.market.pools, **changed}, block=block, gas_price_wei=10**7 + block)
        source = source.with_changes(state, frozenset(changed))
        new = InMemorySource(state, SYSTEM_CLOCK)
        for order in orders[:8]:
            request = QuoteRequest(order, ApiVersion.V2)
            expected = new.quote(request).quote
            assert source.without_memory().quote(request).quote._replace(time_s=0) == expected._replace(time_s=0)
            reused += source.quote(request).quote._replace(time_s=0) != expected._replace(time_s=0)
    assert reused, "the memory makes a difference"


def pushed(pool: Pool, rng: Random) -> Pool | None:
    """Return a pool after a small swap; None if it takes none."""
    sold, bought = rng.sample(pool.tokens[:2], 2)
    curve = pool.curve(sold, bought)
    try:
        return pool.swap(sold, bought, max(1, int(curve.trade_to_marginal_rate(curve.start_rate * 0.99999)[0])))[1]
    except PoolError:
        return None
