"""Values that a node returns before signing, for comparison with other nodes' values."""

from __future__ import annotations

from swapcli.core.records import NamedTuple


class NodeFigures(NamedTuple):
    """A sender's nonces and the usual gas price according to a node. A value is None if the node does not return it.

    `latest_nonce` counts mined transactions, `pending_nonce` also transactions in the node's pool. `usual_price_wei` is
    the sum of the medians of recent blocks' base fees and priority fees.
    """

    latest_nonce: int | None = None
    pending_nonce: int | None = None
    usual_price_wei: int | None = None


class FeeEstimate(NamedTuple):
    """A node's estimate for a version 3 transaction: units of each resource, and their prices in fri.

    A fri is the base unit of STRK. The fields are named as in the specification's FEE_ESTIMATE.
    """

    l1_gas_consumed: int
    l1_gas_price: int
    l2_gas_consumed: int
    l2_gas_price: int
    l1_data_gas_consumed: int
    l1_data_gas_price: int
    overall_fee: int
