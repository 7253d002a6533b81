"""The transactions of a swap, ready to sign: the missing approvals, then the swap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from swapcli.core.encoding.abi import encode_address, encode_uint
from swapcli.core.model.network import Network
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import (
    Approval,
    Purpose,
    RouterCall,
    RouterRouteParam,
    Transaction,
    UnsignedTransaction,
)
from swapcli.payload.evm.fibrous_calldata import encode_call
from swapcli.payload.evm.router_params import check_native

APPROVE: Final = "095ea7b3"
"""`approve(address spender, uint256 amount)` of ERC-20."""
INCREASE_ALLOWANCE: Final = "39509351"
"""`increaseAllowance(address spender, uint256 addedValue)` of many ERC-20 tokens."""
SET_APPROVAL_FOR_ALL: Final = "a22cb465"
"""`setApprovalForAll(address operator, bool approved)` of ERC-721 and ERC-1155, for all tokens of the contract."""
ALLOWANCES: Final = (APPROVE, INCREASE_ALLOWANCE, SET_APPROVAL_FOR_ALL)
"""The functions of a token that let an account take the sender's tokens."""


def build_transaction(call: RouterCall, network: Network, router: str) -> UnsignedTransaction:
    """Return the call as a payload for `router`, with its calldata; the value is the input if the input is native.

    Raises `InvalidInput` for a value that the router's ABI cannot hold, `InvalidRoute` if the call would send or expect
    the native token under the name of another token.
    """
    encode_address(router, "router")
    check_native(call.route, network)
    route = call.route
    if route.swap_type is SwapType.NATIVE_TO_TOKEN:
        return UnsignedTransaction(call, router, route.amount_in, encode_call(call))
    approvals = (token_approval(route, network, router),)
    return UnsignedTransaction(call, router, 0, encode_call(call), approvals=approvals)


def token_approval(
    route: RouterRouteParam, network: Network, spender: str, spender_name: str = "the router"
) -> Approval:
    """Return the ERC-20 approval that `spender` needs to take the input of a route."""
    is_revoked_first = route.token_in in network.revoke_first_tokens
    return Approval(route.token_in, spender, route.amount_in, spender_name, is_revoked_first=is_revoked_first)


def build_approval(token: str, spender: str, amount: int, spender_name: str = "the router") -> Transaction:
    """Return the ERC-20 approval of `amount` base units for `spender`. Raises `InvalidInput`."""
    encode_address(token, "token")
    calldata = f"0x{APPROVE}{encode_address(spender, 'spender')}{encode_uint(amount, 256, 'amount')}"
    purpose = Purpose.APPROVE if amount else Purpose.REVOKE
    return Transaction(token, calldata, 0, purpose=purpose, spender_name=spender_name)


def build_transactions(payload: UnsignedTransaction, allowances: Sequence[int] = ()) -> tuple[Transaction, ...]:
    """Return the transactions in the order to send them: approvals of exactly the input, then the swap.

    `allowances` are the amounts that each spender in `payload.approvals` may already spend; empty means unknown. An
    allowance that is too small is first set to zero, since some tokens reject changing a nonzero one. If an allowance
    is unknown, it is first set to zero if the token is known to reject such changes.
    """
    approvals = build_approvals(payload.approvals, allowances)
    return *approvals, Transaction(payload.to, payload.calldata, payload.value)


def build_approvals(approvals: Sequence[Approval], allowances: Sequence[int] = ()) -> tuple[Transaction, ...]:
    """Return the transactions that grant the missing approvals, given the `allowances` of `build_transactions`."""
    present = allowances or (None,) * len(approvals)
    return tuple(
        transaction
        for approval, allowance in zip(approvals, present, strict=True)
        if allowance is None or allowance < approval.amount
        for transaction in _grant(approval, allowance)
    )


def _grant(approval: Approval, allowance: int | None) -> Iterator[Transaction]:
    if approval.expiration_s is not None:
        from swapcli.payload.evm.permit2_allowance import build_permit2_approval

        yield build_permit2_approval(approval)
        return
    is_revoked = approval.is_revoked_first if allowance is None else allowance > 0
    for amount in (0, approval.amount) if is_revoked else (approval.amount,):
        yield build_approval(approval.token, approval.spender, amount, approval.spender_name)
