"""Calls to the wrapped native token itself (WETH9): `deposit` wraps the value, `withdraw` unwraps an amount.

Both functions pay their caller one for one, so they need no router, no approval and no minimum.
"""

from __future__ import annotations

from typing import Final

from swapcli.core.encoding.abi import encode_uint
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import EncodedCall, RouterRouteParam, UnsignedTransaction

DEPOSIT: Final = "d0e30db0"
"""`deposit()`."""
WITHDRAW: Final = "2e1a7d4d"
"""`withdraw(uint256 amount)`."""

_DEPOSIT_GAS: Final = 45_100
_WITHDRAW_GAS: Final = 36_100
"""The gas of whole WETH9 transactions for a caller without a previous balance of the output, measured on anvil."""


def build_wrap(route: RouterRouteParam) -> UnsignedTransaction:
    """Return the call to the wrapped native token that wraps or unwraps the input of `route` for its caller."""
    call, wrapped = EncodedCall(route), route.token_in
    if route.swap_type is SwapType.NATIVE_TO_TOKEN:
        return UnsignedTransaction(call, wrapped, route.amount_in, f"0x{DEPOSIT}", gas_units=_DEPOSIT_GAS)
    calldata = f"0x{WITHDRAW}{encode_uint(route.amount_in, 256, 'amount')}"
    return UnsignedTransaction(call, wrapped, 0, calldata, gas_units=_WITHDRAW_GAS)
