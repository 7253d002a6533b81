"""Reading ahead: fewer rounds, and never another result."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from swapcli.chain.batch_read import Reading, Skipped, prefetched, read_together
from swapcli.chain.node import Answer, Call
from swapcli.errors import UpstreamNonsense

CALLS = [Call(f"0x{k:040x}", bytes([k])) for k in range(12)]
some_calls = st.lists(st.sampled_from(CALLS), max_size=6)


class Asked:
    """Answers each call with its own calldata, and counts rounds."""

    def __init__(self) -> None:
        self.rounds = 0
        self.calls: list[Call] = []

    def __call__(self, calls: Sequence[Call]) -> list[Answer]:
        self.rounds += bool(calls)
        self.calls += calls
        return [None if call.calldata == b"\x0b" else call.calldata for call in calls]


def walk(rounds: list[list[Call]]) -> Reading[list[Answer]]:
    found: list[Answer] = []
    for calls in rounds:
        found += yield calls
    return found


@given(st.lists(some_calls, min_size=1, max_size=5), some_calls)
def test_guesses_change_nothing_but_the_rounds(rounds: list[list[Call]], guessed: list[Call]) -> None:
    plain, ahead = Asked(), Asked()
    (expected,) = read_together([("a", walk(rounds))], plain)
    assert read_together([("a", prefetched(walk(rounds), guessed))], ahead) == [expected]
    assert ahead.rounds <= plain.rounds + (not rounds[0])


@given(st.lists(some_calls, min_size=1, max_size=5))
def test_one_round_is_enough_for_who_guesses_everything(rounds: list[list[Call]]) -> None:
    asked = Asked()
    whole = [call for calls in rounds for call in calls]
    read_together([("a", prefetched(walk(rounds), whole))], asked)
    assert asked.rounds <= 1


@given(some_calls)
def test_nothing_is_asked_twice(guessed: list[Call]) -> None:
    asked = Asked()
    read_together([("a", prefetched(walk([[CALLS[0]], guessed, guessed]), guessed))], asked)
    assert len(asked.calls) == 1 + len(guessed)


def test_what_cannot_be_used_is_skipped_though_it_was_guessed() -> None:
    def refusing() -> Reading[int]:
        yield [CALLS[0]]
        raise UpstreamNonsense("it says nothing of use")

    (found,) = read_together([("key", prefetched(refusing(), CALLS[1:3]))], Asked())
    assert found == Skipped("key", "it says nothing of use")
