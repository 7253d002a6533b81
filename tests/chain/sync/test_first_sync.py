"""A first sync fills a store with what a fresh read of the chain gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from swapcli.chain.rpc import RpcNode
from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.sync import Wanted, sync
from swapcli.model.network import Deployment
from tests.chain.anvil import CHAIN_ID, AnvilChain, running_anvil
from tests.chain.reading import read_pools
from tests.chain.world import World
from tests.store.build import create


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with running_anvil() as chain:
        yield World(chain)


@pytest.fixture
def node(world: World) -> Iterator[RpcNode]:
    assert isinstance(world.chain, AnvilChain)
    port = world.chain.node._connection.port
    made = RpcNode(f"http://127.0.0.1:{port}", shown="the local node", chain_id=CHAIN_ID, pause=lambda _: None)
    yield made
    made.close()


def test_all_pairs_of_a_factory_are_held_as_a_fresh_read_gives_them(
    world: World, node: RpcNode, tmp_path: Path
) -> None:
    deployment = Deployment(("uniswapV2",), "Uniswap V2", {"factory": world.factory.address}, fee_tiers={3000: 0})
    network = replace(world.network, deployments=(deployment,))
    with create(tmp_path / "store", network) as store:
        *_, last = sync(store, node, Wanted(), SYSTEM_CLOCK)
        held = store.read_market()
    places = [place for place in world.places if place.protocol == "uniswapV2"]
    assert held.pools == {pool.key: pool for pool in read_pools(world, places)}
    assert (last.done, last.total, last.pools, last.block) == (4, 4, 4, held.block)
