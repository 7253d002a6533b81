"""Keeps the markets of a service fresh: each network in a thread of its own, beside orders and the event loop.

What fails is tried again, with growing pauses. The state that was brought last stays meanwhile, and grows old.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Mapping
from threading import Event, Thread
from typing import Self

from swapcli.backoff import backoff_s
from swapcli.engine.market_follower import Followed, MarketFollower, open_follower
from swapcli.engine.sources.in_memory import MarketSource
from swapcli.engine.sync import Progress
from swapcli.errors import SwapcliError
from swapcli.service.access_log import AccessLog
from swapcli.service.market_registry import MarketRegistry

MIN_PAUSE_S = 1.0
MAX_PAUSE_S = 15.0
JOIN_TIMEOUT_S = 0.5
"""How long a thread may take to end. One that waits for its node is left behind."""

_BLOCK_TIME_S = 2.0


class FollowerThreads:
    """The threads, which run inside a `with` block.

    Each passes new sources to `registry`. `log` gets a line when a thread starts to fail and when it recovers.
    """

    def __init__(self, followed: Iterable[Followed], registry: MarketRegistry, log: AccessLog | None = None) -> None:
        self._threads = {each.network.name: _FollowerThread(each, registry, log) for each in followed}

    def __enter__(self) -> Self:
        for thread in self._threads.values():
            thread.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        for thread in self._threads.values():
            thread.request_stop()
        for thread in self._threads.values():
            thread.join(JOIN_TIMEOUT_S)

    def failures(self) -> Mapping[str, int]:
        """How often something failed so far, by the network's name."""
        return {name: thread.failures for name, thread in self._threads.items()}

    def are_settled(self) -> bool:
        """Has each brought a state, or failed to?"""
        return all(thread.is_settled for thread in self._threads.values())


class _FollowerThread(Thread):
    """Daemonic: a node that does not answer holds up nobody's end."""

    def __init__(self, kept: Followed, registry: MarketRegistry, log: AccessLog | None) -> None:
        super().__init__(name=f"keeper of {kept.network.name}", daemon=True)
        self._market, self._registry, self._log = kept, registry, log
        self._network = kept.network.name
        self._period_s = poll_interval_s(kept.network.block_time_s)
        self._stop_requested = Event()
        self._consecutive_failures = 0
        self.failures = 0
        self.is_settled = False

    def request_stop(self) -> None:
        self._stop_requested.set()

    def run(self) -> None:
        while not self._stop_requested.is_set():
            try:
                ttl_s = self._registry.route_ttl_s
                with open_follower(
                    self._market, self._registry.clock, self._report_progress, route_ttl_s=ttl_s
                ) as keeper:
                    self._follow(keeper)
            except Exception as error:  # also a defect must not end what has to go on
                self._record_failure(error)
            self._stop_requested.wait(self._pause_s)

    def _follow(self, keeper: MarketFollower) -> None:
        """Raises what only a new keeper could mend."""
        self._publish(keeper.read())
        while not self._stop_requested.is_set():
            try:
                source = keeper.advance()
            except SwapcliError as error:
                self._record_failure(error)
            else:
                self._publish(source)
                self._record_success()
            self._stop_requested.wait(self._pause_s)

    @property
    def _pause_s(self) -> float:
        return backoff_s(self._consecutive_failures + 1, self._period_s, MAX_PAUSE_S)

    def _report_progress(self, progress: Progress) -> None:
        of_all = "" if progress.total is None else f" of {progress.total}"
        self._registry.set_status(
            self._network, f"the pools of {self._network} are being read: {progress.done}{of_all}"
        )

    def _publish(self, source: MarketSource | None) -> None:
        if source is not None:
            is_first = self._network not in self._registry.sources
            self._registry.set_source(source)
            if is_first:
                # Most of it stays: looking through it again and again would make everybody wait.
                gc.collect()
                gc.freeze()
        self.is_settled = True

    def _record_success(self) -> None:
        if self._consecutive_failures and self._log:
            self._log.log_follower_state(self._network, None, self._registry.clock.now_s())
        self._consecutive_failures = 0

    def _record_failure(self, error: Exception) -> None:
        if not self._consecutive_failures and self._log:
            self._log.log_follower_state(self._network, error, self._registry.clock.now_s())
        self._registry.set_status(self._network, f"the pools of {self._network} could not be read yet")
        self._registry.mark_tried(self._network)
        self._consecutive_failures += 1
        self.failures += 1
        self.is_settled = True


def poll_interval_s(block_time_s: float | None) -> float:
    """How long to wait for the next block of a network."""
    return min(max(block_time_s or _BLOCK_TIME_S, MIN_PAUSE_S), MAX_PAUSE_S)
