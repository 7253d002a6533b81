"""Keep the service's markets up to date, in one thread per network, apart from orders and the event loop.

Failures are retried with exponential back-off. Meanwhile the last state stays in use until it is too old.
"""

from __future__ import annotations

import gc
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from math import inf
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any, Generic, Protocol, Self, TypeVar

from swapcli.core.errors import SwapcliError
from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.market_registry import MarketRegistry
from swapcli.faces.service.store_announcements import BlockAnnouncements, WriterState
from swapcli.quoting.followers.feed_follower import AnyFollowed, FeedFollower, FollowedFeed, open_any_follower
from swapcli.quoting.followers.market_follower import Followed, FollowedStore, open_store_writer
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.backoff import backoff_s
from swapcli.state.clock import Clock
from swapcli.state.feed.counters import FeedCounters
from swapcli.state.rpc.head_source import FollowMode, PollingHeads, poll_interval_s
from swapcli.state.rpc.node import KnowsTime
from swapcli.state.rpc.rpc_node import FailoverNode
from swapcli.state.store import StoredBlock
from swapcli.state.sync import Progress

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

MAX_PAUSE_S = 15.0
COLLECT_EVERY = 100
"""Blocks between two full collections: what searches cache of a state are cycles, some 170 objects a block, and the
collector by itself would let millions of them gather. Most of the market is frozen, so that one takes little time."""
JOIN_TIMEOUT_S = 0.5
"""Time for all threads to end. A thread that still waits for its node is abandoned, since it is a daemon."""


class BlockFollower(Protocol[T_co]):
    """Follows a chain: a `MarketFollower`, `FeedFollower` or `StoreWriter`."""

    def read(self) -> T_co | None:
        """Return what there is at the start."""

    def advance(self) -> T_co | None:
        """Return what there is at the newest block; None if that was returned before."""


class NetworkThreads:
    """Threads by network name, which run inside a `with` block."""

    def __init__(self, threads: Iterable[_FollowerThread[Any]] = ()) -> None:
        self._threads = {thread.network: thread for thread in threads}
        self._started_s = 0.0

    def __enter__(self) -> Self:
        self._started_s = monotonic()
        for thread in self._threads.values():
            thread.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        for thread in self._threads.values():
            thread.request_stop()
        for thread in self._threads.values():
            thread.heads.close()  # which also ends an exchange over its connection
        deadline_s = monotonic() + JOIN_TIMEOUT_S
        for thread in self._threads.values():
            thread.join(max(0.0, deadline_s - monotonic()))

    def failures(self) -> Mapping[str, int]:
        """Return the number of failures so far, by network name."""
        return {name: thread.failures for name, thread in self._threads.items()}

    def modes(self) -> Mapping[str, FollowMode]:
        """Return how new blocks are found at present, by network name."""
        return {name: thread.heads.mode for name, thread in self._threads.items()}

    def feeds(self) -> Mapping[str, FeedCounters]:
        """Return what has happened to the feeds of those networks that follow one."""
        return {name: thread.counters for name, thread in self._threads.items() if thread.counters is not None}

    def are_settled(self, patience_s: float = inf) -> bool:
        """Return whether each thread has published a state or failed to.

        A network that is served on other state until then is waited for no longer than `patience_s` from the start.
        """
        is_over = monotonic() - self._started_s >= patience_s
        return all(thread.is_settled or (is_over and thread.may_fall_back) for thread in self._threads.values())


class FollowerThreads(NetworkThreads):
    """Threads that pass new sources to `registry`.

    `log` gets a line when a thread starts to fail and when it recovers. With `announcements`, another process writes to
    the stores that are only read here.
    """

    def __init__(
        self,
        followed: Iterable[AnyFollowed],
        registry: MarketRegistry,
        log: AccessLog | None = None,
        announcements: BlockAnnouncements | None = None,
    ) -> None:
        super().__init__(_MarketThread(each, registry, log, announcements) for each in followed)


