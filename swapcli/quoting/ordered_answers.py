"""Process many items with the workers of an executor, and return the results in order, even if workers fail."""

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
"""An executor, or a callable that makes one, such as its class."""

_CHUNK_SIZE: Final = 8
"""Items that a worker takes at once: about 60 ms of quoting, so that messages cost little in comparison."""
_CHUNK_GROWTH: Final = 16
"""Items after which chunks grow by one, so that a short list is shared out evenly."""
_FIRST_WINDOW: Final = 2
_LAST_WINDOW: Final = 512
"""Chunks in progress at a time: two at first, so that few workers are sent a market twice, and one more for each
response."""
_MAX_LOSSES: Final = 8
"""Consecutive losses without a response that end the work: the cause is in a chunk, or in the machine."""
_MAX_FIRST_LOSSES: Final = 2
"""New executors whose workers end before any response: each wastes a second starting processes."""
_GUARD: Final = "if __name__ == '__main__':"


class AnswersChunks(Protocol[T_contra, R]):
    """Processes chunks of items, either in a worker of an executor or in this process."""

    def submit(self, executor: Executor, items: Sequence[T_contra], *, has_asked: bool) -> Future[Sequence[R] | None]:
        """Submit items to a worker. The future's result is None if the worker does not have the market; `submit` is
        then called again with `has_asked`."""

    def answer(self, items: Sequence[T_contra]) -> Sequence[R]:
        """Process items here, without a worker."""


def answer_in_order(
    items: Iterable[T], executors: Executors, how: AnswersChunks[T, R], *, arrive_one_by_one: bool = False
) -> Iterator[R]:
    """Yield the result of each item, in order, as soon as it is ready.

    Items that arrive one by one, as from a pipe, are read by a thread and sent immediately. Other items are read in
    this thread while earlier ones are processed, and sent together. If a worker dies, its chunk is sent again. An
    executor that cannot continue is replaced by a new one. If that is impossible, its items are processed in this
    process.

    If `items` raises an error, it is raised after the results of all earlier items. Raises `InputOutputError` if
    workers die repeatedly, or end before their first response. In a worker that is still importing a main module
    without a guard, raises Python's `RuntimeError`, which shows how to write the guard.
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
            crew.start()  # before any thread starts: a forked process has only one
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
    """Items that a worker processes together. `answers` is None until all are ready."""

    def __init__(self, items: Sequence[T]) -> None:
        self.items = items
        self.answers: Sequence[R] | None = None


class _Reader(Generic[T]):
    """Reads items in chunks, which grow from one item to `max_size`. `failure` is the error that ended the items.

    A thread reads at most `room` chunks ahead.
    """

    def __init__(self, items: Iterable[T], max_size: int) -> None:
        self._items, self._max_size = iter(items), max_size
        self._number = 0
        self.room = Semaphore(_LAST_WINDOW)
        self._has_ended = False
        self.failure: Exception | None = None

    def read(self) -> Sequence[T]:
        """Return the next items; empty at the end."""
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
        """Put each chunk as soon as it has arrived; the last one is empty."""

        def read_all() -> None:
            while self.room.acquire():
                found = self.read()
                put(found)
                if not found:
                    return

        Thread(target=read_all, daemon=True).start()


class _Crew(Generic[T, R]):
    """Workers and their chunks. `events` are finished futures, and what a reader adds."""

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
        """Whether a chunk is in progress."""
        return bool(self._sent)

    def start(self) -> None:
        """Start a worker; if processes are forked, this starts all of them."""
        if self._executor is not None:
            with suppress(Exception):  # found again by what is sent
                self._executor.submit(int).result()

    def send(self, chunk: _Chunk[T, R], *, has_asked: bool = False) -> None:
        """Send a chunk to a worker, or process it here if there is none."""
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
        """Take the results of a finished future, or send its chunk again; return how many chunks were finished."""
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
        """Stop the workers that were started here, and wait for them unless one is still working."""
        for future in self._sent:
            future.cancel()
        if self._make is not None and self._executor is not None:
            self._executor.shutdown(wait=not self._sent, cancel_futures=True)

    def _replace(self, lost: Sequence[_Chunk[T, R]], failure: BaseException) -> None:
        """Send these and all chunks in progress to new workers, or process them here: all workers are gone."""
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

    Python itself uses this attribute to decide whether a process may start others.
    """
    return getattr(current_process(), "_inheriting", False)
