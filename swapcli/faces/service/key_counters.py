"""Counters of API keys, in memory shared by a service's workers: requests by status, refusals by reason, and the
processor time of searches.

Each worker adds to its own cells, and its replacement continues with them. Nothing is therefore counted twice or lost
if a worker is killed.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from operator import add
from typing import Final

from swapcli.faces.service.refusal_reasons import RefusalReason
from swapcli.faces.service.shared_memory import SharedLock

MAX_KEYS = 1_000
"""Maximum number of keys with separate counters. All other keys share the counters called `OTHER`."""
OTHER = "other"

_STATUSES: Final = (200, 204, 304, 400, 401, 403, 404, 405, 408, 413, 429, 431, 500, 503)
_STATUS_CELLS: Final[Mapping[int | None, int]] = {each: cell for cell, each in enumerate((None, *_STATUSES))}
_OTHER_STATUS: Final = len(_STATUS_CELLS)
_REFUSAL_CELLS: Final = {each: _OTHER_STATUS + 1 + index for index, each in enumerate(RefusalReason)}
_HELP: Final = {
    "swapcli_key_requests_total": "Requests with a key, by key id and status.",
    "swapcli_key_refusals_total": "Rejected requests with a key, by the limit that rejected them.",
    "swapcli_key_search_cpu_seconds_total": "CPU seconds of searches for a key.",
}
_REQUESTS, _REFUSALS, _CPU_S = _HELP
_SERIES: Final = (
    *((_REQUESTS, f',status="{label}"') for label in ("none", *_STATUSES, OTHER)),
    *((_REFUSALS, f',reason="{reason}"') for reason in _REFUSAL_CELLS),
    (_CPU_S, ""),
)
"""The metric and the last label of each of a key's cells."""
_CELLS: Final = len(_SERIES)
_CPU: Final = _CELLS - 1
_ROWS: Final = MAX_KEYS + 1
_ID_BYTES: Final = 8


class KeyCounters:
    """The counters of all workers. In each worker, one thread counts requests, and another counts processor time."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._cells = memoryview(mmap.mmap(-1, workers * _ROWS * _CELLS * 8)).cast("d")
        self._ids = mmap.mmap(-1, _ROWS * _ID_BYTES)
        self._lock = SharedLock()
        self._rows: dict[str, int] = {}
        """The rows that this process has found. Ids are written once, in row order; row 0 is `OTHER`."""

    def count_request(self, worker: int, key_id: str, status: int | None, refusal: RefusalReason | None) -> None:
        """Count a request; `status` is None if its client disconnected."""
        start = self._start(worker, key_id)
        self._cells[start + _STATUS_CELLS.get(status, _OTHER_STATUS)] += 1
        if refusal is not None:
            self._cells[start + _REFUSAL_CELLS[refusal]] += 1

    def add_cpu(self, worker: int, key_id: str, cpu_s: float) -> None:
        """Add a search's processor time to a key's counter."""
        self._cells[self._start(worker, key_id) + _CPU] += cpu_s

    def render(self) -> bytes:
        """Return the counts summed over all workers, in the Prometheus format."""
        samples: dict[str, list[str]] = {name: [] for name in _HELP}
        for key_id, cells in self._sums():
            for (name, label), value in zip(_SERIES, cells, strict=True):
                if value:
                    samples[name].append(f'{name}{{key="{key_id}"{label}}} {value}')
        heads = {name: f"# HELP {name} {text}\n# TYPE {name} counter" for name, text in _HELP.items()}
        return ("\n".join([line for name, head in heads.items() for line in (head, *samples[name])]) + "\n").encode()

    def _start(self, worker: int, key_id: str) -> int:
        """Return a worker's first cell for a key."""
        row = self._rows.get(key_id)
        if row is None:
            row = self._rows[key_id] = self._find_row(key_id)
        return (worker * _ROWS + row) * _CELLS

    def _find_row(self, key_id: str) -> int:
        """Return the row of a key, a free one if the key is new; 0 if all are taken."""
        with self._lock:
            ids = self._read_ids()
            if key_id in ids:
                return ids.index(key_id)
            if len(ids) == _ROWS:
                return 0
            start = len(ids) * _ID_BYTES
            self._ids[start : start + _ID_BYTES] = key_id.encode()
            return len(ids)

    def _read_ids(self) -> list[str]:
        """Return the ids in the order of their rows."""
        ids = self._ids[_ID_BYTES:].rstrip(b"\0").decode()
        return [OTHER, *(ids[start : start + _ID_BYTES] for start in range(0, len(ids), _ID_BYTES))]

    def _sums(self) -> Iterator[tuple[str, list[float]]]:
        """Yield the id of each row that has counts, and the sums of its cells."""
        ids = self._read_ids()
        starts = range(0, self._workers * _ROWS * _CELLS, _ROWS * _CELLS)
        sums, *others = [list(self._cells[start : start + len(ids) * _CELLS]) for start in starts]
        for other in others:
            sums = list(map(add, sums, other))
        for row, key_id in enumerate(ids):
            cells = sums[row * _CELLS : (row + 1) * _CELLS]
            if any(cells):
                yield key_id, cells
