"""The transactions that a payload takes, in the order to send them, whatever the network writes them in."""

from __future__ import annotations

from typing import NamedTuple

from swapcli.model.network import Kind, Network
from swapcli.model.payload import Payload
from swapcli.networks.address import display_address

REVOKE, APPROVE, SWAP = "revoke", "approve", "swap"


class Sending(NamedTuple):
    """One transaction: `calldata` is hex with 0x, or on Starknet the decimal felts of a call of `entrypoint`."""

    what: str
    to: str
    calldata: str | list[str]
    value: str
    entrypoint: str | None = None

    @property
    def fields(self) -> dict[str, object]:
        """What is signed, by name."""
        named = {"to": self.to, "entrypoint": self.entrypoint, "calldata": self.calldata, "value": self.value}
        return {name: value for name, value in named.items() if value is not None}


def swap_of(payload: Payload, network: Network) -> Sending:
    """The swap alone."""
    to, value = display_address(payload.to, network.kind), str(payload.value)
    if network.kind is Kind.EVM:
        return Sending(SWAP, to, payload.calldata, value)
    from swapcli.api.felts import render_felts
    from swapcli.starknet.account_calls import SWAP as ENTRYPOINT

    return Sending(SWAP, to, render_felts(payload.felts), value, ENTRYPOINT)


def sendings_of(payload: Payload, network: Network, allowance: int = 0) -> list[Sending]:
    """The swap, and before it what lets the router take the input, where that needs leave beyond its `allowance`."""
    if network.kind is Kind.STARKNET:
        return [*_approvals_on_starknet(payload, network), swap_of(payload, network)]
    return [*_approvals(payload, network, allowance), swap_of(payload, network)]


def _approvals(payload: Payload, network: Network, allowance: int) -> list[Sending]:
    from swapcli.evm import build_transactions

    before = build_transactions(payload, allowance)[:-1]
    return [
        Sending(
            what=APPROVE if each is before[-1] else REVOKE,
            to=display_address(each.to, network.kind),
            calldata=each.calldata,
            value=str(each.value),
        )
        for each in before
    ]


def _approvals_on_starknet(payload: Payload, network: Network) -> list[Sending]:
    from swapcli.api.felts import render_felts
    from swapcli.starknet import build_account_calls

    before = build_account_calls(payload)[:-1]
    return [
        Sending(APPROVE, display_address(each.to, network.kind), render_felts(each.felts), "0", each.entrypoint)
        for each in before
    ]
