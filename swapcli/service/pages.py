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
from swapcli.service.error_responses import refusal
from swapcli.service.examples import Example, example_of
from swapcli.service.market_registry import Desk
from swapcli.service.metrics import CONTENT_TYPE, Metrics

JSON = "application/json"
EXAMPLES_S = 20.0
"""How long the routes in the description's examples are good to be sent."""


class Page(NamedTuple):
    """An answer, encoded."""

    body: bytes
    content_type: str = JSON
    status: int = 200


class PageMaker(NamedTuple):
    """What makes a page of a query; a slow one keeps the event loop from its work and is made elsewhere."""

    make: Callable[[bytes], Page]
    is_slow: bool = False


def pages_of(desk: Desk, metrics: Metrics) -> Mapping[str, PageMaker]:
    """What makes each page, by its path."""
    return {
        CHAINS: PageMaker(lambda _: Page(msgspec.json.encode(render_chains(desk.served)))),
        LIVE: PageMaker(lambda _: Page(msgspec.json.encode({"live": True}))),
        READY: PageMaker(lambda query: _readiness(desk, query)),
        METRICS: PageMaker(lambda _: Page(metrics.render(), CONTENT_TYPE)),
        DESCRIPTION: PageMaker(Description(desk).page, is_slow=True),
        DOCS: PageMaker(lambda _: Page(docs_page.page(), docs_page.CONTENT_TYPE)),
    }


def _readiness(desk: Desk, query: bytes) -> Page:
    """Say whether every network has been tried; of those that the query names, whether each can be quoted on now."""
    names = [name.lower() for name in parse_qs(query.decode("latin-1")).get("network", ())]
    unknown = [name for name in names if name not in desk.networks]
    if unknown:
        return Page(msgspec.json.encode(refusal(404, "there is no such network here").document), status=404)
    missing = [name for name in names if not _can_quote(desk, name)] if names else list(desk.missing)
    is_ready = not missing if names else desk.is_ready
    return Page(msgspec.json.encode({"ready": is_ready, "missing": missing}), status=200 if is_ready else 503)


def _can_quote(desk: Desk, name: str) -> bool:
    source = desk.loaded.get(name)
    try:
        if source is not None:
            desk.check_age(source)
    except MarketUnavailable:
        return False
    return source is not None


class Description:
    """The OpenAPI document; its examples are orders on the markets that are loaded."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._made_s = 0.0
        self._page: Page | None = None

    def page(self, _query: bytes = b"") -> Page:
        """The document, made anew before its examples grow old."""
        now_s = self._desk.clock.timer_s()
        if self._page is None or now_s - self._made_s > EXAMPLES_S:
            self._page, self._made_s = self._make(), now_s
        return self._page

    def _make(self) -> Page:
        networks = tuple(self._desk.networks.values())
        return Page(msgspec.json.encode(openapi.document(networks, self._examples())))

    def _examples(self) -> dict[str, Example]:
        made = {name: example_of(source.market, self._desk.now_ms()) for name, source in self._desk.loaded.items()}
        return {name: example for name, example in made.items() if example}
