"""A sender's balances for a swap: the input token, the router's allowance, and native currency."""

from __future__ import annotations

from typing import Final, NamedTuple

from swapcli.chain.contract_functions import encode_call, read_word
from swapcli.chain.node import Account, BlockId, ContractCall, StateOverrideNode
from swapcli.evm.simulation import SimulatedCall
from swapcli.model.order import ZERO_ADDRESS

BALANCE: Final = "balanceOf(address)"
_ALLOWANCE: Final = "allowance(address,address)"


class SenderBalances(NamedTuple):
    """The sender's account, balance of the input token, and allowance to the router.

    `allowance` is None for native currency, which needs no approval."""

    account: Account
    balance_in: int
    allowance: int | None


def read_sender_balances(node: StateOverrideNode, at: BlockId, owner: str, swap: SimulatedCall) -> SenderBalances:
    """Read the balances after a block, in two round trips, or one for native currency. Raises `UpstreamError`."""
    account = node.read_account(owner, at)
    if swap.token_in == ZERO_ADDRESS:
        return SenderBalances(account, account.balance_wei, None)
    calls = encode_call(BALANCE, owner), encode_call(_ALLOWANCE, owner, swap.router)
    balance, allowance = node.call_many([ContractCall(swap.token_in, each) for each in calls], at)
    return SenderBalances(account, read_word(balance, BALANCE), read_word(allowance, _ALLOWANCE))
