"""Payloads as JSON for programs: the interface's own answer, with what is signed where that answer lacks it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from swapcli.api.payload_bodies import render_calldata_v1, render_calldata_v2, render_execute
from swapcli.api.route import render, render_short
from swapcli.api.router_call import render_call_route
from swapcli.cli.render.json import quote_fields, state_field, to_json, warnings_field
from swapcli.cli.render.transactions import RenderedTransaction
from swapcli.engine.quote import QuoteResult
from swapcli.errors import InvalidOption
from swapcli.model.api_version import ApiVersion
from swapcli.model.network import Network
from swapcli.model.state_source import StateSource
from swapcli.model.transaction import UnsignedTransaction
from swapcli.model.warning import QuoteWarning
from swapcli.networks.address import display_address

if TYPE_CHECKING:
    from swapcli.engine.payload_checks import Simulation


def calldata_document(
    answer: QuoteResult, payload: UnsignedTransaction, swap: RenderedTransaction, warnings: Iterable[QuoteWarning] = ()
) -> dict[str, Any]:
    """A route and its payload: V2 calldata or V1 calldata. `route` is what was found and what the call promises."""
    result, network = answer.result, answer.network
    found: dict[str, Any] = render(result, network, unknown_price=None)
    if result.api_version is ApiVersion.V2:
        document: dict[str, Any] = {**render_calldata_v2(payload, network, answer.timestamp_ms)}
    else:
        document = {**render_calldata_v1(result, payload, network)}
        found = {name: found[name] for name in render_short(result, network)}
    document["route"] = found | {**render_call_route(payload.call.route, network)}
    return document | swap.signed_fields | quote_fields(answer) | warnings_field(warnings)


class PayloadContext(NamedTuple):
    """What a payload was built on, in which generation of the interface, and when (Unix)."""

    network: Network
    state_source: StateSource
    api_version: ApiVersion
    timestamp_ms: int


def execute_document(
    payload: UnsignedTransaction,
    swap: RenderedTransaction,
    quoted: PayloadContext,
    warnings: Iterable[QuoteWarning] = (),
) -> dict[str, Any]:
    """The payload of a route that was given: V2 calldata or V1 execute."""
    network, origin, api_version, timestamp_ms = quoted
    if api_version is ApiVersion.V2:
        document: dict[str, Any] = {**render_calldata_v2(payload, network, timestamp_ms)}
    else:
        document = {**render_execute(payload, network)}
    return (
        document
        | swap.signed_fields
        | {"network": network.name, "market": state_field(origin)}
        | warnings_field(warnings)
    )


def simulation_field(simulation: Simulation, network: Network) -> dict[str, object]:
    """What a node made of the swap; amounts in smallest units. `gas_used` is before refunds, a fifth of it at most."""
    return {
        "block": simulation.block,
        "amount_received": str(simulation.received),
        "expected": str(simulation.expected),
        "gas_used": simulation.gas_used,
        "matches": simulation.matches,
        "sender": display_address(simulation.sender, network.kind),
        "overrides": list(simulation.assumed),
    }


def transactions_field(sendings: list[RenderedTransaction]) -> list[dict[str, object]]:
    """The transactions in order, each with what it is for."""
    return [{**sending.signed_fields, "what": sending.purpose} for sending in sendings]


def select_field(document: object, path: str) -> str:
    """The value at a dotted path, entries of arrays by number: text as it is, all else as JSON.

    Raises `InvalidOption`, naming the fields that are there, where there is none.
    """
    value = document
    for place, name in enumerate(names := path.split(".")):
        inner = _subfields(value)
        if name not in inner:
            where = ".".join(names[:place])
            fields = list(inner)
            raise InvalidOption(
                f'--get: {where or "the answer"} has no field "{name}"',
                hint=f"it has {', '.join(fields)}" if fields else f"{where} is a single value",
                details={"field": path, "fields": fields},
            )
        value = inner[name]
    return value if isinstance(value, str) else to_json(value)


def _subfields(value: object) -> dict[str, object]:
    if isinstance(value, list):
        return {str(number): entry for number, entry in enumerate(value)}
    return value if isinstance(value, dict) else {}
