"""Simulate offers for one order on a node: swaps through different routers, each on the same state, for the same
sender.

The swaps are simulated as the transactions that will be sent. If a node cannot do that, it simulates two senders, one
of them without code; an offer that treats them differently gets an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from swapcli.core.errors import SimulationError, SwapcliError, UpstreamRejected
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.transaction import Approval
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.payload.evm.simulation import (
    SimulatedCall,
    SimulationRun,
    SimulationStatus,
    encode_simulate,
    runtime_code,
)
from swapcli.payload.simulation.block_simulation import (
    BlockSwap,
    TransactionContext,
    acting_call,
    is_code_of_contract,
    read_context,
)
from swapcli.payload.simulation.plain_sender import PlainSwap, are_near
from swapcli.payload.simulation.sender_balances import SenderBalances, balance_calls, decode_balances
from swapcli.payload.simulation.simulated_reads import run_simulated, side_by_side, simulated
from swapcli.payload.simulation.swap_simulation import (
    OUT_OF_GAS,
    codes_call,
    grant_balance,
    own_code,
    read_codes,
    read_simulation,
)
from swapcli.state.rpc.node import Account, BlockId, HypotheticalCall, StateOverride, StateOverrideNode

_Result = SimulationRun | SwapcliError
_NOTICES: Final = "it treats a sender without code differently, so it may detect simulations"


def simulate_offers(
    node: StateOverrideNode, at: BlockId, offers: Sequence[SimulatedCall], sender: str, gas_price_wei: int = 0
) -> list[SimulationRun | SwapcliError]:
    """Simulate swaps that sell the same amount of one token, each separately on the state after a block.

    The simulation grants whatever the sender lacks: native currency, the input, and each offer's own approvals. An
    offer that cannot be simulated gets an error and does not affect the others. `gas_price_wei` is the current gas
    price. This takes two round trips, or four if the node simulates no blocks, and one or two more for a sender that
    lacks the input. Raises `UpstreamError`, and `SimulationError` if the input cannot be granted.
    """
    return _OfferSimulation(node, at, offers, sender).run(gas_price_wei)


class _OfferSimulation:
    """The simulations of the offers for one order."""

    def __init__(self, node: StateOverrideNode, at: BlockId, offers: Sequence[SimulatedCall], sender: str) -> None:
        self._node, self._at, self._offers, self._sender = node, at, offers, sender
        self._sold = offers[0].token_in

    def run(self, gas_price_wei: int) -> list[_Result]:
        approvals = tuple(dict.fromkeys(each for offer in self._offers for each in offer.approvals))
        swap = self._offers[0]._replace(approvals=approvals)
        reads = [] if self._sold == ZERO_ADDRESS else balance_calls(self._sender, swap)
        (found,), context, answers = run_simulated(
            self._node,
            self._at,
            side_by_side(
                simulated([codes_call(self._sender, [self._sender])]),
                read_context([self._sender], gas_price_wei),
                simulated([HypotheticalCall(self._sender, call, ()) for call in reads]),
            ),
        )
        (code,) = read_codes(self._node, found, 1)
        holdings = SenderBalances(Account(0, code), 0)
        if reads:
            holdings = decode_balances(holdings.account, swap, answers)
        allowances = dict(zip(approvals, holdings.allowances, strict=True)) if reads else {}
        grants = []
        if reads and holdings.balance_in < swap.amount_in:
            grants.append(grant_balance(self._node, self._at, swap, self._sender, holdings.balance_in))
        runs: dict[int, _Result] = {}
        if context is not None and context.can_simulate_blocks:
            runs |= self._in_blocks(allowances, grants, code, context)
        missing = [number for number in range(len(self._offers)) if number not in runs]
        if missing:
            acting = self._acting(missing, allowances, grants, code, context)
            runs |= self._confirmed(acting, grants, context) if context else acting
        return [runs[number] for number in range(len(self._offers))]

    def _in_blocks(
        self,
        allowances: Mapping[Approval, int],
        grants: Sequence[StateOverride],
        code: bytes,
        context: TransactionContext,
    ) -> dict[int, SimulationRun]:
        """Return the runs, by number, of the offers that the node simulates as transactions."""
        with_code = frozenset([self._sender] if is_code_of_contract(code) else [])
        planned = [
            BlockSwap(offer, self._sender, _of(offer, allowances), tuple(grants), context, with_code)
            for offer in self._offers
        ]
        outcomes = run_simulated(self._node, self._at, simulated([each.block() for each in planned]))
        results = [each.read(outcome) for each, outcome in zip(planned, outcomes, strict=True)]
        return {number: result[0] for number, result in enumerate(results) if result is not None}

    def _acting(
        self,
        numbers: Sequence[int],
        allowances: Mapping[Approval, int],
        grants: Sequence[StateOverride],
        code: bytes,
        context: TransactionContext | None,
    ) -> dict[int, _Result]:
        """Return the runs of offers for a sender with the simulation's code."""
        offers = {number: self._offers[number] for number in numbers}
        needed_wei = max(offer.value_wei for offer in offers.values())
        own, elsewhere = own_code(code)
        held_wei = context.balances_wei[self._sender] if context else 0
        funding_wei = needed_wei if held_wei < needed_wei else None
        overrides = [StateOverride(self._sender, funding_wei, runtime_code(own)), *elsewhere, *grants]
        calls = [
            acting_call(
                each,
                ContractCall(self._sender, encode_simulate(each, _of(each, allowances))),
                overrides,
                context,
                self._sender,
            )
            for each in offers.values()
        ]
        return {
            number: _read(self._node, answer, offer, _of(offer, allowances))
            for (number, offer), answer in zip(offers.items(), self._simulate(calls), strict=True)
        }

    def _confirmed(
        self, acting: Mapping[int, _Result], grants: Sequence[StateOverride], context: TransactionContext
    ) -> dict[int, _Result]:
        """Return the runs of offers with the same result for a sender without code, and errors for the others."""
        done = [
            k for k, run in acting.items() if isinstance(run, SimulationRun) and run.status is SimulationStatus.DONE
        ]
        plain = {number: PlainSwap.of(self._offers[number], self._sender, ()) for number in done}
        if not plain:
            return dict(acting)
        routers = list(dict.fromkeys(each.swap.router for each in plain.values()))
        (found,), granted = run_simulated(
            self._node,
            self._at,
            side_by_side(
                simulated([codes_call(self._sender, routers)]),
                side_by_side(*(each.read_grants() for each in plain.values())),
            ),
        )
        codes = dict(zip(routers, read_codes(self._node, found, len(routers)), strict=True))
        calls = {
            number: each.call(codes[each.swap.router], [*grants, *approved], context)
            for (number, each), approved in zip(plain.items(), granted, strict=True)
            if approved is not None
        }
        runs = dict(acting)
        for number, answer in zip(calls, self._simulate(list(calls.values())), strict=True):
            made = None if isinstance(answer, SwapcliError) else plain[number].read(answer)
            run = runs[number]
            assert isinstance(run, SimulationRun)
            if made is None or made.run.status is not run.status or not are_near(made.run.received, run.received):
                runs[number] = SimulationError(_NOTICES)
        return runs

    def _simulate(self, calls: Sequence[HypotheticalCall]) -> Sequence[ReturnData | UpstreamRejected]:
        """Return the responses to all calls together, or to each alone if the node rejects the batch, so that the
        rejected call is known."""
        if not calls:
            return []
        try:
            return self._node.simulate(calls, self._at)
        except UpstreamRejected as error:
            if len(calls) == 1:
                return [error]
        return [answer for call in calls for answer in self._simulate([call])]


def _of(offer: SimulatedCall, allowances: Mapping[Approval, int]) -> tuple[int, ...]:
    return tuple(allowances.get(each, 0) for each in offer.approvals)


def _read(
    node: StateOverrideNode, answer: ReturnData | UpstreamRejected, offer: SimulatedCall, allowances: Sequence[int]
) -> _Result:
    if isinstance(answer, SwapcliError):
        return answer
    if answer is None:
        return OUT_OF_GAS
    try:
        return read_simulation(node, answer, offer, allowances)
    except SwapcliError as error:
        return error
