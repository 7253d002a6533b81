"""Simulate the offers in a comparison for one sender, at one block, on the node that checks swaps.

The block is the latest one at the time when all offers have arrived, because no one can sign for an earlier block. If
an offer is not simulated, the reason is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from swapcli.core.encoding.abi import parse_hex
from swapcli.core.errors import SwapcliError
from swapcli.core.model.network import Network
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.transaction import Approval, UnsignedTransaction
from swapcli.core.networks.address import is_native
from swapcli.core.records import NamedTuple
from swapcli.payload.evm.simulation import SimulatedCall, SimulationRun, SimulationStatus
from swapcli.payload.payloads_by_variant import ReadPayload
from swapcli.payload.simulation.offered_swaps import simulate_offers
from swapcli.payload.simulation.revert_reason import describe_revert
from swapcli.quoting.alternatives import (
    REMOTE_KINDS,
    Alternative,
    AlternativeKind,
    AlternativeSimulation,
    AnsweredAlternative,
    SimulationOutcome,
)
from swapcli.quoting.offer_costs import extra_wei, offer_cost
from swapcli.quoting.quote_results import LocalQuote, QuoteResult
from swapcli.quoting.review.presign_checker import route_payloads

if TYPE_CHECKING:
    from swapcli.quoting.aggregators.ask_aggregator import AggregatorOffer
    from swapcli.quoting.openers.nodes import NodeOpener
    from swapcli.quoting.openers.router_memory import RouterMemory
    from swapcli.quoting.sources.quote_source import QuoteSource

_REQUESTS: Final = 8
"""Requests that one simulation sends to a public node: the latest block, the sender, balances, up to three for a token
with unusual storage of balances, and the simulation."""
_NO_NODE: Final = "no node is set to simulate it"
_NO_OFFER: Final = "it made no offer"
_NO_ROUTE: Final = "it has no route"
_NO_PAYLOAD: Final = "its response has no payload to simulate"

_Run = SimulationRun | SwapcliError


class OfferSimulator(NamedTuple):
    """Simulates offers on the node from the settings, for a sender who also receives the output."""

    nodes: NodeOpener
    routers: RouterMemory
    network: Network
    sender: str

    def own_calls(self, source: QuoteSource, split: QuoteResult, terms: SwapTerms) -> tuple[SimulatedCall, ...]:
        """Return the payload of a quote from `source` as calls, one for each way in which its router may interpret it.

        Raises the same errors as `QuoteSource.build`.
        """
        terms = terms._replace(recipient=self.sender)
        payload = source.build(split, terms)
        pools = split.pools if isinstance(split, LocalQuote) else None
        variants = route_payloads(self.routers.findings, split.network, split.result, pools, terms, payload)
        if variants is None:
            return (SimulatedCall.from_payload(payload),)
        candidates = variants.candidates(ReadPayload(split.network.router_variant, payload))
        return tuple(SimulatedCall.from_payload(each.payload) for each in candidates)

    def simulate(
        self, answers: Sequence[AnsweredAlternative], own: tuple[SimulatedCall, ...] | SwapcliError, order: Order
    ) -> list[Alternative]:
        """Return the alternatives with the results of their simulations, in the same order. The split route is first.

        `own` are the calls for the split route, or the reason why there are none.
        """
        split = answers[0]
        calls = {0: own} if isinstance(own, tuple) and own else {}
        for index, answer in enumerate(answers[1:], start=1):
            if call := self._call(answer, order):
                calls[index] = (call,)
        runs = self._run(calls)
        simulated = []
        for index, answer in enumerate(answers):
            if index in runs.found:
                found = _result(runs.found[index], runs.block, split.quoted, extra_wei(answer.offer, order))
            else:
                reason = runs.problem if index in calls else _why_not(answer, own if index == 0 else None)
                found = AlternativeSimulation(SimulationOutcome.NOT_SIMULATED, reason)
            simulated.append(answer.alternative._replace(simulation=found))
        return [_replayed(each, simulated[0], split.quoted) for each in simulated]

    def _call(self, answer: AnsweredAlternative, order: Order) -> SimulatedCall | None:
        """Return the payload of an alternative from outside; None if it has none."""
        if answer.alternative.kind is AlternativeKind.SERVICE and answer.quoted is not None:
            payload: UnsignedTransaction | None = answer.quoted.payload
            return None if payload is None else SimulatedCall.from_payload(payload)
        return self._offered_call(answer.offer, order) if answer.offer else None

    def _offered_call(self, offer: AggregatorOffer, order: Order) -> SimulatedCall | None:
        transaction = offer.transaction
        if transaction is None or transaction.to == self.sender:
            return None  # the sender has the simulation's code, which would execute the call
        token_in, token_out = (
            ZERO_ADDRESS if is_native(each.address) else each.address for each in (order.token_in, order.token_out)
        )
        approvals: tuple[Approval, ...] = ()
        if token_in != ZERO_ADDRESS:
            is_revoked_first = token_in in self.network.revoke_first_tokens
            spender = offer.spender or transaction.to
            approvals = (Approval(token_in, spender, order.amount, is_revoked_first=is_revoked_first),)
        return SimulatedCall(
            router=transaction.to,
            token_in=token_in,
            token_out=token_out,
            recipient=self.sender,
            amount_in=order.amount,
            value_wei=transaction.value,
            calldata=parse_hex(transaction.calldata, "calldata"),
            approvals=approvals,
        )

    def _run(self, calls: Mapping[int, tuple[SimulatedCall, ...]]) -> _Runs:
        """Simulate the payloads of each alternative, all on one block."""
        if not calls:
            return _Runs()
        flat = [(index, call) for index, each in calls.items() for call in each]
        try:
            with self.nodes.checking_node(self.network, _REQUESTS) as node:
                if node is None:
                    return _Runs(problem=_NO_NODE)
                head = node.read_head()
                at, price_wei = head.block, head.gas_price if isinstance(head.gas_price, int) else 0
                found = simulate_offers(node, at, [call for _, call in flat], self.sender, price_wei)
        except SwapcliError as error:
            return _Runs(problem=error.message)
        runs: dict[int, list[_Run]] = {}
        for (index, _), run in zip(flat, found, strict=True):
            runs.setdefault(index, []).append(run)
        return _Runs(runs, at.number)


class _Runs(NamedTuple):
    """The results of each alternative's payloads, by its index, and their block; or why nothing was simulated."""

    found: Mapping[int, Sequence[_Run]] = MappingProxyType({})
    block: int | None = None
    problem: str = ""


