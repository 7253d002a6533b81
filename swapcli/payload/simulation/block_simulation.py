"""Simulate a swap as the transactions that will be sent, by `eth_simulateV1`.

The sender keeps its code, nonce and balance, unless it cannot pay; gas price and base fee are the next block's. A token
therefore cannot distinguish the simulation from a transaction. A separate account reads balances between the
transactions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from swapcli.core.encoding.abi import WORD, encode_word
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.transaction import Transaction
from swapcli.core.records import NamedTuple
from swapcli.families.reading.call_encoding import encode_call
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.payload.evm.simulation import Rehearsal, SimulatedCall, SimulationRun, SimulationStatus, Trial, TrialRun
from swapcli.payload.evm.simulation import Watch as Watched
from swapcli.payload.evm.transactions import build_approvals
from swapcli.payload.simulation.simulated_reads import SimulatedRead
from swapcli.state.rpc.node import (
    BlockOutcome,
    ChainHead,
    HypotheticalCall,
    SimulatedBlock,
    SimulatedTransaction,
    StateOverride,
    TransactionOutcome,
)
from swapcli.state.transfers.erc20_calls import BALANCE

_READER: Final = "0x4c19e0b7d3a85f2691be70d4c8a6f5132e9d47b2"
"""An arbitrary account that reads balances between transactions."""
_CONTEXT_READER: Final = "0x4c19e0b7d3a85f2691be70d4c8a6f5132e9d47b3"
"""An arbitrary address with the code that reads the block and accounts."""
_CONTEXT_CODE: Final = bytes.fromhex(
    "42600052" "48602052" "41604052" "44606052" "45608052" "3a60a052" "60003531" "60c052" "60203531" "60e052" "6040353b"
    "610100526101206000f3"
)  # fmt: skip
"""The code that returns the block's time, base fee, recipient of fees, randomness and gas limit, the gas price, two
balances and a code size. Its calldata has two accounts, and the contract whose code size is returned."""
_CONTEXT_WORDS: Final = 9  # that the context reader returns
_PRICE: Final = 5
"""The word with the gas price."""
_ANY_GAS_PRICE_WEI: Final = 1 << 60
"""A gas price above every base fee."""
_ANY_BALANCE_WEI: Final = 1 << 128  # pays for any value and gas
_ORIGIN: Final = "0x7d06c14b29fe83a5b0d1467f92ce385ba640f1d9"
"""An arbitrary account without code that calls come from."""
_PROBE_FEES_WEI: Final = (987_654_321, 1_234_567_890)
"""A base fee and a gas price that no network has."""
_READ_GAS: Final = 1_000_000  # of a call that only reads; chosen
_APPROVAL_GAS: Final = 300_000  # chosen
_BASE_SWAP_GAS: Final = 1_000_000
_MAX_SWAP_GAS: Final = 12_000_000
_SWAP_GAS_PER_BYTE: Final = 1_500
"""The gas per byte of a swap: a step of a route takes some hundred bytes and less than 300,000 gas."""
_TRIAL_GAS: Final = 1_500_000
"""The gas of a trial: a sale in one pool takes a fifth of it."""
_MIN_BLOCK_GAS: Final = 30_000_000
"""The minimum gas limit: some networks have small blocks, in which the transactions together would not fit."""
_TIP_PART: Final = 10
"""The tip, a tenth of the base fee, if the gas price is unknown."""
DELEGATION: Final = bytes.fromhex("ef0100")
"""The prefix of delegated code (EIP-7702); the address of the delegate follows it."""


class TransactionContext(NamedTuple):
    """The block, the gas price and the senders' balances, as contracts see them during the transactions.

    `gas_limit` is 0 unless the block's gas limit is too small for a simulation. `can_simulate_blocks` shows whether the
    node simulates transactions with exactly these values.
    """

    timestamp: int
    base_fee_wei: int
    fee_recipient: int
    randomness: int
    gas_price_wei: int
    gas_limit: int
    balances_wei: Mapping[str, int]
    can_simulate_blocks: bool

    def funding(self, account: str, value_wei: int, gas: int) -> StateOverride | None:
        """Return the override that gives an account the balance it needs to send transactions, or None if its own
        suffices."""
        needed = value_wei + gas * self.gas_price_wei
        return None if self.balances_wei.get(account, 0) >= needed else StateOverride(account, needed)


def _probe_block() -> SimulatedBlock:
    """Return a block that reveals whether a node simulates transactions with the fees that it is given."""
    base_fee_wei, gas_price_wei = _PROBE_FEES_WEI
    transaction = SimulatedTransaction(_READER, _CONTEXT_READER, b"", _READ_GAS, value_wei=1)
    overrides = (StateOverride(_READER, _ANY_BALANCE_WEI), StateOverride(_CONTEXT_READER, code=_CONTEXT_CODE))
    return SimulatedBlock((transaction,), overrides, 1 << 33, base_fee_wei, gas_price_wei)


def _context_call(owners: Sequence[str]) -> HypotheticalCall:
    """Return the call that reads the block and the native balances of at most two accounts."""
    overrides = (StateOverride(_READER, _ANY_BALANCE_WEI), StateOverride(_CONTEXT_READER, code=_CONTEXT_CODE))
    calldata = b"".join(map(encode_word, owners))
    return HypotheticalCall(
        _READER, ContractCall(_CONTEXT_READER, calldata), overrides, gas_price_wei=_ANY_GAS_PRICE_WEI, gas=_READ_GAS
    )


def read_context(owners: Sequence[str], gas_price_wei: int) -> SimulatedRead[TransactionContext | None]:
    """Read the context of transactions by at most two `owners`, or return None if the node does not return it.

    `gas_price_wei` is the network's current gas price, 0 if unknown.
    """
    probed, answer = yield [_probe_block(), _context_call(owners)]
    words = _context_words(answer)
    if words is None:
        return None
    timestamp, base_fee_wei, fee_recipient, randomness, gas_limit, _, *balances, _ = words
    price_wei = _price_wei(gas_price_wei, base_fee_wei)
    held = dict(zip(owners, balances, strict=False))
    is_small = gas_limit < _MIN_BLOCK_GAS
    return TransactionContext(
        timestamp,
        base_fee_wei,
        fee_recipient,
        randomness,
        price_wei,
        _MIN_BLOCK_GAS * is_small,
        held,
        _is_proof(probed),
    )


def context_of_head(head: ChainHead, sender: str, balance_wei: int) -> TransactionContext:
    """Return the context of transactions after a head, for a sender with a native balance of `balance_wei`."""
    block, price = head.block, head.gas_price
    return TransactionContext(
        timestamp=block.timestamp,
        base_fee_wei=block.base_fee_wei,
        fee_recipient=0,
        randomness=0,
        gas_price_wei=_price_wei(price if isinstance(price, int) else 0, block.base_fee_wei),
        gas_limit=0,
        balances_wei={sender: balance_wei},
        can_simulate_blocks=True,
    )


def _price_wei(gas_price_wei: int, base_fee_wei: int) -> int:
    return max(gas_price_wei, base_fee_wei + max(1, base_fee_wei // _TIP_PART))


def _is_proof(outcome: BlockOutcome) -> bool:
    """Return whether a probe's transaction saw its fees and the node reported its transfer."""
    words = _context_words(outcome[0].data) if outcome and outcome[0].succeeded else None
    if not outcome or words is None:
        return False
    base_fee_wei, gas_price_wei = words[1], words[_PRICE]
    is_reported = [(each.receiver, each.amount_wei) for each in outcome[0].transfers] == [(_CONTEXT_READER, 1)]
    return is_reported and (base_fee_wei, gas_price_wei) == _PROBE_FEES_WEI


