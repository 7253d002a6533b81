"""Run many reads side by side: in each round, the calls of all reads are sent together."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from itertools import islice
from typing import TypeVar

from swapcli.core.errors import RequestBudgetSpent, SwapcliError
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import ContractCall, ReturnData

T = TypeVar("T")

BatchRead = Generator[Sequence[ContractCall], Sequence[ReturnData], T]
"""Yields the calls of a round, receives their results, and returns the value it has read.

Raises `SwapcliError` if the contract's data is unusable. Any other exception is a defect, which also skips the item.
"""


class SkippedItem(NamedTuple):
    """A skipped item, by its address or id, and the reason."""

    key: str
    reason: str


class FaultyItem(SkippedItem):
    """An item whose read raised an exception other than `SwapcliError`: the reason names a defect of the program."""

    __slots__ = ()


def run_batched(
    reads: Sequence[tuple[str, BatchRead[T]]], send: Callable[[Sequence[ContractCall]], Sequence[ReturnData]]
) -> list[T | SkippedItem]:
    """Return the result of each read in order, or a `SkippedItem` for a read that fails. Errors of `send` propagate.

    If the node's request budget is spent, incomplete reads count as failed, unless no read is complete.
    """
    together = in_lockstep(reads)
    try:
        calls = next(together)
        while True:
            try:
                results = send(calls)
            except RequestBudgetSpent as error:
                calls = together.throw(error)
            else:
                calls = together.send(results)
    except StopIteration as end:
        found: list[T | SkippedItem] = end.value
        return found


def in_lockstep(reads: Sequence[tuple[str, BatchRead[T]]]) -> BatchRead[list[T | SkippedItem]]:
    """Return the result of each read in order, or a `SkippedItem` for a read that fails. All calls of a round are sent
    together.

    `RequestBudgetSpent` in place of results is handled as in `run_batched`.
    """
    results: dict[int, T | SkippedItem] = {}
    received: dict[int, Sequence[ReturnData]] = {}
    active: Sequence[int] = range(len(reads))
    while active:
        pending: dict[int, Sequence[ContractCall]] = {}
        for index in active:
            key, read = reads[index]
            try:
                pending[index] = read.send(received[index]) if index in received else next(read)
            except StopIteration as end:
                results[index] = end.value
            except Exception as error:
                from swapcli.core.model.skipped_pool import fault_reason

                kind = SkippedItem if isinstance(error, SwapcliError) else FaultyItem
                results[index] = kind(key, fault_reason(error))
        calls = [call for calls_of_read in pending.values() for call in calls_of_read]
        try:
            answers = iter((yield calls) if calls else ())
        except RequestBudgetSpent as error:
            if not results:
                raise
            results |= {index: SkippedItem(reads[index][0], error.message) for index in pending}
            break
        received = {index: list(islice(answers, len(calls_of_read))) for index, calls_of_read in pending.items()}
        active = list(pending)
    return [results[index] for index in range(len(reads))]


def with_prefetch(read: BatchRead[T], prefetched_calls: Sequence[ContractCall]) -> BatchRead[T]:
    """Return the read with `prefetched_calls`, which it may make later, added to its first round.

    If the read later makes no other calls, it finishes after that round.
    """
    first = next(read)
    results = yield [*first, *prefetched_calls]
    known_results = dict(zip([*first, *prefetched_calls], results, strict=True))
    pending = first
    while True:
        try:
            pending = read.send([known_results[call] for call in pending])
        except StopIteration as end:
            result: T = end.value
            return result
        missing = [call for call in pending if call not in known_results]
        if missing:
            results = yield missing
            known_results.update(zip(missing, results, strict=True))
