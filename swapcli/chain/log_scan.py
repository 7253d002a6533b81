"""Events over many blocks, in ranges that fit the node.

Every node has its own limit, on blocks or on events, and few document it. The range is halved when the node rejects it,
and grows again while it succeeds. If the node rejects even a request for a block, the scan stops.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from swapcli.chain.node import Log, LogFilter, Node
from swapcli.errors import UpstreamRejected, UpstreamTimeout

FIRST_SPAN: Final = 4_096
MAX_SPAN: Final = 1 << 17
"""Blocks of one request."""

_MANY: Final = 2_000
_REST: Final = 8
"""Ranges to read after a rejection before growing again: most nodes' limits are constant."""


class ScannedRange(NamedTuple):
    """The events from the end of the previous range up to the block `last`."""

    last: int
    logs: list[Log]


def scan_logs(node: Node, query: LogFilter, span: int = FIRST_SPAN) -> Iterator[ScannedRange]:
    """Yield all events of the query, range by range in order; a later scan resumes at `last + 1`.

    Raises `UpstreamError`, also if the node rejects a single block: then the reason is not the size of the range.
    """
    first, before_growing = query.from_block, 0
    while first <= query.to_block:
        last = min(first + span - 1, query.to_block)
        try:
            logs = node.read_logs(query._replace(from_block=first, to_block=last))
        except (UpstreamRejected, UpstreamTimeout):
            if last == first or node.read_block(last) is None:
                raise
            span, before_growing = (last - first + 1) // 2, _REST
            continue
        yield ScannedRange(last, logs)
        first = last + 1
        before_growing -= 1
        if before_growing < 0 and len(logs) < _MANY:
            span = min(2 * span, MAX_SPAN)


def find_first_available_block(node: Node, query: LogFilter) -> int:
    """Return the first block of the query whose events the node has, `query.to_block + 1` if it has none.

    Searches by bisection: nodes that have pruned old blocks still have all later ones.
    """
    low, high = query.from_block, query.to_block + 1
    while low < high:
        middle = (low + high) // 2
        try:
            node.read_logs(query._replace(from_block=middle, to_block=middle))
        except (UpstreamRejected, UpstreamTimeout):
            low = middle + 1
        else:
            high = middle
    return low
