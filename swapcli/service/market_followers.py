"""Keeps the markets of a service fresh: each network in a thread of its own, beside orders and the event loop.

What fails is tried again, with growing pauses. The state that was brought last stays meanwhile, and grows old.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Mapping
from threading import Event, Thread
from typing import Self

from swapcli.engine.market_follower import Keeper, Kept, open_keeper
from swapcli.engine.sources.in_memory import MarketSource
from swapcli.engine.sync import Progress
from swapcli.errors import SwapcliError
from swapcli.service.access_log import AccessLog
from swapcli.service.market_registry import Desk

SHORTEST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 15.0
LAST_CALL_S = 0.5
"""How long a thread may take to end. One that waits for its node is left behind."""

_BLOCK_TIME_S = 2.0
_MOST_DOUBLINGS = 8


class Keepers:
    """The threads, which run inside a `with`. `desk` takes what they bring; `log` hears when one begins to fail, and
    when it is well again."""

    def __init__(self, kept: Iterable[Kept], desk: Desk, log: AccessLog | None = None) -> None:
        self._threads = {each.network.name: _KeeperThread(each, desk, log) for each in kept}

    def __enter__(self) -> Self:
        for thread in self._threads.values():
            thread.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        for thread in self._threads.values():
            thread.end()
        for thread in self._threads.values():
            thread.join(LAST_CALL_S)

    def failures(self) -> Mapping[str, int]:
        """How often something failed so far, by the network's name."""
        return {name: thread.failures for name, thread in self._threads.items()}

    def are_settled(self) -> bool:
        """Has each brought a state, or failed to?"""
        return all(thread.is_settled for thread in self._threads.values())


class _KeeperThread(Thread):
    """Daemonic: a node that does not answer holds up nobody's end."""

    def __init__(self, kept: Kept, desk: Desk, log: AccessLog | None) -> None:
        super().__init__(name=f"keeper of {kept.network.name}", daemon=True)
        self._kept, self._desk, self._log = kept, desk, log
        self._network = kept.network.name
        self._period_s = pause_s(kept.network.block_time_s)
        self._ended = Event()
        self._in_vain = 0
        self.failures = 0
        self.is_settled = False

    def end(self) -> None:
        self._ended.set()

    def run(self) -> None:
        while not self._ended.is_set():
            try:
                ttl_s = self._desk.route_ttl_s
                with open_keeper(self._kept, self._desk.clock, self._told, route_ttl_s=ttl_s) as keeper:
                    self._keep(keeper)
            except Exception as error:  # also a defect must not end what has to go on
                self._failed(error)
            self._ended.wait(self._pause_s)

    def _keep(self, keeper: Keeper) -> None:
        """Raises what only a new keeper could mend."""
        self._bring(keeper.read())
        while not self._ended.is_set():
            try:
                source = keeper.advance()
            except SwapcliError as error:
                self._failed(error)
            else:
                self._bring(source)
                self._went_well()
            self._ended.wait(self._pause_s)

    @property
    def _pause_s(self) -> float:
        return min(self._period_s * 2.0 ** min(self._in_vain, _MOST_DOUBLINGS), LONGEST_PAUSE_S)

    def _told(self, progress: Progress) -> None:
        of_all = "" if progress.total is None else f" of {progress.total}"
        self._desk.tell(self._network, f"the pools of {self._network} are being read: {progress.done}{of_all}")

    def _bring(self, source: MarketSource | None) -> None:
        if source is not None:
            is_first = self._network not in self._desk.loaded
            self._desk.put(source)
            if is_first:
                # Most of it stays: looking through it again and again would make everybody wait.
                gc.collect()
                gc.freeze()
        self.is_settled = True

    def _went_well(self) -> None:
        if self._in_vain and self._log:
            self._log.keeping(self._network, None, self._desk.clock.now_s())
        self._in_vain = 0

    def _failed(self, error: Exception) -> None:
        if not self._in_vain and self._log:
            self._log.keeping(self._network, error, self._desk.clock.now_s())
        self._desk.tell(self._network, f"the pools of {self._network} could not be read yet")
        self._desk.mark_tried(self._network)
        self._in_vain += 1
        self.failures += 1
        self.is_settled = True


def pause_s(block_time_s: float | None) -> float:
    """How long to wait for the next block of a network."""
    return min(max(block_time_s or _BLOCK_TIME_S, SHORTEST_PAUSE_S), LONGEST_PAUSE_S)