def _context_words(answer: ReturnData) -> list[int] | None:
    if answer is None or len(answer) != _CONTEXT_WORDS * WORD:
        return None
    return [int.from_bytes(answer[start : start + WORD]) for start in range(0, len(answer), WORD)]


class BlockSwap(NamedTuple):
    """A swap by a sender with the given allowances, on the state with `grants`. `with_code` are the accounts that have
    code."""

    swap: SimulatedCall
    sender: str
    allowances: tuple[int, ...]
    grants: tuple[StateOverride, ...]
    context: TransactionContext
    with_code: frozenset[str] = frozenset()

    def block(self, trial: Trial | None = None) -> SimulatedBlock:
        """Return the block with the approvals, the swap, and then the calls of a trial."""
        swap, context = self.swap, self.context
        approvals = self._approvals()
        watches = trial.watched if trial else ()
        transactions = [
            self._context_read(),
            self._read(Watched(swap.token_out, swap.recipient)),
            *(self._send(self.sender, each, _APPROVAL_GAS) for each in approvals),
            SimulatedTransaction(self.sender, swap.router, swap.calldata, _swap_gas(swap), swap.value_wei),
            self._read(Watched(swap.token_out, swap.recipient)),
        ]
        if trial:
            transactions += [
                *map(self._read, watches),
                *(self._send(trial.account, each, _TRIAL_GAS) for each in trial.calls),
                *map(self._read, watches),
            ]
        actors = [each.sender for each in transactions if each.sender != _READER]
        gas = {account: sum(each.gas for each in transactions if each.sender == account) for account in actors}
        funding = [context.funding(each, swap.value_wei if each == self.sender else 0, gas[each]) for each in gas]
        reader = (StateOverride(_READER, _ANY_BALANCE_WEI), StateOverride(_CONTEXT_READER, code=_CONTEXT_CODE))
        return SimulatedBlock(
            tuple(transactions),
            (*self.grants, *(each for each in funding if each), *reader),
            context.timestamp + 1,
            context.base_fee_wei,
            context.gas_price_wei,
            context.fee_recipient,
            context.randomness,
            context.gas_limit,
            is_validated=self.with_code.isdisjoint(actors),
        )

    def read(self, outcome: BlockOutcome, trial: Trial | None = None) -> tuple[SimulationRun, TrialRun | None] | None:
        """Return the results of `block`, or None if they do not belong to the swap or a token reports no balance."""
        if outcome is None:
            return None
        approvals, swap = self._approvals(), self.swap
        scope, before, *rest = outcome
        approved, made, after, rest = (
            rest[: len(approvals)],
            rest[len(approvals)],
            rest[len(approvals) + 1],
            rest[len(approvals) + 2 :],
        )
        words = _context_words(scope.data)
        watched = Watched(swap.token_out, swap.recipient)
        if words is None or words[_PRICE] != self.context.gas_price_wei:
            return None
        if not words[-1]:
            return SimulationRun(SimulationStatus.NO_ROUTER, 0, 0, b""), None
        refused = next((each for each in approved if not each.succeeded), None)
        if refused:
            return SimulationRun(SimulationStatus.NOT_APPROVED, 0, 0, refused.data), None
        if not made.succeeded:
            return SimulationRun(SimulationStatus.REVERTED, 0, made.gas_used, made.data), None
        grown = _growth(watched, before, [made], after)
        if grown is None:
            return None
        run = SimulationRun(SimulationStatus.DONE, grown, made.gas_used, made.data)
        return run, _trial_run(trial, rest) if trial else None

    def _approvals(self) -> list[Transaction]:
        swap = self.swap
        return [*build_approvals(swap.approvals, self.allowances), *build_approvals(swap.permitted)]

    def _send(self, account: str, made: Transaction, gas: int) -> SimulatedTransaction:
        return SimulatedTransaction(account, made.to, bytes.fromhex(made.calldata[2:]), gas)

    def _context_read(self) -> SimulatedTransaction:
        calldata = encode_word(0) + encode_word(0) + encode_word(self.swap.router)
        return SimulatedTransaction(_READER, _CONTEXT_READER, calldata, _READ_GAS)

    def _read(self, watched: Watched) -> SimulatedTransaction:
        if watched.token == ZERO_ADDRESS:
            return SimulatedTransaction(_READER, _CONTEXT_READER, encode_word(watched.holder), _READ_GAS)
        return SimulatedTransaction(_READER, watched.token, encode_call(BALANCE, watched.holder), _READ_GAS)


