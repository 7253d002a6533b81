"""Until when a swap can be executed, and who refuses it later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from swapcli.core.model.network import FIBROUS, OWN
from swapcli.core.model.transaction import RouterCall, UnsignedTransaction
from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.core.model.decoded_call import DecodedApproval, DecodedCall

NOBODY: Final = "nobody"
"""The call has no deadline: a signed transaction stays valid until its nonce is used."""
PERMIT: Final = "permit"
"""The token, which takes the signature of a permit (EIP-2612) until then only."""
PERMIT2: Final = "permit2"
"""Permit2, which takes a signature until then only."""
ORDER: Final = "order"
"""The contract that settles orders by signature, such as CoW Protocol's."""

_WORDS: Final = {
    NOBODY: "nobody",
    PERMIT: "the token, which checks the permit",
    PERMIT2: "Permit2, which checks the signature",
    ORDER: "the contract that settles the order",
}


class Deadline(NamedTuple):
    """A time in Unix seconds, None without one, and who enforces it: a router by the name of its dialect, or one of the
    names above."""

    end_s: int | None
    enforcer: str


def deadline_of(payload: UnsignedTransaction, dialect: str) -> Deadline:
    """Return the deadline of a swap for a router of `dialect`."""
    end_s = payload.call.deadline_s
    if end_s is None:
        return Deadline(None, NOBODY)
    # Of the routers that the interface describes, only this project's checks the deadline of a permit itself.
    is_of_token = isinstance(payload.call, RouterCall) and bool(payload.permitted) and dialect != OWN
    return Deadline(end_s, PERMIT if is_of_token else dialect)


def enforcer_of_call(call: DecodedCall) -> str:
    """Return who enforces the deadline of a decoded swap."""
    order = call.order
    if order is None or order.deadline_s is None:
        return NOBODY
    if call.dialect == FIBROUS:  # only this project's router has a deadline in its own calls
        return PERMIT if call.permit else OWN
    return call.dialect or NOBODY


def enforcer_of_approval(approval: DecodedApproval, *, is_signed_for_permit2: bool = False) -> str:
    """Return who enforces the end of a permission: Permit2 of those that it records or checks the signature of."""
    if approval.expiration_s is not None:
        return PERMIT2
    if approval.deadline_s is None:
        return NOBODY
    return PERMIT2 if is_signed_for_permit2 else PERMIT


def describe_enforcer(enforcer: str) -> str:
    """Return who enforces a deadline, in words."""
    return _WORDS.get(enforcer, f"the router {enforcer}")
