"""A sync of hundreds of tokens looks up their pairs in batches, if that takes less than to read everything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.store import Store
from swapcli.state.sync import SyncFilter, discovery_method, follow, sync
from tests.chain.sync.expected_state import check_true, store_at, synced
from tests.chain.sync.factory_chain import PAIRS, CreatedPool, TestChain
from tests.chain.sync.nodes import LimitedNode
from tests.support.chain import restored

PROTOCOLS = frozenset({*PAIRS, "algebra"})
UNUSED_TOKENS = frozenset(f"0x{number:040x}" for number in range(1, 296))
"""Addresses without pools, as most pairs of a long list have none."""


@pytest.fixture(scope="module")
def prepared_chain(factory_chain: TestChain) -> Iterator[TestChain]:
    """A chain with a dozen pools of listed tokens."""
    rng = Random("pairs")
    with restored(factory_chain) as local_chain:
        for name in (*PROTOCOLS, *PROTOCOLS, *PROTOCOLS):
            local_chain.create_pool(rng, name)
        yield local_chain


@pytest.fixture
def store(local_chain: TestChain, tmp_path: Path) -> Iterator[Store]:
    with store_at(tmp_path / "store", local_chain.network) as made:
        yield made


def listed(local_chain: TestChain) -> SyncFilter:
    tokens = frozenset(list(local_chain.coins)[:5])
    return SyncFilter(PROTOCOLS, tokens | UNUSED_TOKENS)


def pools_of(local_chain: TestChain, sync_filter: SyncFilter) -> list[CreatedPool]:
    tokens = sync_filter.tokens or frozenset()
    return [each for each in local_chain.pools if each.protocol in PROTOCOLS and tokens.issuperset(each.tokens)]


def slow_events(node: RpcNode) -> LimitedNode:
    """Return a node that allows one block of events at once, so that reading all events takes long."""
    limited = LimitedNode(node)
    limited.limits.log_blocks.value = 0.1
    return limited


@pytest.mark.slow
def test_hundreds_of_tokens_are_synced_by_pairs(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    local_chain.chain.node.ask("anvil_mine", hex(500))
    sync_filter, limited = listed(local_chain), slow_events(node)
    progress = synced(store, limited, sync_filter)
    assert limited.ranges == [], "no events are read"
    check_true(store, node, pools_of(local_chain, sync_filter))
    assert discovery_method(store) == "the pairs of 300 tokens"
    phases = [each for each in progress if each.phase == "pairs of 300 tokens"]
    assert len(phases) > 2
    assert phases[-1].done == phases[-1].total == 300 * 299 // 2 + 299


def test_events_are_read_where_that_takes_less(local_chain: TestChain, node: RpcNode, store: Store) -> None:
    sync_filter, limited = listed(local_chain), LimitedNode(node)
    synced(store, limited, sync_filter)
    assert limited.ranges
    check_true(store, node, pools_of(local_chain, sync_filter))
    assert discovery_method(store) == "the lists and events of factories"


@pytest.mark.slow
def test_pools_created_between_batches_are_found(local_chain: TestChain, node: RpcNode, tmp_path: Path) -> None:
    """Each batch is written by a newly opened store, as after an interruption."""
    local_chain.chain.node.ask("anvil_mine", hex(500))
    rng, sync_filter, path = Random("between"), listed(local_chain), tmp_path / "store"
    for _ in range(200):
        with store_at(path, local_chain.network) as store:
            progress = next(sync(store, slow_events(node), sync_filter, SYSTEM_CLOCK, batch_size=500))
            if progress.total == progress.done:
                break
        if len(local_chain.pools) < 20:
            local_chain.create_pool(rng, rng.choice(sorted(PROTOCOLS)))
    with store_at(path, local_chain.network) as store:
        synced(store, slow_events(node), sync_filter)
        while follow(store, node):
            pass
        check_true(store, node, pools_of(local_chain, sync_filter))
