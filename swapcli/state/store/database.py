"""Open and delete a store's file, and run transactions on it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import quote

from swapcli.core.errors import ConfigError
from swapcli.state.store.schema import APPLICATION_ID, MIGRATIONS, check_version, migrate, version_of
from swapcli.state.store.sqlite_errors import DISK_FAILURES, PRIMARY_CODE, not_a_store, translate_errors

BUSY_TIMEOUT_MS = 5_000  # wait for another process to finish its write
IN_MEMORY = ":memory:"
"""The path of a store in the process's memory."""
_CACHE_KIB = 8 * 1024
"""SQLite's page cache: quotes read scattered rows, and the default of 2 MiB reads pages twice."""


def open_connection(path: str, *, create: bool = False) -> sqlite3.Connection:
    """Open the store at `path`, and migrate it to the newest layout.

    A store in a read-only folder or on a full disk can still be read. Raises `ConfigError` if the file does not exist
    (unless `create`) or cannot be opened, and `MarketError` if it is not a store or was written by a newer program.
    """
    _check_path(path, create)
    with translate_errors(path):
        connection = _connect(path, "rwc" if create else "rw")
        try:
            return _prepare(connection, path)
        except BaseException as error:
            connection.close()
            if create or not _is_write_error(error):
                raise
            return _open_read_only(path, error)


def remove_store(path: str) -> None:
    """Delete the store at `path`, even if it is damaged, together with SQLite's files next to it.

    Waits a few seconds for other processes to close it. Raises `ConfigError` if there is no store, a process still has
    it open, or it cannot be deleted, and `MarketError` if it is not a store.
    """
    _check_path(path, create=False)
    with translate_errors(path):
        connection = _connect(path, "rw")
        try:
            if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
                raise not_a_store(path)
            _close_to_others(connection, path)
            os.remove(path)
        except sqlite3.DatabaseError as error:
            # If its first page is damaged, SQLite cannot even lock it, and no process can read it.
            if error.sqlite_errorcode & PRIMARY_CODE != sqlite3.SQLITE_CORRUPT or not _is_marked(path):
                raise
            for each in (path, f"{path}-wal", f"{path}-shm", f"{path}-journal"):
                with suppress(FileNotFoundError):
                    os.remove(each)
        except OSError as error:
            raise ConfigError(
                f"cannot remove the store {path}: {error.strerror}",
                hint="check the permissions of its folder",
                details={"store": path},
            ) from None
        finally:
            connection.close()


def _is_marked(path: str) -> bool:
    """Return whether the header of a database, which SQLite may not be able to read, is a store's."""
    with open(path, "rb") as file:
        header = file.read(72)
    return header.startswith(b"SQLite format 3\0") and header[68:] == APPLICATION_ID.to_bytes(4, "big", signed=True)


def _close_to_others(connection: sqlite3.Connection, path: str) -> None:
    """Lock the store, also against readers, and delete the files next to it."""
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    try:
        # SQLite leaves WAL mode only if no other connection has the file open, and then deletes the files next to it.
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & PRIMARY_CODE != sqlite3.SQLITE_BUSY:
            raise
        raise ConfigError(
            f"cannot remove the store {path}: another process has it open",
            hint="first stop that process, such as swapcli sync --watch or swapcli serve",
            details={"store": path},
        ) from None


@contextmanager
def read_transaction(connection: sqlite3.Connection, path: str) -> Iterator[None]:
    """Make all reads in the context see the same block, even if another process writes.

    Reads inside a write transaction see its changes so far.
    """
    with translate_errors(path):
        if connection.in_transaction:
            yield
            return
        connection.execute("BEGIN")
        try:
            yield
        finally:
            connection.execute("ROLLBACK")


@contextmanager
def write_transaction(connection: sqlite3.Connection, path: str) -> Iterator[None]:
    """Commit all writes in the context, or none of them."""
    with translate_errors(path):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            # After some failures SQLite itself has rolled back.
            with suppress(sqlite3.OperationalError):
                connection.execute("ROLLBACK")
            raise


def _check_path(path: str, create: bool) -> None:
    if not os.path.exists(path) and not create:
        raise ConfigError(
            f"no store at {path}",
            hint="create it with `swapcli sync` or `swapcli market import`",
            details={"store": path},
        )
    if os.path.isdir(path):
        raise ConfigError(f"the store {path} is a folder", hint="name a file", details={"store": path})


def _connect(path: str, mode: str) -> sqlite3.Connection:
    uri = "file::memory:" if path == IN_MEMORY else f"file:{quote(os.path.abspath(path))}?mode={mode}"
    # Any thread may close a store, as garbage collection does; SQLite itself serializes the calls of threads.
    return sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None, check_same_thread=False)


def _prepare(connection: sqlite3.Connection, path: str) -> sqlite3.Connection:
    # In this order, because another process may be creating the store; it commits the tables and the application id
    # together.
    if not _is_empty(connection) and connection.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
        raise not_a_store(path)
    check_version(connection, path)
    connection.execute("PRAGMA journal_mode = WAL")
    # Safe with WAL: a power loss may lose the last blocks, but never leaves half of one.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute("PRAGMA temp_store = MEMORY")
    migrate(connection, path)
    return connection


def _is_empty(connection: sqlite3.Connection) -> bool:
    (count,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return version_of(connection) == 0 and count == 0


def _is_write_error(error: BaseException) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & PRIMARY_CODE in DISK_FAILURES


def _open_read_only(path: str, cause: BaseException) -> sqlite3.Connection:
    """Open read-only and without locks. Unsafe only if a process with more privileges is writing."""
    # The attempt to open it may have left an empty file.
    if os.path.exists(path + "-wal") and os.path.getsize(path + "-wal"):
        raise cause
    connection = _connect(path, "ro&immutable=1")
    try:
        (application_id,) = connection.execute("PRAGMA application_id").fetchone()
        if application_id != APPLICATION_ID:
            raise not_a_store(path)
        check_version(connection, path)
        if version_of(connection) < len(MIGRATIONS):
            raise cause
    except BaseException:
        connection.close()
        raise
    return connection
