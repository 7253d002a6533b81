"""Prepared swaps: the checked transactions of a quote or of an earlier route, and their JSON."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.finding import Finding
from swapcli.core.model.network import Network, encoding_package
from swapcli.core.model.quote_figures import QuoteFigures
from swapcli.core.model.swap_terms import PPM_PER_PERCENT
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import Deadline, EncodedCall, UnsignedTransaction, deadline_of
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.interface.quote_fields import render_quote_fields
from swapcli.interface.route import render, render_short
from swapcli.interface.router_call import render_call_route
from swapcli.interface.transaction_responses import render_calldata_v1, render_calldata_v2, render_execute
from swapcli.payload.transactions_to_send import RenderedTransaction, missing_fields, render_transactions

if TYPE_CHECKING:
    from swapcli.core.model.route_result import RouteResult
    from swapcli.interface.document_types import (
        AdvisedSlippageJson,
        CalldataDocumentJson,
        ExecuteDocumentJson,
    )
    from swapcli.interface.handoff_types import SafeBatchJson, WalletCallsRequestJson
    from swapcli.payload.checks.presign_checks import PayloadCheck
    from swapcli.payload.checks.simulated_variants import Simulation
    from swapcli.payload.verdict.verdict import Verdict
    from swapcli.quoting.quote_results import QuoteResult
    from swapcli.quoting.slippage_measures import SlippageAdvice


class BuiltPayload(NamedTuple):
    """The payload of a swap on `network`, with the results of its checks and simulation, if any."""

    payload: UnsignedTransaction
    network: Network
    checked: PayloadCheck | None = None
    verdict: Verdict | None = None

    @property
    def is_allowance_unchecked(self) -> bool:
        """Whether the swap needs an allowance that was not checked on a node."""
        is_native = self.payload.call.route.swap_type is SwapType.NATIVE_TO_TOKEN
        return not is_native and (self.checked is None or self.checked.holdings is None)

    def router_reading(self) -> tuple[str, str] | None:
        """Return a description of how the router reads rates and extra data, as shown by a simulation; None if there
        was no simulation."""
        simulation = self.checked.simulation if self.checked else None
        if simulation is None or simulation.variant is None:
            return None
        from swapcli.payload.checks.payload_findings import FORM_WORDS, RATE_WORDS

        rates, forms = simulation.variant
        rate_words = " or ".join(RATE_WORDS[rate] for rate in rates)
        form_words = " or ".join(FORM_WORDS[form] for form in forms)
        return (
            "rates in any variant" if len(rates) == len(RATE_WORDS) else f"rates as {rate_words}",
            "extra data in any form" if len(forms) == len(FORM_WORDS) else f"extra data as {form_words}",
        )

    def transactions(self) -> list[RenderedTransaction]:
        """Return the required approvals, followed by the swap."""
        return render_transactions(self.payload, self.network, self.checked)

    def fields(self, transactions: list[RenderedTransaction]) -> dict[str, Any]:
        """Return the JSON fields of the transactions, the simulation and the verdict."""
        found: dict[str, Any] = {
            "transactions": [{**(each.request or each.signed_fields), "what": each.purpose} for each in transactions]
        }
        if transactions[-1].request is not None:
            found["missing"] = missing_fields(transactions)
        if self.checked and self.checked.invoke:
            found |= self.checked.invoke.details()
        if self.checked and self.checked.simulation:
            found["simulation"] = _simulation_field(self.checked.simulation, self.network)
        if self.verdict:
            found["verdict"] = self.verdict.document()
        return found


class PreparedRoute(NamedTuple):
    """The transactions that execute an earlier route on the current state.

    The fields are as in `PreparedSwap`. `figures` are the payload's figures, with all warnings about it.
    """

    route: RouteResult
    figures: QuoteFigures
    transactions: list[dict[str, Any]]
    built: BuiltPayload
    account_names: Mapping[str, str] = MappingProxyType({})

    @property
    def network(self) -> Network:
        """The network of the swap."""
        return self.built.network

    @property
    def payload(self) -> UnsignedTransaction:
        """The transaction of the swap."""
        return self.built.payload

    @property
    def deadline(self) -> Deadline:
        """The time until which the swap can be executed, and the contract that rejects it afterwards."""
        return deadline_of(self.payload, self.network.router_dialect)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The warnings to read before signing: stable codes and sentences."""
        return self.figures.warnings

    @property
    def simulation(self) -> Simulation | None:
        """The result of the simulation; None if it was not requested."""
        return self.built.checked.simulation if self.built.checked else None

    @property
    def verdict(self) -> Verdict | None:
        """The verdict from a simulation; None if no node has simulated the swap."""
        return self.built.verdict

    def document(self) -> ExecuteDocumentJson:
        """Return the JSON that `swapcli execute` prints: V2 calldata or V1 execute, or `swap` as in
        `PreparedSwap.document`."""
        payload, network, transactions = self.payload, self.network, self.built.transactions()
        if isinstance(payload.call, EncodedCall):
            document = _encoded_call_fields(payload.call, network)
        elif self.route.api_version is ApiVersion.V2:
            document = {**render_calldata_v2(payload, network, self.figures.quoted_at_s * 1000)}
            document |= _deadline_field(payload)
        else:
            document = {**render_execute(payload, network)} | _deadline_field(payload)
        document |= _swap_fields(payload, transactions[-1], self.figures, network)
        return cast("ExecuteDocumentJson", document | {**self.account_names} | self.built.fields(transactions))

    def safe_batch(self) -> SafeBatchJson:
        """Return the approvals and the swap as a file for Safe's Transaction Builder.

        Raises `InvalidOption` on Starknet.

        Example: `market.execute(route, destination=safe, handoff="safe").safe_batch()`.
        """
        from swapcli.quoting.handoffs import safe_batch

        return safe_batch(self)

    def wallet_calls(self) -> WalletCallsRequestJson:
        """Return the approvals and the swap as the wallet request `wallet_sendCalls` (EIP-5792). Raises the same errors
        as `safe_batch`."""
        from swapcli.quoting.handoffs import wallet_calls

        return wallet_calls(self)


