"""Process many orders in several processes, with results in the order of the orders."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any, Generic, TypeVar

from swapcli import InputOutputError, InvalidOption
from swapcli.quoting.ordered_answers import answer_in_order

T = TypeVar("T")
R = TypeVar("R")

_answer: Callable[[Any], Any] | None = None
"""The function that this process applies to each order, once it is a worker."""


def answer_in_processes(
    orders: Iterable[T], worker_count: int, open_answer: Callable[[], Callable[[T], R]], *, are_at_hand: bool
) -> Iterator[R]:
    """Yield the result of each order, in order, as soon as it is ready. New processes replace those that die.

    `are_at_hand` means that orders are available without waiting. Each process calls `open_answer` once. Raises the
    same errors as `answer_in_order`, `InvalidOption` if processes cannot be forked, and `InputOutputError` without a
    usable /dev/shm.
    """
    try:
        context = get_context("fork")
    except ValueError:
        raise InvalidOption("--workers needs a system that can fork processes", hint="remove --workers") from None

    def start_workers() -> Executor:
        sys.stdout.flush()  # otherwise each worker would print it again
        try:
            return ProcessPoolExecutor(worker_count, context, initializer=_start_worker, initargs=(open_answer,))
        except (OSError, ImportError) as error:  # an ImportError where Python was built without semaphores
            raise InputOutputError(
                f"--workers needs semaphores, which are files in /dev/shm: {getattr(error, 'strerror', None) or error}",
                hint="remove --workers, or mount a writable /dev/shm",
            ) from None

    return answer_in_order(orders, start_workers, _ForkedWorkers(open_answer), arrive_one_by_one=not are_at_hand)


class _ForkedWorkers(Generic[T, R]):
    """Workers that received everything they need when they were forked."""

    def __init__(self, open_answer: Callable[[], Callable[[T], R]]) -> None:
        self._open_answer = open_answer

    def submit(self, executor: Executor, items: Sequence[T], *, has_asked: bool) -> Future[Sequence[R] | None]:
        assert not has_asked
        return executor.submit(_answer_orders, items)

    def answer(self, items: Sequence[T]) -> Sequence[R]:
        return list(map(self._open_answer(), items))


def _start_worker(open_answer: Callable[[], Callable[[Any], Any]]) -> None:
    global _answer  # noqa: PLW0603 (the state of a process)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers
    Thread(target=_end_with_parent, daemon=True).start()
    _answer = open_answer()


def _end_with_parent() -> None:
    """End this process when its parent has died, which a worker waiting for an order would not notice."""
    parent = parent_process()
    assert parent
    parent.join()
    os._exit(1)


def _answer_orders(orders: Sequence[Any]) -> list[Any]:
    assert _answer
    return [_answer(order) for order in orders]
