"""Reads many things side by side: each says what it must ask next, and all of that goes out as one round."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

from swapcli.chain.node import ContractCall, ReturnData
from swapcli.errors import SwapcliError

T = TypeVar("T")

BatchRead = Generator[Sequence[ContractCall], Sequence[ReturnData], T]
"""Yields the calls of a round, is sent their answers, returns what it has read. Raises `SwapcliError` where what the
contract says cannot be used."""


class SkippedItem(NamedTuple):
    """What was left out, by its address or id, and why."""

    key: str
    reason: str


def run_batched(
    readings: Sequence[tuple[str, BatchRead[T]]], ask: Callable[[Sequence[ContractCall]], Sequence[ReturnData]]
) -> list[T | SkippedItem]:
    """What each reading, named by its key, came to, in order. Errors of `ask` itself are raised."""
    done: dict[int, T | SkippedItem] = {}
    answers: dict[int, Sequence[ReturnData]] = {}
    waiting: Sequence[int] = range(len(readings))
    while waiting:
        asked: dict[int, Sequence[ContractCall]] = {}
        for at in waiting:
            key, reading = readings[at]
            try:
                asked[at] = reading.send(answers[at]) if at in answers else next(reading)
            except StopIteration as end:
                done[at] = end.value
            except SwapcliError as error:
                done[at] = SkippedItem(key, error.message)
        answers = _shared_out(asked, ask)
        waiting = list(asked)
    return [done[at] for at in range(len(readings))]


def with_prefetch(reading: BatchRead[T], guessed: Sequence[ContractCall]) -> BatchRead[T]:
    """The same reading, with calls that it may make later asked in its first round: where it makes just those, that
    round is all that it takes."""
    first = next(reading)
    told = yield [*first, *guessed]
    known = dict(zip([*first, *guessed], told, strict=True))
    asked = first
    while True:
        try:
            asked = reading.send([known[call] for call in asked])
        except StopIteration as end:
            found: T = end.value
            return found
        missing = [call for call in asked if call not in known]
        if missing:
            told = yield missing
            known.update(zip(missing, told, strict=True))


def _shared_out(
    asked: dict[int, Sequence[ContractCall]], ask: Callable[[Sequence[ContractCall]], Sequence[ReturnData]]
) -> dict[int, Sequence[ReturnData]]:
    """The answers to all calls, for each who asked."""
    calls = [call for some in asked.values() for call in some]
    told = iter(ask(calls) if calls else ())
    return {at: list(islice(told, len(some))) for at, some in asked.items()}
