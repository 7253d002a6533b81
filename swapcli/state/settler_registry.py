"""Read a router's current address from its registry. 0x often replaces Settler with a new contract at a new address."""

from __future__ import annotations

from typing import Final

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.records import NamedTuple
from swapcli.families.reading.call_encoding import encode_call, read_address
from swapcli.families.reading.calls import ContractCall
from swapcli.families.reading.lockstep_reads import BatchRead

_OWNER: Final = "ownerOf(uint256)"
_TAKER_SUBMITTED: Final = 2
"""The registry's number for the Settler whose swaps the sender submits, as opposed to those submitted by a relayer."""


class RegisteredRouter(NamedTuple):
    """The router that a registry names. `address` is None if the registry names none, because swaps are paused."""

    address: str | None


def read_registered_router(registry: str) -> BatchRead[RegisteredRouter]:
    """Read the router in one round. Source: github 0xProject/0x-settler, README: a paused feature has no owner.

    Raises `InvalidUpstreamResponse` if there is no registry at that address.
    """
    (answer,) = yield [ContractCall(registry, encode_call(_OWNER, _TAKER_SUBMITTED))]
    if answer is None:
        return RegisteredRouter(None)
    address = read_address(answer, _OWNER)
    return RegisteredRouter(None if address == ZERO_ADDRESS else address)
