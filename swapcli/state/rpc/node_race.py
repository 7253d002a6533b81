"""Race nodes for the latest block. The best nodes start, the others follow, and the first proven block wins."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Generic, Protocol, TypeVar

from swapcli.core.encoding.text import counted
from swapcli.core.errors import StaleNode, UpstreamError, UpstreamTimeout
from swapcli.core.records import NamedTuple
from swapcli.state.rpc.network_reachability import Reachability
from swapcli.state.rpc.network_time import MAX_BLOCKS_BEHIND


class BlockProof(Protocol):
    """A block that a node has proven to be its latest.

    `is_recent` is true if, by the clock, it is unlikely that another node has a newer block.
    """

    @property
    def number(self) -> int:
        """The number of the block."""

    @property
    def is_recent(self) -> bool:
        """Whether the block is so recent that no node can be far ahead."""

    @property
    def is_by_clock(self) -> bool:
        """Whether the block's time agrees with this machine's clock, and not only with other nodes' time."""


P = TypeVar("P", bound=BlockProof)


class RaceResult(NamedTuple, Generic[P]):
    """The result of a race. `winner` is the winner's index, with its proof and its time in seconds; None if there is no
    winner.

    `failures` are the errors of nodes that failed, by index. `elapsed_s` are the times of nodes that were still running
    when the race ended. `network_problem` is the reason why no node can be reached; None if one may be reachable.
    """

    winner: int | None
    proof: P | None
    latency_s: float
    failures: dict[int, UpstreamError]
    elapsed_s: dict[int, float]
    network_problem: str | None = None


class NodeRace(Generic[P]):
    """Runs `prove(index)` for nodes in `order`, each in a thread, until one proves its block.

    The first `starters` nodes start at once. The next one starts `hedge_delay_s` after the last start, or as soon as
    one fails. A block that is not recent wins only if, within a further `hedge_delay_s`, no other node returns a block
    that is more than `MAX_BLOCKS_BEHIND` ahead of it, or a block that agrees with the clock if this one does not. The
    race ends after `timeout_s`. Without a network connection, it ends as soon as `network_reachability` detects that,
    or after `resolution_s`.
    """

    def __init__(
        self,
        order: Sequence[int],
        prove: Callable[[int], P],
        *,
        starters: int,
        hedge_delay_s: float,
        timeout_s: float,
        reachability: Reachability,
        resolution_s: float,
    ) -> None:
        self._waiting, self._prove = list(order), prove
        self._starters, self._hedge_delay_s, self._timeout_s = starters, hedge_delay_s, timeout_s
        self._reachability, self._resolution_s = reachability, resolution_s
        self._events: SimpleQueue[tuple[int, P | UpstreamError | None]] = SimpleQueue()
        self._started_s: dict[int, float] = {}
        self._failures: dict[int, UpstreamError] = {}
        self._candidate: tuple[int, P, float] | None = None
        self._candidate_until_s = 0.0

    def run(self) -> RaceResult[P]:
        """Run the race, and return its result."""
        began_s = time.monotonic()
        ends_s, resolution_ends_s = began_s + self._timeout_s, began_s + self._resolution_s
        self._reachability.start(lambda: self._events.put((-1, None)))
        for _ in range(self._starters):
            self._start_next()
        next_start_s = began_s + self._hedge_delay_s
        while True:
            now_s = time.monotonic()
            is_unresolved = not self._reachability.is_known
            problem = self._reachability.problem(is_late=now_s >= resolution_ends_s)
            if problem and not self._candidate:
                return self._result(problem)
            if self._candidate and (now_s >= self._candidate_until_s or not self._is_anyone_left):
                return self._result()
            if now_s >= ends_s or not self._is_anyone_left:
                return self._result(self._late_problem(resolution_ends_s))
            if self._waiting and now_s >= next_start_s:
                self._start_next()
                next_start_s = now_s + self._hedge_delay_s
            wake_s = min(
                ends_s,
                next_start_s if self._waiting else ends_s,
                self._candidate_until_s if self._candidate else ends_s,
                resolution_ends_s if is_unresolved and now_s < resolution_ends_s else ends_s,
            )
            try:
                index, outcome = self._events.get(timeout=max(wake_s - now_s, 0.0))
            except Empty:
                continue
            if isinstance(outcome, UpstreamError):
                self._failures[index] = outcome
                self._start_next()
                next_start_s = time.monotonic() + self._hedge_delay_s
            elif outcome is not None and self._is_decided(index, outcome):
                return self._result()

    @property
    def _is_anyone_left(self) -> bool:
        """Whether any node may still prove its block."""
        ended = len(self._failures) + (self._candidate is not None)
        return bool(self._waiting) or len(self._started_s) > ended

    def _start_next(self) -> None:
        if self._waiting:
            index = self._waiting.pop(0)
            self._started_s[index] = time.monotonic()
            Thread(target=self._run, args=(index,), daemon=True).start()

    def _run(self, index: int) -> None:
        try:
            outcome: P | UpstreamError = self._prove(index)
        except UpstreamError as error:
            outcome = error
        except Exception as error:  # otherwise the race would wait for this node forever
            outcome = UpstreamError(f"no latest block: {type(error).__name__}")
        self._events.put((index, outcome))

    def _is_decided(self, index: int, proof: P) -> bool:
        """Record a proven block; return whether the race is over."""
        latency_s = time.monotonic() - self._started_s[index]
        if self._candidate is None:
            self._candidate = (index, proof, latency_s)
            self._candidate_until_s = time.monotonic() + self._hedge_delay_s
            if not proof.is_recent:
                self._start_next()
            return proof.is_recent
        first, known, _ = self._candidate
        behind = proof.number - known.number
        if behind > MAX_BLOCKS_BEHIND:
            self._failures[first] = _is_behind(behind)
            self._candidate = (index, proof, latency_s)
        elif -behind > MAX_BLOCKS_BEHIND:
            self._failures[index] = _is_behind(-behind)
        elif proof.is_by_clock and not known.is_by_clock:
            self._failures[first] = StaleNode("the time of its latest block differs from another node's")
            self._candidate = (index, proof, latency_s)
        return True

    def _late_problem(self, resolution_ends_s: float) -> str | None:
        """Return why no node can be reached after all of them have failed while their names are still being
        resolved."""
        while not self._reachability.is_known and (left_s := resolution_ends_s - time.monotonic()) > 0.0:
            try:
                self._events.get(timeout=left_s)
            except Empty:
                break
        return self._reachability.problem(is_late=time.monotonic() >= resolution_ends_s)

    def _result(self, network_problem: str | None = None) -> RaceResult[P]:
        now_s = time.monotonic()
        winner, proof, latency_s = self._candidate or (None, None, 0.0)
        elapsed_s = {
            index: now_s - started_s
            for index, started_s in self._started_s.items()
            if index != winner and index not in self._failures
        }
        return RaceResult(winner, proof, latency_s, self._failures, elapsed_s, network_problem)


def _is_behind(blocks: int) -> UpstreamError:
    return UpstreamTimeout(f"its latest block is {counted(blocks, 'block')} behind another node's")
