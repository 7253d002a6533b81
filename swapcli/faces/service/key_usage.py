"""The usage of each API key by UTC day: requests, rejections, and CPU seconds of searches.

A process counts in memory and stores its counts about every second, so a killed process loses at most one second's
counts. They are stored on the Redis server that services share (`redis_state`), otherwise in an SQLite file next to the
key file, to which several processes write.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from swapcli.core.errors import ConfigError
from swapcli.core.records import NamedTuple
from swapcli.faces.service.key_plans import DAY_S, QuotaUse
from swapcli.interface.own_document import own_document

if TYPE_CHECKING:
    from swapcli.faces.service.access_log import AccessLog
    from swapcli.faces.service.refusal_reasons import RefusalReason
    from swapcli.interface.document_types import KeyUsageJson
    from swapcli.state.clock import Clock

STORE_S = 1.0
KEPT_DAYS = 400
"""Number of days to keep, so that a year can be compared with the previous one. A thousand keys then take 20 MB."""

_PATIENCE_S = 2.0
"""Time to wait for another process that writes to the file. A write takes milliseconds."""
_TABLE = """
CREATE TABLE IF NOT EXISTS usage (
  day INTEGER, key TEXT, requests INTEGER, rejections INTEGER, charged INTEGER, cpu_us INTEGER, last_s INTEGER,
  PRIMARY KEY (day, key)
) WITHOUT ROWID
"""
# A file without the table is new: another process has created it, and writes the table next.
_HAS_TABLE = "SELECT 1 FROM sqlite_master WHERE name = 'usage'"
_ADD = """
INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
  requests = requests + excluded.requests, rejections = rejections + excluded.rejections,
  charged = charged + excluded.charged, cpu_us = cpu_us + excluded.cpu_us, last_s = max(last_s, excluded.last_s)
