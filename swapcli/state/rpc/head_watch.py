"""Watch the latest blocks of all nodes of a network, with one thread per node, while a command follows the chain.

Each node is queried once per block time, unless its block is already being read. `head_rule` decides which node to
read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, Protocol

from swapcli.core.errors import UpstreamError
from swapcli.state.rpc.head_rule import HeadRule, NodeStanding
from swapcli.state.rpc.node import BlockHeader

if TYPE_CHECKING:
    from swapcli.state.rpc.head_source import FollowMode, PollingHeads, SubscribedHeads

LOOK_TIMEOUT_S: Final = 2.0
"""Timeout of a request for the latest block, so that a hanging node is noticed within three seconds."""
MIN_PERIOD_S: Final = 1.0
"""Minimum time between two requests to a node on networks with faster blocks."""


class HeadReader(Protocol):
    """A reader of a single node's blocks, over a separate connection."""

    def read_newest(self) -> BlockHeader:
        """Return the node's latest block. The first call also checks the chain id. Raises `UpstreamError`."""

    def read_headers(self, first: int, last: int) -> list[BlockHeader]:
        """Return the headers of blocks `first` to `last`. Raises `UpstreamError`, also if the node does not have one of
        the blocks."""


class HeadWatch:
    """Watches the nodes of `rule`, through `readers` in the same order. `abort` ends the reading thread's exchange with
    the node that it is reading. `announced` returns the latest block of a node that announces its blocks."""

    def __init__(
        self,
        rule: HeadRule,
        readers: Sequence[HeadReader],
        abort: Callable[[], object],
        announced: Mapping[int, Callable[[], BlockHeader | None]],
    ) -> None:
        self.rule, self._readers, self._abort, self._announced = rule, readers, abort, announced
        self._threads: list[Thread] = []
        self._stopped = Event()

    @property
    def is_running(self) -> bool:
        """Whether the watch has been started."""
        return bool(self._threads)

    def start(self, period_s: Callable[[], float], wake: Callable[[], object]) -> None:
        """Start to query each node every `period_s`, and call `wake` whenever there is a block above the served one."""
        if self._threads or self._stopped.is_set():
            return
        self._threads = [
            Thread(target=self._run, args=(index, period_s, wake), name=f"watcher for node {index + 1}", daemon=True)
            for index in range(len(self._readers))
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop querying. A request in progress ends by itself."""
        self._stopped.set()

    def _run(self, index: int, period_s: Callable[[], float], wake: Callable[[], object]) -> None:
        while not self._stopped.is_set():
            left_s = self.rule.seen_s(index) + period_s() - time.monotonic()
            if left_s > 0.0:
                self._stopped.wait(left_s)
                continue
            self._look(index)
            if self._stopped.is_set():
                return
            if self.rule.has_news:
                wake()
                self._abort()

    def _look(self, index: int) -> None:
        highest, reader = self.rule.highest, self._readers[index]
        announced = self._announced[index]() if index in self._announced else None
        try:
            # A node that announces nothing new is queried: its subscription may be dead.
            is_new = announced is not None and announced != self.rule.head(index)
            head = announced if announced is not None and is_new else reader.read_newest()
            self.rule.see(index, head, highest, reader.read_headers)
        except UpstreamError as error:
            if not self._stopped.is_set():
                self.rule.fail(index, error)


class WatchedHeads:
    """A `HeadSource` that also wakes its follower when a `HeadWatch` finds a higher block. The first wait starts the
    watch.

    The time between two queries of a node is `poll_s` of `heads`, but at least `min_period_s`.
    """

    def __init__(
        self, heads: PollingHeads | SubscribedHeads, watch: HeadWatch, *, min_period_s: float = MIN_PERIOD_S
    ) -> None:
        self._heads, self._watch, self._min_period_s = heads, watch, min_period_s

    @property
    def mode(self) -> FollowMode:
        """Same as `HeadSource.mode`."""
        return self._heads.mode

    @property
    def poll_s(self) -> float:
        """Same as `HeadSource.poll_s`."""
        return self._heads.poll_s

    @property
    def problem(self) -> str | None:
        """Same as `HeadSource.problem`."""
        return self._heads.problem

    @property
    def hint(self) -> str | None:
        """Same as `HeadSource.hint`."""
        return self._heads.hint

    def standings(self) -> list[NodeStanding]:
        """Return the status of each node, in list order."""
        return self._watch.rule.standings()

    def wait(self, pause_s: float, reached: int | None = None) -> None:
        """Same as `HeadSource.wait`."""
        self._watch.start(lambda: max(self._heads.poll_s, self._min_period_s), self._heads.wake)
        self._heads.wait(pause_s, reached)

    def stop(self) -> None:
        """Same as `HeadSource.stop`."""
        self._heads.stop()

    def close(self) -> None:
        """Same as `HeadSource.close`."""
        self._watch.stop()
        self._heads.close()
