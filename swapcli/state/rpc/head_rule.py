"""Decide which of a network's nodes to read: the node whose latest block is the highest that counts.

A node's latest block counts if it descends from the last served block, if its time is not ahead of both the clock and
the other nodes' times, and if its number is plausible. A number is plausible if the network can have reached it since
then, or if another node has it. Among nodes with the same block, the first in the list is read. A node whose block has
not counted for three block times is dropped. If nodes disagree for that long, the branch with more nodes is read. In a
tie, it is the first node's branch. A branch is abandoned if it has no new block or no responding node, and another
branch has both.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from threading import RLock
from typing import Final

from swapcli.core.errors import StaleNode, UpstreamError
from swapcli.core.model.network import DEFAULT_BLOCK_TIME_S
from swapcli.core.records import NamedTuple
from swapcli.state.backoff import backoff_s
from swapcli.state.rpc.network_time import max_block_age_s
from swapcli.state.rpc.node import BlockHeader

PATIENCE_BLOCKS: Final = 3
"""Block times after which a node is dropped if its block does not count."""
MAX_WALK: Final = 64
"""Blocks to walk back: as many as a store can undo. In a longer gap, only the lower end is read."""
_MAX_LAG: Final = 1
"""Blocks by which healthy nodes may differ; a larger lag is reported."""
_BURST_BLOCKS: Final = 10
_MAX_PACE: Final = 4.0
"""A chain may make this many blocks at once, and then blocks at this multiple of its usual rate."""
_CLOCK_SLACK_S: Final = 5.0
"""The clocks of machines and validators differ by a second or two."""
_KEPT_BLOCKS: Final = 128
_FIRST_REST_S: Final = 1.0
_MAX_REST_S: Final = 30.0
"""Maximum pause for a node that reports new blocks but fails to serve reads; each failure doubles the pause."""
READ_AGAIN: Final = "is used again"
_UNSERVED: Final = "its block %s is not on the canonical chain"
_UNREACHED: Final = "no other node has block %s"
_SILENT: Final = "it has not returned a block yet"
_FUTURE: Final = "its block %s is ahead of the clock and the other nodes"

HeaderReader = Callable[[int, int], Sequence[BlockHeader]]
"""Returns the headers of a range of blocks, both ends included. Raises `UpstreamError`."""


class NodeStanding(NamedTuple):
    """The status of a node: how many blocks it is behind (None if it fails or its block does not count), and whether it
    is currently read."""

    lag: int | None
    is_read: bool


class _NodeState:
    """The known facts about one node. Times are on the monotonic clock.

    `lag` is how many blocks the node was behind the highest when it was last queried. Its block `is_linked` unless its
    parents are known not to lead to the served block, and `is_proven` if they are known to. `doubt` is why the block
    does not count, `failure` why the node did not respond. It `is_denied` if a different branch continued for as long
    as nodes are allowed to disagree.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.head: BlockHeader | None = None
        self.lag = 0
        self.since_s = self.seen_s = self.rest_until_s = self.failed_s = 0.0
        self.clock_s = 0.0
        self.is_linked, self.is_proven, self.is_denied = True, False, False
        self.failure = self.doubt = self.reported = ""
        self.doubted_since_s = 0.0
        self.read_failures = 0

    @property
    def number(self) -> int:
        return self.head.number if self.head else -1

    @property
    def counts(self) -> bool:
        """Whether the node responds, with a block that counts."""
        return self.head is not None and not self.failure and not self.doubt


