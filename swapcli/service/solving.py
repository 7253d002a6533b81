"""Work that takes the processor, away from the event loop, one piece after the other in a thread of its own.

One thread: Python runs no more at a time, and a second one would only take turns with the loop. The queue is bounded;
what nobody waits for any more leaves it, or is told so if it has begun. Urgent work goes first and is never refused.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

from swapcli.errors import Cancelled, Overloaded

T = TypeVar("T")
IsCancelled = Callable[[], bool]
Work = Callable[[IsCancelled], T]

RETRY_AFTER_S = 1


class Solver:
    """Runs pieces of work in order. `max_queue` is how many may wait."""

    def __init__(self, max_queue: int) -> None:
        self._max_queue = max_queue
        self._waiting: deque[_Piece[object]] = deque()
        self._urgent: deque[_Piece[object]] = deque()
        self._bell: SimpleQueue[bool] = SimpleQueue()
        self._thread: Thread | None = None

    @property
    def queue_length(self) -> int:
        """How many pieces wait."""
        return len(self._waiting)

    async def run(self, work: Work[T], *, is_urgent: bool = False) -> T:
        """What `work` returns or raises. Cancelling the caller takes it out of the queue, or tells it to end.

        Raises `Overloaded` where the queue is full.
        """
        if not is_urgent and len(self._waiting) >= self._max_queue:
            raise Overloaded("too many orders at once", retry_after_s=RETRY_AFTER_S, hint="ask again in a moment")
        piece: _Piece[T] = _Piece(work)
        lane = self._urgent if is_urgent else self._waiting
        lane.append(piece)  # type: ignore[arg-type]
        self._ring()
        try:
            return await piece.future
        finally:
            piece.is_left = True
            with suppress(ValueError, IndexError):
                lane.remove(piece)  # type: ignore[arg-type]

    def close(self) -> None:
        """Ends the thread after the work at hand."""
        if self._thread is not None:
            self._bell.put(False)
            self._thread = None

    def _ring(self) -> None:
        if self._thread is None:
            self._thread = Thread(target=self._work, name="solver", daemon=True)
            self._thread.start()
        self._bell.put(True)

    def _work(self) -> None:
        while self._bell.get():
            piece = _first(self._urgent) or _first(self._waiting)
            if piece is not None:
                piece.run()


class _Piece(Generic[T]):
    """Work, and whoever waits for it on a loop."""

    __slots__ = ("future", "is_left", "work")

    def __init__(self, work: Work[T]) -> None:
        self.work = work
        self.future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.is_left = False

    def run(self) -> None:
        if self.is_left:
            return
        try:
            result = self.work(lambda: self.is_left)
        except BaseException as error:
            self._tell(self.future.set_exception, error)
        else:
            self._tell(self.future.set_result, result)

    def _tell(self, tell: Callable[..., None], outcome: object) -> None:
        # A loop that has ended waits for nothing.
        with suppress(RuntimeError):
            self.future.get_loop().call_soon_threadsafe(self._tell_on_loop, tell, outcome)

    def _tell_on_loop(self, tell: Callable[..., None], outcome: object) -> None:
        if not self.future.done():
            tell(outcome)


def _first(lane: deque[_Piece[object]]) -> _Piece[object] | None:
    with suppress(IndexError):
        return lane.popleft()
    return None


async def unless_left(work: asyncio.Task[T], left: asyncio.Task[None]) -> T:
    """What `work` gives, unless `left` ends before it: then the work is cancelled, and `Cancelled` is raised."""
    try:
        await asyncio.wait((work, left), return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise Cancelled("the client left before the answer")
        return work.result()
    finally:
        work.cancel()
        left.cancel()
