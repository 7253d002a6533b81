"""The calls that a Starknet account executes for a swap in one transaction: `approve`, then `swap`."""

from __future__ import annotations

from swapcli.core.errors import InvalidInput
from swapcli.core.model.network import Kind, Network
from swapcli.core.model.transaction import Purpose, RouterCall, Transaction, UnsignedTransaction
from swapcli.core.networks.address import parse_address
from swapcli.payload.starknet.felts import felt_of_address, split_u256
from swapcli.payload.starknet.swap_call_felts import serialise_call

SWAP = "swap"
APPROVE = "approve"


def build_transaction(call: RouterCall, network: Network, router: str) -> UnsignedTransaction:
    """Serialise `call` for the router at `router`. The value is 0: the native token is an ordinary token.

    Raises `InvalidAddress` for the router, and `InvalidInput` in the same cases as `serialise_call`.
    """
    if network.kind is not Kind.STARKNET:
        raise InvalidInput(f"{network.name} is not a Starknet network")
    return UnsignedTransaction(call, parse_address(router, network.kind), value=0, felts=serialise_call(call))


def build_approval(token: str, spender: str, amount: int) -> Transaction:
    """Build the approval of `amount` base units of `token` for `spender`. Raises `InvalidAddress`, `InvalidInput`."""
    felts = (felt_of_address(spender), *split_u256("amount", amount))
    return Transaction(
        parse_address(token, Kind.STARKNET),
        felts=felts,
        entrypoint=APPROVE,
        purpose=Purpose.APPROVE,
        spender_name="the router",
    )


def build_account_calls(payload: UnsignedTransaction) -> tuple[Transaction, ...]:
    """Return the calls of a swap in order: the approval of the input for the router, and the swap."""
    route = payload.call.route
    return (
        build_approval(route.token_in, payload.to, route.amount_in),
        Transaction(payload.to, felts=payload.felts, entrypoint=SWAP),
    )
