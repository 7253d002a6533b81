"""The common part of the tests' nodes: each is a single node without a spare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swapcli.core.errors import UpstreamError
from swapcli.state.rpc.node import BlockHeader, Node
from swapcli.state.rpc.node_limits import NodeLimits


class SingleNode:
    """The part of `Node` that concerns limits and other nodes."""

    def __init__(self) -> None:
        self.limits = NodeLimits()

    def use_spare(self, error: UpstreamError) -> bool:
        """Return False: there is no other node."""
        del error
        return False

    def helpers(self, at: BlockHeader) -> Sequence[Node]:
        """Return nothing: there are no helpers."""
        del at
        return ()

    def report_helpers(self, failures: Mapping[Node, UpstreamError], helpers: Sequence[Node]) -> None:
        """Do nothing: there are no helpers."""
        assert not failures
        assert not helpers
