"""Simulate a swap on a node after a block, for its real sender, before anyone signs it.

The contract of `swapcli.payload.evm.simulation` replaces the sender's code, makes the missing approvals, calls the
router, and reports the amount that the recipient received. If the sender lacks native currency, the token or the
allowance, the simulation grants them. The signature is not simulated.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from swapcli.core.errors import InvalidInput, InvalidUpstreamResponse, SimulationError, UpstreamRejected
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.payload.evm.simulation import (
    SimulatedCall,
    SimulationRun,
    SimulationStatus,
    decode_run,
    encode_simulate,
    runtime_code,
)
from swapcli.payload.simulation.block_simulation import (
    DELEGATION,
    BlockSwap,
    acting_call,
    context_of_head,
    is_code_of_contract,
)
from swapcli.payload.simulation.plain_sender import are_near
from swapcli.payload.simulation.sender_balances import SenderBalances
from swapcli.payload.simulation.simulated_reads import run_simulated, side_by_side, simulated
from swapcli.state.rpc.node import BlockId, ChainHead, HypotheticalCall, StateOverride, StateOverrideNode
from swapcli.state.transfers.token_slots import find_balance_slot
from swapcli.state.transfers.transfer_probe import decode_codes, encode_codes
from swapcli.state.transfers.transfer_probe import runtime_code as probe_code

_OWN_CODE: Final = "0x5b3f1c9f37a64d1db5a7c2e0d94be2f3a16c80e7"
"""An arbitrary address with the sender's own code during the simulation."""

_PROBE: Final = "0x4c19e0b7d3a85f2691be70d4c8a6f5132e9d47b0"
"""An arbitrary address with the contract that reads codes."""


OUT_OF_GAS: Final = SimulationRun(SimulationStatus.REVERTED, 0, 0, b"")
"""The message for a swap that has used all its gas."""


class SimulationGrant(StrEnum):
    """An asset or permission that the sender lacks and that the simulation grants."""

    NATIVE = "native currency"
    TOKEN = "token"
    ALLOWANCE = "allowance"


class SwapSimulation(NamedTuple):
    """The result of a simulation, and the grants that it assumed."""

    run: SimulationRun
    grants: tuple[SimulationGrant, ...]


def simulate_swap(
    node: StateOverrideNode, at: BlockId, swap: SimulatedCall, sender: str, balances: SenderBalances
) -> SwapSimulation:
    """Simulate a swap. Raises the same errors as `simulate_swaps`."""
    return simulate_swaps(node, at, [swap], sender, balances)[0]


def simulate_swaps(
    node: StateOverrideNode,
    at: BlockId,
    swaps: Sequence[SimulatedCall],
    sender: str,
    balances: SenderBalances,
    head: ChainHead | None = None,
) -> list[SwapSimulation]:
    """Simulate swaps that differ only in their calldata, each on the same state.

    With a `head`, the swaps are also simulated as transactions with that head's fees, if the node can do so. The
    results replace the others if they differ by more than rounding.

    This takes one round trip, and one or two before it if the sender lacks the token. Raises `SimulationError` if the
    token cannot be granted to the sender, or a token does not report balances; and `UpstreamRejected` if the node
    cannot simulate.
    """
    swap = swaps[0]
    assumed = tuple(lacking(swap, balances))
    own, elsewhere = own_code(balances.account.code)
    native_wei = swap.value_wei if SimulationGrant.NATIVE in assumed else None
    overrides = [StateOverride(sender, native_wei, runtime_code(own)), *elsewhere]
    try:
        if SimulationGrant.TOKEN in assumed:
            overrides.append(grant_balance(node, at, swap, sender, balances.balance_in))
        context = None if head is None else context_of_head(head, sender, balances.account.balance_wei)
        calls = [
            acting_call(
                each, ContractCall(sender, encode_simulate(each, balances.allowances)), overrides, context, sender
            )
            for each in swaps
        ]
        with_code = frozenset([sender] if is_code_of_contract(balances.account.code) else [])
        grants = tuple(each for each in overrides if each.address == swap.token_in)
        planned = [
            BlockSwap(each, sender, balances.allowances, grants, context, with_code) for each in swaps if context
        ]
        blocks = simulated([each.block() for each in planned])
        outcomes, answers = run_simulated(node, at, side_by_side(blocks, simulated(calls)))
    except UpstreamRejected as error:
        error.hint = error.hint or "simulating needs a node that supports state overrides and still has the block"
        raise
    results = [each.read(outcome) for each, outcome in zip(planned, outcomes, strict=True)]
    mined = [result[0] if result else None for result in results]
    # A swap that uses all its gas fails alone.
    is_any_answered = any(answer is not None for answer in answers)
    acting = [
        OUT_OF_GAS if answer is None and is_any_answered else read_simulation(node, answer, each, balances.allowances)
        for answer, each in zip(answers, swaps, strict=True)
    ]
    runs = map(_choose_run, acting, mined or [None] * len(acting))
    return [SwapSimulation(run, assumed) for run in runs]


