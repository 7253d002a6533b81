"""The stores of followed markets in a service with several processes. One process writes the stores, and the workers
read them.

The parent opens the stores, without threads or connections, before it forks the other processes.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from multiprocessing.connection import wait
from pathlib import Path
from threading import Event
from typing import Self

from swapcli.core.errors import SwapcliError
from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.market_followers import StorePaths, WriterThreads
from swapcli.faces.service.metrics import Metrics
from swapcli.faces.service.parent_channel import ParentChannel, ParentMessage
from swapcli.faces.service.store_announcements import BlockAnnouncements
from swapcli.faces.service.worker_group import GroupMember
from swapcli.quoting.followers.feed_follower import AnyFollowed, FollowedFeed
from swapcli.quoting.followers.market_follower import Followed, FollowedStore, find_own_store
from swapcli.state.clock import Clock
from swapcli.state.rpc.head_source import poll_interval_s
from swapcli.state.temporary_folders import memory_folder, store_folder, temporary_folder

_PUBLISH_S = 0.5
"""The interval at which metrics are published, the same as for workers."""


class SharedStores:
    """The stores of the markets in `followed`. Use it as a context manager, which removes private stores on exit.

    Each worker follows feeds by itself. It also reads by itself the stores without a node, which another program
    writes.
    """

    def __init__(self, followed: Iterable[AnyFollowed], workers: int) -> None:
        self._followed = list(followed)
        self._unwritten = [each for each in self._followed if isinstance(each, FollowedFeed) or each.node is None]
        self._written: dict[StorePaths, Followed] = {}
        self._announcements = BlockAnnouncements([each.network.name for each in self._followed], workers)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        parents = temporary_folder(), memory_folder()
        private, copies = (self._stack.enter_context(store_folder(parent)) for parent in parents)
        for market in self._followed:
            if not isinstance(market, FollowedFeed) and market.node is not None:
                name = f"{market.network.name}.sqlite"
                self._written[StorePaths(_find_own_store(market) or private / name, copies / name)] = market
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def has_writer(self) -> bool:
        """Whether there is a store to write."""
        return bool(self._written)

    @property
    def announcements(self) -> BlockAnnouncements:
        """The announcements from the process that writes the stores."""
        return self._announcements

    def followed_by(self, slot: int) -> list[AnyFollowed]:
        """Return the markets in the form in which the worker at `slot` follows them."""
        written = [self._read_only(market, paths.store, slot) for paths, market in self._written.items()]
        return [*self._unwritten, *written]

    def _read_only(self, market: Followed, path: Path, slot: int) -> FollowedStore:
        network = market.network
        poll_s = market.heads.poll_s if market.heads else poll_interval_s(network.block_time_s)
        heads = self._announcements.heads(network.name, slot, poll_s)
        return FollowedStore(network, market.networks, path, market.node, heads, is_read_only=True)

    def write(
        self, networks: Iterable[str], member: GroupMember, parent: ParentChannel, log: AccessLog, clock: Clock
    ) -> int:
        """Write the stores in this process until the parent tells it to stop, and return 0. `member` publishes the
        metrics."""
        with WriterThreads(self._written, self._announcements, log, clock) as threads:
            metrics = Metrics(networks, (), member)
            metrics.watch_markets(lambda: threads.figures().values())
            _run_until_stopped(parent, metrics.publish)
        return 0


def _find_own_store(market: Followed) -> Path | None:
    try:
        return find_own_store(market)
    except SwapcliError:
        # The writer fails in the same way, and reports it.
        return market.path if isinstance(market, FollowedStore) else None


def _run_until_stopped(parent: ParentChannel, publish: Callable[[], None]) -> None:
    """Call `publish` periodically until the parent or SIGTERM says stop."""
    is_stopped = Event()
    signal.signal(signal.SIGTERM, lambda *_: is_stopped.set())
    parent.report_ready()
    while not is_stopped.is_set():
        readable = wait([parent.fileno()], _PUBLISH_S)
        if readable and any(message is not ParentMessage.RELOAD for message in parent.receive()):
            is_stopped.set()
        publish()
