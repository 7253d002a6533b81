"""Searches of a service start from those of similar orders, on later blocks too, unless a setting says otherwise."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.routing.search.route_search import RouteSearch, SearchResult
from swapcli.core.routing.search_memory import SearchMemory
from swapcli.faces.service import market_registry
from swapcli.faces.service.market_registry import MarketRegistry, ServiceRules
from swapcli.quoting.price_policy import PriceRequest
from tests.support.testnet import build_testnet_market


@pytest.mark.parametrize(("reuse_searches", "expected"), [(True, [False, True, True]), (False, [])])
def test_searches_are_reused_on_later_blocks(
    reuse_searches: bool, expected: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    reused: list[bool] = []

    class RecordedMemory(SearchMemory):
        """Records whether a search started from a remembered one."""

        def search(self, order: Order, search_for: Callable[[int], RouteSearch], first: int) -> SearchResult | None:
            """As `SearchMemory.search`."""
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
