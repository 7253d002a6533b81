"""Remember between runs how well public nodes respond, in the same file as node limits.

Hosts are identified by a hash, like the nodes in that file. The records only save time. Without them, all nodes count
as equally good, in list order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Final

from swapcli.core.records import NamedTuple
from swapcli.state.backoff import backoff_s
from swapcli.state.rpc.node_limits_file import node_key, read_node_entries, update_node_entries

UNREACHABLE_S: Final = 60.0
"""How long an unreachable network is remembered."""

_RECORD_AGE_S: Final = 86_400.0
"""Maximum age of a record: a node that responded badly yesterday may be good today."""
_PROOF_AGE_S: Final = 3_600.0
"""How long a node that has served its block's state is trusted to do so again."""
_FIRST_REST_S: Final = 30.0  # rest of a node after a failure; each further one doubles it
_MAX_REST_S: Final = 3_600.0
_USUAL_LATENCY_S: Final = 0.3
"""Assumed for a node without a record: a TLS handshake and one exchange with a server on the same continent."""
_OLD_WEIGHT: Final = 0.7
"""Weight of the previous latency, so that one slow response does not decide."""
_NETWORK: Final = "the network"
_MAX_HOST: Final = 255  # characters of a name in DNS


class NodeRecord(NamedTuple):
    """The record of one public node's responses.

    `latency_s` is the usual time until the node's block is proven, None if unknown. `failures` counts consecutive
    failures. `failed_at_s` is the time of the last failure, and `proven_at_s` the time of the last proven block, both
    in Unix seconds.
    """

    latency_s: float | None = None
    failures: int = 0
    failed_at_s: float = 0.0
    proven_at_s: float = 0.0

    def with_success(self, latency_s: float, now_s: float) -> NodeRecord:
        """Return the record after the node has proven a block."""
        before = latency_s if self.latency_s is None else self.latency_s
        return NodeRecord(_OLD_WEIGHT * before + (1.0 - _OLD_WEIGHT) * latency_s, proven_at_s=now_s)

    def with_failure(self, now_s: float) -> NodeRecord:
        """Return the record after a failure."""
        return self._replace(failures=self.failures + 1, failed_at_s=now_s, proven_at_s=0.0)

    def with_loss(self, elapsed_s: float) -> NodeRecord:
        """Return the record after another node was faster. The latency is then at least `elapsed_s`."""
        return self._replace(latency_s=max(self.latency_s or 0.0, elapsed_s))

    def is_proven(self, now_s: float) -> bool:
        """Return whether the node has recently proven a block, without a failure since."""
        return 0.0 <= now_s - self.proven_at_s < _PROOF_AGE_S and not self.failures

    def rank(self, now_s: float) -> tuple[bool, float]:
        """Return a sort key that puts the best record first, and nodes that are paused after failures last."""
        rest_s = backoff_s(max(self.failures, 1), _FIRST_REST_S, _MAX_REST_S)
        rests = self.failures > 0 and 0.0 <= now_s - self.failed_at_s < rest_s
        return rests, _USUAL_LATENCY_S if self.latency_s is None else self.latency_s


class UnreachableNetwork(NamedTuple):
    """The fact that no public node could be reached at `seen_at_s` (Unix time), and the reason. `route` identifies this
    machine's network route at that time."""

    seen_at_s: float
    reason: str
    route: str


class NodeRecords:
    """The records of public nodes by host, in the file at `path`, or only in memory if `path` is None.

    `now_s` returns Unix time.
    """

    def __init__(self, path: Path | None, now_s: Callable[[], float] = time.time) -> None:
        self._path, self.now_s = path, now_s
        self._records: dict[str, NodeRecord] = {}
        self._network: UnreachableNetwork | None = None
        if path:
            self._network = _parse_network(read_node_entries(path).get(node_key(_NETWORK)))

    def load(self, hosts: Iterable[str]) -> None:
        """Read the records of `hosts` from the file."""
        if not self._path:
            return
        entries, now_s = read_node_entries(self._path), self.now_s()
        self._records |= {host: _parse_record(entries.get(node_key(host)), now_s) for host in hosts}

    def record_of(self, host: str) -> NodeRecord:
        """Return the record of a host."""
        return self._records.get(host, NodeRecord())

    def in_order(self, hosts: Sequence[str]) -> list[int]:
        """Return the indices of `hosts`, best record first."""
        now_s = self.now_s()
        return sorted(range(len(hosts)), key=lambda index: self.record_of(hosts[index]).rank(now_s))

    def save(self, records: Mapping[str, NodeRecord], unreachable: UnreachableNetwork | None = None) -> None:
        """Save `records`, and whether the network is unreachable. Records of other hosts do not change."""
        is_same = self._network == unreachable and all(_is_alike(self.record_of(h), r) for h, r in records.items())
        self._records |= records
        had_network, self._network = self._network is not None, unreachable
        if is_same or not self._path:
            return
        entries: dict[str, dict[str, object] | None] = {
            node_key(host): each._asdict() for host, each in records.items()
        }
        if unreachable or had_network:
            entries[node_key(_NETWORK)] = unreachable._asdict() if unreachable else None
        update_node_entries(self._path, entries, self.now_s())

    def unreachable(self, route: str) -> UnreachableNetwork | None:
        """Return the last record of an unreachable network, if it is recent and this machine still has the same route.
        Otherwise return None."""
        network = self._network
        if network is None or network.route != route or not 0.0 <= self.now_s() - network.seen_at_s < UNREACHABLE_S:
            return None
        return network

    @property
    def usual_latency_s(self) -> float | None:
        """The lowest usual latency among loaded nodes that have responded recently; None if there are none."""
        known = [each.latency_s for each in self._records.values() if each.latency_s and each.proven_at_s]
        return min(known, default=None)


def _is_alike(before: NodeRecord, after: NodeRecord) -> bool:
    """Return whether the new record is not worth writing: the same nodes would start, for at least some minutes."""
    if before.failures or after.failures or before.latency_s is None or after.latency_s is None:
        return before == after
    is_young = after.proven_at_s - before.proven_at_s < _PROOF_AGE_S / 4
    return is_young and abs(after.latency_s - before.latency_s) <= before.latency_s / 4


def _parse_record(entry: object, now_s: float) -> NodeRecord:
    """Return the record in an entry of the file; an empty record if the entry is old or invalid."""
    values = entry if isinstance(entry, dict) else {}
    latency_s = _number(values.get("latency_s"))
    failures = values.get("failures")
    failed_at_s, proven_at_s = _number(values.get("failed_at_s")) or 0.0, _number(values.get("proven_at_s")) or 0.0
    saved_at_s = _number(values.get("saved_at_s")) or 0.0
    if not 0.0 <= now_s - saved_at_s < _RECORD_AGE_S or type(failures) is not int or not 0 <= failures < 1_000_000:
        return NodeRecord()
    return NodeRecord(latency_s or None, failures, failed_at_s, proven_at_s)


def _parse_network(entry: object) -> UnreachableNetwork | None:
    values = entry if isinstance(entry, dict) else {}
    seen_at_s, reason, route = _number(values.get("seen_at_s")), values.get("reason"), values.get("route")
    if seen_at_s is None or not isinstance(reason, str) or not isinstance(route, str):
        return None
    if len(reason) > _MAX_HOST or not reason.isprintable():
        return None
    return UnreachableNetwork(seen_at_s, reason, route)


def _number(value: object) -> float | None:
    return float(value) if type(value) in (int, float) and isfinite(value) and value >= 0.0 else None  # type: ignore[arg-type,operator]
