"""The request `wallet_sendCalls` of EIP-5792: a wallet executes the approvals and the swap together.

Source: https://eips.ethereum.org/EIPS/eip-5792, version 2.0.0 of the request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

from swapcli.payload.transactions_to_send import RenderedTransaction

if TYPE_CHECKING:
    from swapcli.interface.handoff_types import WalletCallJson, WalletCallsJson, WalletCallsRequestJson

METHOD: Final[Literal["wallet_sendCalls"]] = "wallet_sendCalls"
VERSION: Final = "2.0.0"


def wallet_calls_document(transactions: Sequence[RenderedTransaction], chain_id: int) -> WalletCallsRequestJson:
    """Return the request in the form that a wallet accepts unchanged. It names the sender if it is known."""
    calls: list[WalletCallJson] = [
        {"to": each.to, "data": str(each.calldata), "value": hex(int(each.value))} for each in transactions
    ]
    request: WalletCallsJson = {
        "version": VERSION,
        "chainId": hex(chain_id),
        "atomicRequired": True,  # an approval without its swap is useless
        "calls": calls,
    }
    if sender := sender_of(transactions):
        request["from"] = sender
    return {"method": METHOD, "params": [request]}


def sender_of(transactions: Sequence[RenderedTransaction]) -> str | None:
    """Return the sender that the transactions name, or None if it is unknown."""
    sender = (transactions[-1].request or {}).get("from")
    return sender if isinstance(sender, str) else None
