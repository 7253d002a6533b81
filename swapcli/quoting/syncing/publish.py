"""Publish the blocks that a sync writes to its store, in a separate thread.

Because of the thread, a slow or missing Redis server never delays the store. When the publisher's status changes, a
message goes to stderr.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from threading import Event, Thread
from typing import Final

from swapcli.core.errors import SwapcliError, UpstreamError
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.feed.feed_stream import FeedWriter
from swapcli.state.feed.publisher import FeedPublisher, PublisherState
from swapcli.state.store import Store

_RENEWAL_S: Final = 1.0
"""Pause between two signs of life if there is no new block: many may be lost before the lease ends. They also let the
publisher notice an empty server, a request for a snapshot, and the end of the process for which it stands by."""
_JOIN_TIMEOUT_S: Final = 5.0
"""Time to finish a snapshot. A thread that still waits for the server is then abandoned, since it is a daemon."""


@contextmanager
def publishing(
    open_store: Callable[[], AbstractContextManager[Store]],
    store_path: Callable[[], str],
    writer: FeedWriter,
    note: Callable[[str], object],
) -> Iterator[Callable[[], object]]:
    """Publish the store during the context. Yield a function to call after each new block in the store.

    `store_path` returns the store's current path, which is in memory while its disk is not writable.
    """
    thread = _PublisherThread(open_store, store_path, writer, note)
    thread.start()
    try:
        yield thread.wake
    finally:
        thread.stop()


class _PublisherThread(Thread):
    def __init__(
        self,
        open_store: Callable[[], AbstractContextManager[Store]],
        store_path: Callable[[], str],
        writer: FeedWriter,
        note: Callable[[str], object],
    ) -> None:
        super().__init__(name="publisher of the feed", daemon=True)
        self._open_store, self._store_path, self._writer, self._note = open_store, store_path, writer, note
        self._wakeup = Event()
        self._is_stopped = False
        self._status = ""

    def wake(self) -> None:
        self._wakeup.set()

    def stop(self) -> None:
        self._is_stopped = True
        self._wakeup.set()
        self.join(_JOIN_TIMEOUT_S)

    def run(self) -> None:
        with closing(self._writer):
            publisher: FeedPublisher | None = None
            while not self._is_stopped:
                try:
                    with self._open_store() as store:
                        publisher = publisher or FeedPublisher(store, self._writer, SYSTEM_CLOCK)
                        publisher.store = store
                        self._publish(publisher)
                except Exception as error:  # the thread must survive defects, too
                    problem = (
                        error.message
                        if isinstance(error, SwapcliError)
                        else f"an internal error ({type(error).__name__})"
                    )
                    self._report(f"blocks are not published: {problem}")
                    self._wakeup.wait(_RENEWAL_S)
                    publisher = None
            if publisher is not None:
                with suppress(UpstreamError):
                    publisher.release()

    def _publish(self, publisher: FeedPublisher) -> None:
        """Publish until stopped, or until the store moves elsewhere. Raises errors of the store."""
        while not self._is_stopped and publisher.store.path == self._store_path():
            self._wakeup.clear()
            try:
                publisher.publish()
            except UpstreamError as error:
                self._report(f"{error.message}; publishing resumes when it responds")
            else:
                self._report(self._describe(publisher.state))
            self._wakeup.wait(_RENEWAL_S)

    def _describe(self, state: PublisherState) -> str:
        shown = self._writer.server.shown
        match state:
            case PublisherState.PUBLISHING:
                return f"publishing to {shown}"
            case PublisherState.STANDING_BY:
                return f"another process publishes to {shown}; standing by"
            case PublisherState.BEHIND:
                return f"{shown} already has a later block; publishing resumes when the store reaches it"

    def _report(self, status: str) -> None:
        if status != self._status:
            self._status = status
            self._note(status)
