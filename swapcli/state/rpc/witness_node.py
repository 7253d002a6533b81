"""Nodes that repeat another node's reads, so that no single node decides what the user signs.

A `WitnessNode` is a single node. It reads in a separate thread while the first node is still being read. It reads the
block, and then repeats each batch of calls that the first node has completed. It remembers the results, so pools can be
built from them without another request.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, Final, Generic, Protocol, TypeVar

from swapcli.core.errors import UpstreamError, UpstreamTimeout
from swapcli.core.model.network import DEFAULT_BLOCK_TIME_S
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.state.rpc.delegating_node import DelegatingNode
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.network_time import MAX_BLOCKS_OLD
from swapcli.state.rpc.node import BlockHeader, ChainHead, WitnessableNode

T = TypeVar("T")

_MIN_WAIT_S: Final = 1.0
"""Nodes of one network differ by a second or two, whatever the block time."""
_MAX_WAIT_S: Final = 12.0
_WAIT_STEPS: Final = 4
_MAX_JOB_S: Final = 30.0


class BlockMissing(UpstreamError):
    """The node is up to date but does not have the block."""

    code = "BLOCK_MISSING"


class Witnesses(Protocol):
    """The nodes that can confirm a block's state after other nodes have returned it."""

    @property
    def first_host(self) -> str:
        """The host of the only node from which the state was read; empty if there were several nodes, or if the host is
        unknown."""

    @property
    def description(self) -> str:
        """A description of the nodes from which the state was read, for messages if there is no `first_host`."""

    @property
    def required(self) -> int:
        """The number of nodes that must agree on a state, including the node that was read. If fewer exist, all must
        agree."""

    def candidates(self) -> Iterator[WitnessNode]:
        """Yield the nodes that may confirm the state, in the order in which to try them. The caller closes them."""


class Pending(Generic[T]):
    """The pending result of a job in another thread, which takes at most `timeout_s`."""

    def __init__(self, job: Callable[[], T], timeout_s: float) -> None:
        self._job, self._timeout_s, self._done = job, timeout_s, Event()
        self._results: list[T] = []
        self._error: Exception | None = None

    def run(self) -> None:
        """Run the job."""
        try:
            self._results.append(self._job())
        except Exception as error:  # raised in the waiting thread
            self._error = error
        self._done.set()

    def result(self) -> T:
        """Wait for the job, and return its result or raise its error. Raises `UpstreamTimeout`."""
        if not self._done.wait(self._timeout_s):
            raise UpstreamTimeout("it did not respond in time")
        if self._error is not None:
            raise self._error
        return self._results[0]


class WitnessNode(DelegatingNode[WitnessableNode]):
    """A `RememberingNode` that uses a single node. `host` names that node in messages.

    `start` and `prefetch` return immediately. `head` and `finish` wait for their work, and raise its errors.
    `close_node` closes the node's connections, and `abort` ends an exchange in progress.
    """

    def __init__(
        self,
        node: WitnessableNode,
        host: str,
        multicall: str | None,
        *,
        block_time_s: float | None,
        close_node: Callable[[], object],
        abort: Callable[[], object] = bool,
        is_named: bool = False,
        timeout_s: float = _MAX_JOB_S,
        now_s: Callable[[], float] = time.time,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        super().__init__(node)
        self.host, self.is_named = host, is_named
        self._multicall, self._block_time_s = multicall, block_time_s or DEFAULT_BLOCK_TIME_S
        self._close_node, self._abort = close_node, abort
        self._timeout_s, self._now_s, self._pause = timeout_s, now_s, pause
        self._known: dict[ContractCall, ReturnData] = {}
        self._jobs: SimpleQueue[Pending[Any] | None] = SimpleQueue()
        self._started: Pending[ChainHead] | None = None
        self._last: Pending[None] | None = None
        self._prefetched: SimpleQueue[Sequence[ContractCall]] = SimpleQueue()
        self._is_closed = False

    @property
    def simulating(self) -> WitnessableNode:
        """The underlying node, which may simulate calls on hypothetical state."""
        return self._node

    @property
    def is_started(self) -> bool:
        """Whether `start` has been called."""
        return self._started is not None

    def start(self, number: int, code_of: str | None = None) -> None:
        """Begin to read the block `number`. If it does not exist yet, wait up to one block time for it."""
        Thread(target=self._work, daemon=True).start()
        self._started = self.do(lambda: self._find_block(number, code_of))

    def head(self) -> ChainHead:
        """Return the block, with the current gas price and the contract's code. Raises `BlockMissing` if the node is up
        to date but does not have the block, and `UpstreamError`."""
        assert self._started is not None
        return self._started.result()

    def prefetch(self, calls: Sequence[ContractCall]) -> None:
        """Begin to run calls on the block's state. Batches that are still waiting are sent together."""
        self._prefetched.put(calls)
        self._last = self.do(self._call_prefetched)

    def do(self, job: Callable[[], T]) -> Pending[T]:
        """Start a job on this node, to run after its earlier jobs."""
        pending = Pending(job, self._timeout_s)
        self._jobs.put(pending)
        return pending

    def finish(self) -> None:
        """Wait for all jobs that were started, and raise the error of one that failed."""
        self.head()
        if self._last is not None:
            self._last.result()

    def recall(self, calls: Sequence[ContractCall], at: BlockHeader) -> Mapping[int, ReturnData]:
        """Same as `RememberingNode.recall`."""
        del at
        return {place: self._known[call] for place, call in enumerate(calls) if call in self._known}

    def remember(self, answers: Sequence[tuple[ContractCall, ReturnData]], at: BlockHeader) -> None:
        """Same as `RememberingNode.remember`."""
        del at
        self._known.update(answers)

    def close(self) -> None:
        """End the node's thread and close its connections."""
        self._is_closed = True
        self._abort()
        if self._started is None:
            self._close_node()
        else:
            self._jobs.put(None)

    def _work(self) -> None:
        try:
            while (job := self._jobs.get()) is not None and not self._is_closed:
                job.run()
        finally:
            self._close_node()  # by this thread, which may still be sending

    def _find_block(self, number: int, code_of: str | None) -> ChainHead:
        wait_s = min(max(self._block_time_s, _MIN_WAIT_S), _MAX_WAIT_S)
        for step in range(_WAIT_STEPS + 1):
            head = self._node.read_head_at(number, code_of=code_of)
            if head is not None:
                return head
            if step < _WAIT_STEPS and not self._is_closed:
                self._pause(wait_s / _WAIT_STEPS)
        newest = self._node.read_head().block
        if self._now_s() - newest.timestamp > MAX_BLOCKS_OLD * self._block_time_s + _MIN_WAIT_S:
            raise UpstreamError(f"its latest block, {newest.number:,}, is old")
        raise BlockMissing(f"does not have it: its latest block is {newest.number:,}")

    def _call_prefetched(self) -> None:
        """Make the calls of all waiting batches. Raises `UpstreamError`, also if the block could not be found."""
        calls: dict[ContractCall, None] = {}
        while True:
            try:
                calls.update(dict.fromkeys(self._prefetched.get_nowait()))
            except Empty:
                break
        unknown = [call for call in calls if call not in self._known]
        if unknown:
            reader = MulticallReader(self, self.head().block, self._multicall)
            reader.call(unknown)
            reader.verify_block()