def calldata_document(
    answer: QuoteResult,
    figures: QuoteFigures,
    built: BuiltPayload,
    advice: SlippageAdvice | None,
    account_names: Mapping[str, str],
) -> CalldataDocumentJson:
    """Return the JSON of a quote and its transactions. `route` has the route and the call's parameters.

    For a router that the API does not cover, `quote` has the route and `swap` the amounts instead.
    """
    payload, network, transactions = built.payload, answer.network, built.transactions()
    document = _route_fields(answer, payload) | _swap_fields(payload, transactions[-1], figures, network)
    if advice is not None:
        document["advisedSlippage"] = render_advice(advice)
    return cast("CalldataDocumentJson", document | {**account_names} | built.fields(transactions))


def _route_fields(answer: QuoteResult, payload: UnsignedTransaction) -> dict[str, Any]:
    result, network = answer.result, answer.network
    found: dict[str, Any] = render(result, network, unknown_price=None)
    if isinstance(payload.call, EncodedCall):
        return {"quote": found, **_encoded_call_fields(payload.call, network)}
    if result.api_version is ApiVersion.V2:
        document = {**render_calldata_v2(payload, network, answer.timestamp_ms)}
    else:
        document = {**render_calldata_v1(result, payload, network)}
        found = {name: found[name] for name in render_short(result, network)}
    document["route"] = found | {**render_call_route(payload.call.route, network)}
    return document | _deadline_field(payload)


def _encoded_call_fields(call: EncodedCall, network: Network) -> dict[str, Any]:
    """Return the field `swap`: the amounts and parties of a call outside the interface."""
    return {"swap": {**render_call_route(call.route, network), "deadline": call.deadline_s}}


def _deadline_field(payload: UnsignedTransaction) -> dict[str, Any]:
    """Return the field `deadline` of a call that the router rejects later; empty if it has no deadlines."""
    deadline_s = payload.router_call.deadline_s
    return {} if deadline_s is None else {"deadline": deadline_s}


def _swap_fields(
    payload: UnsignedTransaction, swap: RenderedTransaction, figures: QuoteFigures, network: Network
) -> dict[str, Any]:
    enforcer = deadline_of(payload, network.router_dialect).enforcer
    fields = {"dialect": network.router_dialect, "deadlineEnforcer": enforcer, "witnesses": payload.witnesses}
    package = encoding_package(network, payload.to)
    fields |= {"dialectPackage": package} if package else {}
    return swap.signed_fields | fields | {**render_quote_fields(figures, network)}


def _simulation_field(simulation: Simulation, network: Network) -> dict[str, object]:
    """Return the simulated swap; amounts in base units. `gasUsed` is before refunds of at most a fifth of it.

    `reading` names the router readings that are still possible after it.
    """
    found = {
        "block": simulation.block,
        "received": str(simulation.received),
        "expected": str(simulation.expected),
        "gasUsed": simulation.gas_used,
        "matches": simulation.matches,
        "sender": display_address(simulation.sender, network.kind),
        "overrides": list(simulation.assumed),
    }
    if simulation.variant is None:
        return found
    return found | {"reading": {"rate": list(simulation.variant.rates), "extraData": list(simulation.variant.forms)}}


def render_advice(advice: SlippageAdvice) -> AdvisedSlippageJson:
    """Return the recommended slippage as JSON, with its reasons and their figures."""
    movement, (limit_ppm, gas_ppm, gain_ppm) = advice.movement, advice.sandwich

    def percent(ppm: int) -> float:
        return ppm / PPM_PER_PERCENT

    return {
        "slippagePercent": percent(advice.slippage_ppm),
        "reasons": list(advice.reasons),
        "parts": {
            "movement": None
            if movement is None
            else {
                "fallPercent": percent(movement.fall_ppm),
                "windowS": movement.window_s,
                "historyS": movement.history_s,
                "blocks": movement.blocks,
            },
            "sandwich": {
                "limitPercent": None if limit_ppm is None else percent(limit_ppm),
                "gasPercent": None if gas_ppm is None else percent(gas_ppm),
                "gainPercent": percent(gain_ppm),
            },
        },
    }
