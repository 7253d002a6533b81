"""The transactions that a payload takes, in the order to send them, whatever the network writes them in."""

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
        """What is signed, by name."""
        named = {"to": self.to, "entrypoint": self.entrypoint, "calldata": self.calldata, "value": self.value}
        return {name: value for name, value in named.items() if value is not None}


def render_swap(payload: UnsignedTransaction, network: Network) -> RenderedTransaction:
    """The swap alone."""
    to, value = display_address(payload.to, network.kind), str(payload.value)
    if network.kind is Kind.EVM:
        return RenderedTransaction(SWAP, to, payload.calldata, value)
    from swapcli.api.felts import render_felts
    from swapcli.starknet.account_calls import SWAP as ENTRYPOINT

    return RenderedTransaction(SWAP, to, render_felts(payload.felts), value, ENTRYPOINT)


def render_transactions(
    payload: UnsignedTransaction, network: Network, allowance: int = 0
) -> list[RenderedTransaction]:
    """The swap, and before it what lets the router take the input, where that needs leave beyond its `allowance`."""
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
