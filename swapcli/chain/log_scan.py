"""Events over many blocks, in ranges that fit the node.

Every node has its own limit, on blocks or on events, and few document it. The range is halved when the node rejects it,
and grows while it succeeds; `NodeLimits` remembers it. If the node rejects even a request for a block, the scan stops.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from swapcli.chain.json_rpc_client import TooManyRequests
from swapcli.chain.node import Log, LogFilter, Node
from swapcli.chain.node_limits import LearnedLimit
from swapcli.errors import UpstreamRejected, UpstreamTimeout

_MANY: Final = 2_000
"""Events in one response after which a wider range may be too much for the node."""


class ScannedRange(NamedTuple):
    """The events from the end of the previous range up to the block `last`."""

    last: int
    logs: list[Log]


def scan_logs(node: Node, query: LogFilter) -> Iterator[ScannedRange]:
    """Yield all events of the query, range by range in order; a later scan resumes at `last + 1`.

    Raises `UpstreamError`, also if the node rejects a single block: then the reason is not the size of the range.
    """
    first = query.from_block
    before_rejection: LearnedLimit | None = None
    while first <= query.to_block:
        limits = node.limits
        last = min(first + limits.log_blocks.size - 1, query.to_block)
        try:
            logs = node.read_logs(query._replace(from_block=first, to_block=last))
        except TooManyRequests:
            raise
        except (UpstreamRejected, UpstreamTimeout):
            if last == first or node.read_block(last) is None:
                if before_rejection:
                    limits.log_blocks = before_rejection
                raise
            before_rejection = before_rejection or limits.log_blocks.copy()
            limits.log_blocks.reject(last - first + 1, now_s=limits.now_s)
            continue
        limits.log_blocks.accept(last - first + 1, now_s=limits.now_s, may_grow=len(logs) < _MANY)
        yield ScannedRange(last, logs)
        first, before_rejection = last + 1, None


def find_first_available_block(node: Node, query: LogFilter) -> int:
    """Return the first block of the query whose events the node has, `query.to_block + 1` if it has none.

    Searches by bisection: nodes that have pruned old blocks still have all later ones.
    """
    low, high = query.from_block, query.to_block + 1
    while low < high:
        middle = (low + high) // 2
        try:
            node.read_logs(query._replace(from_block=middle, to_block=middle))
        except TooManyRequests:
            raise
        except (UpstreamRejected, UpstreamTimeout):
            low = middle + 1
        else:
            high = middle
    return low
