"""A node that simulates calls but not blocks, like nodes without `eth_simulateV1`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from swapcli.families.reading.calls import ReturnData
from swapcli.state.rpc.node import BlockId, BlockOutcome, HypotheticalCall, SimulatedBlock
from swapcli.state.rpc.rpc_node import RpcNode


class OldNode:
    """Passes everything else on to `node`."""

    def __init__(self, node: RpcNode) -> None:
        self._node = node

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)

    def simulate(self, calls: Sequence[HypotheticalCall], at: BlockId) -> list[ReturnData]:
        return self._node.simulate(calls, at)

    def simulate_blocks(
        self, blocks: Sequence[SimulatedBlock], calls: Sequence[HypotheticalCall], at: BlockId
    ) -> tuple[list[BlockOutcome], list[ReturnData]]:
        return [None] * len(blocks), self.simulate(calls, at)
