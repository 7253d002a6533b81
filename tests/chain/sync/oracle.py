"""What a store should hold: all pools read afresh at its block, one by one, as if nothing had been known of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from swapcli.chain.loaders import load_pools
from swapcli.chain.multicall import BlockReader
from swapcli.chain.node import Node
from swapcli.chain.pool_ref import ref_of_pool
from swapcli.chain.rpc_node import RpcNode
from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.sync import Progress, SyncFilter, follow, sync
from swapcli.model.network import Network
from swapcli.model.pool import Pool
from swapcli.store import Store
from tests.chain.anvil import CHAIN_ID, AnvilChain
from tests.chain.settings import url_of
from tests.chain.sync.factory_chain import CreatedPool
from tests.store.build import create


@contextmanager
def connected(chain: AnvilChain) -> Iterator[RpcNode]:
    """A node of our own kind."""
    node = RpcNode(url_of(chain), shown="the local node", chain_id=CHAIN_ID, pause=lambda _: None)
    try:
        yield node
    finally:
        node.close()


@contextmanager
def store_at(path: Path, network: Network) -> Iterator[Store]:
    """Made if it is not there."""
    with create(path, network) as store:
        yield store


def synced(store: Store, node: Node, wanted: SyncFilter = SyncFilter()) -> list[Progress]:  # noqa: B008
    return list(sync(store, node, wanted, SYSTEM_CLOCK))


def followed(store: Store, node: Node) -> None:
    """To the newest block, and as far as there is anything to find."""
    while follow(store, node):
        pass


def fresh(node: Node, pools: Iterable[Pool], block: int) -> dict[str, Pool]:
    """The pools at a block, by other ways than a store's: without Multicall3, and knowing no ticks."""
    places = [ref_of_pool(pool) for pool in pools]
    bare = [place._replace(last_tick=None, known_ticks=()) for place in places if place]
    read = load_pools(BlockReader(node, block, None), bare)
    return {pool.key: pool for pool in read if isinstance(pool, Pool)}


def check_true(store: Store, node: Node, made: Iterable[CreatedPool] | None = None) -> None:
    """Everything held is as it is at the store's block, and (of `made`) nothing is missing or too much."""
    market = store.read_market()
    block = market.block
    assert block is not None
    on_chain = node.block(block)
    assert on_chain
    mark = store.inventory.head()
    assert mark
    assert (mark.number, mark.hash, mark.timestamp) == (block, on_chain.hash, on_chain.timestamp)
    assert dict(market.pools) == fresh(node, market.pools.values(), block)
    if made is not None:
        assert set(market.pools) == {each.key for each in made}
