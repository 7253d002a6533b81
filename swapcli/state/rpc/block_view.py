"""Views of a node in which a chosen block is the latest one, so that quotes are computed at that block."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.past_block import PastBlock
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.state.rpc.delegating_node import DelegatingNode
from swapcli.state.rpc.node import (
    Account,
    BlockHeader,
    BlockId,
    BudgetedNode,
    ChainHead,
    HistoryNode,
    HypotheticalCall,
    Node,
    RememberingNode,
    StateOverrideNode,
)


class BlockView(DelegatingNode[Node]):
    """A `Node` that responds like `node`, but treats the block returned by `find_head` as the latest one.

    `find_head` is called when the block is first read. The block has no tag.
    """

    def __init__(self, node: Node, find_head: Callable[[], ChainHead]) -> None:
        super().__init__(node)
        self._find_head = find_head
        self._head: ChainHead | None = None

    def read_head(self, tag: BlockTag | None = BlockTag.LATEST, *, code_of: str | None = None) -> ChainHead:
        """Return the block, without any contract's code. Raises the same errors as `find_head`."""
        del tag, code_of
        if self._head is None:
            self._head = self._find_head()
        elif isinstance(self._node, BudgetedNode):
            self._node.read_head()  # begins a new budget
        return self._head

    def recall(self, calls: Sequence[ContractCall], at: BlockHeader) -> Mapping[int, ReturnData]:
        """Same as `RememberingNode.recall`."""
        return self._node.recall(calls, at) if isinstance(self._node, RememberingNode) else {}

    def remember(self, answers: Sequence[tuple[ContractCall, ReturnData]], at: BlockHeader) -> None:
        """Same as `RememberingNode.remember`."""
        if isinstance(self._node, RememberingNode):
            self._node.remember(answers, at)


class _SimulatingBlockView(BlockView):
    """The same for a node that simulates calls."""

    def __init__(self, node: StateOverrideNode, find_head: Callable[[], ChainHead]) -> None:
        super().__init__(node, find_head)
        self._simulating = node

    def read_account(self, address: str, at: BlockId) -> Account:
        """Same as `StateOverrideNode.read_account`."""
        return self._simulating.read_account(address, at)

    def simulate(self, calls: Sequence[HypotheticalCall], at: BlockId) -> list[ReturnData]:
        """Same as `StateOverrideNode.simulate`."""
        return self._simulating.simulate(calls, at)


def view_block(node: Node, block: BlockHeader, gas_price_wei: int) -> BlockView:
    """Return a view of `node` whose latest block is `block`, with the given gas price. It simulates calls if `node`
    does."""
    return _view(node, lambda: ChainHead(block, gas_price_wei, tag=None))


def view_past_block(node: HistoryNode, block: PastBlock) -> BlockView:
    """Return a view of `node` whose latest block has the number or hash in `block`. It simulates calls if `node`
    does."""
    return _view(node, lambda: node.read_past_head(block))


def _view(node: Node, find_head: Callable[[], ChainHead]) -> BlockView:
    if isinstance(node, StateOverrideNode):
        return _SimulatingBlockView(node, find_head)
    return BlockView(node, find_head)
