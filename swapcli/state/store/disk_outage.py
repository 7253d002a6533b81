"""Copies of stores in memory, for use while a store's disk is not writable.

A copy is complete, including the blocks to which the store can rewind, so the process can go on following the chain in
the copy. Later, the changes are written to the store in one transaction, without using the node.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress

from swapcli.core.errors import SwapcliError
from swapcli.state.store.database import IN_MEMORY, open_connection
from swapcli.state.store.stored_block_header import StoredBlock


def open_copy(source: sqlite3.Connection, path: str) -> sqlite3.Connection:
    """Open the copy at `path`. A copy left by a killed process is used if it is as new as the store; otherwise a new
    copy is made.

    Raises `SwapcliError` and `sqlite3.Error`.
    """
    if os.path.exists(path):
        with suppress(SwapcliError, sqlite3.Error):
            copy = open_connection(path)
            if _head(copy) >= _head(source):
                return copy
            copy.close()
        remove_copy(path)
    copy = open_connection(path, create=True)
    try:
        source.backup(copy)
    except BaseException:
        copy.close()
        raise
    return copy


def remove_copy(path: str) -> None:
    """Remove the files of a copy. Processes that still have the copy open can continue to use it."""
    for suffix in ("", "-wal", "-shm") if path != IN_MEMORY else ():
        with suppress(FileNotFoundError):
            os.remove(path + suffix)


def write_changes(copy: sqlite3.Connection, path: str, left_at: StoredBlock | None) -> None:
    """Write the rows in a copy that differ to the store at `path`. `left_at` is the block at which the copy was made.

    If another process has advanced the store in the meantime, nothing is written. Raises `sqlite3.Error`.
    """
    copy.execute("ATTACH ? AS disk", (path,))
    try:
        copy.execute("BEGIN IMMEDIATE")
        head = copy.execute("SELECT head, hash, timestamp FROM disk.meta").fetchone()
        if head == left_at or (head[0] or 0) < _head(copy):
            for (table,) in copy.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'").fetchall():
                _write_table(copy, table)
        copy.execute("COMMIT")
    finally:
        if copy.in_transaction:
            copy.execute("ROLLBACK")
        copy.execute("DETACH disk")


def _write_table(copy: sqlite3.Connection, table: str) -> None:
    columns = copy.execute(f"PRAGMA main.table_info({table})").fetchall()
    same_key = " AND ".join(f"new.{name} = old.{name}" for _, name, _, _, _, key in columns if key)
    differs = " OR ".join(f"new.{name} IS NOT old.{name}" for _, name, *_ in columns)
    copy.execute(
        f"DELETE FROM disk.{table} AS old WHERE NOT EXISTS (SELECT 1 FROM main.{table} AS new WHERE {same_key})"
    )
    copy.execute(
        f"INSERT OR REPLACE INTO disk.{table} SELECT new.* FROM main.{table} AS new"
        f" LEFT JOIN disk.{table} AS old ON {same_key} WHERE {differs}"
    )


def _head(connection: sqlite3.Connection) -> int:
    (number,) = connection.execute("SELECT head FROM meta").fetchone()
    return number or 0
