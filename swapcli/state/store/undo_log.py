"""The undo log of changes in the latest blocks, with which the store rewinds after a chain reorganization.

The first change of a row in a block saves the row as it was before. Rewinding restores the earliest saved rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from swapcli.core.encoding.text import counted
from swapcli.core.errors import MarketUnavailable
from swapcli.state.store.rows import POOL_COLUMNS, POOL_FIELDS, TOKEN_COLUMNS, Row
from swapcli.state.store.stored_block_header import StoredBlock

MAX_UNDO_BLOCKS = 64
"""Ethereum finalizes blocks after about this number; reorganizations do not go back further."""

_UNDO_TABLES = ("undo_pools", "undo_tokens", "undo_notes")

# If several blocks changed a row, the earliest of them saved its state.
_EARLIEST_OF_TOKEN = "at = (SELECT min(at) FROM undo_tokens WHERE address = undone.address AND at > ?)"
_EARLIEST_OF_POOL = "at = (SELECT min(at) FROM undo_pools WHERE key = undone.key AND at > ?)"


def save_pool(connection: sqlite3.Connection, at: int | None, key: str) -> None:
    """Save the row of a pool before block `at` changes it."""
    _save_row(connection, at, "pools", POOL_COLUMNS, "key", key)


def save_token(connection: sqlite3.Connection, at: int | None, address: str) -> None:
    """Save the row of a token before block `at` changes it."""
    _save_row(connection, at, "tokens", TOKEN_COLUMNS, "address", address)


def _save_row(connection: sqlite3.Connection, at: int | None, table: str, columns: str, name: str, key: str) -> None:
    if at is None:
        return
    insert = f"INSERT OR IGNORE INTO undo_{table}"
    saved = connection.execute(f"{insert} (at, {columns}) SELECT ?, {columns} FROM {table} WHERE {name} = ?", (at, key))
    if not saved.rowcount:
        connection.execute(f"{insert} (at, {name}) VALUES (?, ?)", (at, key))


def save_metadata(connection: sqlite3.Connection, at: int | None, name: str) -> None:
    """Save the metadata entry `name` before block `at` changes it."""
    if at is not None:
        connection.execute(
            "INSERT OR IGNORE INTO undo_notes VALUES (?1, ?2, (SELECT value FROM notes WHERE name = ?2))", (at, name)
        )


def renumber_block(connection: sqlite3.Connection, number: int, block: StoredBlock) -> None:
    """Replace the block `number`, which is being written, with the later `block`."""
    for table in _UNDO_TABLES:
        connection.execute(f"UPDATE {table} SET at = ? WHERE at = ?", (block.number, number))
    connection.execute("UPDATE pools SET block = ? WHERE block = ?", (block.number, number))
    connection.execute("UPDATE blocks SET number = ?, hash = ?, timestamp = ? WHERE number = ?", (*block, number))


def add_block(connection: sqlite3.Connection, block: StoredBlock) -> None:
    """Add a block that is about to be written, and delete the oldest blocks beyond the limit."""
    connection.execute("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?)", block)
    oldest = connection.execute(
        "SELECT number FROM blocks ORDER BY number DESC LIMIT 1 OFFSET ?", (MAX_UNDO_BLOCKS,)
    ).fetchone()
    if oldest:
        # The store can rewind to the oldest block but not beyond it, so the undo data of that block is not needed.
        connection.execute("DELETE FROM blocks WHERE number < ?", oldest)
        for table in _UNDO_TABLES:
            connection.execute(f"DELETE FROM {table} WHERE at <= ?", oldest)


def clear(connection: sqlite3.Connection) -> None:
    """Delete all blocks, so that the store cannot rewind past this point."""
    for table in ("blocks", *_UNDO_TABLES):
        connection.execute(f"DELETE FROM {table}")


def read_blocks(connection: sqlite3.Connection) -> tuple[StoredBlock, ...]:
    """Return the blocks to which the store can rewind, newest first. The first is the current block."""
    return tuple(StoredBlock(*row) for row in connection.execute("SELECT * FROM blocks ORDER BY number DESC"))


def require_block(blocks: Iterable[StoredBlock], number: int, path: str) -> StoredBlock:
    """Return the block with the number `number`. Raises `MarketUnavailable` if the store cannot rewind to it."""
    by_number = {block.number: block for block in blocks}
    if number not in by_number:
        known = (
            f"it keeps {counted(len(by_number), 'block')}, from {min(by_number)} on"
            if by_number
            else "it has no blocks to go back to"
        )
        raise MarketUnavailable(
            f"the store {path} cannot go back to block {number}: {known}",
            hint="sync the market again from the start",
            details={"store": path, "block": number, "blocks": sorted(by_number)},
        )
    return by_number[number]


def restore_tokens(connection: sqlite3.Connection, after: int) -> None:
    """Restore the tokens as they were at block `after`."""
    undone = f"FROM undo_tokens AS undone WHERE {_EARLIEST_OF_TOKEN}"
    added = connection.execute(f"SELECT address {undone} AND id IS NULL", (after,))
    connection.executemany("DELETE FROM tokens WHERE address = ?", added.fetchall())
    columns = ("symbol", "name", "decimals", "price_usd", "folded")
    assignments = ", ".join(f"{column} = excluded.{column}" for column in columns)
    connection.execute(
        f"INSERT INTO tokens ({TOKEN_COLUMNS}, transit) SELECT {TOKEN_COLUMNS}, 0.0 {undone} AND id NOTNULL "
        f"ON CONFLICT (address) DO UPDATE SET {assignments}",
        (after,),
    )
    connection.execute("DELETE FROM undo_tokens WHERE at > ?", (after,))


def restore_metadata(connection: sqlite3.Connection, after: int) -> None:
    """Restore the undoable metadata entries to their values at block `after`."""
    saved = connection.execute(
        "SELECT name, value FROM undo_notes AS undone "
        "WHERE at = (SELECT min(at) FROM undo_notes WHERE name = undone.name AND at > ?)",
        (after,),
    ).fetchall()
    connection.executemany("DELETE FROM notes WHERE name = ?", [(name,) for name, _ in saved])
    connection.executemany("INSERT INTO notes VALUES (?, ?)", [entry for entry in saved if entry[1] is not None])
    connection.execute("DELETE FROM undo_notes WHERE at > ?", (after,))


def keys_changed_after(connection: sqlite3.Connection, after: int) -> list[str]:
    """Return the keys of the pools that changed after block `after`."""
    return [key for (key,) in connection.execute("SELECT DISTINCT key FROM undo_pools WHERE at > ?", (after,))]


def restore_pools(connection: sqlite3.Connection, after: int) -> list[Row]:
    """Insert the rows of pools as they were at block `after`, and return them. The caller must have deleted their newer
    rows."""
    rows = connection.execute(
        f"SELECT {POOL_COLUMNS} FROM undo_pools AS undone WHERE id NOTNULL AND {_EARLIEST_OF_POOL}", (after,)
    ).fetchall()
    placeholders = ", ".join("?" * POOL_FIELDS)
    connection.executemany(f"INSERT INTO pools VALUES ({placeholders})", rows)
    connection.execute("DELETE FROM undo_pools WHERE at > ?", (after,))
    return rows


def delete_blocks_after(connection: sqlite3.Connection, after: int) -> None:
    """Delete the blocks with numbers above `after`."""
    connection.execute("DELETE FROM blocks WHERE number > ?", (after,))
