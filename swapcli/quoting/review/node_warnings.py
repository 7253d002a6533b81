"""Add the warnings about a payload that need a node."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from swapcli.payload.decode.documents import PayloadInput
from swapcli.payload.review.reviewed_payload import PayloadReview

if TYPE_CHECKING:
    from swapcli.quoting.openers.nodes import NodeOpener


def read_node(review: PayloadReview, given: PayloadInput, nodes: NodeOpener) -> tuple[PayloadReview, int | None]:
    """Return the review with warnings about the payload's contracts and its simulation, and the usual gas price in wei.

    Only a node that the user has named is read. Its gas price is read only if the payload has fees. Raises
    `UpstreamError`.
    """
    network = review.network
    if network is None or nodes.rules.named_nodes(network) is None or not network.kind.traits.has_eth_nodes:
        return review, None
    from swapcli.payload.review.contract_codes import warn_of_codeless, warn_of_domain
    from swapcli.payload.signing.signing_values import read_fee_history
    from swapcli.quoting.review.payload_rehearsal import rehearse_decoded

    node = nodes.node(network)
    if node is None:
        return review, None
    with closing(node):
        review = rehearse_decoded(warn_of_domain(warn_of_codeless(review, node), node), given.payload.calldata, node)
        has_fees = any(each.max_fee_wei is not None for each in (given.payload, *given.listed))
        history = read_fee_history(node) if has_fees else None
    return review, history.usual_price_wei if history else None