class HeadRule:
    """Decides which of several nodes to read. `names` are their names in messages. Any thread may use it.

    `report` receives a sentence when a node is dropped or read again. `block_time_s` is the network's usual block time.
    """

    def __init__(
        self,
        names: Sequence[str],
        block_time_s: float | None,
        report: Callable[[str], object],
        *,
        now_s: Callable[[], float] = time.monotonic,
        clock_s: Callable[[], float] = time.time,
    ) -> None:
        count = len(names)
        self._nodes = [_NodeState(f"node {at} of {count} ({name})") for at, name in enumerate(names, 1)]
        self._block_time_s = block_time_s or DEFAULT_BLOCK_TIME_S
        self._report, self._now_s, self._clock_s = report, now_s, clock_s
        self._served: dict[int, str] = {}
        self._read: _NodeState | None = None
        self._newest_served = -1
        self._served_at_s = self._risen_at_s = now_s()
        self._first_served: tuple[float, int] | None = None
        self._lock = RLock()

    @property
    def highest(self) -> int:
        """The highest block that counts and is proven to follow the last served block; -1 if there is none."""
        return max((node.number for node in self._nodes if node.counts and node.is_proven), default=-1)

    @property
    def has_news(self) -> bool:
        """Whether a node has a block above the last served one that may count."""
        return any(node.counts and node.number > self._newest_served for node in self._nodes)

    def standings(self) -> list[NodeStanding]:
        """Return the status of each node, in list order."""
        with self._lock:
            return [NodeStanding(node.lag if node.counts else None, node is self._read) for node in self._nodes]

    def head(self, index: int) -> BlockHeader | None:
        """Return the latest block reported by a node."""
        return self._nodes[index].head

    def seen_s(self, index: int) -> float:
        """Return the time at which a node was last queried for its latest block, in seconds on the rule's clock."""
        return self._nodes[index].seen_s

    def is_failing(self, index: int) -> bool:
        """Return whether a node failed to respond to the last query for its block."""
        return bool(self._nodes[index].failure)

    def is_doubted(self, index: int) -> bool:
        """Return whether a node's latest block does not count."""
        return bool(self._nodes[index].doubt)

    def order(self) -> list[int]:
        """Return the indices of the nodes that may be read, best first. Failing nodes come last."""
        with self._lock:
            now_s = self._now_s()
            return sorted(
                (index for index, node in enumerate(self._nodes) if not node.doubt),
                key=lambda index: (
                    bool(self._nodes[index].failure),
                    self._nodes[index].rest_until_s > now_s,
                    self._nodes[index].lag,
                    index,
                ),
            )

    def choose(self, tried: Collection[int], floor: int = -1) -> int | None:
        """Return the next node to read, which is not in `tried` and may have a block above `floor`; None if there is
        none."""
        with self._lock:
            for index in self.order():
                node = self._nodes[index]
                is_unknown = node.head is None and not node.failure
                if index not in tried and (is_unknown or not tried or (node.counts and node.number > floor)):
                    return index
            return None

    def see(
        self, index: int, head: BlockHeader, highest: int, read_headers: HeaderReader, *, is_read: bool = False
    ) -> bool:
        """Record a node's latest block, and return whether it counts.

        `highest` is the highest block that counted before the node was queried. `is_read` means that the block is
        already proven to follow the served one. Raises `UpstreamError` if the node does not return the parent blocks.
        """
        is_proven = self._prove(index, head, read_headers, is_read=is_read)
        with self._lock:
            node, now_s, before = self._nodes[index], self._now_s(), self.highest
            if node.failure:
                node.failure, node.rest_until_s, node.read_failures = "", 0.0, 0
            if node.head is None or node.head.hash != head.hash:
                node.since_s, node.clock_s = now_s, self._clock_s()
            node.head, node.seen_s, node.is_linked = head, now_s, is_proven is not False
            node.lag = max(highest - head.number, 0)
            node.is_proven = bool(is_proven)
            if is_proven:
                node.is_denied = False
            self._judge(now_s)
            if self._settle(now_s):
                self._judge(now_s)
            if self.highest > before:
                self._risen_at_s = now_s
            for each in self._nodes:
                self._report_drop(each, now_s)
            return node.counts

    def fail(self, index: int, error: UpstreamError) -> None:
        """Record that a node did not return its latest block."""
        with self._lock:
            node = self._nodes[index]
            node.failure, node.seen_s = error.message, self._now_s()
            self._report_drop(node, node.seen_s)

    def fail_read(self, index: int, error: UpstreamError) -> None:
        """Record that a node did not serve a read. The node is not read for a while, longer after each failure, unless
        it was already down."""
        with self._lock:
            node, now_s = self._nodes[index], self._now_s()
            if now_s - node.failed_s > 2 * _MAX_REST_S:
                node.read_failures = 0
            node.read_failures, node.failed_s = node.read_failures + 1, now_s
            node.rest_until_s = now_s + backoff_s(node.read_failures, _FIRST_REST_S, _MAX_REST_S)
            self._report_once(node, error.message)

    def serve(self, index: int, head: BlockHeader) -> None:
        """Record that a node's block is served from now on."""
        with self._lock:
            node, now_s = self._nodes[index], self._now_s()
            self._read = node
            if node.reported and node.lag <= _MAX_LAG:
                self._report(f"{node.name} {READ_AGAIN}")
                node.reported = ""
            if head.number < self._newest_served:
                return
            self._served |= {head.number - 1: head.parent_hash, head.number: head.hash}
            if head.number > self._newest_served:
                self._served_at_s = now_s
            self._newest_served = head.number
            self._first_served = self._first_served or (now_s, head.number)
            for number in [each for each in self._served if each < head.number - _KEPT_BLOCKS]:
                del self._served[number]

    def no_node(self, problems: Mapping[int, str] | None = None) -> StaleNode:
        """Return the error to raise if no node may be read. `problems` maps the index of a node to its problem."""
        known = problems or {}
        reasons = "; ".join(
            f"{node.name}: {node.doubt or node.failure or known.get(index, _SILENT)}"
            for index, node in enumerate(self._nodes)
        )
        return StaleNode(f"no node can be used: {reasons}", hint="check the nodes or set a different one")

    def _prove(self, index: int, head: BlockHeader, read_headers: HeaderReader, *, is_read: bool) -> bool | None:
        """Return whether a block's parents lead to the served one; None for a block that is not to be read yet.

        Usually the block itself shows this. Otherwise the parents are read; for the node that is read anyway, only the
        last one.
        """
        with self._lock:
            node, newest, served = self._nodes[index], self._newest_served, dict(self._served)
            max_walk = 1 if node is self._read else MAX_WALK
        if newest < 0 or head.number <= newest:
            return served.get(head.number, head.hash) == head.hash
        if head.number > newest + 1 and node.is_linked and not is_read:
            return None
        return _leads_to(newest, served[newest], head, read_headers, max_walk)

    def _judge(self, now_s: float) -> None:
        """Decide which blocks count."""
        for node in self._nodes:
            doubt = self._doubt(node, now_s) if node.head else ""
            if doubt and not node.doubt:
                node.doubted_since_s = now_s
            node.doubt = doubt

    def _doubt(self, node: _NodeState, now_s: float) -> str:
        number = f"{node.number:,}"
        if not node.is_linked:
            return _UNSERVED % number
        if self._is_ahead(node):
            return _FUTURE % number
        pace = max(self._pace(now_s), 1.0 / self._block_time_s)
        reachable = self._newest_served + _BURST_BLOCKS + _MAX_PACE * pace * (now_s - self._served_at_s)
        is_reached = any(
            each is not node and each.is_linked and not each.failure and each.number >= node.number
            for each in self._nodes
        )
        if self._newest_served < 0:
            reachable = min((each.number for each in self._nodes if self._is_current(each)), default=node.number)
            reachable += _BURST_BLOCKS
        return "" if node.number <= reachable or is_reached else _UNREACHED % number

    def _is_current(self, node: _NodeState) -> bool:
        """Return whether, by the clock, a node's block belongs to a network that is still making blocks."""
        is_new = node.head is not None and abs(node.clock_s - node.head.timestamp) <= max_block_age_s(
            self._block_time_s
        )
        return is_new and not node.failure

    def _is_ahead(self, node: _NodeState) -> bool:
        """Return whether a block's time is ahead of both the clock and the times of all other nodes' blocks."""
        assert node.head
        slack_s = PATIENCE_BLOCKS * self._block_time_s + _CLOCK_SLACK_S
        others = [each for each in self._nodes if each is not node and each.head]
        return (
            bool(others)
            and node.head.timestamp - node.clock_s > slack_s
            and all(
                node.head.timestamp - each.head.timestamp - (node.since_s - each.since_s) > slack_s
                for each in others
                if each.head
            )
        )

    def _pace(self, now_s: float) -> float:
        """Return the served blocks per second so far."""
        if self._first_served is None or now_s - self._first_served[0] < self._block_time_s:
            return 0.0
        at_s, number = self._first_served
        return (self._newest_served - number) / (now_s - at_s)

    def _settle(self, now_s: float) -> bool:
        """Switch from the served branch to another if the rule says so. Return whether it switched."""
        rivals = [node for node in self._nodes if node.head and not node.failure and not node.is_linked]
        keepers = [node for node in self._nodes if node.counts and node.number >= self._newest_served]
        camps = [[each for each in rivals if _agree(each, rival)] for rival in rivals]
        if not camps:
            return False
        camp = max(camps, key=len)
        leader = camp[0]
        has_waited = now_s - leader.doubted_since_s >= self._patience_s
        if not keepers:
            # A branch that responding nodes denied is not chosen just because those nodes stop responding.
            if leader.is_denied:
                return False
        else:
            is_stalled = now_s - self._risen_at_s >= self._patience_s and leader.since_s > self._risen_at_s
            rank = self._nodes.index
            is_equal = len(camp) == len(keepers)
            if not has_waited:
                return False
            is_first = rank(leader) < rank(keepers[0])
            if not (len(camp) > len(keepers) or (is_equal and (is_stalled or is_first))):
                leader.is_denied = True
                return False
        assert leader.head
        self._served = {leader.number - 1: leader.head.parent_hash, leader.number: leader.head.hash}
        self._newest_served, self._served_at_s, self._risen_at_s = leader.number, now_s, now_s
        for node in self._nodes:
            node.is_linked, node.is_denied = node in camp, False
        return True

    @property
    def _patience_s(self) -> float:
        return PATIENCE_BLOCKS * self._block_time_s

    def _report_drop(self, node: _NodeState, now_s: float) -> None:
        """Report why a node is not read, once until it is used again."""
        if node.doubt and now_s - node.doubted_since_s >= self._patience_s:
            self._report_once(node, f"for {PATIENCE_BLOCKS} block times, {node.doubt}")
        elif node.failure:
            self._report_once(node, node.failure)
        elif node.head and not node.doubt and node.lag > _MAX_LAG:
            self._report_once(node, f"its latest block {node.number:,} is {node.lag:,} blocks behind")

    def _report_once(self, node: _NodeState, reason: str) -> None:
        if not node.reported:
            node.reported = reason
            self._report(f"{node.name} is not used: {reason}")


def _leads_to(number: int, block_hash: str, head: BlockHeader, read_headers: HeaderReader, max_walk: int) -> bool:
    """Return whether a block is an ancestor of `head` or, across a longer gap, whether the node has it."""
    gap = head.number - number
    if gap == 1:
        return head.parent_hash == block_hash
    if gap > max_walk:
        (found,) = read_headers(number, number)
        return found.hash == block_hash
    child = head
    for parent in reversed(read_headers(number + 1, head.number - 1)):
        if parent.number != child.number - 1 or parent.hash != child.parent_hash:
            return False
        child = parent
    return child.parent_hash == block_hash


def _agree(one: _NodeState, other: _NodeState) -> bool:
    """Return whether the blocks of two nodes are the same, or one is the parent of the other."""
    a, b = one.head, other.head
    assert a
    assert b
    return a.hash == b.hash or a.parent_hash == b.hash or b.parent_hash == a.hash