def _swap_gas(swap: SimulatedCall) -> int:
    """Return a gas limit like a wallet's, so that contracts cannot use it to detect the simulation."""
    return min(_BASE_SWAP_GAS + _SWAP_GAS_PER_BYTE * len(swap.calldata), _MAX_SWAP_GAS)


def _trial_run(trial: Trial, outcomes: Sequence[TransactionOutcome]) -> TrialRun:
    before, made, after = outcomes[:2], outcomes[2:-2], outcomes[-2:]
    failed = next((each for each in made if not each.succeeded), None)
    output = failed.data if failed else made[-1].data if made else b""
    grown = [_growth(watch, first, made, last) for watch, first, last in zip(trial.watched, before, after, strict=True)]
    if failed or grown[0] is None or grown[1] is None:
        return TrialRun(False, (0, 0), output)
    return TrialRun(True, (grown[0], grown[1]), output)


def _growth(
    watched: Watched, before: TransactionOutcome, made: Sequence[TransactionOutcome], after: TransactionOutcome
) -> int | None:
    """Return the increase of a balance, or None if the token does not report it.

    Native currency is counted by its transfers, since a sender's balance also pays for gas.
    """
    if watched.token == ZERO_ADDRESS:
        moved = [transfer for each in made for transfer in each.transfers]
        gained = sum(each.amount_wei for each in moved if each.receiver == watched.holder)
        return gained - sum(each.amount_wei for each in moved if each.sender == watched.holder)
    if not before.succeeded or not after.succeeded or min(len(before.data), len(after.data)) < WORD:
        return None
    return int.from_bytes(after.data[:WORD]) - int.from_bytes(before.data[:WORD])


