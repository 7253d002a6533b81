"""A first sync stores the state of a fresh read of the chain, also after interruptions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from swapcli.core.model.market import Provenance
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.sync import SyncFilter, sync
from tests.chain.sync.expected_state import check_true, store_at, synced
from tests.chain.sync.factory_chain import EVERY_PROTOCOL, TestChain
from tests.support.chain import restored


@pytest.fixture(scope="module")
def prepared_chain(factory_chain: TestChain) -> Iterator[TestChain]:
    rng = Random("town")
    with restored(factory_chain) as local_chain:
        for name in EVERY_PROTOCOL:
            for _ in range(3):
                local_chain.create_pool(rng, name)
        for _ in range(60):
            local_chain.use(rng)
        yield local_chain


def test_a_first_sync_stores_pools_of_every_protocol(local_chain: TestChain, node: RpcNode, tmp_path: Path) -> None:
    with store_at(tmp_path / "store", local_chain.network) as store:
        *_, last = synced(store, node)
        check_true(store, node, local_chain.pools)
        market = store.read_market()
        assert {pool.protocol for pool in market.pools.values()} == set(EVERY_PROTOCOL)
        assert (last.pools, last.tokens, last.block) == (len(local_chain.pools), len(market.tokens), market.block)
        assert (market.provenance, market.source) == (Provenance.SYNCED, "the local node")
        assert market.gas_price_wei == node.read_head().gas_price_wei


def test_an_interrupted_sync_continues_where_it_stopped(local_chain: TestChain, node: RpcNode, tmp_path: Path) -> None:
    """Each batch is written by a newly opened store."""
    path = tmp_path / "store"
    batches: list[tuple[str, int]] = []
    for _ in range(100):
        with store_at(path, local_chain.network) as store:
            progress = next(sync(store, node, SyncFilter(), SYSTEM_CLOCK, batch_size=2))
            assert progress.pools == store.inventory.count_pools_and_tokens()[0]
            check_true(store, node)
            if progress.phase == "blocks":
                break
        batches.append((progress.phase, progress.done))
    assert len(batches) == len(set(batches)), "no batch was found twice"
    assert {phase for phase, _ in batches} == {"V2 pairs", "Volatile pairs", "creation events"}
    with store_at(path, local_chain.network) as store:
        check_true(store, node, local_chain.pools)
        assert [each.phase for each in synced(store, node)] == ["blocks"]
