"""The transactions of a swap, ready to sign: an approval if needed, then the swap."""

from __future__ import annotations

from typing import Final

from swapcli.encoding.abi import encode_address, encode_uint
from swapcli.evm.calldata import encode_call
from swapcli.evm.router_params import check_native
from swapcli.model.network import Network
from swapcli.model.transaction import RouterCall, SwapType, Transaction, UnsignedTransaction

APPROVE: Final = "095ea7b3"
"""`approve(address spender, uint256 amount)` of ERC-20."""


def build_transaction(call: RouterCall, network: Network, router: str) -> UnsignedTransaction:
    """The call as a payload for `router`, with its calldata; the value is the input where that is native.

    Raises `InvalidInput` for a value that the router's ABI cannot hold, `InvalidRoute` where the call would send or
    expect the native token in the name of another one.
    """
    encode_address(router, "router")
    check_native(call.route, network)
    return UnsignedTransaction(call, router, _value_wei(call), encode_call(call))


def build_approval(token: str, spender: str, amount: int) -> Transaction:
    """Lets `spender` take `amount` base units of an ERC-20 token. Raises `InvalidInput`."""
    encode_address(token, "token")
    return Transaction(token, f"0x{APPROVE}{encode_address(spender, 'spender')}{encode_uint(amount, 256, 'amount')}", 0)


def build_transactions(payload: UnsignedTransaction, allowance: int = 0) -> tuple[Transaction, ...]:
    """In the order to send them: an approval of exactly the input, then the swap, which goes alone where the input is
    native, or the router may take enough already.

    An `allowance` that is too small is taken back first: some tokens reject another on top of it.
    """
    swap = Transaction(payload.to, payload.calldata, payload.value)
    route = payload.call.route
    if route.swap_type is SwapType.NATIVE_TO_TOKEN or allowance >= route.amount_in:
        return (swap,)
    amounts = (0, route.amount_in) if allowance else (route.amount_in,)
    return *(build_approval(route.token_in, payload.to, amount) for amount in amounts), swap


def _value_wei(call: RouterCall) -> int:
    return call.route.amount_in if call.route.swap_type is SwapType.NATIVE_TO_TOKEN else 0
