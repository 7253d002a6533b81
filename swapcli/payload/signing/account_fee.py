"""A Starknet account's transaction, with the fields that only a node can provide: its nonce and its fee."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.signing_figures import FeeEstimate
from swapcli.core.model.transaction import Transaction
from swapcli.payload.starknet.account_transactions import serialise_account_calls
from swapcli.payload.starknet.invoke_transaction import NO_BOUNDS, InvokeTransaction, bounds_of

if TYPE_CHECKING:
    from swapcli.state.rpc.node import BlockId, ChainHead


class EstimatesFees(Protocol):
    """A node that supports accounts and estimates their transactions."""

    def read_head(self, tag: BlockTag = BlockTag.LATEST) -> ChainHead:
        """Same as `Node.read_head`."""

    def read_nonce(self, account: str, at: BlockId) -> int:
        """Return the nonce of the account's next transaction. Raises `SimulationError` if there is no account."""

    def estimate_fee(self, transaction: Mapping[str, object], at: BlockId) -> FeeEstimate:
        """Return the estimate of an unsigned transaction. Raises `SimulationError` if it reverts."""

    def close(self) -> None:
        """Close the connection."""


def read_invoke(node: EstimatesFees, sender: str, calls: Sequence[Transaction], at: BlockId) -> InvokeTransaction:
    """Return the transaction that executes `calls`, with a node's nonce and estimate, in two round trips.

    Raises `SimulationError` if there is no account at `sender` or the calls revert, and `UpstreamError`.
    """
    unpriced = InvokeTransaction(sender, node.read_nonce(sender, at), serialise_account_calls(calls), NO_BOUNDS, 0)
    estimate = node.estimate_fee(unpriced.unsigned(), at)
    return unpriced._replace(bounds=bounds_of(estimate), fee=estimate.overall_fee)
