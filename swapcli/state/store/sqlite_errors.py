"""Translate SQLite's exceptions, so that no other package sees them.

Errors in the file's content are a `MarketError`; errors of its surroundings (paths, permissions, other processes) are a
`ConfigError`, and those of the disk an `InputOutputError`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from swapcli.core.errors import ConfigError, InputOutputError, MarketError, SwapcliError

_ENVIRONMENT_ERRORS: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: ("there is no space left for it", "free some space: what it held before is unharmed"),
    sqlite3.SQLITE_BUSY: ("another process is writing to it", "wait until that one has finished"),
    sqlite3.SQLITE_LOCKED: ("another process is writing to it", "wait until that one has finished"),
    sqlite3.SQLITE_READONLY: ("it, or its folder, cannot be written to", "choose a path that can be"),
    sqlite3.SQLITE_CANTOPEN: ("it, or its folder, cannot be opened", "check the path and its permissions"),
    sqlite3.SQLITE_PERM: ("it, or its folder, cannot be opened", "check the path and its permissions"),
    sqlite3.SQLITE_IOERR: ("the disk failed", "check the disk, and the space that is left"),
    sqlite3.SQLITE_TOOBIG: ("a pool is too large for it", "leave that pool out"),
}
_PRIMARY_CODE = 0xFF
"""The lowest byte of an extended error code is the primary code."""


@contextmanager
def translate_errors(path: str) -> Iterator[None]:
    """Raise the error of this module, naming the file at `path`, for every error that SQLite raises inside."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # a bug of this package, not a problem of the file
    except sqlite3.Error as error:
        raise to_swapcli_error(path, error) from error
    except UnicodeDecodeError as error:
        raise damaged_store(path, "it holds invalid text") from error


def to_swapcli_error(path: str, error: sqlite3.Error) -> SwapcliError:
    """Return the error that describes an exception of SQLite."""
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
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
    return MarketError(f"{path} is not a store of swapcli", hint="name another file", details={"store": path})


def damaged_store(path: str, problem: str) -> MarketError:
    """Return the error for a store with inconsistent content."""
    one_line = " ".join(problem.split())  # SQLite quotes the statements that created the tables
    return MarketError(
        f"the store {path} is damaged: {one_line:.200}",
        hint="delete it, then sync or import the market again",
        details={"store": path},
    )
