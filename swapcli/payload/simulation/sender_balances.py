"""A sender's balances for a swap: the input token, the allowances that the swap needs, and native currency."""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.transaction import Approval
from swapcli.core.networks.permit2 import PERMIT2, PERMIT2_ALLOWANCE
from swapcli.core.records import NamedTuple
from swapcli.families.reading.call_encoding import encode_call, read_word, read_words
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.payload.evm.simulation import SimulatedCall
from swapcli.state.rpc.node import Account, BlockId, StateOverrideNode
from swapcli.state.transfers.erc20_calls import ALLOWANCE, BALANCE


class SenderBalances(NamedTuple):
    """The sender's account, balance of the input token, and allowances, one for each approval that the swap needs.

    Native currency needs no approval, so it has no allowances.
    """

    account: Account
    balance_in: int
    allowances: tuple[int, ...] = ()

    @property
    def allowance(self) -> int | None:
        """How much of the sender's tokens the router may take; None for native currency."""
        return min(self.allowances, default=None)


def read_sender_balances(node: StateOverrideNode, at: BlockId, owner: str, swap: SimulatedCall) -> SenderBalances:
    """Read the balances after a block, in two round trips, or one for native currency. Raises `UpstreamError`."""
    account = node.read_account(owner, at)
    if swap.token_in == ZERO_ADDRESS:
        return SenderBalances(account, account.balance_wei)
    return decode_balances(account, swap, node.call_many(balance_calls(owner, swap), at))


def balance_calls(owner: str, swap: SimulatedCall) -> list[ContractCall]:
    """Return the calls that read the balance and the allowances of a token's owner."""
    calls = [ContractCall(swap.token_in, encode_call(BALANCE, owner))]
    return calls + [_allowance_call(approval, owner) for approval in swap.approvals]


def decode_balances(account: Account, swap: SimulatedCall, answers: Sequence[ReturnData]) -> SenderBalances:
    """Return the balances from the results of `balance_calls`. Raises `InvalidUpstreamResponse`."""
    balance, *others = answers
    allowances = (_read_allowance(*each) for each in zip(swap.approvals, others, strict=True))
    return SenderBalances(account, read_word(balance, BALANCE), tuple(allowances))


def _allowance_call(approval: Approval, owner: str) -> ContractCall:
    if approval.expiration_s is None:
        return ContractCall(approval.token, encode_call(ALLOWANCE, owner, approval.spender))
    return ContractCall(PERMIT2, encode_call(PERMIT2_ALLOWANCE, owner, approval.token, approval.spender))


def _read_allowance(approval: Approval, answer: ReturnData) -> int:
    """Return an allowance. An allowance in Permit2 that ends before the swap's deadline counts as none."""
    if approval.expiration_s is None:
        return read_word(answer, ALLOWANCE)
    amount, expiration_s, _nonce = read_words(answer, 3, PERMIT2_ALLOWANCE)
    return amount if expiration_s >= approval.expiration_s else 0
