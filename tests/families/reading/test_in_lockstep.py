"""Reads inside of reads share the rounds, and end apart from each other."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from swapcli.core.errors import InvalidUpstreamResponse, RequestBudgetSpent
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.lockstep_reads import BatchRead, SkippedItem, in_lockstep, run_batched


def read(name: str, rounds: int, fails: bool = False) -> BatchRead[str]:
    """Read so many rounds of one call each, and return the last answer as text."""
    answer: ReturnData = b""
    for number in range(rounds):
        (answer,) = yield [ContractCall(f"{name}{number}", b"")]
    if fails:
        raise InvalidUpstreamResponse(f"{name} is odd")
    return (answer or b"").decode()


class Chain:
    """Answers each call with the name of its contract, as long as requests are left."""

    def __init__(self, requests: int = 100) -> None:
        self.rounds: list[list[str]] = []
        self._left = requests

    def send(self, calls: Sequence[ContractCall]) -> Sequence[ReturnData]:
        if not self._left:
            raise RequestBudgetSpent("spent")
        self._left -= 1
        self.rounds.append([call.to for call in calls])
        return [call.to.encode() for call in calls]


def nested(*reads: tuple[str, BatchRead[str]]) -> BatchRead[list[str | SkippedItem]]:
    yield from read("first", 1)
    return (yield from in_lockstep(reads))


def test_inner_reads_share_rounds() -> None:
    chain = Chain()
    inner = nested(("a", read("a", 1)), ("b", read("b", 2)), ("c", read("c", 1, fails=True)), ("d", read("d", 0)))
    found = run_batched([("inner", inner), ("z", read("z", 2))], chain.send)
    assert found == [["a0", "b1", SkippedItem("c", "c is odd"), ""], "z1"]
    assert chain.rounds == [["first0", "z0"], ["a0", "b0", "c0", "z1"], ["b1"]]


def test_without_calls_nothing_is_sent() -> None:
    chain = Chain()
    assert run_batched([("a", read("a", 0)), ("b", nested_nothing())], chain.send) == ["", []]
    assert run_batched([], chain.send) == []
    assert chain.rounds == []


def nested_nothing() -> BatchRead[list[str | SkippedItem]]:
    return (yield from in_lockstep([("a", read("a", 0))][:0]))


@pytest.mark.parametrize("requests", [0, 1, 2])
def test_spent_requests_end_what_is_not_complete(requests: int) -> None:
    chain = Chain(requests)
    reads = [("a", read("a", 1)), ("b", read("b", 2)), ("c", read("c", 3))]
    if not requests:
        with pytest.raises(RequestBudgetSpent):
            run_batched(reads, chain.send)
        return
    expected: list[str | SkippedItem] = ["a0", "b1", SkippedItem("c", "spent")]
    if requests == 1:
        expected[1] = SkippedItem("b", "spent")
    assert run_batched(reads, chain.send) == expected
