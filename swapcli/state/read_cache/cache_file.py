"""The file of node responses about final blocks, which can never change.

Several processes may use one file at the same time. The file is safe to delete, even while it is in use. Nodes are then
queried again.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Final
from urllib.parse import quote

from swapcli.core.errors import ConfigError
from swapcli.core.records import NamedTuple

_BUSY_TIMEOUT_S: Final = 5.0  # wait for the lock of another process
_POLL_S: Final = 0.02  # between attempts to lock
_LAYOUT: Final = 1  # version of the tables
_APPLICATION_ID: Final = 0x73776264
"""An arbitrary number that distinguishes the file from other databases."""
_TABLE: Final = """
CREATE TABLE IF NOT EXISTS reads (
    chain INTEGER NOT NULL,
    block BLOB NOT NULL,
    call BLOB NOT NULL,
    answer BLOB NOT NULL,
    PRIMARY KEY (chain, block, call)
) WITHOUT ROWID
"""
_DIGEST_BYTES: Final = 16
"""Bytes of a call's key: two of 2^40 calls have the same key with a probability of 2^-49."""
ANY_BLOCK: Final = b""
"""The block of requests that identify their own block, such as a header by its number."""


class Scope(NamedTuple):
    """The chain and block to which responses belong. The block is given by its hash, or is `ANY_BLOCK`."""

    chain_id: int
    block: bytes = ANY_BLOCK


def call_key(*parts: bytes | str | int | None) -> bytes:
    """Return the cache key of a call: a digest that is unique to its parts."""
    digest = blake2b(digest_size=_DIGEST_BYTES)
    for part in parts:
        content = part if isinstance(part, bytes) else b"" if part is None else str(part).encode()
        kind = b"bytes" if isinstance(part, bytes) else b"none" if part is None else b"text"
        digest.update(b"%s %d:%s" % (kind, len(content), content))
    return digest.digest()


class CacheFile:
    """Responses by scope and key. If reading or writing fails, `warn` is called once, and the file is not used any
    more.

    Raises `ConfigError` if the file cannot be opened or is not a cache. Use the object only in the process that opened
    it.
    """

    def __init__(self, path: Path, warn: Callable[[str], object] = bool) -> None:
        self._path, self._warn, self._is_writable, self._is_readable = path, warn, True, True
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            uri = f"file:{quote(str(path.absolute()))}?mode=rwc"
            self._connection = sqlite3.connect(
                uri, uri=True, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(str(error)) from error
        try:
            self._prepare_in_time()
        except sqlite3.Error as error:
            self._connection.close()
            raise self._unusable(str(error)) from error
        except ConfigError:
            self._connection.close()
            raise

    def _prepare_in_time(self) -> None:
        """Prepare the file; wait for another process that is doing so, since SQLite's own timeout does not cover the
        WAL mode."""
        end_s = time.monotonic() + _BUSY_TIMEOUT_S
        while True:
            try:
                self._prepare()
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end_s:
                    raise
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            time.sleep(_POLL_S)

    def _prepare(self) -> None:
        (is_empty,) = self._connection.execute("SELECT count(*) = 0 FROM sqlite_master").fetchone()
        found = (self._value_of("application_id"), self._value_of("user_version"))
        if not is_empty and found != (_APPLICATION_ID, _LAYOUT):
            raise self._unusable("it is from a different version")
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = OFF")  # may be damaged after a crash, and is then deleted
        if is_empty:
            # In one transaction: another process may be creating it.
            self._connection.executescript(
                f"BEGIN IMMEDIATE; PRAGMA application_id = {_APPLICATION_ID}; PRAGMA user_version = {_LAYOUT};"
                f" {_TABLE}; COMMIT"
            )

    def _value_of(self, pragma: str) -> int:
        (value,) = self._connection.execute(f"PRAGMA {pragma}").fetchone()
        return int(value)

    def get(self, scope: Scope, keys: Sequence[bytes]) -> Mapping[bytes, bytes]:
        """Return the cached responses among `keys`, by key; empty if the file turns out to be damaged."""
        query = "SELECT answer FROM reads WHERE chain = ? AND block = ? AND call = ?"
        found: dict[bytes, bytes] = {}
        if not self._is_readable:
            return found
        try:
            for key in keys:
                row = self._connection.execute(query, (scope.chain_id, scope.block, key)).fetchone()
                if row is not None:
                    found[key] = row[0]
        except sqlite3.Error as error:
            self._is_readable = self._is_writable = False
            self._warn(self._problem(str(error)))
            return {}
        return found

    def put(self, scope: Scope, answers: Iterable[tuple[bytes, bytes]]) -> None:
        """Store responses by key, either all of them or none."""
        if not self._is_writable:
            return
        rows = [(scope.chain_id, scope.block, key, answer) for key, answer in answers]
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("INSERT OR REPLACE INTO reads VALUES (?, ?, ?, ?)", rows)
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._is_writable = False
            self._warn(f"responses about past blocks are no longer saved in {self._path}: {error}")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _problem(self, problem: str) -> str:
        return f"the cache of past blocks {self._path} cannot be used: {problem}"

    def _unusable(self, problem: str) -> ConfigError:
        return ConfigError(
            self._problem(problem),
            hint="delete it, or use --no-cache",
            details={"file": str(self._path)},
        )
