"""Pages that are the same for all networks: what is served, whether it is ready, counters, and what describes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import parse_qs

import msgspec

from swapcli.api.listings import render_chains
from swapcli.errors import MarketUnavailable
from swapcli.service import docs_page, openapi
from swapcli.service.endpoint_table import CHAINS, DESCRIPTION, DOCS, LIVE, METRICS, READY
from swapcli.service.error_responses import status_error
from swapcli.service.examples import RequestExample, build_example
from swapcli.service.market_registry import MarketRegistry
from swapcli.service.metrics import CONTENT_TYPE, Metrics

JSON = "application/json"
EXAMPLES_S = 20.0
"""How long the routes in the description's examples are good to be sent."""


class Page(NamedTuple):
    """An answer, encoded."""

    body: bytes
    content_type: str = JSON
    status: int = 200


class PageBuilder(NamedTuple):
    """What makes a page of a query; a slow one keeps the event loop from its work and is made elsewhere."""

    build: Callable[[bytes], Page]
    is_slow: bool = False


def build_pages(registry: MarketRegistry, metrics: Metrics) -> Mapping[str, PageBuilder]:
    """What makes each page, by its path."""
    return {
        CHAINS: PageBuilder(lambda _: Page(msgspec.json.encode(render_chains(registry.served_networks)))),
        LIVE: PageBuilder(lambda _: Page(msgspec.json.encode({"live": True}))),
        READY: PageBuilder(lambda query: _readiness(registry, query)),
        METRICS: PageBuilder(lambda _: Page(metrics.render(), CONTENT_TYPE)),
        DESCRIPTION: PageBuilder(OpenApiPage(registry).get, is_slow=True),
        DOCS: PageBuilder(lambda _: Page(docs_page.page(), docs_page.CONTENT_TYPE)),
    }


def _readiness(registry: MarketRegistry, query: bytes) -> Page:
    """Say whether every network has been tried; of those that the query names, whether each can be quoted on now."""
    names = [name.lower() for name in parse_qs(query.decode("latin-1")).get("network", ())]
    unknown = [name for name in names if name not in registry.networks]
    if unknown:
        return Page(msgspec.json.encode(status_error(404, "there is no such network here").document), status=404)
    missing = [name for name in names if not _can_quote(registry, name)] if names else list(registry.missing_networks)
    is_ready = not missing if names else registry.is_ready
    return Page(msgspec.json.encode({"ready": is_ready, "missing": missing}), status=200 if is_ready else 503)


def _can_quote(registry: MarketRegistry, name: str) -> bool:
    source = registry.sources.get(name)
    try:
        if source is not None:
            registry.check_age(source)
    except MarketUnavailable:
        return False
    return source is not None


class OpenApiPage:
    """The OpenAPI document; its examples are orders on the markets that are loaded."""

    def __init__(self, registry: MarketRegistry) -> None:
        self._registry = registry
        self._built_at_s = 0.0
        self._page: Page | None = None

    def get(self, _query: bytes = b"") -> Page:
        """The document, made anew before its examples grow old."""
        now_s = self._registry.clock.monotonic_s()
        if self._page is None or now_s - self._built_at_s > EXAMPLES_S:
            self._page, self._built_at_s = self._build(), now_s
        return self._page

    def _build(self) -> Page:
        networks = tuple(self._registry.networks.values())
        return Page(msgspec.json.encode(openapi.build_document(networks, self._examples())))

    def _examples(self) -> dict[str, RequestExample]:
        made = {
            name: build_example(source.market, self._registry.now_ms())
            for name, source in self._registry.sources.items()
        }
        return {name: example for name, example in made.items() if example}
