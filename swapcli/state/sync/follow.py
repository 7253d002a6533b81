"""Keep a store at the newest block."""

from __future__ import annotations

from swapcli.core.errors import MarketUnavailable
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.node import Node
from swapcli.state.store import Store
from swapcli.state.sync.advance import advance
from swapcli.state.sync.chain_position import ChainPosition
from swapcli.state.sync.cursor import NO_PROTOCOLS, SyncCursor, read_cursor
from swapcli.state.sync.discover import Discovery, discover
from swapcli.state.sync.progress import Advance

_BATCH_SIZE = 500
"""New pools per step: far more than a network gets between two blocks."""


def follow(store: Store, node: Node, reported: int | None = None) -> Advance | None:
    """Bring a synced store to the node's newest block, in one transaction; None if there is no new block.

    New pools that match the filter of the last sync are added. A node that is behind the store on the same chain has no
    new block. `reported` is the number of the block that a watcher was told of last. A failed step may leave the
    store rewound past it; the next successful step then reports the rewind. Raises `UpstreamError` (`StaleNode` if the
    node is behind on another chain), `ConfigError` if another process is writing to the store, and `MarketUnavailable`
    if the store is empty.
    """
    if read_cursor(store) is None and not store.inventory.has_pools():
        raise MarketUnavailable(
            f"the store {store.path} holds no market yet",
            hint="fill it with `swapcli sync`",
            details={"store": store.path},
        )

    def discover_new(reader: MulticallReader, position: ChainPosition) -> Discovery:
        cursor = read_cursor(store) or SyncCursor(NO_PROTOCOLS, liquidity_filtered=True)
        return discover(store, reader, cursor.reset() if position.is_fork_unknown else cursor, _BATCH_SIZE)

    before = store.inventory.head()
    step = advance(store, node, discover_new, even_without_new_block=False)
    if step is None:
        return None
    if reported is not None and before is not None and before.number < reported and step.advance.rewound_to is None:
        return step.advance._replace(rewound_to=before.number)
    return step.advance
