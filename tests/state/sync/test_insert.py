"""Thin pools are removed at the end of discovery, and added once they are deep enough."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.store import Store
from swapcli.state.sync import Advance, SyncFilter, count_skipped, follow
from tests.chain.sync.expected_state import check_true, store_at, synced
from tests.chain.sync.factory_chain import TestChain
from tests.support.chain import restored

PAIRS = 24


@pytest.fixture(scope="module")
def prepared_chain(factory_chain: TestChain) -> Iterator[TestChain]:
    """Pairs with a thousand to a million whole tokens on either side; one of the tokens is a dollar."""
    rng = Random("town")
    with restored(factory_chain) as local_chain:
        for _ in range(PAIRS):
            local_chain.create_pool(rng, rng.choice(("v2", "volatile", "stable")))
        yield local_chain


@pytest.fixture
def depths(local_chain: TestChain, node: RpcNode, tmp_path: Path) -> dict[str, float]:
    """In dollars, as a store with all pools ranks them, the thinnest first."""
    with store_at(tmp_path / "all", local_chain.network) as store:
        synced(store, node)
        store.rebuild_ranking()
        found = {key: bisected(store, key) for key in store.read_market().pools}
    return dict(sorted(found.items(), key=lambda each: each[1]))


def bisected(store: Store, key: str) -> float:
    low, high = 0.0, 1e9
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if store.inventory.pools_below_depth(middle, [key]) else (middle, high)
    return high


@pytest.fixture
def store(local_chain: TestChain, tmp_path: Path) -> Iterator[Store]:
    with store_at(tmp_path / "store", local_chain.network) as made:
        yield made


def between(depths: dict[str, float], place: int) -> float:
    """A depth that so many pools do not reach."""
    ordered = list(depths.values())
    return (ordered[place - 1] + ordered[place]) / 2


def test_thin_pools_are_skipped_until_the_minimum_is_lowered(
    local_chain: TestChain, node: RpcNode, store: Store, depths: dict[str, float]
) -> None:
    assert len(depths) == PAIRS
    for place in (16, 8, 3):
        bound = between(depths, place)
        synced(store, node, SyncFilter(min_liquidity_usd=bound))
        assert set(store.read_market().pools) == {key for key, depth in depths.items() if depth >= bound}
        check_true(store, node)
        tokens_of_pools = {each for pool in store.read_market().pools.values() for each in pool.tokens}
        assert set(store.read_tokens()) - {local_chain.wrapped} == tokens_of_pools - {local_chain.wrapped}
        assert sum(each.count for each in count_skipped(store) if "liquidity is below" in each.reason) == place
    synced(store, node, SyncFilter(min_liquidity_usd=between(depths, 20)))
    assert set(store.read_market().pools) == set(list(depths)[20:])
    synced(store, node)
    check_true(store, node, local_chain.pools)
    assert count_skipped(store) == ()


def test_only_deep_new_pools_are_followed(
    local_chain: TestChain, node: RpcNode, store: Store, depths: dict[str, float]
) -> None:
    rng = Random("thin")
    bound = between(depths, 12)
    synced(store, node, SyncFilter(min_liquidity_usd=bound))
    thin = [each for each in local_chain.pools if each.key in list(depths)[:12]]
    with local_chain.chain.revert_after():
        for _ in range(6):
            local_chain.use(rng, rng.choice(thin))
            advance = follow(store, node)
            assert advance
            assert advance == Advance(advance.block)
        for whole, is_deep in ((10, False), (10**7, True)) * 3:
            made = local_chain.create_pool(rng, "v2", empty=True)
            local_chain.pools.remove(made)
            for token in made.tokens:
                local_chain.coins[token].send(
                    "mint", made.key, whole * 10 ** local_chain.coins[token].call("decimals")[0]
                )
            made.contract.send("mint", local_chain.position_holder.address)
            advance = follow(store, node)
            assert advance
            assert advance.added == ((made.key,) if is_deep else ())
            check_true(store, node)


def test_a_thin_pool_that_grows_deep_is_followed(
    local_chain: TestChain, node: RpcNode, store: Store, depths: dict[str, float]
) -> None:
    synced(store, node, SyncFilter(min_liquidity_usd=between(depths, 6)))
    thin = next(each for each in local_chain.pools if each.key == list(depths)[5])
    with local_chain.chain.revert_after():
        for token in thin.tokens:
            local_chain.coins[token].send("mint", thin.key, 10**6 * 10 ** local_chain.coins[token].call("decimals")[0])
        thin.contract.send("mint", local_chain.position_holder.address)
        advance = follow(store, node)
        assert advance
        assert advance.added == (thin.key,)
        check_true(store, node)


def test_without_a_dollar_price_no_pool_is_too_thin(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    dollar = local_chain.network.stablecoins[0]
    others = frozenset(local_chain.coins) - {dollar}
    synced(store, node, SyncFilter(tokens=others, min_liquidity_usd=1e12))
    check_true(store, node, [each for each in local_chain.pools if dollar not in each.tokens])
