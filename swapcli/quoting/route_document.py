"""A quote as JSON: the RouteResult of the interface with our own fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli.core.model.network import Network
from swapcli.core.model.quote_figures import QuoteFigures
from swapcli.core.model.state_source import StateSource
from swapcli.interface.quote_fields import render_quote_fields, render_state_source
from swapcli.interface.route import render
from swapcli.quoting.quote_results import QuoteResult

if TYPE_CHECKING:
    from swapcli.interface.document_types import MarketJson, StateFieldsJson


def route_document(answer: QuoteResult, figures: QuoteFigures) -> dict[str, object]:
    """Return the RouteResult of the interface with the fields of `quote_fields`. Unknown prices are null."""
    document = render(answer.result, answer.network, unknown_price=None)
    return document | quote_fields(figures, answer.network)


def quote_fields(figures: QuoteFigures, network: Network) -> dict[str, object]:
    """Return the fields that the interface lacks: those of `render_quote_fields`, and `market`."""
    fields = render_quote_fields(figures, network)
    market: MarketJson = {**former_state(figures.state), "inventedPools": fields["state"].get("placeholderPools", [])}
    return {**fields, "market": market}


def state_fields(state: StateSource) -> StateFieldsJson:
    """Return `state`, and `market` with the same facts under their former names. Version 0.2 drops `market`."""
    return {"state": render_state_source(state), "market": former_state(state)}


def former_state(state: StateSource) -> MarketJson:
    """Return the facts of `state` under their former names."""
    rendered = render_state_source(state)
    return {
        "service": rendered["service"],
        "provenance": rendered["kind"],
        "source": rendered["source"],
        "block": rendered["block"],
        "timestamp": rendered["timestamp"],
        "age": rendered["ageS"],
        "pinned": rendered["pinned"],
        "proposed": rendered["proposed"],
        "tag": rendered["tag"],
    }
