"""Check a node's events against block headers, because some nodes silently omit events.

A header's bloom filter can prove only that an event is not in the block. If the filter contains more than the returned
events explain, the pool is read again, or all events in that block are requested.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Final
from weakref import WeakKeyDictionary

from swapcli.core.errors import UpstreamRejected, UpstreamTimeout
from swapcli.families.reading.calls import Log
from swapcli.families.reading.logs_bloom import bloom_mask, is_selective, may_contain
from swapcli.state.rpc.node import LogFilter, Node

MAX_HEADERS: Final = 256
"""Headers read for one range of events: at 15 KB each, 4 MB."""

_CHECKED_HEADERS: Final = 16  # the newest ones
_CHECKED_BLOCKS: Final = 3  # the newest ones with events
_RECHECK_AFTER_BLOCKS: Final = 600
"""Blocks after which a node that has passed is audited again."""
_MIN_EXPLAINED: Final = 0.75
"""Fraction of the headers' bits that events must explain: some networks include system events, which nodes
do not return."""

_verified_nodes: Final[WeakKeyDictionary[Node, tuple[str, int]]] = WeakKeyDictionary()
"""The URLs of verified nodes, with the latest block at that time."""


def find_withheld_block(node: Node, head: int) -> int | None:
    """Return a recent block whose events the node omits; None if it omits none, or if this cannot be determined.

    Sends requests at most once in 600 blocks. Raises `UpstreamError`.
    """
    shown, last = _verified_nodes.get(node, ("", 0))
    if shown == node.redacted_url and 0 <= head - last < _RECHECK_AFTER_BLOCKS:
        return None
    first = max(head - _CHECKED_HEADERS + 1, 0)
    filled = [(at, bloom) for at, bloom in enumerate(node.read_blooms(first, head), first) if bloom][-_CHECKED_BLOCKS:]
    bloom_bits = explained_bits = 0
    for number, bloom in filled:
        logs = read_block_logs(node, number)
        if logs is None:
            return None
        bloom_bits += bloom.bit_count()
        explained_bits += (bloom & compute_bloom(logs)).bit_count()
    if explained_bits < bloom_bits * _MIN_EXPLAINED:
        return filled[-1][0]
    _verified_nodes[node] = node.redacted_url, head
    return None


def read_block_logs(node: Node, number: int) -> list[Log] | None:
    """Return all events in a block; None if the node rejects the request."""
    try:
        return node.read_logs(LogFilter((), (), number, number))
    except (UpstreamRejected, UpstreamTimeout):
        return None


def compute_bloom(logs: Iterable[Log]) -> int:
    """Return the bloom filter of a block that contains only the events in `logs`."""
    return reduce(or_, (bloom_mask(item) for log in logs for item in (log.address, *log.topics)), 0)


def find_missing_logs(
    node: Node, first: int, blooms: Sequence[int], emitters: Mapping[str, Sequence[str]], logs: Iterable[Log]
) -> list[Log] | None:
    """Return the events that are missing from `logs`, which a node returned for the blocks from `first` on. `blooms`
    are the filters of these blocks.

    `emitters` maps each contract to its relevant topics. Return None if the node omits events even when only that block
    is requested. Raises `UpstreamError`.
    """
    known, missing = frozenset(logs), []
    for number, bloom in enumerate(blooms, first):
        hints = [
            (address, topic)
            for address, topics in emitters.items()
            if is_selective(bloom) and bloom & bloom_mask(address) == bloom_mask(address)
            for topic in topics
            if may_contain(bloom, topic)
        ]
        events = read_block_logs(node, number) if hints else None
        if events is None:
            continue
        if any((bloom_mask(address) | bloom_mask(topic)) & ~compute_bloom(events) for address, topic in hints):
            return None
        missing += [log for log in events if (log.address, *log.topics[:1]) in hints and log not in known]
    return missing
