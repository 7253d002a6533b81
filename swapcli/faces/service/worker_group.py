"""The state that a service's worker processes share: connections, limits, issued routes, metrics, and the number of
workers.

The parent creates a group before it forks the workers. Each member has a slot, which its replacement inherits.
"""

from __future__ import annotations

import os

import msgspec
from prometheus_client.core import GaugeMetricFamily, Metric

from swapcli.core.records import NamedTuple
from swapcli.faces.service.issued_routes import SharedRouteTimes
from swapcli.faces.service.key_counters import KeyCounters
from swapcli.faces.service.key_file import MAX_BYTES
from swapcli.faces.service.metric_sums import add_up, decode_families, encode_families, without_gauges
from swapcli.faces.service.rate_limits import RequestClass, SharedBuckets
from swapcli.faces.service.shared_memory import SharedCounts, SharedDocument, SharedLock
from swapcli.faces.service.stream_limits import SharedStreams

MAX_METRICS_BYTES = 2**22
"""Maximum size of a process's metrics: about 100 bytes per sample, with 15 samples per endpoint and status of a
network. Only written memory is used."""

MAX_PATH_BYTES = 4_096
_STATUS_BYTES = 256


class GroupStatus(NamedTuple):
    """The number of workers that should run, the number that accept connections, and how many were replaced so far."""

    configured: int
    live: int
    replaced: int


class WorkerGroup:
    """The shared memory of `size` workers, and of `helpers` other processes that publish metrics."""

    def __init__(self, size: int, helpers: int = 0) -> None:
        self.size = size
        self.connections = SharedCounts(size)
        self.unnamed_proxies = SharedCounts(size)
        """1 for each worker that has found a proxy that the settings do not name. The other workers have no count."""
        self.buckets = {each: SharedBuckets() for each in RequestClass}
        self.quotas = SharedBuckets()
        self.streams = SharedStreams(size)
        self.key_file = SharedKeyFile()
        self.route_times = SharedRouteTimes()
        self.key_counters = KeyCounters(size)
        self._status = SharedDocument(_STATUS_BYTES)
        self._lock = SharedLock()
        self._metrics = [SharedDocument(MAX_METRICS_BYTES) for _ in range(size + helpers)]
        self._past_metrics = SharedDocument(MAX_METRICS_BYTES)
        self.set_status(live=0, replaced=0)

    @property
    def status(self) -> GroupStatus:
        """The status last set by the parent."""
        return msgspec.json.decode(self._status.read(), type=GroupStatus)

    def set_status(self, live: int, replaced: int) -> None:
        """Set how many workers accept connections, and how many were replaced. Call this only in the parent."""
        self._status.write(msgspec.json.encode(GroupStatus(self.size, live, replaced)))

    def publish_metrics(self, slot: int, families: list[Metric]) -> None:
        """Replace a member's metrics. This also changes the member's `heartbeat`, which shows that it works."""
        _write_metrics(self._metrics[slot], families)

    def heartbeat(self, slot: int) -> int:
        """Return a number that changes whenever a member publishes its metrics."""
        return self._metrics[slot].version

    def sum_metrics(self) -> list[Metric]:
        """Return the metrics of all members, added up, including the counts of former members."""
        with self._lock:
            published = [document.read() for document in (*self._metrics, self._past_metrics)]
        return add_up(decode_families(each) for each in published if each)

    def remove_member(self, slot: int) -> None:
        """Record that a member has ended. Its counters stay in the sums, but its gauges do not."""
        if slot < self.size:
            self.connections.clear(slot)
            self.unnamed_proxies.clear(slot)
            self.streams.clear(slot)
        with self._lock:
            published = [each for each in (self._metrics[slot].read(), self._past_metrics.read()) if each]
            if published:
                past = without_gauges(add_up(decode_families(each) for each in published))
                _write_metrics(self._past_metrics, past)
                self._metrics[slot].write(b"")


class SharedKeyFile:
    """The last good version of the API key file, stored after the file's path."""

    def __init__(self) -> None:
        self._document, self._lock = SharedDocument(MAX_BYTES + MAX_PATH_BYTES), SharedLock()
        self._problem = SharedDocument(_STATUS_BYTES)

    def write(self, path: str, content: bytes) -> None:
        """Replace the copy. Any worker may do this."""
        with self._lock:
            self._document.write(os.fsencode(path) + b"\0" + content)

    def read(self, path: str) -> bytes:
        """Return the copy of the file at `path`, or empty bytes if there is none."""
        of_path, _, content = self._document.read().partition(b"\0")
        return content if of_path == os.fsencode(path) else b""

    def set_problem(self, problem: str | None) -> bool:
        """Set the file's problem. Return True unless another worker has already set the same problem."""
        content = (problem or "").encode()[:_STATUS_BYTES]
        with self._lock:
            is_new = content != self._problem.read()
            self._problem.write(content)
            return is_new


def _write_metrics(document: SharedDocument, families: list[Metric]) -> None:
    """Write metrics; if together they are too long, without the largest families, whose number a gauge shows."""
    if document.write(encode_families(families)):
        return
    written = sorted(families, key=lambda family: len(encode_families([family])))
    while written:
        written.pop()
        omitted = GaugeMetricFamily(
            "swapcli_metrics_omitted",
            "Metrics missing here because a worker has no room for them.",
            value=len(families) - len(written),
        )
        if document.write(encode_families([*written, omitted])):
            return


class GroupMember(NamedTuple):
    """A worker's place in its group."""

    group: WorkerGroup
    slot: int

    @property
    def status(self) -> GroupStatus:
        """The group's status."""
        return self.group.status


def share_of(limit: int, member: GroupMember | None) -> int:
    """Return a worker's share of a limit that applies to the whole service, rounded up."""
    return limit if member is None else -(-limit // member.group.size)


def describe_workers(member: GroupMember | None) -> str:
    """Return how many workers are running, as the end of a sentence, or an empty text if one process is the whole
    service."""
    if member is None:
        return ""
    status = member.status
    return f", {status.live} of {status.configured} workers"
