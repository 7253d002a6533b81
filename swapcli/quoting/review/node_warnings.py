"""Warnings about a payload that only a node can give."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from swapcli.payload.review.reviewed_payload import PayloadReview

if TYPE_CHECKING:
    from swapcli.quoting.openers.nodes import NodeOpener


def with_node_warnings(review: PayloadReview, nodes: NodeOpener) -> PayloadReview:
    """Return the review with the warnings of a node that the user has named; the same review without one.

    Raises `UpstreamError`.
    """
    network = review.network
    if network is None or nodes.rules.named_nodes(network) is None or not network.kind.traits.has_eth_nodes:
        return review
    from swapcli.payload.review.contract_codes import warn_of_codeless

    node = nodes.node(network)
    if node is None:
        return review
    with closing(node):
        return warn_of_codeless(review, node)