class WriterThreads(NetworkThreads):
    """Threads that bring stores to the newest blocks, and announce these to the processes that read the stores."""

    def __init__(
        self, stores: Mapping[Path, Followed], announcements: BlockAnnouncements, log: AccessLog, clock: Clock
    ) -> None:
        super().__init__(_WriterThread(each, path, announcements, log, clock) for path, each in stores.items())


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Collect no garbage inside the block, which makes many lasting objects: each full collection would scan them all,
    and stop requests for that time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _FollowerThread(Thread, ABC, Generic[T]):
    """Follows one market. A daemon thread, so that an unresponsive node does not delay the end of the process."""

    def __init__(self, market: AnyFollowed, log: AccessLog | None, clock: Clock) -> None:
        super().__init__(name=f"market follower of {market.network.name}", daemon=True)
        self._market, self._log, self._clock = market, log, clock
        self.network = market.network.name
        self.counters = market.counters if isinstance(market, FollowedFeed) else None
        self.heads = market.heads or PollingHeads(poll_interval_s(market.network.block_time_s))
        self._stop_requested = Event()
        self._block: int | None = None
        self._subscription_problem: str | None = None
        self._consecutive_failures = 0
        self.failures = 0
        self.is_settled = False
        self.may_fall_back = False

    @abstractmethod
    def _open(self) -> AbstractContextManager[BlockFollower[T]]:
        """Open the follower of the market."""

    @abstractmethod
    def _publish(self, latest: T) -> None:
        """Pass on the state at a new block."""

    @abstractmethod
    def _set_status(self, status: str, *, is_failing: bool = False) -> None:
        """Set why there is no state yet."""

    def _is_prepared(self) -> bool:
        """Return whether the follower can be opened yet."""
        return True

    def request_stop(self) -> None:
        self._stop_requested.set()
        self.heads.stop()

    def run(self) -> None:
        if self.heads.hint and self._log:
            self._log.log_follow_mode(self.network, self.heads.hint, self._clock.now_s())
        while not self._stop_requested.is_set():
            try:
                if self._is_prepared():
                    with self._open() as follower:
                        self._follow(follower)
            except Exception as error:  # the thread must survive defects, too
                self._record_failure(error)
            self._wait()
        if not isinstance(self._market, FollowedFeed) and isinstance(self._market.node, FailoverNode):
            self._market.node.close()

    def _follow(self, follower: BlockFollower[T]) -> None:
        """Publish new states until stopped. Raises errors that need a new follower."""
        with _collection_paused():
            self._publish_new(follower.read())
        while not self._stop_requested.is_set():
            try:
                latest = follower.advance()
            except SwapcliError as error:
                self._record_failure(error)
            else:
                self._publish_new(latest)
                self._record_success()
            self._wait()

    def _publish_new(self, latest: T | None) -> None:
        if latest is not None:
            self._publish(latest)
        self.is_settled = True

    def _wait(self) -> None:
        """Wait for the next block; after failures longer and longer."""
        self.heads.wait(backoff_s(self._consecutive_failures + 1, self.heads.poll_s, MAX_PAUSE_S), self._block)
        if self.heads.problem != self._subscription_problem:
            self._subscription_problem = self.heads.problem
            if self._log:
                self._log.log_follow_mode(self.network, self._subscription_problem, self._clock.now_s())

    def _report_progress(self, progress: Progress) -> None:
        total = "" if progress.total is None else f" of {progress.total}"
        self._set_status(f"the pools of {self.network} are being read: {progress.done}{total}")

    def _record_success(self) -> None:
        if self._consecutive_failures and self._log:
            self._log.log_follower_state(self.network, None, self._clock.now_s())
        self._consecutive_failures = 0

    def _record_failure(self, error: Exception) -> None:
        if self._stop_requested.is_set():
            return  # closing the connection ends an exchange with an error
        if not self._consecutive_failures and self._log:
            self._log.log_follower_state(self.network, error, self._clock.now_s())
        self._set_status(f"the pools of {self.network} could not be read yet", is_failing=True)
        self._consecutive_failures += 1
        self.failures += 1
        self.is_settled = True


class _MarketThread(_FollowerThread[InMemorySource]):
    """Passes the market at each block to the registry."""

    def __init__(
        self,
        market: AnyFollowed,
        registry: MarketRegistry,
        log: AccessLog | None,
        announcements: BlockAnnouncements | None,
    ) -> None:
        super().__init__(market, log, registry.clock)
        self._registry, self._announcements = registry, announcements
        self._published = 0
        self.may_fall_back = registry.has_opener(self.network)

    def _is_prepared(self) -> bool:
        """Return False while another process fills the store."""
        market = self._market
        if self._announcements is None or not isinstance(market, FollowedStore) or market.path.exists():
            return True
        state = self._announcements.state(self.network)
        if state.status:
            self._set_status(state.status, is_failing=state.is_failing)
        return False

    @contextmanager
    def _open(self) -> Iterator[BlockFollower[InMemorySource]]:
        ttl_s = self._registry.rules.terms.ttl_s
        with open_any_follower(
            self._market, self._registry.clock, self._report_progress, route_ttl_s=ttl_s
        ) as follower:
            if isinstance(follower, FeedFollower):
                self._registry.set_extender(self.network, follower.extended_source)
            yield follower

    def _publish(self, latest: InMemorySource) -> None:
        self._block = latest.market.block
        self._registry.set_source(latest)
        if not self._published:
            if self.may_fall_back and self._log:
                self._log.log_first_state(self.network, latest.state_source, self._clock.now_s())
            # Most of the market stays. Without freezing, each full collection would scan it and delay requests, and so
            # would one now: by some 60 ms with 100,000 pools. Reading a market leaves no cycles.
            gc.freeze()
        self._published += 1
        if self._published % COLLECT_EVERY == 0:
            gc.collect()

    def _set_status(self, status: str, *, is_failing: bool = False) -> None:
        self._registry.set_status(self.network, status)
        if is_failing:
            self._registry.mark_tried(self.network)


class _WriterThread(_FollowerThread[StoredBlock]):
    """Writes each block to a store, and announces it."""

    def __init__(
        self, market: Followed, path: Path, announcements: BlockAnnouncements, log: AccessLog, clock: Clock
    ) -> None:
        super().__init__(market, log, clock)
        self._written, self._path, self._announcements = market, path, announcements

    def _open(self) -> AbstractContextManager[BlockFollower[StoredBlock]]:
        return open_store_writer(self._written, self._path, self._report_progress)

    def _publish(self, latest: StoredBlock) -> None:
        self._block = latest.number
        self._set_status("")
        self._announcements.announce(self.network)

    def _set_status(self, status: str, *, is_failing: bool = False) -> None:
        node = self._written.node
        offset_s = node.clock_offset_s if isinstance(node, KnowsTime) else 0.0
        self._announcements.set_state(self.network, WriterState(self.heads.mode, status, is_failing, offset_s))
