"""Simulate offers for one order on a node: swaps of different routers, each on the same state, for the same sender."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swapcli.core.errors import SwapcliError, UpstreamRejected
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.transaction import Approval
from swapcli.payload.evm.simulation import SimulatedCall, SimulationRun, encode_simulate, runtime_code
from swapcli.payload.simulation.sender_balances import SenderBalances, read_sender_balances
from swapcli.payload.simulation.swap_simulation import OUT_OF_GAS, grant_balance, own_code, read_simulation
from swapcli.state.rpc.node import BlockId, ContractCall, HypotheticalCall, ReturnData, StateOverride, StateOverrideNode


def simulate_offers(
    node: StateOverrideNode, at: BlockId, offers: Sequence[SimulatedCall], sender: str
) -> list[SimulationRun | SwapcliError]:
    """Simulate swaps that sell the same amount of one token, each by itself on the state after a block.

    What the sender lacks is granted: native currency, the input, and each offer's own approvals. An offer that cannot
    be simulated has an error, and does not keep the others from it. Raises `UpstreamError`, and `SimulationError` if
    the input cannot be granted.
    """
    swap, approvals = offers[0], tuple(dict.fromkeys(each for offer in offers for each in offer.approvals))
    holdings = read_sender_balances(node, at, sender, swap._replace(approvals=approvals))
    allowances = dict(zip(approvals, holdings.allowances, strict=True)) if swap.token_in != ZERO_ADDRESS else {}
    overrides = tuple(_grants(node, at, offers, sender, holdings))
    calls = [
        HypotheticalCall(sender, ContractCall(sender, encode_simulate(each, _of(each, allowances))), overrides)
        for each in offers
    ]
    return [
        _read(node, answer, offer, _of(offer, allowances))
        for answer, offer in zip(_simulate(node, calls, at), offers, strict=True)
    ]


def _grants(
    node: StateOverrideNode, at: BlockId, offers: Sequence[SimulatedCall], sender: str, holdings: SenderBalances
) -> list[StateOverride]:
    """Return the state in which the sender can make each of the swaps."""
    swap, needed_wei = offers[0], max(offer.value_wei for offer in offers)
    code, elsewhere = own_code(holdings.account.code)
    lacks_wei = holdings.account.balance_wei < needed_wei
    grants = [StateOverride(sender, needed_wei if lacks_wei else None, runtime_code(code)), *elsewhere]
    if swap.token_in != ZERO_ADDRESS and holdings.balance_in < swap.amount_in:
        grants.append(grant_balance(node, at, swap, sender, holdings.balance_in))
    return grants


def _of(offer: SimulatedCall, allowances: Mapping[Approval, int]) -> tuple[int, ...]:
    return tuple(allowances.get(each, 0) for each in offer.approvals)


def _simulate(
    node: StateOverrideNode, calls: Sequence[HypotheticalCall], at: BlockId
) -> Sequence[ReturnData | UpstreamRejected]:
    """Return the answers: of all calls together, or of each alone if the node refuses them, so that it names the one
    that it refuses."""
    try:
        return node.simulate(calls, at)
    except UpstreamRejected as error:
        if len(calls) == 1:
            return [error]
    return [answer for call in calls for answer in _simulate(node, [call], at)]


def _read(
    node: StateOverrideNode, answer: ReturnData | UpstreamRejected, offer: SimulatedCall, allowances: Sequence[int]
) -> SimulationRun | SwapcliError:
    if isinstance(answer, SwapcliError):
        return answer
    if answer is None:
        return OUT_OF_GAS
    try:
        return read_simulation(node, answer, offer, allowances)
    except SwapcliError as error:
        return error
