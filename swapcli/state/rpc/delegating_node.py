"""A base class for nodes that forward calls to another node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from swapcli.core.errors import UpstreamError
from swapcli.core.model.block_tag import BlockTag
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.state.rpc.node import BlockHeader, BlockId, ChainHead, HashPinnedNode, LogFilter, Node
from swapcli.state.rpc.node_limits import NodeLimits

N = TypeVar("N", bound=Node)


class DelegatingNode(Generic[N]):
    """A `Node` that forwards every call to `node`. Subclasses override the calls that they handle themselves.

    It is a `HashPinnedNode` if `node` is one.
    """

    pins_by_hash: bool

    def __init__(self, node: N) -> None:
        self._node = node
        if isinstance(node, HashPinnedNode):
            self.pins_by_hash = node.pins_by_hash

    @property
    def redacted_url(self) -> str:
        """Same as `Node.redacted_url`."""
        return self._node.redacted_url

    @property
    def limits(self) -> NodeLimits:
        """Same as `Node.limits`."""
        return self._node.limits

    def read_head(self, tag: BlockTag = BlockTag.LATEST, *, code_of: str | None = None) -> ChainHead:
        """Same as `Node.read_head`."""
        return self._node.read_head(tag, code_of=code_of)

    def read_block(self, number: int) -> BlockHeader | None:
        """Same as `Node.read_block`."""
        return self._node.read_block(number)

    def call(self, to: str, calldata: bytes, at: BlockId) -> ReturnData:
        """Same as `Node.call`."""
        return self._node.call(to, calldata, at)

    def call_many(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        """Same as `Node.call_many`."""
        return self._node.call_many(calls, at)

    def use_spare(self, error: UpstreamError) -> bool:
        """Same as `Node.use_spare`."""
        return self._node.use_spare(error)

    def helpers(self, at: BlockHeader) -> Sequence[Node]:
        """Same as `Node.helpers`."""
        return self._node.helpers(at)

    def report_helpers(self, failures: Mapping[Node, UpstreamError], helpers: Sequence[Node]) -> None:
        """Same as `Node.report_helpers`."""
        self._node.report_helpers(failures, helpers)

    def read_blooms(self, first: int, last: int) -> list[int]:
        """Same as `Node.read_blooms`."""
        return self._node.read_blooms(first, last)

    def read_logs(self, query: LogFilter) -> list[Log]:
        """Same as `Node.read_logs`."""
        return self._node.read_logs(query)
