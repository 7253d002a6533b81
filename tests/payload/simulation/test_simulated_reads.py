"""Reads by simulation that run side by side share the requests of each round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.payload.simulation.simulated_reads import SimulatedRead, run_simulated, side_by_side, simulated
from swapcli.state.rpc.node import BlockId, HypotheticalCall, SimulatedBlock, StateOverrideNode

T = TypeVar("T")

HERE = "0x" + "11" * 20


def call(data: str) -> HypotheticalCall:
    return HypotheticalCall(HERE, ContractCall(HERE, data.encode()), ())


class EchoNode:
    """A node without blocks whose calls return their calldata."""

    def __init__(self) -> None:
        self.rounds: list[list[bytes]] = []

    def run(self, read: SimulatedRead[T]) -> T:
        return run_simulated(cast("StateOverrideNode", self), 7, read)

    def simulate(self, calls: Sequence[HypotheticalCall], at: BlockId) -> list[ReturnData]:
        assert at == 7
        self.rounds.append([each.call.calldata for each in calls])
        return [each.call.calldata for each in calls]


def spelled(word: str) -> SimulatedRead[bytes]:
    """Read one letter a round."""
    letters = b""
    for letter in word:
        (found,) = yield [call(letter)]
        letters += found
    return letters


def test_reads_share_their_rounds_and_may_end_at_different_times() -> None:
    node = EchoNode()
    read = side_by_side(spelled("abc"), spelled(""), side_by_side(spelled("de"), simulated([call("x"), call("y")])))
    assert node.run(read) == [b"abc", b"", [b"de", [b"x", b"y"]]]
    assert node.rounds == [[b"a", b"d", b"x", b"y"], [b"b", b"e"], [b"c"]]


def test_nothing_to_read_costs_no_round() -> None:
    node = EchoNode()
    assert node.run(side_by_side(simulated(()), side_by_side())) == [(), []]
    assert node.rounds == []


def test_blocks_and_calls_of_a_round_keep_their_places() -> None:
    node, block = EchoNode(), SimulatedBlock((), (), 1, 1, 1)
    assert node.run(simulated([call("a"), block, call("b")])) == [b"a", None, b"b"]
