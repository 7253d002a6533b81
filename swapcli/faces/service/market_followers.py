"""Keep the service's markets up to date, in one thread per network, separate from orders and the event loop.

After a failure, the thread tries again one block time later. If a market cannot be opened, it retries with exponential
back-off. Meanwhile the last state stays in use until it is too old.
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
from swapcli.core.records import NamedTuple
from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.market_registry import MarketRegistry
from swapcli.faces.service.metrics import MarketMetrics
from swapcli.faces.service.store_announcements import AnnouncedHeads, BlockAnnouncements, WriterState
from swapcli.quoting.followers.feed_follower import AnyFollowed, FeedFollower, FollowedFeed, open_any_follower
from swapcli.quoting.followers.market_follower import Followed, FollowedStore, StoreWriter, open_store_writer
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.backoff import backoff_s
from swapcli.state.clock import Clock
from swapcli.state.rpc.head_source import FollowMode, PollingHeads, poll_interval_s
from swapcli.state.rpc.head_watch import WatchedHeads
from swapcli.state.rpc.node import KnowsTime
from swapcli.state.rpc.rpc_node import FailoverNode
from swapcli.state.store import StoredBlock
from swapcli.state.sync import Progress

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

MAX_PAUSE_S = 15.0
COLLECT_EVERY = 100
"""Number of blocks between two full collections. Searches cache about 170 objects in cycles per block, and the
collector alone would let millions of them accumulate. Most of the market is frozen, so a collection takes little
time."""
JOIN_TIMEOUT_S = 0.5
"""Time that all threads get to end. A thread that is still waiting for its node is then abandoned, because it is a
daemon."""


class BlockFollower(Protocol[T_co]):
    """A follower of a chain: a `MarketFollower`, `FeedFollower` or `StoreWriter`."""

    def read(self) -> T_co | None:
        """Return the initial state or block."""

    def advance(self) -> T_co | None:
        """Return the state or block at the latest block, or None if it was already returned."""


class StorePaths(NamedTuple):
    """The path of a store, and the path of its copy, which is used while the disk is not writable."""

    store: Path
    copy: Path


class NetworkThreads:
    """Threads by network name, which run while the context is open."""

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

    def modes(self) -> Mapping[str, FollowMode]:
        """Return how new blocks are currently found, by network name."""
        return {name: thread.heads.mode for name, thread in self._threads.items()}

    def figures(self) -> Mapping[str, MarketMetrics]:
        """Return figures on how each network is followed, by network name."""
        return {name: thread.figures() for name, thread in self._threads.items()}

    def are_settled(self, patience_s: float = inf) -> bool:
        """Return whether each thread has published a state or has failed to do so.

        Networks that are already served on other state get at most `patience_s` from the start, and then count as
        settled.
        """
        is_over = monotonic() - self._started_s >= patience_s
        return all(thread.is_settled or (is_over and thread.may_fall_back) for thread in self._threads.values())


class FollowerThreads(NetworkThreads):
    """Threads that pass new sources to `registry`.

    `log` receives a line when a thread starts to fail and when it recovers. With `announcements`, another process
    writes the stores, and the threads only read them.
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
    """Threads that bring stores to the latest blocks, and announce these blocks to the processes that read the
    stores."""

    def __init__(
        self, stores: Mapping[StorePaths, Followed], announcements: BlockAnnouncements, log: AccessLog, clock: Clock
    ) -> None:
        super().__init__(_WriterThread(each, paths, announcements, log, clock) for paths, each in stores.items())


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Collect no garbage during the context, which creates many lasting objects: each full collection would scan them
    all, and stop requests for that time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _FollowerThread(Thread, ABC, Generic[T]):
    """Follows one market. It is a daemon thread, so an unresponsive node does not delay the end of the process."""

    def __init__(self, market: AnyFollowed, log: AccessLog | None, clock: Clock) -> None:
        super().__init__(name=f"market follower of {market.network.name}", daemon=True)
        self._market, self._log, self._clock = market, log, clock
        self.network = market.network.name
        self.heads = market.heads or PollingHeads(poll_interval_s(market.network.block_time_s))
        self._stop_requested = Event()
        self._block: int | None = None
        self._subscription_problem: str | None = None
        self._consecutive_failures = 0
        self._is_open = False
        self._failures = self._write_failures = 0
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
        """Set the reason why there is no state yet."""

    def _is_prepared(self) -> bool:
        """Return whether the follower can already be opened."""
        return True

    def _is_replaced(self) -> bool:
        """Return whether the follower reads a store that has since moved."""
        return False

    def _record_write(self, error: SwapcliError | None, failures: int) -> None:
        """Count and log failed writes to the store; without an error, the store has all blocks again."""
        self._write_failures += error is not None
        if failures <= 1 and self._log:
            self._log.log_store_state(self.network, error, self._clock.now_s())

    def figures(self) -> MarketMetrics:
        return MarketMetrics(
            self.network,
            failures=self._failures,
            write_failures=self._write_failures,
            is_subscribed=self.heads.mode is FollowMode.SUBSCRIPTION,
            feed=self._market.counters if isinstance(self._market, FollowedFeed) else None,
            nodes=self.heads.standings() if isinstance(self.heads, WatchedHeads) else (),
        )

    def request_stop(self) -> None:
        self._stop_requested.set()
        self.heads.stop()

    def run(self) -> None:
        if self.heads.hint and self._log:
            self._log.log_follow_mode(self.network, self.heads.hint, self._clock.now_s())
        while not self._stop_requested.is_set():
            try:
                while self._is_prepared() and not self._stop_requested.is_set():
                    with self._open() as follower:
                        self._follow(follower)
            except Exception as error:  # the thread must survive defects, too
                self._is_open = False
                self._record_failure(error)
            self._wait()
        if not isinstance(self._market, FollowedFeed) and isinstance(self._market.node, FailoverNode):
            self._market.node.close()

    def _follow(self, follower: BlockFollower[T]) -> None:
        """Publish new states until stopped, or until another follower is needed. Raises errors that require one,
        too."""
        with _collection_paused():
            self._publish_new(follower.read())
        self._is_open = True
        while not self._stop_requested.is_set() and not self._is_replaced():
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
        """Wait for the next block, with growing pauses while the market cannot even be opened."""
        failures = 0 if self._is_open else self._consecutive_failures
        self.heads.wait(backoff_s(failures + 1, self.heads.poll_s, MAX_PAUSE_S), self._block)
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
        self._failures += 1
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
        if self._announcements is None or not isinstance(market, FollowedStore) or not market.is_read_only:
            return True
        state = self._announcements.state(self.network)
        self._market = market = market._replace(path=Path(state.path or market.path))
        if market.path.exists():
            return True
        if state.status:
            self._set_status(state.status, is_failing=state.is_failing)
        return False

    def _wait(self) -> None:
        """Same as `_FollowerThread._wait`; afterwards use the node that the store's writer reads."""
        super()._wait()
        node = self._market.node if isinstance(self._market, FollowedStore) else None
        if isinstance(self.heads, AnnouncedHeads) and isinstance(node, FailoverNode):
            node.prefer(self.heads.node)

    @contextmanager
    def _open(self) -> Iterator[BlockFollower[InMemorySource]]:
        ttl_s = self._registry.rules.terms.ttl_s
        with open_any_follower(
            self._market, self._registry.clock, self._report_progress, self._record_write, route_ttl_s=ttl_s
        ) as follower:
            if isinstance(follower, FeedFollower):
                self._registry.set_extender(self.network, follower.extended_source)
            yield follower

    def _is_replaced(self) -> bool:
        if self._announcements is None or not isinstance(self._market, FollowedStore):
            return False
        return self._announcements.state(self.network).path not in ("", str(self._market.path))

    def _publish(self, latest: InMemorySource) -> None:
        self._block = latest.market.block
        self._registry.set_source(latest)
        if not self._published:
            if self.may_fall_back and self._log:
                self._log.log_first_state(self.network, latest.state_source, self._clock.now_s())
            # Most of the market stays. Without freezing, each full collection would scan it and delay requests; so
            # would a collection now, by about 60 ms with 100,000 pools. Reading a market leaves no cycles.
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
        self, market: Followed, paths: StorePaths, announcements: BlockAnnouncements, log: AccessLog, clock: Clock
    ) -> None:
        super().__init__(market, log, clock)
        self._written, self._paths, self._announcements = market, paths, announcements
        self._writer: StoreWriter | None = None

    @contextmanager
    def _open(self) -> Iterator[StoreWriter]:
        with open_store_writer(self._written, *self._paths, self._report_progress, self._record_write) as self._writer:
            yield self._writer

    def _record_write(self, error: SwapcliError | None, failures: int) -> None:
        super()._record_write(error, failures)
        if error is None:  # the copy is about to be removed
            self._set_status("")
            self._announcements.announce(self.network)

    def _publish(self, latest: StoredBlock) -> None:
        self._block = latest.number
        self._set_status("")
        self._announcements.announce(self.network)

    def _set_status(self, status: str, *, is_failing: bool = False) -> None:
        node = self._written.node
        offset_s = node.clock_offset_s if isinstance(node, KnowsTime) else 0.0
        path = self._writer.path if self._writer else ""
        read = node.current if isinstance(node, FailoverNode) else 0
        state = WriterState(self.heads.mode, status, is_failing, offset_s, path, read)
        self._announcements.set_state(self.network, state)
