"""What the newest blocks changed, so that the store can go back when the chain takes another way.

The first change of a row in a block keeps the row as it was before. Going back undoes block after block.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from swapcli.errors import MarketUnavailable
from swapcli.store.blocks import BlockMark
from swapcli.store.rows import POOL_COLUMNS, POOL_FIELDS, TOKEN_COLUMNS, Row

KEPT_BLOCKS = 64
"""Blocks that can be undone. A chain that goes back further has worse troubles."""

_UNDONE = ("undo_pools", "undo_tokens", "undo_notes")

# Of several blocks that changed a row, the earliest kept what counts.
_FIRST_OF_TOKEN = "at = (SELECT min(at) FROM undo_tokens WHERE address = undone.address AND at > ?)"
_FIRST_OF_POOL = "at = (SELECT min(at) FROM undo_pools WHERE key = undone.key AND at > ?)"


def keep_pool(connection: sqlite3.Connection, at: int | None, key: str) -> None:
    """Keep the row of a pool that block `at` is about to change."""
    _keep(connection, at, "pools", POOL_COLUMNS, "key", key)


def keep_token(connection: sqlite3.Connection, at: int | None, address: str) -> None:
    """Keep the row of a token that block `at` is about to change."""
    _keep(connection, at, "tokens", TOKEN_COLUMNS, "address", address)


def _keep(connection: sqlite3.Connection, at: int | None, table: str, columns: str, name: str, key: str) -> None:
    if at is None:
        return
    insert = f"INSERT OR IGNORE INTO undo_{table}"
    kept = connection.execute(f"{insert} (at, {columns}) SELECT ?, {columns} FROM {table} WHERE {name} = ?", (at, key))
    if not kept.rowcount:
        connection.execute(f"{insert} (at, {name}) VALUES (?, ?)", (at, key))


def keep_note(connection: sqlite3.Connection, at: int | None, name: str) -> None:
    """Keep a note that block `at` is about to change."""
    if at is not None:
        connection.execute(
            "INSERT OR IGNORE INTO undo_notes VALUES (?1, ?2, (SELECT value FROM notes WHERE name = ?2))", (at, name)
        )


def rename(connection: sqlite3.Connection, number: int, mark: BlockMark) -> None:
    """Make what was noted of a block, which is being written, that of a later one."""
    for table in _UNDONE:
        connection.execute(f"UPDATE {table} SET at = ? WHERE at = ?", (mark.number, number))
    connection.execute("UPDATE pools SET block = ? WHERE block = ?", (mark.number, number))
    connection.execute("UPDATE blocks SET number = ?, hash = ?, timestamp = ? WHERE number = ?", (*mark, number))


def remember(connection: sqlite3.Connection, mark: BlockMark) -> None:
    """Note a block that is about to be written, and forget what lies too far back."""
    connection.execute("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?)", mark)
    oldest = connection.execute(
        "SELECT number FROM blocks ORDER BY number DESC LIMIT 1 OFFSET ?", (KEPT_BLOCKS,)
    ).fetchone()
    if oldest:
        # The oldest is kept as a place to go back to, but not what it changed.
        connection.execute("DELETE FROM blocks WHERE number < ?", oldest)
        for table in _UNDONE:
            connection.execute(f"DELETE FROM {table} WHERE at <= ?", oldest)


def forget_all(connection: sqlite3.Connection) -> None:
    """Nothing can be undone from here on."""
    for table in ("blocks", *_UNDONE):
        connection.execute(f"DELETE FROM {table}")


def remembered(connection: sqlite3.Connection) -> tuple[BlockMark, ...]:
    """The blocks that the store can go back to, newest first; the first is its own."""
    return tuple(BlockMark(*row) for row in connection.execute("SELECT * FROM blocks ORDER BY number DESC"))


def check_remembered(blocks: Iterable[BlockMark], number: int, path: str) -> BlockMark:
    """The block with that number. Raises `MarketUnavailable` where the store cannot go back to it."""
    numbers = {mark.number: mark for mark in blocks}
    if number not in numbers:
        reach = f"it remembers {len(numbers)} blocks from {min(numbers)}" if numbers else "it remembers none"
        raise MarketUnavailable(
            f"the store {path} cannot go back to block {number}: {reach}",
            hint="sync the market anew",
            details={"store": path, "block": number, "blocks": sorted(numbers)},
        )
    return numbers[number]


def restore_tokens(connection: sqlite3.Connection, after: int) -> None:
    """Bring back the tokens as they were at block `after`."""
    first = f"FROM undo_tokens AS undone WHERE {_FIRST_OF_TOKEN}"
    new = connection.execute(f"SELECT address {first} AND id IS NULL", (after,))
    connection.executemany("DELETE FROM tokens WHERE address = ?", new.fetchall())
    described = ("symbol", "name", "decimals", "price_usd", "folded")
    again = ", ".join(f"{each} = excluded.{each}" for each in described)
    connection.execute(
        f"INSERT INTO tokens ({TOKEN_COLUMNS}, transit) SELECT {TOKEN_COLUMNS}, 0.0 {first} AND id NOTNULL "
        f"ON CONFLICT (address) DO UPDATE SET {again}",
        (after,),
    )
    connection.execute("DELETE FROM undo_tokens WHERE at > ?", (after,))


def restore_notes(connection: sqlite3.Connection, after: int) -> None:
    """Bring back the notes that were kept, as they were at block `after`."""
    kept = connection.execute(
        "SELECT name, value FROM undo_notes AS undone "
        "WHERE at = (SELECT min(at) FROM undo_notes WHERE name = undone.name AND at > ?)",
        (after,),
    ).fetchall()
    connection.executemany("DELETE FROM notes WHERE name = ?", [(name,) for name, _ in kept])
    connection.executemany("INSERT INTO notes VALUES (?, ?)", [note for note in kept if note[1] is not None])
    connection.execute("DELETE FROM undo_notes WHERE at > ?", (after,))


def pools_to_undo(connection: sqlite3.Connection, after: int) -> list[str]:
    """The keys of the pools that have changed since block `after`."""
    return [key for (key,) in connection.execute("SELECT DISTINCT key FROM undo_pools WHERE at > ?", (after,))]


def restore_pools(connection: sqlite3.Connection, after: int) -> list[Row]:
    """Put back the rows of the pools as they were at block `after`, in place of those that are gone already.

    The rows are returned.
    """
    rows = connection.execute(
        f"SELECT {POOL_COLUMNS} FROM undo_pools AS undone WHERE id NOTNULL AND {_FIRST_OF_POOL}", (after,)
    ).fetchall()
    marks = ", ".join("?" * POOL_FIELDS)
    connection.executemany(f"INSERT INTO pools VALUES ({marks})", rows)
    connection.execute("DELETE FROM undo_pools WHERE at > ?", (after,))
    return rows


def forget_blocks(connection: sqlite3.Connection, after: int) -> None:
    """The blocks after that number are no more."""
    connection.execute("DELETE FROM blocks WHERE number > ?", (after,))