"""


class UsageCounts(NamedTuple):
    """The counts of a key on one day. `charged` is the number of requests that count towards its quota. `last_s` is a
    Unix time."""

    requests: int = 0
    rejections: int = 0
    charged: int = 0
    cpu_us: int = 0
    last_s: int = 0

    def plus(self, other: UsageCounts) -> UsageCounts:
        """Return the sum of these counts and `other`."""
        return UsageCounts(
            self.requests + other.requests,
            self.rejections + other.rejections,
            self.charged + other.charged,
            self.cpu_us + other.cpu_us,
            max(self.last_s, other.last_s),
        )


DayKey = tuple[int, str]
"""A day since 1970, and the id of a key."""
UsageTable = dict[DayKey, UsageCounts]


class UsageCounter:
    """A counter of usage in memory, until it is stored. Call its methods only on the event loop."""

    def __init__(self) -> None:
        self._counts: UsageTable = {}

    def record(self, key_id: str, refusal: RefusalReason | None, cpu_s: float, now_s: float) -> None:
        """Record a finished request of a key; `now_s` is a Unix time."""
        self._add(key_id, UsageCounts(1, int(refusal is not None), 0, round(cpu_s * 1e6), int(now_s)), now_s)

    def charge(self, key_id: str, requests: int, now_s: float) -> None:
        """Count requests towards a key's quota. A negative number returns them."""
        self._add(key_id, UsageCounts(charged=requests), now_s)

    def take(self) -> UsageTable:
        """Return the counts since the last call, and start again from zero."""
        counts, self._counts = self._counts, {}
        return counts

    def _add(self, key_id: str, counts: UsageCounts, now_s: float) -> None:
        day_key = int(now_s // DAY_S), key_id
        before = self._counts.get(day_key)
        self._counts[day_key] = counts if before is None else before.plus(counts)


class UsageStorage(Protocol):
    """A storage that adds up the counts of all processes."""

    async def add_usage(self, batch: str, counts: Mapping[DayKey, UsageCounts]) -> str | None:
        """Add counts. Return None if that succeeds, otherwise the reason why it failed. A batch that is sent twice
        counts once."""
        ...


class UsageWriter:
    """A writer that stores a process's counts. Counts that cannot be stored wait in memory, which is limited to a
    number of days and keys."""

    def __init__(self, counter: UsageCounter, log: AccessLog | None, clock: Clock) -> None:
        self._counter, self._log, self._clock = counter, log, clock
        self._process, self._batches = secrets.token_hex(8), 0
        self._unsent: UsageTable = {}
        self._has_failed = False
        self._lock = asyncio.Lock()

    async def run(self, storage: Callable[[], UsageStorage | None]) -> None:
        """Store the counts repeatedly, until cancelled. Without a storage, they are dropped."""
        while True:
            await asyncio.sleep(STORE_S)
            # After a cancellation, a write continues in its thread: `store` waits for it, and does not write the same
            # counts again.
            await asyncio.shield(self.store(storage()))

    async def store(self, storage: UsageStorage | None) -> None:
        """Store the counts, and log the first failure and the recovery."""
        async with self._lock:
            await self._store(storage)

    async def _store(self, storage: UsageStorage | None) -> None:
        if not self._unsent:
            self._unsent, self._batches = self._counter.take(), self._batches + 1
        if storage is None or not self._unsent:
            self._unsent = {}
            return
        problem = await storage.add_usage(f"{self._process}:{self._batches}", self._unsent)
        if problem is None:
            self._unsent = {}
        if self._log is not None and self._has_failed != (problem is not None):
            self._log.log_usage(problem, self._clock.now_s())
        self._has_failed = problem is not None


class UsageFile:
    """The usage file next to a key file."""

    def __init__(self, keys_file: Path) -> None:
        path = Path(os.path.realpath(keys_file))
        self.path = path.with_name(f"{path.stem}-usage.sqlite")

    async def add_usage(self, batch: str, counts: Mapping[DayKey, UsageCounts]) -> str | None:
        """Same as `UsageStorage.add_usage`. One transaction stores the whole batch or nothing."""
        del batch
        try:
            await asyncio.to_thread(self.add, counts)
        except (OSError, sqlite3.Error) as error:
            return f"{self.path}: {error}"
        return None

    def add(self, counts: Mapping[DayKey, UsageCounts]) -> None:
        """Add counts, and remove days that are too old. Raises `OSError`, `sqlite3.Error`."""
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_TABLE)
            connection.executemany(_ADD, [(*day_key, *each) for day_key, each in counts.items()])
            oldest = max(day for day, _ in counts) - KEPT_DAYS
            connection.execute("DELETE FROM usage WHERE day < ?", (oldest,))
            connection.execute("COMMIT")

    def read(self, since_day: int) -> UsageTable:
        """Return the counts since a day, or an empty table if there is no file. Raises `ConfigError`."""
        return {(row[0], row[1]): UsageCounts(*row[2:]) for row in self._query("*", "day >= ?", (since_day,))}

    def used(self, quota: QuotaUse) -> int:
        """Return how much of a quota is used, or 0 if the file cannot be read."""
        days = quota.period.first_day, quota.period.end_day
        where = "key = ? AND day >= ? AND day < ?"
        try:
            ((charged,),) = self._query("COALESCE(SUM(charged), 0)", where, (quota.key_id, *days)) or [(0,)]
        except ConfigError:
            return 0
        return int(charged)

    def _query(self, columns: str, where: str, values: tuple[object, ...]) -> list[Any]:
        if not os.path.exists(self.path):  # false also for a folder that cannot be read
            return []
        try:
            with self._open() as connection:
                if not connection.execute(_HAS_TABLE).fetchone():
                    return []
                return connection.execute(f"SELECT {columns} FROM usage WHERE {where}", values).fetchall()
        except sqlite3.Error as error:
            hint = "move the file away; the service creates a new one"
            raise ConfigError(f"{self.path}: cannot be read: {error}", hint=hint) from None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self.path, timeout=_PATIENCE_S, isolation_level=None)
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            yield connection
        finally:
            connection.close()


class DayUsage(NamedTuple):
    """The usage of a key on a day. `name` is None if the key is no longer in the key file."""

    day: date
    key_id: str
    name: str | None
    requests: int
    rejections: int
    cpu_s: float

    @own_document
    def document(self) -> KeyUsageJson:
        """Return an entry of the JSON of `swapcli keys usage`."""
        return {
            "day": self.day.isoformat(),
            "id": self.key_id,
            "name": self.name,
            "requests": self.requests,
            "rejections": self.rejections,
            "cpuS": self.cpu_s,
        }


class KeyUsage(NamedTuple):
    """The usage of keys since `first_day`, by day and key id."""

    days: tuple[DayUsage, ...]
    first_day: date

    @own_document
    def document(self) -> list[KeyUsageJson]:
        """Return the JSON of `swapcli keys usage`."""
        return [each.document() for each in self.days]


def usage_of(
    counts: Iterable[tuple[DayKey, UsageCounts]], names: Mapping[str, str], key_id: str | None, first_day: int
) -> KeyUsage:
    """Return the usage of one key, or of all keys, since `first_day`. `names` are the names of keys by id."""
    return KeyUsage(
        tuple(
            DayUsage(
                _date_of(day),
                found_id,
                names.get(found_id),
                each.requests,
                each.rejections,
                round(each.cpu_us / 1e6, 3),
            )
            for (day, found_id), each in sorted(counts)
            if key_id in (None, found_id) and each.requests
        ),
        _date_of(first_day),
    )


def _date_of(day: int) -> date:
    return datetime.fromtimestamp(day * DAY_S, UTC).date()
