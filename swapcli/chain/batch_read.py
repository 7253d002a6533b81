"""Reads many things side by side: each says what it must ask next, and all of that goes out as one round."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

from swapcli.chain.node import Answer, Call
from swapcli.errors import SwapcliError

T = TypeVar("T")

Reading = Generator[Sequence[Call], Sequence[Answer], T]
"""Yields the calls of a round, is sent their answers, returns what it has read. Raises `SwapcliError` where what the
contract says cannot be used."""


class Skipped(NamedTuple):
    """What was left out, by its address or id, and why."""

    key: str
    reason: str


def read_together(
    readings: Sequence[tuple[str, Reading[T]]], ask: Callable[[Sequence[Call]], Sequence[Answer]]
) -> list[T | Skipped]:
    """What each reading, named by its key, came to, in order. Errors of `ask` itself are raised."""
    done: dict[int, T | Skipped] = {}
    answers: dict[int, Sequence[Answer]] = {}
    waiting: Sequence[int] = range(len(readings))
    while waiting:
        asked: dict[int, Sequence[Call]] = {}
        for at in waiting:
            key, reading = readings[at]
            try:
                asked[at] = reading.send(answers[at]) if at in answers else next(reading)
            except StopIteration as end:
                done[at] = end.value
            except SwapcliError as error:
                done[at] = Skipped(key, error.message)
        answers = _shared_out(asked, ask)
        waiting = list(asked)
    return [done[at] for at in range(len(readings))]


def prefetched(reading: Reading[T], guessed: Sequence[Call]) -> Reading[T]:
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
    asked: dict[int, Sequence[Call]], ask: Callable[[Sequence[Call]], Sequence[Answer]]
) -> dict[int, Sequence[Answer]]:
    """The answers to all calls, for each who asked."""
    calls = [call for some in asked.values() for call in some]
    told = iter(ask(calls) if calls else ())
    return {at: list(islice(told, len(some))) for at, some in asked.items()}
