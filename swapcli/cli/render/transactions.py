"""The transactions of a swap in the order to send them, for EVM networks and Starknet alike."""

from __future__ import annotations

from typing import NamedTuple

from swapcli.model.network import Kind, Network
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


def render_swap(payload: UnsignedTransaction, network: Network) -> RenderedTransaction:
    """Render the swap alone."""
    to, value = display_address(payload.to, network.kind), str(payload.value)
    if network.kind is Kind.EVM:
        return RenderedTransaction(SWAP, to, payload.calldata, value)
    from swapcli.api.felts import render_felts
    from swapcli.starknet.account_calls import SWAP as ENTRYPOINT

    return RenderedTransaction(SWAP, to, render_felts(payload.felts), value, ENTRYPOINT)


def render_transactions(
    payload: UnsignedTransaction, network: Network, allowance: int = 0
) -> list[RenderedTransaction]:
    """Render the swap, after the approvals that the router needs beyond its present `allowance`."""
    if network.kind is Kind.STARKNET:
        return [*_approvals_on_starknet(payload, network), render_swap(payload, network)]
    return [*_approvals(payload, network, allowance), render_swap(payload, network)]


def _approvals(payload: UnsignedTransaction, network: Network, allowance: int) -> list[RenderedTransaction]:
    from swapcli.evm import build_transactions

    before = build_transactions(payload, allowance)[:-1]
    return [
        RenderedTransaction(
            purpose=APPROVE if each is before[-1] else REVOKE,
            to=display_address(each.to, network.kind),
            calldata=each.calldata,
            value=str(each.value),
        )
        for each in before
    ]


def _approvals_on_starknet(payload: UnsignedTransaction, network: Network) -> list[RenderedTransaction]:
    from swapcli.api.felts import render_felts
    from swapcli.starknet import build_account_calls

    before = build_account_calls(payload)[:-1]
    return [
        RenderedTransaction(
            APPROVE, display_address(each.to, network.kind), render_felts(each.felts), "0", each.entrypoint
        )
        for each in before
    ]
