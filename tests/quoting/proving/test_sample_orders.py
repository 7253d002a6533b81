"""Sample orders: main tokens, several sizes, no order twice, and the same ones whatever the order of pools."""

from __future__ import annotations

import pytest

from swapcli import Market
from swapcli.core.model.market import MarketState
from swapcli.quoting.proving.sample_orders import MAX_ORDERS, choose_orders, main_tokens
from swapcli.quoting.sources.quote_source import require_pools

NETWORKS = ("base", "citrea", "hyperevm", "monad", "starknet")


def embedded(network: str) -> MarketState:
    with Market.embedded(network) as market:
        return require_pools(market.source).known().whole()


@pytest.mark.parametrize("network", NETWORKS)
def test_orders_are_between_main_tokens_in_several_sizes(network: str) -> None:
    market = embedded(network)
    orders = choose_orders(market, 20)
    assert len({each.id for each in orders}) == len(orders) == 20
    assert len({each.size_usd for each in orders}) == 5
    assert len({(each.token_in.address, each.token_out.address) for each in orders}) >= 10
    bought = {each.token_out.address for each in orders}
    native, wrapped = market.network.native.address, market.network.wrapped_native
    assert native in bought
    assert wrapped is None or wrapped.address == native or wrapped.address not in bought
    backwards = market._replace(pools=dict(reversed([*market.pools.items()])))
    assert choose_orders(backwards, 20) == orders


def test_there_are_no_more_orders_than_pairs_in_all_sizes() -> None:
    market = embedded("base")
    tokens = len(main_tokens(market))
    assert len(choose_orders(market, MAX_ORDERS)) == tokens * (tokens - 1) * 5
    assert choose_orders(market._replace(pools={}), 20) == ()
    assert choose_orders(market, 0) == ()
