"""What the nodes of tests have in common: each is one node, without another in its place."""

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
        """There is no other node."""
        del error
        return False

    def helpers(self, at: BlockHeader) -> Sequence[Node]:
        """There are none."""
        del at
        return ()

    def report_helpers(self, failures: Mapping[Node, UpstreamError], helpers: Sequence[Node]) -> None:
        """There are none."""
        assert not failures
        assert not helpers
