"""Reading ahead: fewer rounds, and never another result."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from swapcli.chain.lockstep_reads import BatchRead, SkippedItem, run_batched, with_prefetch
from swapcli.chain.node import ContractCall, ReturnData
from swapcli.errors import InvalidUpstreamResponse

CALLS = [ContractCall(f"0x{k:040x}", bytes([k])) for k in range(12)]
some_calls = st.lists(st.sampled_from(CALLS), max_size=6)


class Asked:
    """Answers each call with its own calldata, and counts rounds."""

    def __init__(self) -> None:
        self.rounds = 0
        self.calls: list[ContractCall] = []

    def __call__(self, calls: Sequence[ContractCall]) -> list[ReturnData]:
        self.rounds += bool(calls)
        self.calls += calls
        return [None if call.calldata == b"\x0b" else call.calldata for call in calls]


def walk(rounds: list[list[ContractCall]]) -> BatchRead[list[ReturnData]]:
    found: list[ReturnData] = []
    for calls in rounds:
        found += yield calls
    return found


@given(st.lists(some_calls, min_size=1, max_size=5), some_calls)
def test_guesses_change_nothing_but_the_rounds(rounds: list[list[ContractCall]], guessed: list[ContractCall]) -> None:
    plain, ahead = Asked(), Asked()
    (expected,) = run_batched([("a", walk(rounds))], plain)
    assert run_batched([("a", with_prefetch(walk(rounds), guessed))], ahead) == [expected]
    assert ahead.rounds <= plain.rounds + (not rounds[0])


@given(st.lists(some_calls, min_size=1, max_size=5))
def test_one_round_is_enough_for_who_guesses_everything(rounds: list[list[ContractCall]]) -> None:
    asked = Asked()
    whole = [call for calls in rounds for call in calls]
    run_batched([("a", with_prefetch(walk(rounds), whole))], asked)
    assert asked.rounds <= 1


@given(some_calls)
def test_nothing_is_asked_twice(guessed: list[ContractCall]) -> None:
    asked = Asked()
    run_batched([("a", with_prefetch(walk([[CALLS[0]], guessed, guessed]), guessed))], asked)
    assert len(asked.calls) == 1 + len(guessed)


def test_what_cannot_be_used_is_skipped_though_it_was_guessed() -> None:
    def refusing() -> BatchRead[int]:
        yield [CALLS[0]]
        raise InvalidUpstreamResponse("it says nothing of use")

    (found,) = run_batched([("key", with_prefetch(refusing(), CALLS[1:3]))], Asked())
    assert found == SkippedItem("key", "it says nothing of use")
