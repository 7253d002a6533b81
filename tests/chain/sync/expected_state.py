"""The expected content of a store: all pools read at its block, one by one, without previous knowledge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.networks.catalogue import find_network
from swapcli.families.reading.pool_readers import load_pools, ref_of_pool
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import Node
from swapcli.state.store import Store
from swapcli.state.sync import Progress, SyncFilter, follow, sync
from tests.chain.sync.factory_chain import CreatedPool
from tests.state.store.build import create

BASE = find_network("base")
"""Its protocols have other names than those of the tests, so that the state of a pool shows its kind."""


@contextmanager
def store_at(path: Path, network: Network) -> Iterator[Store]:
    """Open the store, or create it if there is none."""
    with create(path, network) as store:
        yield store


def synced(store: Store, node: Node, sync_filter: SyncFilter = SyncFilter()) -> list[Progress]:  # noqa: B008
    return list(sync(store, node, sync_filter, SYSTEM_CLOCK))


def followed(store: Store, node: Node) -> None:
    """Follow to the latest block, until there is nothing more to find."""
    while follow(store, node):
        pass


def fresh(node: Node, pools: Iterable[Pool], block: int) -> dict[str, Pool]:
    """The pools at a block, by other ways than a store's: without Multicall3, and knowing no ticks."""
    places = [ref_of_pool(pool, BASE) for pool in pools]
    bare = [place._replace(last_read=None) for place in places if place]
    read = load_pools(MulticallReader(node, block, None), bare)
    return {pool.key: pool for pool in read if isinstance(pool, Pool)}


def check_true(store: Store, node: Node, made: Iterable[CreatedPool] | None = None) -> None:
    """Fail unless the store has the state of its block, and, if given, exactly the pools `made`."""
    market = store.read_market()
    block = market.block
    assert block is not None
    on_chain = node.read_block(block)
    assert on_chain
    mark = store.inventory.head()
    assert mark
    assert (mark.number, mark.hash, mark.timestamp) == (block, on_chain.hash, on_chain.timestamp)
    assert dict(market.pools) == fresh(node, market.pools.values(), block)
    if made is not None:
        assert set(market.pools) == {each.key for each in made}
