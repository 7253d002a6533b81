"""Opens the file of a store."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import quote

from swapcli.errors import ConfigError
from swapcli.store.schema import APPLICATION_ID, MIGRATIONS, check_version, migrate, version_of
from swapcli.store.sqlite_errors import foreign, translated

BUSY_TIMEOUT_MS = 5_000
_CACHE_KIB = 8 * 1024


def open_file(path: str, *, create: bool = False) -> sqlite3.Connection:
    """A connection to the store at `path`, brought to the newest layout.

    A store in a folder that cannot be written to can still be read. Raises `ConfigError` where there is no file (and
    none may be made) or it cannot be opened, `MarketError` where it is no store or of a newer program.
    """
    _check_path(path, create)
    with translated(path):
        connection = _connect(path, "rwc" if create else "rw")
        try:
            return _prepared(connection, path)
        except BaseException as error:
            connection.close()
            if create or not _is_about_writing(error):
                raise
            return _read_only(path, error)


@contextmanager
def reading(connection: sqlite3.Connection, path: str) -> Iterator[None]:
    """All reads inside see the store at one and the same block, whoever writes meanwhile.

    While this connection writes a block, they see what it has written so far.
    """
    with translated(path):
        if connection.in_transaction:
            yield
            return
        connection.execute("BEGIN")
        try:
            yield
        finally:
            connection.execute("ROLLBACK")


@contextmanager
def writing(connection: sqlite3.Connection, path: str) -> Iterator[None]:
    """All or nothing of what is written inside."""
    with translated(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            # SQLite itself has rolled back after some failures, and there is nothing left to undo.
            with suppress(sqlite3.OperationalError):
                connection.execute("ROLLBACK")
            raise


def _check_path(path: str, create: bool) -> None:
    if not os.path.exists(path) and not create:
        raise ConfigError(
            f"there is no store {path}",
            hint="make one with `swapcli sync` or `swapcli market import`",
            details={"store": path},
        )
    if os.path.isdir(path):
        raise ConfigError(f"the store {path} is a folder", hint="name a file", details={"store": path})


def _connect(path: str, mode: str) -> sqlite3.Connection:
    address = f"file:{quote(os.path.abspath(path))}?mode={mode}"
    return sqlite3.connect(address, uri=True, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None)


def _prepared(connection: sqlite3.Connection, path: str) -> sqlite3.Connection:
    # In this order: another process may be making it just now, tables and tag at once.
    if not _is_empty(connection) and connection.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
        raise foreign(path)
    check_version(connection, path)
    connection.execute("PRAGMA journal_mode = WAL")
    # Safe in this mode: a loss of power may take the last blocks, but never half of one.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute("PRAGMA temp_store = MEMORY")
    migrate(connection, path)
    return connection


def _is_empty(connection: sqlite3.Connection) -> bool:
    (count,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return version_of(connection) == 0 and count == 0


def _is_about_writing(error: BaseException) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


def _read_only(path: str, cause: BaseException) -> sqlite3.Connection:
    """Without locks, as nobody can be writing where we cannot, unless a writer with more rights is at it."""
    if os.path.exists(path + "-wal"):
        raise cause
    connection = _connect(path, "ro&immutable=1")
    try:
        (tag,) = connection.execute("PRAGMA application_id").fetchone()
        if tag != APPLICATION_ID:
            raise foreign(path)
        check_version(connection, path)
        if version_of(connection) < len(MIGRATIONS):
            raise cause
    except BaseException:
        connection.close()
        raise
    return connection
