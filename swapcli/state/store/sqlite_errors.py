"""Translate SQLite's exceptions, so that no other package has to handle them.

Invalid content becomes a `MarketError`. Problems with paths, permissions or other processes become a `ConfigError`, and
disk failures an `InputOutputError`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from swapcli.core.errors import ConfigError, InputOutputError, MarketError, SwapcliError

_ENVIRONMENT_ERRORS: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: ("no space is left on the disk", "free some space: its earlier data is safe"),
    sqlite3.SQLITE_BUSY: ("another process is writing to it", "wait until that process has finished"),
    sqlite3.SQLITE_LOCKED: ("another process is writing to it", "wait until that process has finished"),
    sqlite3.SQLITE_READONLY: ("it or its folder is not writable", "choose a writable path"),
    sqlite3.SQLITE_CANTOPEN: ("it or its folder cannot be opened", "check the path and its permissions"),
    sqlite3.SQLITE_PERM: ("it or its folder cannot be opened", "check the path and its permissions"),
    sqlite3.SQLITE_IOERR: ("the disk failed", "check the disk and its free space"),
    sqlite3.SQLITE_TOOBIG: ("a pool is too large for it", "remove that pool"),
}
PRIMARY_CODE = 0xFF
"""The mask for the primary code: the lowest byte of an extended error code."""
DISK_FAILURES = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN})
"""The primary codes of a disk that is full, broken or read-only."""


@contextmanager
def translate_errors(path: str) -> Iterator[None]:
    """Translate every SQLite error raised in the context. The new error names the file at `path`."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # a bug of this package, not a problem of the file
    except sqlite3.Error as error:
        raise to_swapcli_error(path, error) from error
    except UnicodeDecodeError as error:
        raise damaged_store(path, "it holds invalid text") from error


def is_disk_failure(error: SwapcliError) -> bool:
    """Return whether a store raised `error` because its disk is full, broken or read-only."""
    cause = error.__cause__
    return isinstance(cause, sqlite3.Error) and getattr(cause, "sqlite_errorcode", 0) & PRIMARY_CODE in DISK_FAILURES


def to_swapcli_error(path: str, error: sqlite3.Error) -> SwapcliError:
    """Return the error that describes a SQLite exception."""
    code = getattr(error, "sqlite_errorcode", 0) & PRIMARY_CODE
    known = _ENVIRONMENT_ERRORS.get(code)
    if known:
        problem, hint = known
        kind = InputOutputError if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR) else ConfigError
        return kind(f"the store {path} cannot be used: {problem}", hint=hint, details={"store": path})
    if code == sqlite3.SQLITE_NOTADB:
        return not_a_store(path)
    return damaged_store(path, str(error))


def not_a_store(path: str) -> MarketError:
    """Return the error for a file that swapcli did not write."""
    return MarketError(f"{path} is not a swapcli store", hint="use a different file", details={"store": path})


def damaged_store(path: str, problem: str) -> MarketError:
    """Return the error for a store with inconsistent content."""
    one_line = " ".join(problem.split())  # SQLite quotes the statements that created the tables
    return MarketError(
        f"the store {path} is damaged: {one_line:.200}",
        hint="delete it, then sync or import the market again",
        details={"store": path},
    )
