"""SQLite's exceptions as sentences of ours: nothing outside this package sees one.

What lies in the file is a `MarketError`, what surrounds it (paths, permissions, space, other processes) a
`ConfigError`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from swapcli.errors import ConfigError, MarketError, SwapcliError

_ANEW = "delete it, then sync or import the market anew"
_SURROUNDINGS: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: ("there is no space left for it", "free some space: what it held before is unharmed"),
    sqlite3.SQLITE_BUSY: ("another process is writing to it", "wait until that one has finished"),
    sqlite3.SQLITE_LOCKED: ("another process is writing to it", "wait until that one has finished"),
    sqlite3.SQLITE_READONLY: ("it, or its folder, cannot be written to", "choose a path that can be"),
    sqlite3.SQLITE_CANTOPEN: ("it, or its folder, cannot be opened", "check the path and its permissions"),
    sqlite3.SQLITE_PERM: ("it, or its folder, cannot be opened", "check the path and its permissions"),
    sqlite3.SQLITE_IOERR: ("the disk failed", "check the disk, and the space that is left"),
    sqlite3.SQLITE_TOOBIG: ("a pool is too large for it", "leave that pool out"),
}
_PRIMARY = 0xFF


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Raises `ConfigError` or `MarketError`, naming the file at `path`, for whatever SQLite raises inside."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # a mistake of ours
    except sqlite3.Error as error:
        raise fault(path, error) from error
    except UnicodeDecodeError as error:
        raise damaged(path, "it holds text that is none") from error


def fault(path: str, error: sqlite3.Error) -> SwapcliError:
    """What went wrong, in a sentence."""
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY
    known = _SURROUNDINGS.get(code)
    if known:
        problem, hint = known
        return ConfigError(f"the store {path} cannot be used: {problem}", hint=hint, details={"store": path})
    if code == sqlite3.SQLITE_NOTADB:
        return foreign(path)
    return damaged(path, str(error))


def foreign(path: str) -> MarketError:
    """For a file that no swapcli wrote."""
    return MarketError(f"{path} is not a store of swapcli", hint="name another file", details={"store": path})


def damaged(path: str, problem: str) -> MarketError:
    """For a store whose content contradicts itself."""
    said = " ".join(problem.split())  # SQLite quotes the statements that made the tables
    return MarketError(f"the store {path} is damaged: {said:.200}", hint=_ANEW, details={"store": path})
