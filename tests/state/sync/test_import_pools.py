"""The pools of a market file are imported with their state on the chain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from swapcli.core.errors import ConfigError, MarketUnavailable
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.token import Token
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.store import Store
from swapcli.state.sync import SyncFilter, count_skipped, follow, import_pools
from tests.chain.sync.expected_state import check_true, store_at, synced
from tests.chain.trader import Trader
from tests.state.store.build import pool
from tests.support.chain import connected


@pytest.fixture
def node(trader: Trader) -> Iterator[RpcNode]:
    with connected(trader.chain) as made:
        yield made


@pytest.fixture
def store(trader: Trader, tmp_path: Path) -> Iterator[Store]:
    with store_at(tmp_path / "store", trader.world.network) as made:
        yield made


def described(market: MarketState) -> MarketState:
    """As if it came from a table: states of the past, and pools that only stand for unknown ones."""
    fakes = {each.key: each for each in (pool(k) for k in range(3))}
    tokens = {address: Token(address, "F", "Fake", 18) for fake in fakes.values() for address in fake.tokens}
    return market._replace(
        pools={**market.pools, **fakes},
        tokens={**tokens, **market.tokens},
        provenance=Provenance.MODELLED,
        placeholder_pools=frozenset(list(fakes)[:2]),
    )


@pytest.mark.slow
def test_real_pools_of_a_market_are_imported_and_followed(trader: Trader, node: RpcNode, store: Store) -> None:
    market = described(trader.market)
    rng = Random("adopted")
    for trade in trader.trades(rng, 5):
        trader.execute(trade)
    (progress,) = import_pools(store, node, market)
    real = len(market.pools) - len(market.placeholder_pools)
    assert (progress.phase, progress.done, progress.total) == ("pools of the market", real, real)
    assert set(store.read_market().pools) == set(trader.market.pools)
    assert store.read_market().tokens == trader.market.tokens
    (left,) = count_skipped(store)
    assert left.count == 1, "an address without a contract"
    check_true(store, node)
    families: set[str] = set()
    for trade in trader.trades(rng, 25):
        trader.execute(trade)
        advance = follow(store, node)
        assert advance
        assert set(trade.replay.pools_after) <= set(advance.changed)
        families |= {trader.market.pools[key].family for key in trade.replay.pools_after}
        check_true(store, node)
    assert families == {pool.family for pool in trader.market.pools.values()}


def test_pools_are_imported_only_into_an_empty_store(trader: Trader, node: RpcNode, store: Store) -> None:
    with pytest.raises(MarketUnavailable, match="has no market yet"):
        follow(store, node)
    list(import_pools(store, node, trader.market))
    stored = store.read_market()
    list(import_pools(store, node, trader.market))
    assert store.read_market() == stored
    synced(store, node, SyncFilter(frozenset({"uniswapV4"})))
    with pytest.raises(ConfigError, match="already has a different market"):
        next(import_pools(store, node, trader.market))
    assert store.read_market() == stored


def test_a_market_synced_elsewhere_is_read_before_following(trader: Trader, node: RpcNode, store: Store) -> None:
    """The hash of its block is unknown."""
    store.write_market(trader.market._replace(block=node.read_head().block.number - 1, timestamp=1))
    for trade in trader.trades(Random("imported"), 3):
        trader.execute(trade)
    advance = follow(store, node)
    assert advance
    assert advance.changed
    check_true(store, node)
    assert set(store.read_market().pools) == set(trader.market.pools)
