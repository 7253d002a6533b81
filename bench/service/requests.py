"""The requests sent by the service's benchmarks, all on the embedded market of one network."""

from __future__ import annotations

from urllib.parse import parse_qsl

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.quoting.sources.in_memory import InMemorySource
from tests.faces.service.soak import Request

NETWORK = "base"


def route_request(query: str) -> Request:
    """Return a request for a V2 route."""
    return Request("GET", f"/{NETWORK}/v2/route?{query}")


def parse_request(query: str, source: InMemorySource) -> QuoteRequest:
    """Parse the query of an order into the request of a source."""
    given = dict(parse_qsl(query))
    token_in, token_out = (source.token(given[name]) for name in ("tokenInAddress", "tokenOutAddress"))
    return QuoteRequest(Order(token_in, token_out, int(given["amount"])), ApiVersion.V2)
