"""Read events from many blocks, in ranges small enough for the node.

Every node limits the number of blocks or events differently, and few nodes document the limit. The range is halved when
the node rejects it, and grows while requests succeed. `NodeLimits` remembers its size. If the node rejects even a
single block, the scan stops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Final

from swapcli.core.errors import UpstreamError, UpstreamRejected, UpstreamTimeout
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import Log
from swapcli.state.rpc.load_sharing import WorkQueue, run_shared
from swapcli.state.rpc.node import BlockHeader, BlockId, LogFilter, Node
from swapcli.state.rpc.node_limits import LearnedLimit
from swapcli.state.rpc.refusals import Refusal, is_clearly_too_much, may_shrink, refusal_of

_MANY: Final = 2_000
"""Events in one response after which a wider range may be too much for the node."""

_RANGES_PER_NODE: Final = 4
"""Ranges that each node reads, on average, before the events are used."""

_MAX_WAITED: Final = 3
"""Refusals in a search for the first block, each after several attempts: a search takes up to 17."""

Verify = Callable[[Node, LogFilter, Sequence[Log]], object]
"""Raises `UpstreamError` if a node's response to a query is wrong."""


class ScannedRange(NamedTuple):
    """The events from the end of the previous range up to and including the block `last`."""

    last: int
    logs: list[Log]


def scan_logs(
    node: Node, query: LogFilter, *, at: BlockId | None = None, verify: Verify | None = None
) -> Iterator[ScannedRange]:
    """Yield all events that match the query in order, range by range. A later scan can resume at `last + 1`.

    If `at` is the header of a block, the helpers of the node read ranges up to that block in parallel. `verify` checks
    each response. Raises `UpstreamError`. That includes a node that rejects a single block, because the range cannot be
    reduced further.
    """
    first = query.from_block
    while first <= query.to_block:
        scanned = scan_first_range(node, query._replace(from_block=first), at=at, verify=verify)
        yield scanned
        first = scanned.last + 1


def scan_first_range(
    node: Node, query: LogFilter, *, at: BlockId | None = None, verify: Verify | None = None
) -> ScannedRange:
    """Return the events from the query's first block on, as far as one request to each node reaches.

    Takes the same parameters and raises the same errors as `scan_logs`. The query must include at least one block.
    """
    is_wide = query.to_block - query.from_block >= node.limits.log_blocks.size
    if is_wide and isinstance(at, BlockHeader) and query.to_block <= at.number:
        helpers = node.helpers(at)
        if len(helpers) > 1:
            scan = _SharedScan(query, len(helpers), verify)
            node.report_helpers(run_shared(helpers, scan, scan.read), helpers)
            if scanned := scan.result():
                return scanned
    return _scan_alone(node, query, verify)


def _scan_alone(node: Node, query: LogFilter, verify: Verify | None) -> ScannedRange:
    first = query.from_block
    before_rejection: LearnedLimit | None = None
    while True:
        limits = node.limits
        last = min(first + limits.log_blocks.size - 1, query.to_block)
        try:
            logs = node.read_logs(query._replace(from_block=first, to_block=last))
        except UpstreamError as error:
            if last == first or not _may_shrink(node, error, last):
                if before_rejection:
                    limits.log_blocks = before_rejection
                raise
            before_rejection = before_rejection or limits.log_blocks.copy()
            limits.log_blocks.reject(last - first + 1, now_s=limits.now_s)
            continue
        limits.log_blocks.accept(last - first + 1, now_s=limits.now_s, may_grow=len(logs) < _MANY)
        if verify:
            verify(node, query._replace(to_block=last), logs)
        return ScannedRange(last, logs)


def _may_shrink(node: Node, error: UpstreamError, last: int) -> bool:
    """Return whether a narrower range that ends before the block `last` may succeed."""
    return may_shrink(error) and (is_clearly_too_much(error) or node.read_block(last) is not None)


class _SharedScan(WorkQueue[LogFilter]):
    """Ranges of one query that several nodes read: a few per node, in any order."""

    def __init__(self, query: LogFilter, node_count: int, verify: Verify | None) -> None:
        self._query, self._verify = query, verify
        self._next_block, self._ranges_left = query.from_block, _RANGES_PER_NODE * node_count
        self._gaps: list[LogFilter] = []
        self._ranges: dict[int, ScannedRange] = {}
        self._log_count = 0
        self._before_rejection: dict[Node, LearnedLimit] = {}

    def take(self, node: Node) -> LogFilter | None:
        """Return the lowest remaining range, no wider than this node accepts."""
        if self._gaps:
            part = min(self._gaps, key=attrgetter("from_block"))
            self._gaps.remove(part)
        elif self._ranges_left > 0 and self._log_count < _MANY and self._next_block <= self._query.to_block:
            part = self._query._replace(from_block=self._next_block)
            self._ranges_left -= 1
        else:
            return None
        last = min(part.from_block + node.limits.log_blocks.size - 1, part.to_block)
        if part.from_block == self._next_block:
            self._next_block = last + 1
        elif last < part.to_block:
            self._gaps.append(part._replace(from_block=last + 1))
        return part._replace(to_block=last)

    def put_back(self, part: LogFilter) -> None:
        """Add a range that a node has not read."""
        self._gaps.append(part)

    def read(self, node: Node, part: LogFilter) -> bool:
        """Read a range from a node. Return False if the range is too wide for the node. Raises `UpstreamError`."""
        limits = node.limits
        width = part.to_block - part.from_block + 1
        try:
            logs = node.read_logs(part)
        except UpstreamError as error:
            if width == 1 or not _may_shrink(node, error, part.to_block):
                limits.log_blocks = self._before_rejection.pop(node, limits.log_blocks)
                raise
            self._before_rejection.setdefault(node, limits.log_blocks.copy())
            limits.log_blocks.reject(width, now_s=limits.now_s)
            return False
        self._before_rejection.pop(node, None)
        limits.log_blocks.accept(width, now_s=limits.now_s, may_grow=len(logs) < _MANY)
        if self._verify:
            self._verify(node, part, logs)
        self._ranges[part.from_block] = ScannedRange(part.to_block, logs)
        self._log_count += len(logs)
        return True

    def result(self) -> ScannedRange | None:
        """Return the events read without a gap, from the first block on; None if there are none."""
        logs: list[Log] = []
        first = self._query.from_block
        while scanned := self._ranges.get(first):
            logs += scanned.logs
            first = scanned.last + 1
        return ScannedRange(first - 1, logs) if first > self._query.from_block else None


def find_first_available_block(node: Node, query: LogFilter) -> int:
    """Return the first block in the query's range whose events the node still has; `query.to_block + 1` if it has none.

    Searches by bisection, because nodes that have pruned old blocks still have all later ones. A refusal that does not
    say that a block was pruned is retried after a wait. After a few such refusals, the result is the first block whose
    events the node has returned.
    """
    low, high = query.from_block, query.to_block + 1
    waited = 0
    while low < high:
        middle = (low + high) // 2
        try:
            node.read_logs(query._replace(from_block=middle, to_block=middle))
        except (UpstreamRejected, UpstreamTimeout) as error:
            kind = refusal_of(error)
            if kind is Refusal.RATE:
                raise
            waited += kind not in (Refusal.GONE, Refusal.OTHER, Refusal.TOO_LARGE)
            if kind is Refusal.NOT_SERVED or waited == _MAX_WAITED:
                return high
            low = middle + 1
        else:
            high = middle
    return low
