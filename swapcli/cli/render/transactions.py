"""The transactions of a swap in the order to send them, for EVM networks and Starknet alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from swapcli.api.felts import render_felts
from swapcli.engine.dialects import router_dialect
from swapcli.model.network import Network
from swapcli.model.transaction import Purpose, UnsignedTransaction
from swapcli.networks.address import display_address


class RenderedTransaction(NamedTuple):
    """One transaction: `calldata` is hex with 0x, or on Starknet the decimal felts of a call of `entrypoint`.

    `spender_name` is who is approved, empty for a swap.
    """

    purpose: Purpose
    to: str
    calldata: str | list[str]
    value: str
    entrypoint: str | None = None
    spender_name: str = ""

    @property
    def signed_fields(self) -> dict[str, object]:
        """Return the fields to sign, by name."""
        fields = {"to": self.to, "entrypoint": self.entrypoint, "calldata": self.calldata, "value": self.value}
        return {name: value for name, value in fields.items() if value is not None}


def render_transactions(
    payload: UnsignedTransaction, network: Network, allowances: Sequence[int] = ()
) -> list[RenderedTransaction]:
    """Render the swap, after the approvals that it needs beyond the present `allowances`."""
    return [
        RenderedTransaction(
            purpose=each.purpose,
            to=display_address(each.to, network.kind),
            calldata=render_felts(each.felts) if each.felts else each.calldata,
            value=str(each.value),
            entrypoint=each.entrypoint,
            spender_name=each.spender_name,
        )
        for each in router_dialect(network).build_transactions(payload, allowances)
    ]
