"""The transactions of a swap in the order to send them, for EVM networks and Starknet alike."""

from __future__ import annotations

from typing import NamedTuple

from swapcli.api.felts import render_felts
from swapcli.engine.dialects import router_dialect
from swapcli.model.network import Network
from swapcli.model.transaction import UnsignedTransaction
from swapcli.networks.address import display_address

REVOKE, APPROVE, SWAP = "revoke", "approve", "swap"


class RenderedTransaction(NamedTuple):
    """One transaction: `calldata` is hex with 0x, or on Starknet the decimal felts of a call of `entrypoint`."""

    purpose: str
    to: str
    calldata: str | list[str]
    value: str
    entrypoint: str | None = None

    @property
    def signed_fields(self) -> dict[str, object]:
        """Return the fields to sign, by name."""
        fields = {"to": self.to, "entrypoint": self.entrypoint, "calldata": self.calldata, "value": self.value}
        return {name: value for name, value in fields.items() if value is not None}


def render_transactions(
    payload: UnsignedTransaction, network: Network, allowance: int = 0
) -> list[RenderedTransaction]:
    """Render the swap, after the approvals that the router needs beyond its present `allowance`."""
    transactions = router_dialect(network).build_transactions(payload, allowance)
    purposes = (REVOKE, APPROVE, SWAP)[-len(transactions) :]
    return [
        RenderedTransaction(
            purpose=purpose,
            to=display_address(each.to, network.kind),
            calldata=render_felts(each.felts) if each.felts else each.calldata,
            value=str(each.value),
            entrypoint=each.entrypoint,
        )
        for purpose, each in zip(purposes, transactions, strict=True)
    ]
