"""Count the open event streams of each client, in all workers of a service."""

from __future__ import annotations

from swapcli.faces.service.shared_memory import Entry, SharedLock, SharedTable, digest_key

_SETS = 1_024
"""Number of sets in each worker's table. The number of connections limits the streams, and an overfull table forgets
some."""


class SharedStreams:
    """The streams of all workers, with a separate table for each worker, so that the table of a killed worker can be
    cleared."""

    def __init__(self, workers: int) -> None:
        self._tables = [SharedTable(_SETS) for _ in range(workers)]
        self._lock = SharedLock()

    def open(self, slot: int, client: str, limit: int) -> bool:
        """Count a client's stream in the worker at `slot`, unless the client already has `limit` streams. Return
        whether it was counted."""
        key = digest_key(client)
        with self._lock:
            entries = [table.find(key) for table in self._tables]
            if sum(int(entry.value) for entry in entries if entry is not None) >= limit:
                return False
            self._tables[slot].update(key, lambda entry: Entry(entry.value + 1 if entry else 1, 1))
            return True

    def close(self, slot: int, client: str) -> None:
        """Decrease a client's count in the worker at `slot`. Clients without streams are the first to be removed from a
        full table."""

        def count(entry: Entry | None) -> Entry:
            left = max(0.0, entry.value - 1) if entry else 0.0
            return Entry(left, min(left, 1.0))

        with self._lock:
            self._tables[slot].update(digest_key(client), count)

    def clear(self, slot: int) -> None:
        """Forget the streams of a worker that has ended."""
        with self._lock:
            self._tables[slot].clear()
