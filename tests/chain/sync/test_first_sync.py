"""A first sync fills a store with what a fresh read of the chain gives, whatever it was stopped by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from swapcli.chain.rpc_node import RpcNode
from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.sync import SyncFilter, sync
from swapcli.model.market import Provenance
from tests.chain.anvil import running_anvil
from tests.chain.sync.factory_chain import EVERY_PROTOCOL, TestChain
from tests.chain.sync.oracle import check_true, store_at, synced


@pytest.fixture(scope="module")
def local_chain() -> Iterator[TestChain]:
    """Which nobody changes."""
    rng = Random("town")
    with running_anvil() as chain:
        made = TestChain(chain)
        for name in EVERY_PROTOCOL:
            for _ in range(3):
                made.create_pool(rng, name)
        for _ in range(60):
            made.use(rng)
        yield made


def test_pools_of_every_kind_are_held_as_they_are(local_chain: TestChain, node: RpcNode, tmp_path: Path) -> None:
    with store_at(tmp_path / "store", local_chain.network) as store:
        *_, last = synced(store, node)
        check_true(store, node, local_chain.pools)
        market = store.read_market()
        assert {pool.protocol for pool in market.pools.values()} == set(EVERY_PROTOCOL)
        assert (last.pools, last.tokens, last.block) == (len(local_chain.pools), len(market.tokens), market.block)
        assert (market.provenance, market.source) == (Provenance.SYNCED, "the local node")
        assert market.gas_price_wei == node.head().gas_price_wei


def test_whoever_stops_goes_on_where_it_stopped(local_chain: TestChain, node: RpcNode, tmp_path: Path) -> None:
    """Each time only one portion, in a store that is opened anew."""
    path = tmp_path / "store"
    portions: list[tuple[str, int]] = []
    for _ in range(100):
        with store_at(path, local_chain.network) as store:
            progress = next(sync(store, node, SyncFilter(), SYSTEM_CLOCK, batch_size=2))
            assert progress.pools == store.inventory.count_pools_and_tokens()[0]
            check_true(store, node)
            if progress.phase == "blocks":
                break
        portions.append((progress.phase, progress.done))
    assert len(portions) == len(set(portions)), "no portion was found twice"
    assert {phase for phase, _ in portions} == {"V2 pairs", "Volatile pairs", "creation events"}
    with store_at(path, local_chain.network) as store:
        check_true(store, node, local_chain.pools)
        assert [each.phase for each in synced(store, node)] == ["blocks"]
