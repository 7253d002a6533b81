"""Router calls, and the unsigned transactions that contain them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from swapcli.core.errors import InvalidOption
from swapcli.core.model.network import OWN, SETTLER, UNIVERSAL_ROUTER
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transfer_behaviour import ShareRounding
from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.core.model.router_choice import RouterChoice

NOBODY: Final = "nobody"
"""No one enforces a deadline: a signed transaction stays valid until its nonce is used."""
PERMIT: Final = "permit"
"""The token, which rejects the signature of a permit (EIP-2612) after the deadline."""
PERMIT2: Final = "permit2"
"""Permit2, which rejects a signature after the deadline."""
ORDER: Final = "order"
"""A contract that settles signed orders, such as CoW Protocol's."""

_WORDS: Final = {
    OWN: "this project's router",
    UNIVERSAL_ROUTER: "the Universal Router",
    SETTLER: "0x Settler",
    NOBODY: "nobody",
    PERMIT: "the token, which checks the permit",
    PERMIT2: "Permit2, which checks the signature",
    ORDER: "the contract that settles the order",
}


class RouterRouteParam(NamedTuple):
    """The amounts and parties of a call: `RouteParam` in the router contract, `CalldataRoute` in the API.

    Addresses are canonical; a native token has the address of its wrapped form, and `swap_type` marks it as native.
    `amount_out` is the output of a replay; `min_received` is that output after an integrator's fee and slippage.
    """

    token_in: str
    token_out: str
    amount_in: int
    amount_out: int
    min_received: int
    recipient: str
    swap_type: SwapType


class RouterSwapParam(NamedTuple):
    """One entry in the router's list of swaps: `SwapParams` in the router contract, `SwapParameter` in the API.

    The swap spends `floor(balance * rate / 1_000_000)` of the router's balance of `token_in`. `extra_data` describes
    the pool beyond its address, in the encoding of its protocol: bytes on an EVM network, felts on Starknet.
    """

    token_in: str
    token_out: str
    rate: int
    protocol_id: int
    pool_address: str
    swap_type: SwapType
    extra_data: bytes = b""
    extra_felts: tuple[int, ...] = ()


class RouterCall(NamedTuple):
    """A router call before encoding. `integrator_data` is empty without an integrator.

    The call fails after `deadline_s` (Unix seconds); None if it never expires. This project's router enforces
    deadlines, and a token enforces the deadline of its permit.
    """

    route: RouterRouteParam
    swaps: tuple[RouterSwapParam, ...]
    integrator_data: bytes = b""
    deadline_s: int | None = None


class EncodedCall(NamedTuple):
    """A router call outside the Fibrous API: only its calldata shows which pools it uses.

    The router rejects the call after `deadline_s` (Unix), None if it always accepts it.
    """

    route: RouterRouteParam
    integrator: Integrator | None = None
    deadline_s: int | None = None


class Approval(NamedTuple):
    """A permission that a swap needs: `spender` may take `amount` base units of `token` from the sender.

    The token records it or, with `expiration_s` (Unix), the Permit2 contract records it until that time.
    `is_revoked_first` means that the token rejects a change of a nonzero allowance.
    """

    token: str
    spender: str
    amount: int
    spender_name: str = "the router"
    expiration_s: int | None = None
    is_revoked_first: bool = False


class Purpose(StrEnum):
    """The purpose of a transaction."""

    REVOKE = "revoke"
    APPROVE = "approve"
    APPROVE_PERMIT2 = "approve-permit2"
    SWAP = "swap"


class Transaction(NamedTuple):
    """A transaction to sign or, on Starknet, a call for an account to execute. `value` is in wei of the native token.

    `calldata` is hex with 0x; on Starknet it is empty, and `felts` are the arguments of `entrypoint`. `spender_name`
    names the approved spender, empty for a swap.
    """

    to: str
    calldata: str = ""
    value: int = 0
    felts: tuple[int, ...] = ()
    entrypoint: str | None = None
    purpose: Purpose = Purpose.SWAP
    spender_name: str = ""


class UnsignedTransaction(NamedTuple):
    """A router call, ready to sign.

    `calldata` is hex with 0x on an EVM network; on Starknet `felts` are the call's arguments and `calldata` is empty.
    `value` is the native token to send with it, in wei. `approvals` are the permissions that it needs, in the order to
    grant them; on Starknet, the account's calls contain them. `permitted` are further permissions, granted by a
    signature in `calldata`. `gas_units` is the estimated gas after refunds, None if unknown. `rounding` is None if its
    route trades no token known to be share-based. `witnesses` counts the nodes that agree on its state, None if no node
    was read for it; `unconfirmed` gives the reason why no second public node has confirmed it. `router_choice` is set
    if a quote chose its router.
    """

    call: RouterCall | EncodedCall
    to: str
    value: int
    calldata: str = ""
    felts: tuple[int, ...] = ()
    approvals: tuple[Approval, ...] = ()
    permitted: tuple[Approval, ...] = ()
    gas_units: int | None = None
    rounding: ShareRounding | None = None
    witnesses: int | None = None
    unconfirmed: str = ""
    router_choice: RouterChoice | None = None

    @property
    def router_call(self) -> RouterCall:
        """The call in the form of the Fibrous API. Raises `InvalidOption` if the router's calls have a different
        form."""
        if isinstance(self.call, EncodedCall):
            raise InvalidOption(
                "calls to this router have no route or swap parameters",
                hint="use the router dialect fibrous",
            )
        return self.call


class Deadline(NamedTuple):
    """A deadline in Unix seconds, None if there is none, and who enforces it: the router (named by its dialect), or
    `NOBODY`, `PERMIT` or `PERMIT2`."""

    end_s: int | None
    enforcer: str


def deadline_of(payload: UnsignedTransaction, dialect: str) -> Deadline:
    """Return the deadline of a swap for a router of `dialect`."""
    end_s = payload.call.deadline_s
    if end_s is None:
        return Deadline(None, NOBODY)
    # Among the routers in the Fibrous API, only this project's checks the deadline of a permit itself.
    is_of_token = isinstance(payload.call, RouterCall) and bool(payload.permitted) and dialect != OWN
    return Deadline(end_s, PERMIT if is_of_token else dialect)


def describe_enforcer(enforcer: str) -> str:
    """Return who enforces a deadline, in words."""
    return _WORDS.get(enforcer, f"the router {enforcer}")
