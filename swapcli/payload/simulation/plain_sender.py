"""Rehearse a swap for a sender without code, on a node that does not simulate blocks.

The simulation's code replaces the router's code and calls it. The sender is then the origin of an ordinary call, with
its own code and balance. This sender cannot approve anything, so approvals are written into the storage of the tokens.
Only the code of the router differs from a transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from swapcli.core.encoding.abi import WORD, encode_address, encode_uint
from swapcli.core.errors import InvalidInput
from swapcli.core.model.transaction import Transaction
from swapcli.core.networks.permit2 import PERMIT2
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.payload.evm.simulation import Rehearsal, SimulatedCall, Trial, decode_rehearsal, encode_relay, runtime_code
from swapcli.payload.evm.transactions import APPROVE, build_approvals
from swapcli.payload.simulation.block_simulation import TransactionContext, call_gas
from swapcli.payload.simulation.simulated_reads import SimulatedRead, side_by_side, simulated
from swapcli.state.rpc.node import HypotheticalCall, StateOverride
from swapcli.state.transfers.token_slots import allowance_search, permit2_grant

_ROUTER_CODE: Final = "0x4c19e0b7d3a85f2691be70d4c8a6f5132e9d47b4"
"""An arbitrary address with the router's own code."""
_ROUNDING_UNITS: Final = 3
_NEAR_PART: Final = 10_000
"""Amounts that differ by less than a hundredth of a percent count as equal."""
_TRANSFER: Final = "0xa9059cbb"
_TRANSFER_FROM: Final = "0x23b872dd"
_ANY_AMOUNT: Final = 1 << 127  # an allowance above any trade


class PlainSwap(NamedTuple):
    """A swap by `sender`, and the trials after it that need no code at their account.

    `made` has the trials with their positions among all trials.
    """

    swap: SimulatedCall
    sender: str
    made: tuple[tuple[int, Trial], ...]
    approvals: tuple[tuple[str, Transaction], ...]

    @classmethod
    def of(cls, swap: SimulatedCall, sender: str, trials: Sequence[Trial]) -> PlainSwap:
        """Return the swap, with the trials that are possible and the approvals that the swap and the trials need, by
        owner."""
        made, approvals = (
            [],
            [(sender, each) for each in (*build_approvals(swap.approvals), *build_approvals(swap.permitted))],
        )
        for position, trial in enumerate(trials):
            *before, last = trial.calls
            if not before and last.calldata.startswith(_TRANSFER):
                made.append((position, trial._replace(account=swap.router, calls=(_pulled(trial.account, last),))))
                approvals.append((trial.account, _approval(last.to, swap.router)))
            elif trial.account == sender and last.to == swap.router and not swap.value_wei:
                made.append((position, trial._replace(account=swap.router, calls=(last,))))
                approvals += [(sender, each) for each in before]
        return cls(swap, sender, tuple(made), tuple(approvals))

    def read_grants(self) -> SimulatedRead[list[StateOverride] | None]:
        """Read the state overrides that grant all approvals, or return None if the storage slot of an allowance is
        unknown."""
        needed = {(each.to, owner, _address(each, 0)): None for owner, each in self.approvals if each.to != PERMIT2}
        searches = [allowance_search(*each, _ANY_AMOUNT) for each in needed]
        marks = yield from side_by_side(*(simulated(search.marked) for search in searches))
        found = [permit2_grant(owner, *_permit2_words(each)) for owner, each in self.approvals if each.to == PERMIT2]
        for search, answers in zip(searches, marks, strict=True):
            slot = search.slot_of_marks(answers)
            if slot is None:
                return None
            found.append(StateOverride(search.probe.call.to, slots=((slot, _ANY_AMOUNT),)))
        return found

    def call(self, code: bytes, grants: Sequence[StateOverride], context: TransactionContext) -> HypotheticalCall:
        """Return the call that rehearses the swap; `code` is the router's own code."""
        swap, gas = self.swap, call_gas(self.swap, len(self.made))
        overrides = [
            StateOverride(swap.router, code=runtime_code(_ROUTER_CODE)),
            StateOverride(_ROUTER_CODE, code=code),
            *grants,
            *filter(None, [context.funding(self.sender, swap.value_wei, gas)]),
        ]
        calldata = encode_relay(swap, [trial for _, trial in self.made])
        return HypotheticalCall(
            self.sender,
            ContractCall(swap.router, calldata),
            tuple(overrides),
            context.gas_price_wei,
            gas,
            swap.value_wei,
        )

    def read(self, answer: ReturnData) -> Rehearsal | None:
        """Return the rehearsal from the result of `call`, or None if a token reports no balance."""
        if not answer:
            return None
        try:
            return decode_rehearsal(answer, self.swap._replace(approvals=(), permitted=()))
        except InvalidInput:
            return None


def are_near(amount: int, other: int) -> bool:
    """Return whether two amounts differ at most by rounding."""
    return abs(amount - other) <= _ROUNDING_UNITS + max(abs(amount), abs(other)) // _NEAR_PART


def _pulled(owner: str, transfer: Transaction) -> Transaction:
    """Return the transfer that a spender makes in place of the owner."""
    arguments = transfer.calldata[len(_TRANSFER) :]
    return Transaction(transfer.to, f"{_TRANSFER_FROM}{encode_address(owner, 'from')}{arguments}")


def _approval(token: str, spender: str) -> Transaction:
    words = f"{encode_address(spender, 'spender')}{encode_uint(_ANY_AMOUNT, 256, 'amount')}"
    return Transaction(token, f"0x{APPROVE}{words}")


def _words(transaction: Transaction) -> Iterator[int]:
    content = bytes.fromhex(transaction.calldata[10:])
    return (int.from_bytes(content[start : start + WORD]) for start in range(0, len(content), WORD))


def _address(transaction: Transaction, position: int) -> str:
    return f"0x{list(_words(transaction))[position]:040x}"


def _permit2_words(approval: Transaction) -> tuple[str, str, int, int]:
    """Return the token, spender, amount and expiration of a Permit2 approval."""
    token, spender, amount, expiration_s = _words(approval)
    return f"0x{token:040x}", f"0x{spender:040x}", amount, expiration_s
