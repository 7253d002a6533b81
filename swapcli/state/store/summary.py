"""Counts of a store's contents."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from contextlib import suppress

from swapcli.core.model.market import Provenance
from swapcli.core.model.transfer_behaviour import TransferKind
from swapcli.core.records import NamedTuple
from swapcli.state.store.schema import version_of
from swapcli.state.store.stored_block_header import StoredBlock
from swapcli.state.store.transfers import count_transfers


class ProtocolTotals(NamedTuple):
    """The number of pools of one protocol and family, and their total depth in dollars."""

    protocol: str
    family: str
    pools: int
    depth_usd: float


class StoreSummary(NamedTuple):
    """The description of a store, with counts of its contents.

    `tokens` is the number of swappable tokens. `block` is None if the state has no block. `undoable_blocks` is the
    number of blocks that can be undone. `transfers` counts tokens by their transfer behaviour. `layout` is the number
    of migrations. `pinned` is as in `MarketState`.
    """

    path: str
    network: str
    chain_id: int
    block: StoredBlock | None
    timestamp: int | None
    provenance: Provenance
    source: str
    gas_price_wei: int
    tokens: int
    pools: int
    protocols: tuple[ProtocolTotals, ...]
    undoable_blocks: int
    size_bytes: int
    layout: int
    transfers: Mapping[TransferKind, int]
    pinned: bool | None = None


def summarize_store(connection: sqlite3.Connection, path: str, tokens: int) -> StoreSummary:
    """Return counts of the store's contents, by scanning all pools without parsing them. `tokens` is the number of
    swappable tokens."""
    network, chain_id, provenance, source, gas_price, head, block_hash, timestamp, pinned = connection.execute(
        "SELECT network, chain_id, provenance, source, gas_price_wei, head, hash, timestamp, pinned FROM meta"
    ).fetchone()
    (blocks,) = connection.execute("SELECT count(*) FROM blocks").fetchone()
    protocols = tuple(ProtocolTotals(*row) for row in connection.execute(_SELECT_PROTOCOLS))
    return StoreSummary(
        path=path,
        network=network,
        chain_id=int(chain_id),
        block=None if head is None else StoredBlock(head, block_hash, timestamp),
        timestamp=timestamp,
        provenance=Provenance(provenance),
        source=source,
        gas_price_wei=int(gas_price),
        tokens=tokens,
        pools=sum(protocol.pools for protocol in protocols),
        protocols=protocols,
        undoable_blocks=max(blocks - 1, 0),
        size_bytes=_file_size(path),
        layout=version_of(connection),
        transfers=count_transfers(connection),
        pinned=None if pinned is None else bool(pinned),
    )


_SELECT_PROTOCOLS = """
SELECT protocol, family, count(*), coalesce(sum(depth), 0.0)
FROM pools LEFT JOIN (SELECT pool, sum(depth) AS depth FROM legs GROUP BY pool) ON pool = id
GROUP BY protocol, family ORDER BY count(*) DESC, protocol, family
"""


def _file_size(path: str) -> int:
    """Return the size of the file and its write-ahead log in bytes."""
    size = 0
    for name in (path, path + "-wal"):
        with suppress(OSError):
            size += os.path.getsize(name)
    return size
