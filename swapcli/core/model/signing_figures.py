"""What a node reports before a signature, to be compared with other figures."""

from __future__ import annotations

from swapcli.core.records import NamedTuple


class NodeFigures(NamedTuple):
    """What a node reports of a sender and of fees; None if it does not.

    `latest_nonce` counts mined transactions, `pending_nonce` also those in the node's pool. `usual_price_wei` is the
    median of the base fees of recent blocks and that of their priority fees.
    """

    latest_nonce: int | None = None
    pending_nonce: int | None = None
    usual_price_wei: int | None = None
