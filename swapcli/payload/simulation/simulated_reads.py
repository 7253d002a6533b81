"""Reads by simulation, as generators: like pool reads, each yields the requests of one round.

A read receives the results of its requests and returns the facts that it has read. Concurrent reads send the requests
of a round together, so each round is one round trip.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import islice
from typing import Any, TypeVar

from swapcli.core.errors import UpstreamRejected
from swapcli.families.reading.calls import ReturnData
from swapcli.state.rpc.node import (
    BlockId,
    BlockOutcome,
    BlockSimulatingNode,
    HypotheticalCall,
    SimulatedBlock,
    StateOverrideNode,
)

T = TypeVar("T")

SimulatedRequest = HypotheticalCall | SimulatedBlock
SimulatedRead = Generator[Sequence[SimulatedRequest], Sequence[Any], T]
"""Yields requests, and receives the return data of a call, or the outcome of a block (None if the node simulates no
blocks)."""


def run_simulated(node: StateOverrideNode, at: BlockId, read: SimulatedRead[T]) -> T:
    """Return the result of a read on the state after a block. Raises `UpstreamError`, and the errors of the read."""
    results: Sequence[Any] | None = None
    while True:
        try:
            requests = next(read) if results is None else read.send(results)
        except StopIteration as end:
            result: T = end.value
            return result
        results = _send(node, requests, at)


def simulated(requests: Sequence[SimulatedRequest]) -> SimulatedRead[Sequence[Any]]:
    """Send `requests` in one round, and return their results."""
    return (yield requests) if requests else ()


def side_by_side(*reads: SimulatedRead[Any]) -> SimulatedRead[list[Any]]:
    """Return the results of reads that run in lockstep."""
    results: list[Any] = [None] * len(reads)
    pending: dict[int, Sequence[SimulatedRequest]] = dict.fromkeys(range(len(reads)), ())
    received: dict[int, Sequence[Any]] = {}
    while pending:
        for number in tuple(pending):
            read = reads[number]
            try:
                pending[number] = read.send(received[number]) if number in received else next(read)
            except StopIteration as end:
                results[number] = end.value
                del pending[number]
        if pending:
            found = iter((yield [request for requests in pending.values() for request in requests]))
            received = {number: list(islice(found, len(requests))) for number, requests in pending.items()}
    return results


def _send(node: StateOverrideNode, requests: Sequence[SimulatedRequest], at: BlockId) -> list[Any]:
    blocks = [each for each in requests if isinstance(each, SimulatedBlock)]
    calls = [each for each in requests if not isinstance(each, SimulatedBlock)]
    outcomes, answers = map(iter, _simulate(node, blocks, calls, at))
    return [next(outcomes) if isinstance(each, SimulatedBlock) else next(answers) for each in requests]


def _simulate(
    node: StateOverrideNode, blocks: Sequence[SimulatedBlock], calls: Sequence[HypotheticalCall], at: BlockId
) -> tuple[Sequence[BlockOutcome], Sequence[ReturnData]]:
    if blocks and isinstance(node, BlockSimulatingNode):
        try:
            return node.simulate_blocks(blocks, calls, at)
        except UpstreamRejected:
            pass  # some nodes reject all requests of a batch because of one method
    return [None] * len(blocks), node.simulate(calls, at) if calls else []
