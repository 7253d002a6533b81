"""Threads that follow the markets of a service, one for each network, beside orders and the event loop.

Failures are retried with exponential back-off. Meanwhile the last state stays in use until it is too old.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Mapping
from threading import Event, Thread
from typing import Self

from swapcli.backoff import backoff_s
from swapcli.chain.head_source import FollowMode, PollingHeads, poll_interval_s
from swapcli.chain.rpc_node import FailoverNode
from swapcli.engine.feed.counters import FeedCounters
from swapcli.engine.feed.follower import AnyFollowed, FeedFollower, FollowedFeed, open_any_follower
from swapcli.engine.market_follower import MarketFollower
from swapcli.engine.sources.in_memory import InMemorySource
from swapcli.engine.sync import Progress
from swapcli.errors import SwapcliError
from swapcli.service.access_log import AccessLog
from swapcli.service.market_registry import MarketRegistry

MAX_PAUSE_S = 15.0
JOIN_TIMEOUT_S = 0.5
"""Time for a thread to end. A thread that still waits for its node is abandoned, since it is a daemon."""


class FollowerThreads:
    """The threads, which run inside a `with` block.

    Each passes new sources to `registry`. `log` gets a line when a thread starts to fail and when it recovers.
    """

    def __init__(self, followed: Iterable[AnyFollowed], registry: MarketRegistry, log: AccessLog | None = None) -> None:
        self._threads = {each.network.name: _FollowerThread(each, registry, log) for each in followed}

    def __enter__(self) -> Self:
        for thread in self._threads.values():
            thread.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        for thread in self._threads.values():
            thread.request_stop()
        for thread in self._threads.values():
            thread.heads.close()  # which also ends an exchange over its connection
        for thread in self._threads.values():
            thread.join(JOIN_TIMEOUT_S)

    def failures(self) -> Mapping[str, int]:
        """Return the number of failures so far, by network name."""
        return {name: thread.failures for name, thread in self._threads.items()}

    def modes(self) -> Mapping[str, FollowMode]:
        """Return how new blocks are found at present, by network name."""
        return {name: thread.heads.mode for name, thread in self._threads.items()}

    def feeds(self) -> Mapping[str, FeedCounters]:
        """Return what has happened to the feeds of those networks that follow one."""
        return {name: thread.counters for name, thread in self._threads.items() if thread.counters is not None}

    def are_settled(self) -> bool:
        """Return whether each thread has published a state or failed to."""
        return all(thread.is_settled for thread in self._threads.values())


class _FollowerThread(Thread):
    """Follows one market. A daemon thread, so that an unresponsive node does not delay the end of the process."""

    def __init__(self, market: AnyFollowed, registry: MarketRegistry, log: AccessLog | None) -> None:
        super().__init__(name=f"market follower of {market.network.name}", daemon=True)
        self._market, self._registry, self._log = market, registry, log
        self._network = market.network.name
        self.counters = market.counters if isinstance(market, FollowedFeed) else None
        self.heads = market.heads or PollingHeads(poll_interval_s(market.network.block_time_s))
        self._stop_requested = Event()
        self._block: int | None = None
        self._subscription_problem: str | None = None
        self._consecutive_failures = 0
        self.failures = 0
        self.is_settled = False

    def request_stop(self) -> None:
        self._stop_requested.set()
        self.heads.stop()

    def run(self) -> None:
        while not self._stop_requested.is_set():
            try:
                ttl_s = self._registry.route_ttl_s
                with open_any_follower(
                    self._market, self._registry.clock, self._report_progress, route_ttl_s=ttl_s
                ) as follower:
                    self._follow(follower)
            except Exception as error:  # the thread must survive defects, too
                self._record_failure(error)
            self._wait()
        if not isinstance(self._market, FollowedFeed) and isinstance(self._market.node, FailoverNode):
            self._market.node.close()

    def _follow(self, follower: MarketFollower | FeedFollower) -> None:
        """Publish new states until stopped. Raises errors that need a new follower."""
        self._publish(follower.read())
        while not self._stop_requested.is_set():
            try:
                source = follower.advance()
            except SwapcliError as error:
                self._record_failure(error)
            else:
                self._publish(source)
                self._record_success()
            self._wait()

    def _wait(self) -> None:
        """Wait for the next block; after failures longer and longer."""
        self.heads.wait(backoff_s(self._consecutive_failures + 1, self.heads.poll_s, MAX_PAUSE_S), self._block)
        if self.heads.problem != self._subscription_problem:
            self._subscription_problem = self.heads.problem
            if self._log:
                self._log.log_follow_mode(self._network, self._subscription_problem, self._registry.clock.now_s())

    def _report_progress(self, progress: Progress) -> None:
        total = "" if progress.total is None else f" of {progress.total}"
        self._registry.set_status(self._network, f"the pools of {self._network} are being read: {progress.done}{total}")

    def _publish(self, source: InMemorySource | None) -> None:
        if source is not None:
            self._block = source.market.block
            is_first = self._network not in self._registry.sources
            self._registry.set_source(source)
            if is_first:
                # Most of the market stays. Without freezing, each full collection would scan it and delay requests.
                gc.collect()
                gc.freeze()
        self.is_settled = True

    def _record_success(self) -> None:
        if self._consecutive_failures and self._log:
            self._log.log_follower_state(self._network, None, self._registry.clock.now_s())
        self._consecutive_failures = 0

    def _record_failure(self, error: Exception) -> None:
        if self._stop_requested.is_set():
            return  # closing the connection ends an exchange with an error
        if not self._consecutive_failures and self._log:
            self._log.log_follower_state(self._network, error, self._registry.clock.now_s())
        self._registry.set_status(self._network, f"the pools of {self._network} could not be read yet")
        self._registry.mark_tried(self._network)
        self._consecutive_failures += 1
        self.failures += 1
        self.is_settled = True
