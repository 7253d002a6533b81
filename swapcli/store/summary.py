"""What a store holds, counted."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from swapcli.model.market import Provenance
from swapcli.model.transfer_behaviour import TransferKind
from swapcli.store.blocks import BlockMark
from swapcli.store.schema import version_of
from swapcli.store.transfers import count_transfers


class Holding(NamedTuple):
    """The pools of one protocol and family; what an order could move in them, in dollars, about."""

    protocol: str
    family: str
    pools: int
    depth_usd: float


class Summary(NamedTuple):
    """`block` is None where the state belongs to none; `undoable` counts the blocks that can be taken back; `transfers`
    the tokens by how they transfer; `pinned` as in `Market`."""

    path: str
    network: str
    chain_id: int
    block: BlockMark | None
    timestamp: int | None
    provenance: Provenance
    source: str
    gas_price_wei: int
    tokens: int
    pools: int
    holdings: tuple[Holding, ...]
    undoable: int
    size_bytes: int
    layout: int
    transfers: Mapping[TransferKind, int]
    pinned: bool | None = None


def summarise(connection: sqlite3.Connection, path: str) -> Summary:
    """Count what is there; a scan of all pools, but none of them is parsed."""
    network, chain_id, provenance, source, gas_price, head, block_hash, timestamp, pinned = connection.execute(
        "SELECT network, chain_id, provenance, source, gas_price_wei, head, hash, timestamp, pinned FROM meta"
    ).fetchone()
    counts = "SELECT (SELECT count(*) FROM tokens), (SELECT count(*) FROM blocks)"
    tokens, blocks = connection.execute(counts).fetchone()
    holdings = tuple(Holding(*row) for row in connection.execute(_HOLDINGS))
    return Summary(
        path=path,
        network=network,
        chain_id=int(chain_id),
        block=None if head is None else BlockMark(head, block_hash, timestamp),
        timestamp=timestamp,
        provenance=Provenance(provenance),
        source=source,
        gas_price_wei=int(gas_price),
        tokens=tokens,
        pools=sum(holding.pools for holding in holdings),
        holdings=holdings,
        undoable=max(blocks - 1, 0),
        size_bytes=_size(path),
        layout=version_of(connection),
        transfers=count_transfers(connection),
        pinned=None if pinned is None else bool(pinned),
    )


_HOLDINGS = """
SELECT protocol, family, count(*), coalesce(sum(depth), 0.0)
FROM pools LEFT JOIN (SELECT pool, sum(depth) AS depth FROM legs GROUP BY pool) ON pool = id
GROUP BY protocol, family ORDER BY count(*) DESC, protocol, family
"""


def _size(path: str) -> int:
    """Bytes of the file, with what has been written but not yet merged into it."""
    size = 0
    for name in (path, path + "-wal"):
        with suppress(OSError):
            size += os.path.getsize(name)
    return size
