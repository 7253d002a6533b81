"""Allowances in Permit2: the transaction with which an owner grants one, and the function that reads them.

Source: Uniswap's permit2, `AllowanceTransfer`. An allowance has an amount, an expiration and a nonce, which counts the
owner's signed permits for that token and spender.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.encoding.abi import encode_address, encode_uint, invalid_field
from swapcli.core.model.transaction import Approval, Purpose, Transaction
from swapcli.core.networks.permit2 import AMOUNT_BITS, PERMIT2

TIME_BITS: Final = 48  # of Permit2, a uint48
APPROVE: Final = "87517c45"
"""`approve(address token, address spender, uint160 amount, uint48 expiration)`."""
ALLOWANCE: Final = "927da105"
"""`allowance(address owner, address token, address spender) returns (uint160 amount, uint48 expiration, uint48 nonce)`
"""


def build_permit2_approval(approval: Approval) -> Transaction:
    """Return the transaction with which the owner records an allowance in Permit2. Raises `InvalidInput`."""
    if approval.expiration_s is None:
        raise invalid_field("expiration", "a Permit2 allowance needs an expiration")
    calldata = (
        encode_address(approval.token, "token")
        + encode_address(approval.spender, "spender")
        + encode_uint(approval.amount, AMOUNT_BITS, "amount")
        + encode_uint(approval.expiration_s, TIME_BITS, "expiration")
    )
    purpose, name = Purpose.APPROVE_PERMIT2, approval.spender_name
    return Transaction(PERMIT2, f"0x{APPROVE}{calldata}", 0, purpose=purpose, spender_name=name)