def _result(runs: Sequence[_Run], block: int | None, split: QuoteResult | None, extra: int) -> AlternativeSimulation:
    """Return the result of an alternative's payloads: the one that pays the most, otherwise the first failure."""
    paying = [run for run in runs if isinstance(run, SimulationRun) and _pays(run)]
    if not paying:
        failed = AlternativeSimulation(SimulationOutcome.FAILED, _problem(runs[0]), block)
        return failed._replace(is_node_error=isinstance(runs[0], SwapcliError))
    best = max(paying, key=lambda run: run.received)
    cost = offer_cost(split, best.gas_used, extra)
    net = cost.taken_from(best.received)
    return AlternativeSimulation(SimulationOutcome.PAID, "", block, best.received, best.gas_used, cost.usd, net)


def _pays(run: SimulationRun) -> bool:
    return run.status is SimulationStatus.DONE and run.received > 0


def _problem(run: _Run) -> str:
    if isinstance(run, SwapcliError):
        return run.message
    match run.status:
        case SimulationStatus.NO_ROUTER:
            return "its target is not a contract"
        case SimulationStatus.NOT_APPROVED:
            return f"the input cannot be approved: {describe_revert(run.return_data)}"
        case SimulationStatus.REVERTED:
            return f"it reverts: {describe_revert(run.return_data)}"
    return "it pays nothing"


def _why_not(answer: AnsweredAlternative, own: tuple[SimulatedCall, ...] | SwapcliError | None) -> str:
    """Return why an alternative without payloads was not simulated."""
    if answer.alternative.error is not None:
        return _NO_OFFER if answer.alternative.kind in REMOTE_KINDS else _NO_ROUTE
    if isinstance(own, SwapcliError):
        return own.message
    return _NO_PAYLOAD if answer.alternative.kind in REMOTE_KINDS else ""


def _replayed(alternative: Alternative, split: Alternative, quoted: QuoteResult | None) -> Alternative:
    """Return another alternative of this process, with the result that the split route's simulation suggests.

    Its amount and gas are scaled from its quote in the same proportion as the split route's, because both use the same
    tokens and router. Otherwise gas before refunds would be compared with gas after refunds.
    """
    proof = split.simulation
    is_other = alternative.kind not in (AlternativeKind.SPLIT, *REMOTE_KINDS)
    if not is_other or alternative.amount_out is None or proof is None or proof.outcome is not SimulationOutcome.PAID:
        return alternative
    amount_out = _in_proportion(alternative.amount_out, proof.amount_out, split.amount_out)
    replayed = AlternativeSimulation(SimulationOutcome.REPLAYED, "", proof.block, amount_out)
    if alternative.gas_units is not None:
        gas_units = _in_proportion(alternative.gas_units, proof.gas_units, split.gas_units)
        cost = offer_cost(quoted, gas_units)
        net = cost.taken_from(amount_out)
        replayed = replayed._replace(gas_units=gas_units, gas_usd=cost.usd, output_after_gas=net)
    return alternative._replace(simulation=replayed)


def _in_proportion(number: int, proven: int | None, quoted: int | None) -> int:
    return number * proven // quoted if proven and quoted else number