def _choose_run(acting: SimulationRun, mined: SimulationRun | None) -> SimulationRun:
    """Return the run of the transaction if it differs, and otherwise the run on the state of the quote."""
    if mined is None:
        return acting
    is_alike = acting.status is mined.status and are_near(acting.received, mined.received)
    return acting if is_alike else mined


def read_simulation(
    node: StateOverrideNode, answer: ReturnData, swap: SimulatedCall, allowances: Sequence[int]
) -> SimulationRun:
    """Return the simulation contract's result for a swap, decoded. Raises the same errors as `require_answer`."""
    answer = require_answer(node, answer)
    try:
        return decode_run(answer, swap, allowances)
    except InvalidInput as error:
        raise malformed_answer(node, error) from None


def require_answer(node: StateOverrideNode, answer: ReturnData) -> bytes:
    """Return the simulation contract's result. Raises `SimulationError`, or `UpstreamRejected` if the contract did not
    run."""
    if answer is None:
        raise SimulationError("the swap cannot be simulated: a token reports no balances, or the gas is too high")
    if answer == b"":
        raise UpstreamRejected(
            f"{node.redacted_url} ignores state overrides, so it cannot simulate", hint="set another node"
        )
    return answer


def malformed_answer(node: StateOverrideNode, error: InvalidInput) -> InvalidUpstreamResponse:
    """Return the error for a result that the simulation contract never returns."""
    return InvalidUpstreamResponse(f"{node.redacted_url} returned an invalid simulation result: {error.message}")


def lacking(swap: SimulatedCall, balances: SenderBalances) -> list[SimulationGrant]:
    lacks_input = balances.balance_in < swap.amount_in
    if swap.token_in == ZERO_ADDRESS:
        return [SimulationGrant.NATIVE] if lacks_input else []
    lacks_leave = any(have < each.amount for each, have in zip(swap.approvals, balances.allowances, strict=True))
    return [SimulationGrant.TOKEN] * lacks_input + [SimulationGrant.ALLOWANCE] * lacks_leave


def own_code(code: bytes, carrier: str = _OWN_CODE) -> tuple[str, list[StateOverride]]:
    """Return the address for an account's own code (zero for none), and the override that puts the code at that
    address."""
    if not code:
        return ZERO_ADDRESS, []
    if code.startswith(DELEGATION):
        return f"0x{code[len(DELEGATION) :].hex()}", []
    return carrier, [StateOverride(carrier, code=code)]


def grant_balance(
    node: StateOverrideNode, at: BlockId, swap: SimulatedCall, sender: str, balance: int
) -> StateOverride:
    """Return the override with which a sender who has `balance` holds the input. Raises the same errors as
    `simulate_swaps`."""
    return granted_input(swap, find_balance_slot(node, at, swap.token_in, sender, balance, swap.amount_in))


def granted_input(swap: SimulatedCall, slot: int | None) -> StateOverride:
    """Return the override with which a sender holds the input, given the storage slot of the balance. Raises
    `SimulationError`."""
    if slot is None:
        raise SimulationError(
            "a simulation needs a sender who holds the input: swapcli cannot set balances of this token",
            hint="set a sender who holds it",
        )
    return StateOverride(swap.token_in, slots=((slot, swap.amount_in),))


def codes_call(sender: str, addresses: Sequence[str]) -> HypotheticalCall:
    """Return the call that reads the code at `addresses`."""
    reader = (StateOverride(_PROBE, code=probe_code()),)
    return HypotheticalCall(sender, ContractCall(_PROBE, encode_codes(addresses)), reader)


def read_codes(node: StateOverrideNode, answer: ReturnData, count: int) -> list[bytes]:
    """Return the codes in the result of `codes_call`. Raises the same errors as `require_answer`."""
    try:
        return decode_codes(require_answer(node, answer), count)
    except InvalidInput as error:
        raise malformed_answer(node, error) from None
