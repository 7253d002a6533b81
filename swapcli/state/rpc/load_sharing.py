"""Share reads among several nodes of one network, in parallel.

A node that has finished one part of the work takes the next, so faster nodes do more. If a node fails, the other nodes
take over its part.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from threading import Condition, Thread
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from swapcli.core.errors import BlockMismatch, ChainReorganized, UpstreamError
from swapcli.state.backoff import backoff_s
from swapcli.state.rpc.refusals import TREATMENTS, refusal_of

if TYPE_CHECKING:
    from swapcli.state.rpc.node import Node

N = TypeVar("N", bound="Node")
T = TypeVar("T")

_FIRST_REST_S: Final = 1.0  # rest of a node after a failure; each further one doubles it
_MAX_REST_S: Final = 300.0  # however often it fails
_SUSPICION_S: Final = 60.0
_MAX_LAG_REST_S: Final = 8.0
"""Maximum rest for a lag: a node that is a block behind has caught up a few block times later."""


class WorkQueue(Protocol[T]):
    """The parts of a task that no node has taken yet. Callers never run `take` and `put_back` at the same time."""

    def take(self, node: Node) -> T | None:
        """Return the next part for `node`; None if no part is left."""

    def put_back(self, part: T) -> None:
        """Add a part that a node has not finished."""


def run_shared(nodes: Sequence[N], queue: WorkQueue[T], run: Callable[[N, T], bool]) -> dict[N, UpstreamError]:
    """Run every part in `queue` on the next free node, with one thread per node. Return the errors of the nodes that
    failed.

    `run` returns whether the part is finished. If it is not, or if `run` raises `UpstreamError`, the part is put back.
    A node that has failed takes no more parts. If all nodes fail, some parts stay in the queue. Other errors are
    raised.
    """
    shared_run = _SharedRun(queue, run)
    threads = [Thread(target=shared_run.work, args=(node,), daemon=True) for node in nodes]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except BaseException:  # such as Ctrl-C: threads that wait for a response end with it
        shared_run.stop()
        raise
    if shared_run.bug:
        raise shared_run.bug
    return shared_run.failures


class _SharedRun(Generic[N, T]):
    def __init__(self, queue: WorkQueue[T], run: Callable[[N, T], bool]) -> None:
        self._queue, self._run = queue, run
        self._condition, self._running, self._is_stopped = Condition(), 0, False
        self.failures: dict[N, UpstreamError] = {}
        self.bug: BaseException | None = None

    def work(self, node: N) -> None:
        """Run parts on this node until none are left, or until it fails."""
        while (part := self._next_part(node)) is not None:
            is_finished = False
            try:
                is_finished = self._run(node, part)
            except UpstreamError as error:
                self.failures[node] = error
                return
            except BaseException as error:
                self.bug = error
                self.stop()
                return
            finally:
                self._end_part(part, is_finished=is_finished)

    def stop(self) -> None:
        """Let no node take another part."""
        with self._condition:
            self._is_stopped = True
            self._condition.notify_all()

    def _next_part(self, node: N) -> T | None:
        """Return the next part. While other nodes are running parts, one of these may come back: wait for that."""
        with self._condition:
            while not self._is_stopped:
                part = self._queue.take(node)
                if part is not None:
                    self._running += 1
                    return part
                if not self._running:
                    return None
                self._condition.wait()
            return None

    def _end_part(self, part: T, *, is_finished: bool) -> None:
        with self._condition:
            if not is_finished:
                self._queue.put_back(part)
            self._running -= 1
            self._condition.notify_all()


class NodeGroup(Generic[N]):
    """Several nodes that share reads. A node that fails is not used for a while, longer after each failure; `report`
    receives the reason."""

    def __init__(self, nodes: Sequence[N], report: Callable[[str], object]) -> None:
        self._nodes, self._report = nodes, report
        self._failures: dict[Node, int] = {}
        self._rests_until_s: dict[Node, float] = {}
        self._reported: set[Node] = set()

    def available(self) -> list[N]:
        """Return the nodes that may be used now."""
        now_s = time.monotonic()
        return [node for node in self._nodes if self._rests_until_s.get(node, 0.0) <= now_s]

    def record(self, failures: Mapping[Node, UpstreamError], nodes: Sequence[Node]) -> None:
        """Record the result of a shared read by `nodes`: stop using the nodes in `failures` for a while, and forget
        earlier failures of the others."""
        for node in nodes:
            if node in failures:
                self._rest(node, failures[node])
            else:
                self._failures.pop(node, None)

    def rest_all(self) -> None:
        """Use no node for a minute, because one of them returned wrong state and it is unknown which."""
        self._rests_until_s = dict.fromkeys(self._nodes, time.monotonic() + _SUSPICION_S)

    def _rest(self, node: Node, error: UpstreamError) -> None:
        self._failures[node] = failures = self._failures.get(node, 0) + 1
        is_behind = isinstance(error, ChainReorganized | BlockMismatch)
        kind = refusal_of(error)
        is_useless = kind is not None and TREATMENTS[kind].for_good
        longest_s = _MAX_LAG_REST_S if is_behind else _MAX_REST_S
        rest_s = _MAX_REST_S if is_useless else backoff_s(failures, _FIRST_REST_S, longest_s)
        self._rests_until_s[node] = time.monotonic() + rest_s
        if node not in self._reported and not is_behind:
            self._reported.add(node)
            self._report(f"{error.message}; the other nodes take over its share")
