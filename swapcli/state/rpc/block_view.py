"""Nodes whose newest block is a given one: what is quoted with them is quoted on that block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swapcli.core.errors import UpstreamError
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.past_block import PastBlock
from swapcli.state.rpc.node import (
    Account,
    BlockHeader,
    BlockId,
    BudgetedNode,
    ChainHead,
    ContractCall,
    HistoryNode,
    HypotheticalCall,
    Log,
    LogFilter,
    Node,
    ReturnData,
    StateOverrideNode,
)
from swapcli.state.rpc.node_limits import NodeLimits


class _NodeView:
    """A `Node` that answers as `node`, but calls another block the newest one."""

    def __init__(self, node: Node) -> None:
        self._node = node

    @property
    def redacted_url(self) -> str:
        """As `Node.redacted_url`."""
        return self._node.redacted_url

    @property
    def limits(self) -> NodeLimits:
        """As `Node.limits`."""
        return self._node.limits

    def read_block(self, number: int) -> BlockHeader | None:
        """As `Node.read_block`."""
        return self._node.read_block(number)

    def call(self, to: str, calldata: bytes, at: BlockId) -> ReturnData:
        """As `Node.call`."""
        return self._node.call(to, calldata, at)

    def call_many(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        """As `Node.call_many`."""
        return self._node.call_many(calls, at)

    def use_spare(self, error: UpstreamError) -> bool:
        """As `Node.use_spare`."""
        return self._node.use_spare(error)

    def helpers(self, at: BlockHeader) -> Sequence[Node]:
        """As `Node.helpers`."""
        return self._node.helpers(at)

    def report_helpers(self, failures: Mapping[Node, UpstreamError], helpers: Sequence[Node]) -> None:
        """As `Node.report_helpers`."""
        self._node.report_helpers(failures, helpers)

    def read_blooms(self, first: int, last: int) -> list[int]:
        """As `Node.read_blooms`."""
        return self._node.read_blooms(first, last)

    def read_logs(self, query: LogFilter) -> list[Log]:
        """As `Node.read_logs`."""
        return self._node.read_logs(query)


class BlockView(_NodeView):
    """A `Node` that answers as `node`, but calls `block` the newest one, with this gas price."""

    def __init__(self, node: Node, block: BlockHeader, gas_price_wei: int) -> None:
        super().__init__(node)
        self._head = ChainHead(block, gas_price_wei, tag=None)

    def read_head(self, tag: BlockTag | None = BlockTag.LATEST, *, code_of: str | None = None) -> ChainHead:
        """Return the block, without a request and without the code."""
        del tag, code_of
        return self._head


class PastBlockView(_NodeView):
    """A `Node` that answers as `node`, but calls the `block` of that number or hash the newest one.

    The block is looked for when the head is first read.
    """

    def __init__(self, node: HistoryNode, block: PastBlock) -> None:
        super().__init__(node)
        self._history, self._block = node, block
        self._head: ChainHead | None = None

    def read_head(self, tag: BlockTag | None = BlockTag.LATEST, *, code_of: str | None = None) -> ChainHead:
        """Return the block without the code. Raises as `HistoryNode.read_past_head`."""
        del tag, code_of
        if self._head is None:
            self._head = self._history.read_past_head(self._block)
        elif isinstance(self._node, BudgetedNode):
            self._node.read_head()  # begins a new budget
        return self._head


class _SimulatingPastView(PastBlockView):
    """The same for a node that simulates calls."""

    def __init__(self, node: StateOverrideNode, history: HistoryNode, block: PastBlock) -> None:
        super().__init__(history, block)
        self._simulating = node

    def read_account(self, address: str, at: BlockId) -> Account:
        """As `StateOverrideNode.read_account`."""
        return self._simulating.read_account(address, at)

    def simulate(self, calls: Sequence[HypotheticalCall], at: BlockId) -> list[ReturnData]:
        """As `StateOverrideNode.simulate`."""
        return self._simulating.simulate(calls, at)


def view_past_block(node: HistoryNode, block: PastBlock) -> PastBlockView:
    """Return a node whose newest block is this one; it simulates calls if `node` does."""
    return _SimulatingPastView(node, node, block) if isinstance(node, StateOverrideNode) else PastBlockView(node, block)