def is_code_of_contract(code: bytes) -> bool:
    """Return whether an account with the code `code` cannot send transactions: the code is neither empty nor a
    delegation."""
    return bool(code) and not code.startswith(DELEGATION)


def rehearsal_of(block_swap: BlockSwap, outcomes: Sequence[BlockOutcome], trials: Sequence[Trial]) -> Rehearsal | None:
    """Return the rehearsal from a block's outcome for each trial, or from one outcome without trials. Return None if an
    outcome is missing."""
    results = [block_swap.read(*each) for each in zip(outcomes, trials or (None,), strict=True)]
    found = [each for each in results if each is not None]
    if len(found) < len(results):
        return None
    run = found[0][0]
    return Rehearsal(run, tuple(trial for _, trial in found if trial is not None))


def acting_call(
    swap: SimulatedCall,
    call: ContractCall,
    overrides: Sequence[StateOverride],
    context: TransactionContext | None,
    sender: str,
    trials: int = 0,
) -> HypotheticalCall:
    """Return the call for a sender with the simulation's code: it makes a swap, and then trials.

    The call comes from an account without code and with a plain balance, at the gas price of the transaction: contracts
    see a sender with code, but an ordinary origin.
    """
    if context is None:
        return HypotheticalCall(sender, call, tuple(overrides))
    gas = call_gas(swap, trials)
    means = StateOverride(_ORIGIN, 2 * gas * context.gas_price_wei)
    return HypotheticalCall(_ORIGIN, call, (*overrides, means), context.gas_price_wei, gas)


def call_gas(swap: SimulatedCall, trials: int) -> int:
    """Return the gas of a call that makes the approvals and the swap, followed by the given number of `trials`."""
    approvals = len(swap.approvals) + len(swap.permitted)
    return _swap_gas(swap) + approvals * _APPROVAL_GAS + (trials + 1 if trials else 0) * _TRIAL_GAS
