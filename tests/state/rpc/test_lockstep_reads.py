"""Prefetching saves rounds and never changes a result."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidUpstreamResponse, RequestBudgetSpent, Unreachable
from swapcli.core.model.skipped_pool import fault_reason
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.lockstep_reads import BatchRead, FaultyItem, SkippedItem, run_batched, with_prefetch
from tests.support.faults import DEFECT, ERRORS

CALLS = [ContractCall(f"0x{k:040x}", bytes([k])) for k in range(12)]
some_calls = st.lists(st.sampled_from(CALLS), max_size=6)


class EchoReader:
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
def test_prefetching_changes_only_the_rounds(rounds: list[list[ContractCall]], guessed: list[ContractCall]) -> None:
    plain, ahead = EchoReader(), EchoReader()
    (expected,) = run_batched([("a", walk(rounds))], plain)
    assert run_batched([("a", with_prefetch(walk(rounds), guessed))], ahead) == [expected]
    assert ahead.rounds <= plain.rounds + (not rounds[0])


@given(st.lists(some_calls, min_size=1, max_size=5))
def test_prefetching_everything_takes_one_round(rounds: list[list[ContractCall]]) -> None:
    reader = EchoReader()
    whole = [call for calls in rounds for call in calls]
    run_batched([("a", with_prefetch(walk(rounds), whole))], reader)
    assert reader.rounds <= 1


@given(some_calls)
def test_no_call_is_sent_twice(guessed: list[ContractCall]) -> None:
    reader = EchoReader()
    run_batched([("a", with_prefetch(walk([[CALLS[0]], guessed, guessed]), guessed))], reader)
    assert len(reader.calls) == 1 + len(guessed)


def test_an_invalid_prefetched_item_is_skipped() -> None:
    def refusing() -> BatchRead[int]:
        yield [CALLS[0]]
        raise InvalidUpstreamResponse("it says nothing of use")

    (found,) = run_batched([("key", with_prefetch(refusing(), CALLS[1:3]))], EchoReader())
    assert found == SkippedItem("key", "it says nothing of use")


def test_where_the_requests_end_complete_reads_stand() -> None:
    reader = EchoReader()

    def send(calls: Sequence[ContractCall]) -> list[ReturnData]:
        if reader.rounds == 2:
            raise RequestBudgetSpent("no requests left")
        return reader(calls)

    reads = [("short", walk([CALLS[:1]])), ("long", walk([CALLS[:1], CALLS[1:2], CALLS[2:3]]))]
    assert run_batched(reads, send) == [[b"\x00"], SkippedItem("long", "no requests left")]


@pytest.mark.parametrize("error", ERRORS)
def test_a_defect_skips_its_item_in_any_round(error: type[Exception]) -> None:
    def failing(rounds: int) -> BatchRead[list[ReturnData]]:
        for number in range(rounds):
            yield [CALLS[number]]
        raise error(DEFECT)

    reads = [("first", failing(0)), ("sound", walk([CALLS[:1], CALLS[1:2]])), ("later", failing(1))]
    first, sound, later = run_batched(reads, EchoReader())
    assert sound == [b"\x00", b"\x01"]
    for found, key in ((first, "first"), (later, "later")):
        assert isinstance(found, FaultyItem)
        assert found == (key, fault_reason(error(DEFECT)))
        assert found.reason.startswith(f"{error.__name__}: ")


def test_an_error_of_the_node_is_not_an_items() -> None:
    def send(_: Sequence[ContractCall]) -> list[ReturnData]:
        raise Unreachable("no connection")

    with pytest.raises(Unreachable):
        run_batched([("a", walk([CALLS[:1]]))], send)
