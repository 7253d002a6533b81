"""Process many items with the workers of an executor, in order, even if workers fail."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import suppress
from multiprocessing import current_process
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

from swapcli.core.errors import InputOutputError

T = TypeVar("T")
R = TypeVar("R")
T_contra = TypeVar("T_contra", contravariant=True)

Executors: TypeAlias = Executor | Callable[[], Executor]
"""An executor, or what makes one, such as its class."""

_CHUNK_SIZE: Final = 8
"""Items that a worker takes at once: about 60 ms of quotes, against which its messages are small."""
_CHUNK_GROWTH: Final = 16
"""Items after which chunks grow by one, so that a short list is shared evenly."""
_FIRST_WINDOW: Final = 2
_LAST_WINDOW: Final = 512
"""Chunks that are under way at a time: two at first, so that few workers are sent a market twice, and one more for each
answer."""
_MAX_LOSSES: Final = 8
"""Losses in a row, without an answer between them, that end the work: their reason is in a chunk, or in the machine."""
_MAX_FIRST_LOSSES: Final = 2
"""New executors whose workers end before any response: each of them starts processes in vain for a second."""
_GUARD: Final = "if __name__ == '__main__':"


class AnswersChunks(Protocol[T_contra, R]):
    """How items are answered: by a worker of an executor, or here once there are no workers."""

    def submit(self, executor: Executor, items: Sequence[T_contra], *, has_asked: bool) -> Future[Sequence[R] | None]:
        """Submit items to a worker. It answers None if it lacks something, and is then asked with `has_asked`."""

    def answer(self, items: Sequence[T_contra]) -> Sequence[R]:
        """Answer items in this process."""


def answer_in_order(
    items: Iterable[T], executors: Executors, how: AnswersChunks[T, R], *, arrive_one_by_one: bool = False
) -> Iterator[R]:
    """Yield the answer of each item, in order, as soon as it is ready.

    Items that arrive one by one, as those of a pipe, are read by a thread and sent at once. Others are read here, while
    earlier ones are answered, and sent together. A chunk whose worker dies is sent again. An executor that cannot
    continue is replaced by a new one, otherwise its items are answered in this process.

    Raises what `items` raises, after the answers of the items before it; and `InputOutputError` if workers die again
    and again, or end before their first response. In a worker that is still importing the main module, which has no
    guard, it raises Python's `RuntimeError` with the idiom.
    """
    crew = _Crew(how, executors)
    reader = _Reader(items, 1 if arrive_one_by_one else _CHUNK_SIZE)
    ahead: deque[_Chunk[T, R]] = deque()
    window, is_open = _FIRST_WINDOW, True

    def add(found: Sequence[T]) -> bool:
        if found:
            ahead.append(_Chunk(found))
            crew.send(ahead[-1])
        return bool(found)

    try:
        if arrive_one_by_one:
            crew.start()  # before there is a thread: a process that is forked has no others
            reader.read_in_thread(crew.events.put)
        while ahead or is_open:
            while is_open and not arrive_one_by_one and len(ahead) < window:
                is_open = add(reader.read())
            while ahead and (answers := ahead[0].answers) is not None:
                ahead.popleft()
                reader.room.release()
                yield from answers
            if crew.is_busy or (is_open and arrive_one_by_one):
                event = crew.events.get()
                if isinstance(event, Future):
                    window = min(window + crew.take(event), _LAST_WINDOW)
                else:
                    is_open = add(event)
    finally:
        crew.close()
    if reader.failure is not None:
        raise reader.failure


class _Chunk(Generic[T, R]):
    """Items that a worker answers at once. `answers` are None until all are answered."""

    def __init__(self, items: Sequence[T]) -> None:
        self.items = items
        self.answers: Sequence[R] | None = None


class _Reader(Generic[T]):
    """Reads items in chunks, which grow from one item to `max_size`. `failure` is what the items raised at their end.

    A thread reads `room` chunks ahead of those that are released.
    """

    def __init__(self, items: Iterable[T], max_size: int) -> None:
        self._items, self._max_size = iter(items), max_size
        self._number = 0
        self.room = Semaphore(_LAST_WINDOW)
        self._has_ended = False
        self.failure: Exception | None = None

    def read(self) -> Sequence[T]:
        """Return the next items; none after their end."""
        found: list[T] = []
        try:
            while not self._has_ended and len(found) < min(self._max_size, 1 + self._number // _CHUNK_GROWTH):
                found.append(next(self._items))
                self._number += 1
        except StopIteration:
            self._has_ended = True
        except Exception as error:
            self._has_ended, self.failure = True, error
        return found

    def read_in_thread(self, put: Callable[[Sequence[T]], None]) -> None:
        """Put each chunk, the last one empty, as soon as it has arrived."""

        def read_all() -> None:
            while self.room.acquire():
                found = self.read()
                put(found)
                if not found:
                    return

        Thread(target=read_all, daemon=True).start()


class _Crew(Generic[T, R]):
    """Workers and the chunks that they have. `events` are the futures that are done, and what a reader adds."""

    def __init__(self, how: AnswersChunks[T, R], executors: Executors) -> None:
        self._how = how
        self._make = None if isinstance(executors, Executor) else executors
        self._executor: Executor | None = executors if isinstance(executors, Executor) else executors()
        self._sent: dict[Future[Sequence[R] | None], _Chunk[T, R]] = {}
        self._losses = 0
        self._has_responded, self._first_losses = False, 0
        self.events: SimpleQueue[Future[Sequence[R] | None] | Sequence[T]] = SimpleQueue()

    @property
    def is_busy(self) -> bool:
        """Whether a chunk is under way."""
        return bool(self._sent)

    def start(self) -> None:
        """Start a worker, and with it, where processes are forked, all of them."""
        if self._executor is not None:
            with suppress(Exception):  # found again by what is sent
                self._executor.submit(int).result()

    def send(self, chunk: _Chunk[T, R], *, has_asked: bool = False) -> None:
        """Send a chunk to a worker, or answer it here if there is none."""
        if self._executor is None:
            chunk.answers = self._how.answer(chunk.items)
            return
        try:
            future = self._how.submit(self._executor, chunk.items, has_asked=has_asked)
        except (RuntimeError, OSError, EOFError) as error:  # of the last two, a fork server that has ended
            if _is_importing_main():
                raise
            self._replace([chunk], error)
        else:
            self._sent[future] = chunk
            future.add_done_callback(self.events.put)

    def take(self, future: Future[Sequence[R] | None]) -> int:
        """Take the answers of a future that is done, or send its chunk again; return how many chunks were answered."""
        chunk = self._sent.pop(future, None)
        if chunk is None:  # of workers that have been replaced
            return 0
        failure = CancelledError() if future.cancelled() else future.exception()
        if isinstance(failure, BrokenExecutor):
            self._replace([chunk], failure)
            return 0
        if failure is not None:
            self._count_loss(failure)
            self.send(chunk)
            return 0
        self._has_responded = True
        answers = future.result()
        if answers is None:
            self.send(chunk, has_asked=True)
            return 0
        chunk.answers = answers
        self._losses = 0
        return 1

    def close(self) -> None:
        """End the workers that were started here, and wait for them unless one still has work."""
        for future in self._sent:
            future.cancel()
        if self._make is not None and self._executor is not None:
            self._executor.shutdown(wait=not self._sent, cancel_futures=True)

    def _replace(self, lost: Sequence[_Chunk[T, R]], failure: BaseException) -> None:
        """Send these and all chunks under way to new workers, or answer them here: all workers have gone."""
        self._has_responded = self._has_responded or any(map(_has_result, self._sent))
        lost = [*lost, *self._sent.values()]
        self._sent.clear()
        self._count_loss(failure)
        self._first_losses += not self._has_responded
        if self._make is not None and self._first_losses >= _MAX_FIRST_LOSSES:
            raise InputOutputError(
                f"a worker exited before its first order; your program may lack `{_GUARD}`",
                hint=f"put the calls in your main module under {_GUARD}: each worker imports it again",
            ) from failure
        self._executor = None if self._make is None else self._make()
        for chunk in lost:
            self.send(chunk)

    def _count_loss(self, failure: BaseException) -> None:
        self._losses += 1
        if self._losses >= _MAX_LOSSES:
            reason = "perhaps because memory ran out"
            if not isinstance(failure, BrokenExecutor | CancelledError):
                reason = f"the last one with {type(failure).__name__}: {failure}"
            raise InputOutputError(
                f"workers have failed {self._losses} times in a row, {reason}", hint="use fewer workers"
            ) from failure


def _has_result(future: Future[Any]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _is_importing_main() -> bool:
    """Return whether this process is a worker that has not yet imported the main module of its parent.

    Python itself decides by this attribute whether a process may start others.
    """
    return getattr(current_process(), "_inheriting", False)
