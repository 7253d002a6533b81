"""Quotes as JSON: the RouteResult of the interface with our own fields."""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import ceil

from swapcli.api.route import render
from swapcli.engine.quote_results import LocalQuote, QuoteResult
from swapcli.model.quote import NO_PROOF_BPS, Certificate, Quote
from swapcli.model.state_source import StateSource
from swapcli.model.warning import QuoteWarning
from swapcli.networks.address import display_address


def route_document(answer: QuoteResult, warnings: Iterable[QuoteWarning] = ()) -> dict[str, object]:
    """Return the RouteResult of the interface with `quote_fields` and warnings. Unknown prices are null."""
    document = render(answer.result, answer.network, unknown_price=None)
    return document | quote_fields(answer) | warnings_field(warnings)


def warnings_field(warnings: Iterable[QuoteWarning]) -> dict[str, object]:
    """Return `{"warnings": [{"code", "message"}]}`, with an empty list if there are none."""
    return {"warnings": [{"code": str(each.code), "message": each.message} for each in warnings]}


def quote_fields(answer: QuoteResult) -> dict[str, object]:
    """Return the fields that the interface lacks: `network`, `market` (the state source), `l1Fee` if there is one (the
    part of the gas cost that pays for L1 data, in wei), and `certificate` if requested."""
    quote = answer.quote if isinstance(answer, LocalQuote) else None
    placeholders = (
        {answer.pools[key].address for key in answer.placeholder_pools} if isinstance(answer, LocalQuote) else set()
    )
    shown = [display_address(address, answer.network.kind) for address in sorted(placeholders)]
    document: dict[str, object] = {
        "network": answer.network.name,
        "market": state_field(answer.state_source) | {"inventedPools": shown},
    }
    if quote and quote.l1_fee_wei:
        document["l1Fee"] = str(quote.l1_fee_wei)
    if quote and quote.certificate:
        document["certificate"] = _certificate(quote, quote.certificate)
    return document


def state_field(state_source: StateSource) -> dict[str, object]:
    """Return the state source; what a service does not report is null. `pinned` says whether all answers of the node
    are proven to belong to `block`, `proposed` whether the network had not yet agreed on that block, and `tag` what the
    node called it."""
    return {
        "service": state_source.service_url,
        "provenance": state_source.provenance.value if state_source.provenance else None,
        "source": state_source.description,
        "block": state_source.block,
        "timestamp": state_source.timestamp,
        "age": state_source.age_s,
        "pinned": state_source.pinned,
        "proposed": state_source.is_proposed,
        "tag": state_source.tag,
    }


def to_json(document: object, *, indent: int | None = None) -> str:
    """Serialize a document as JSON in ASCII, so that any stream can encode it."""
    return json.dumps(document, indent=indent, allow_nan=False)


def _certificate(quote: Quote, certificate: Certificate) -> dict[str, object]:
    """Return the bounds with their gaps, null if no useful bound was found."""
    bound, gap_bps = _bound(certificate.bound, certificate.gap_bps)
    acyclic_bound, acyclic_gap_bps = _bound(certificate.acyclic_bound, certificate.acyclic_gap_bps)
    return {
        "bound": bound,
        "gapBps": gap_bps,
        "acyclicBound": acyclic_bound,
        "acyclicGapBps": acyclic_gap_bps,
        "poolsChecked": certificate.pools_checked,
        "searchComplete": quote.is_search_complete,
    }


def _bound(bound: float, gap_bps: float) -> tuple[str, float] | tuple[None, None]:
    return (str(ceil(bound)), gap_bps) if gap_bps < NO_PROOF_BPS else (None, None)
