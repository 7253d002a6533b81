"""The receipt of a mined transaction."""

from __future__ import annotations

from typing import Protocol

from swapcli.core.errors import NotMined
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import Log
from swapcli.state.rpc.node import Node


class Receipt(NamedTuple):
    """The receipt of a transaction, with its events in order (`logs`), and with the number and hash of the block that
    contains it."""

    block_number: int
    block_hash: str
    succeeded: bool
    gas_used: int
    gas_price_wei: int
    logs: tuple[Log, ...]


class ReceiptNode(Node, Protocol):
    """A node that also returns the receipts of mined transactions."""

    def read_receipt(self, transaction: str) -> Receipt | None:
        """Return a transaction's receipt by its hash, 32 bytes in hex; None if the chain does not have the transaction.

        Raises `NotMined` for a transaction that is pending or preconfirmed, and `UpstreamError`.
        """


def not_mined(transaction: str, state: str) -> NotMined:
    """Return the error for a transaction that is not mined. `state` completes the sentence that begins with its
    hash."""
    return NotMined(
        f"{transaction} {state}: it is not mined yet",
        hint="try again in a few seconds",
        details={"transaction": transaction},
    )
