"""Read the states of a few pools at the latest blocks, from the undo log."""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence

from swapcli.core.model.past_pools import PastPools
from swapcli.core.model.pool import Pool
from swapcli.state.store.rows import POOL_COLUMNS, Row
from swapcli.state.store.stored_block_header import StoredBlock

MAX_PAST_ROWS = 128
"""Rows to read and parse: about 5 ms for pools with many ticks."""


def read_past_states(
    connection: sqlite3.Connection,
    blocks: Sequence[StoredBlock],
    keys: Collection[str],
    parse_rows: Callable[[Sequence[Row]], Sequence[Pool]],
) -> tuple[PastPools, ...]:
    """Return the stored states of pools at each of `blocks`, newest first.

    If there are too many states to read, some are omitted, evenly over the blocks. `parse_rows` parses rows of pools.
    """
    changes = _read_changes(connection, blocks, keys)
    versions = _versions(blocks, sorted({at for ats in changes.values() for at in ats}))
    if not versions:
        return ()
    step = -(-len(versions) * len(keys) // MAX_PAST_ROWS)
    rows: dict[tuple[int | None, str], Row] = {}
    wanted: list[tuple[tuple[int, ...], dict[str, tuple[int | None, str]]]] = []
    for version in versions[::step]:
        places = {key: (_saved_at(changes.get(key, ()), version[0].number), key) for key in keys}
        for place in places.values():
            if place not in rows:
                rows[place] = _read_row(connection, *place)
        if any(rows[place][0] is None for place in places.values()):
            break  # no earlier row exists
        times_s = tuple(block.timestamp for block in version if block.timestamp is not None)
        wanted.append((times_s, places))
    known = [place for place, row in rows.items() if row[0] is not None]
    parsed = dict(zip(known, parse_rows([rows[place] for place in known]), strict=True))
    return tuple(
        PastPools(times_s, {key: parsed[place] for key, place in places.items()}) for times_s, places in wanted
    )


def _read_changes(
    connection: sqlite3.Connection, blocks: Sequence[StoredBlock], keys: Collection[str]
) -> Mapping[str, list[int]]:
    """Return the blocks that changed each pool, in order."""
    changes: dict[str, list[int]] = {}
    query = (
        "SELECT at, key FROM undo_pools WHERE at IN (SELECT value FROM json_each(?1))"
        " AND key IN (SELECT value FROM json_each(?2)) ORDER BY at"
    )
    numbers = json.dumps([block.number for block in blocks])
    for at, key in connection.execute(query, (numbers, json.dumps(list(keys)))):
        changes.setdefault(key, []).append(at)
    return changes


def _versions(blocks: Sequence[StoredBlock], changes: Sequence[int]) -> list[list[StoredBlock]]:
    """Return the blocks, newest first, in groups between the changes."""
    versions: dict[int, list[StoredBlock]] = {}
    for block in blocks:
        versions.setdefault(bisect_right(changes, block.number), []).append(block)
    return list(versions.values())


def _saved_at(changes: Sequence[int], number: int) -> int | None:
    """Return the block that saved the state at block `number`: the next one that changed it, None if it is the
    newest."""
    position = bisect_right(changes, number)
    return changes[position] if position < len(changes) else None


def _read_row(connection: sqlite3.Connection, at: int | None, key: str) -> Row:
    """Return a pool's row as saved by the block `at`, or as it is now; a row of None if it was not stored."""
    if at is None:
        query, values = f"SELECT {POOL_COLUMNS} FROM pools WHERE key = ?", (key,)
    else:
        query, values = f"SELECT {POOL_COLUMNS} FROM undo_pools WHERE key = ? AND at = {int(at)}", (key,)
    row: Row | None = connection.execute(query, values).fetchone()
    return row or (None,)
