"""Transactions as JSON: the responses of the interface with our own fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from swapcli import ApiVersion, Network, QuoteFigures
from swapcli.core.model.transaction import EncodedCall, UnsignedTransaction
from swapcli.core.networks.address import display_address
from swapcli.core.records import NamedTuple
from swapcli.interface.quote_fields import render_quote_fields
from swapcli.interface.route import render, render_short
from swapcli.interface.router_call import render_call_route
from swapcli.interface.slippage import format_percent
from swapcli.interface.transaction_responses import render_calldata_v1, render_calldata_v2, render_execute
from swapcli.payload.transactions_to_send import RenderedTransaction
from swapcli.quoting.quote_results import QuoteResult

if TYPE_CHECKING:
    from swapcli.interface.document_types import AdvisedSlippageJson
    from swapcli.payload.checks.simulated_variants import Simulation
    from swapcli.quoting.slippage_measures import SlippageAdvice


def calldata_document(
    answer: QuoteResult, figures: QuoteFigures, payload: UnsignedTransaction, swap: RenderedTransaction
) -> dict[str, Any]:
    """Return a route and its transaction as V2 or V1 calldata. `route` has the route and the call parameters.

    For a router that the interface does not describe, `quote` has the route and `swap` the amounts instead.
    """
    result, network = answer.result, answer.network
    found: dict[str, Any] = render(result, network, unknown_price=None)
    fields = swap.signed_fields | {"dialect": network.router_dialect, "witnesses": payload.witnesses}
    if isinstance(payload.call, EncodedCall):
        document = {"quote": found, **encoded_call_fields(payload.call, network)}
        return document | fields | render_quote_fields(figures, network)
    if result.api_version is ApiVersion.V2:
        document = {**render_calldata_v2(payload, network, answer.timestamp_ms)}
    else:
        document = {**render_calldata_v1(result, payload, network)}
        found = {name: found[name] for name in render_short(result, network)}
    document["route"] = found | {**render_call_route(payload.call.route, network)}
    document |= _deadline_field(payload)
    return document | fields | render_quote_fields(figures, network)


def encoded_call_fields(call: EncodedCall, network: Network) -> dict[str, Any]:
    """Return the field `swap`: the amounts and parties of a call that the interface does not describe."""
    return {"swap": {**render_call_route(call.route, network), "deadline": call.deadline_s}}


def _deadline_field(payload: UnsignedTransaction) -> dict[str, Any]:
    """Return the field `deadline` of a call that the router refuses later; nothing where it knows no deadlines."""
    deadline_s = payload.router_call.deadline_s
    return {} if deadline_s is None else {"deadline": deadline_s}


class PayloadContext(NamedTuple):
    """The network, API version and Unix time of a transaction."""

    network: Network
    api_version: ApiVersion
    timestamp_ms: int


def execute_document(
    payload: UnsignedTransaction,
    swap: RenderedTransaction,
    figures: QuoteFigures,
    context: PayloadContext,
) -> dict[str, Any]:
    """Return the transaction of a given route as V2 calldata or V1 execute, or with `swap` as `calldata_document`."""
    network, api_version, timestamp_ms = context
    if isinstance(payload.call, EncodedCall):
        document = encoded_call_fields(payload.call, network)
    elif api_version is ApiVersion.V2:
        document = {**render_calldata_v2(payload, network, timestamp_ms)}
    else:
        document = {**render_execute(payload, network)}
    if not isinstance(payload.call, EncodedCall):
        document |= _deadline_field(payload)
    fields = swap.signed_fields | {"dialect": network.router_dialect, "witnesses": payload.witnesses}
    return document | fields | render_quote_fields(figures, network)


def simulation_field(simulation: Simulation, network: Network) -> dict[str, object]:
    """Return the simulated swap; amounts in base units. `gas_used` is before refunds of at most a fifth of it.

    `reading` has the names of the router's possible readings after it.
    """
    found = {
        "block": simulation.block,
        "amount_received": str(simulation.received),
        "expected": str(simulation.expected),
        "gas_used": simulation.gas_used,
        "matches": simulation.matches,
        "sender": display_address(simulation.sender, network.kind),
        "overrides": list(simulation.assumed),
    }
    if simulation.variant is None:
        return found
    return found | {"reading": {"rate": list(simulation.variant.rates), "extra_data": list(simulation.variant.forms)}}


def advised_slippage_field(advice: SlippageAdvice) -> AdvisedSlippageJson:
    """Return the advised slippage with its reasons and their parts."""
    movement, (limit_ppm, gas_ppm, gain_ppm) = advice.movement, advice.sandwich
    return {
        "value": format_percent(advice.slippage_ppm),
        "reasons": list(advice.reasons),
        "parts": {
            "movement": None
            if movement is None
            else {
                "fall": format_percent(movement.fall_ppm),
                "windowS": movement.window_s,
                "historyS": movement.history_s,
                "blocks": movement.blocks,
            },
            "sandwich": {
                "limit": None if limit_ppm is None else format_percent(limit_ppm),
                "gas": None if gas_ppm is None else format_percent(gas_ppm),
                "gain": format_percent(gain_ppm),
            },
        },
    }


def transactions_field(transactions: list[RenderedTransaction]) -> list[dict[str, object]]:
    """Return the transactions in order, each with its purpose: what libraries sign, or the calls on Starknet."""
    return [{**(each.request or each.signed_fields), "what": each.purpose} for each in transactions]
