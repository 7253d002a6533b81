"""Memory shared by a service's processes. It is created before they are forked, and has a fixed size.

A process can be killed at any point. The system then releases its locks, readers of a document see a complete old or
new version, and a table loses at most the entry being written.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from hashlib import blake2b
from struct import Struct
from tempfile import TemporaryFile
from threading import Lock

from swapcli.core.records import NamedTuple
from swapcli.state.temporary_folders import temporary_folder

KEY_BYTES = 16

_SETS = 4_096
_WAYS = 16
"""Number of records per set. With the 10,000 keys that one process keeps, a set has 2.4 records on average, and more
than 16 in one of 10^6 tables."""
_RECORD = Struct("=16sdd")
_NO_KEY = bytes(KEY_BYTES)
_HALF = Struct("=QI")
_COUNT = Struct("=I")
_UNAVAILABLE = 2**32 - 1


def digest_key(*parts: str) -> bytes:
    """Return the key of a record, which is the same for equal `parts`."""
    return blake2b("\0".join(parts).encode(errors="surrogatepass"), digest_size=KEY_BYTES).digest()


class SharedLock:
    """A lock for threads, and for processes that inherited it. Use it as a context manager, and not recursively."""

    def __init__(self) -> None:
        import fcntl

        # A lock that the process holds on a file, which the system releases when the process ends.
        self._file = TemporaryFile(dir=temporary_folder())  # noqa: SIM115 - open as long as the lock exists
        self._threads = Lock()
        self._lock, self._exclusive, self._unlock = fcntl.lockf, fcntl.LOCK_EX, fcntl.LOCK_UN

    def __enter__(self) -> None:
        self._threads.acquire()
        try:
            self._lock(self._file, self._exclusive)
        except BaseException:
            self._threads.release()
            raise

    def __exit__(self, *_: object) -> None:
        try:
            self._lock(self._file, self._unlock)
        finally:
            self._threads.release()

    def __del__(self) -> None:
        self._file.close()


class Entry(NamedTuple):
    """A value and its time, on a clock shared by all processes."""

    value: float
    at: float


class SharedTable:
    """A table of entries by 16-byte key. If all places for a key are taken, a new entry replaces the oldest one."""

    def __init__(self, sets: int = _SETS) -> None:
        self._sets = sets
        self._memory = mmap.mmap(-1, sets * _WAYS * _RECORD.size)
        self._lock = SharedLock()

    def update(self, key: bytes, change: Callable[[Entry | None], Entry]) -> Entry:
        """Replace a key's entry (None if there is none) with the result of `change`, and return that result."""
        with self._lock:
            offset, entry = self._locate(key)
            entry = change(entry)
            _RECORD.pack_into(self._memory, offset, key, *entry)
        return entry

    def find(self, key: bytes) -> Entry | None:
        """Return the entry of a key, or None if there is none."""
        with self._lock:
            return self._locate(key)[1]

    def clear(self) -> None:
        """Remove all entries."""
        with self._lock:
            self._memory[:] = bytes(len(self._memory))

    def _locate(self, key: bytes) -> tuple[int, Entry | None]:
        """Return the offset of a key's record, and its entry."""
        start = int.from_bytes(key[:4], "little") % self._sets * _WAYS * _RECORD.size
        end = start + _WAYS * _RECORD.size
        oldest_offset, oldest_at = start, float("inf")
        for index, (found, value, at) in enumerate(_RECORD.iter_unpack(self._memory[start:end])):
            offset = start + index * _RECORD.size
            if found == key:
                return offset, Entry(value, at)
            if found == _NO_KEY:
                return offset, None
            if at < oldest_at:
                oldest_offset, oldest_at = offset, at
        return oldest_offset, None


class SharedDocument:
    """A document of at most `max_bytes`, written by one process. Others always read a complete version, old or new."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._half_bytes = _HALF.size + max_bytes
        self._memory = mmap.mmap(-1, 1 + 2 * self._half_bytes)

    def write(self, content: bytes) -> bool:
        """Replace the document. If the content is too long, return False and leave the document unchanged."""
        if len(content) > self._max_bytes:
            return False
        active = self._memory[0]
        version = self._header(active)[0] + 1
        offset = self._offset(1 - active)
        # Without a version, a reader that is still reading this half discards it.
        _HALF.pack_into(self._memory, offset, 0, 0)
        self._memory[offset + _HALF.size : offset + _HALF.size + len(content)] = content
        _HALF.pack_into(self._memory, offset, version, len(content))
        self._memory[0] = 1 - active
        return True

    @property
    def version(self) -> int:
        """A number that increases with every write, and is 0 before the first write."""
        return self._header(self._memory[0])[0]

    def read(self) -> bytes:
        """Return the document, or empty bytes before the first write."""
        while True:
            active = self._memory[0]
            version, size = self._header(active)
            start = self._offset(active) + _HALF.size
            content = self._memory[start : start + size]
            if self._header(active) == (version, size) and (version or self._memory[0] == active):
                return content

    def _offset(self, half: int) -> int:
        return 1 + half * self._half_bytes

    def _header(self, half: int) -> tuple[int, int]:
        version, size = _HALF.unpack_from(self._memory, self._offset(half))
        return version, size


class SharedCounts:
    """A count for each process, by its index. A process that is not available has none."""

    def __init__(self, size: int) -> None:
        self._memory = mmap.mmap(-1, size * _COUNT.size)
        self._size = size
        for index in range(size):
            self.clear(index)

    def set(self, index: int, count: int) -> None:
        """Set the count of a process."""
        _COUNT.pack_into(self._memory, index * _COUNT.size, count)

    def clear(self, index: int) -> None:
        """Mark a process as not available."""
        _COUNT.pack_into(self._memory, index * _COUNT.size, _UNAVAILABLE)

    def minimum_of_others(self, index: int) -> int:
        """Return the lowest count of the other available processes, or a large number if there are none."""
        counts = [count for (count,) in _COUNT.iter_unpack(self._memory[: self._size * _COUNT.size])]
        return min((count for other, count in enumerate(counts) if other != index), default=_UNAVAILABLE)
