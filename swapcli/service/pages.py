"""Pages that are the same for all networks: what is served, whether it is ready, counters, and what describes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from swapcli.service import documentation, openapi
from swapcli.service.desk import Desk
from swapcli.service.examples import Example, example_of
from swapcli.service.metrics import CONTENT_TYPE, Metrics
from swapcli.service.table import CHAINS, DESCRIPTION, DOCS, METRICS, READY
from swapcli.wire.listing import render_chains

JSON = "application/json"
EXAMPLES_S = 20.0
"""How long the routes in the description's examples are good to be sent."""


class Page(NamedTuple):
    """An answer, encoded."""

    body: bytes
    content_type: str = JSON
    status: int = 200


class PageMaker(NamedTuple):
    """What makes a page; a slow one keeps the event loop from its work and is made elsewhere."""

    make: Callable[[], Page]
    is_slow: bool = False


def pages_of(desk: Desk, metrics: Metrics) -> Mapping[str, PageMaker]:
    """What makes each page, by its path."""
    return {
        CHAINS: PageMaker(lambda: Page(msgspec.json.encode(render_chains(desk.served)))),
        READY: PageMaker(lambda: _readiness(desk)),
        METRICS: PageMaker(lambda: Page(metrics.render(), CONTENT_TYPE)),
        DESCRIPTION: PageMaker(Description(desk).page, is_slow=True),
        DOCS: PageMaker(lambda: Page(documentation.page(), documentation.CONTENT_TYPE)),
    }


def _readiness(desk: Desk) -> Page:
    missing = desk.missing
    document = {"ready": not missing, "missing": list(missing)}
    return Page(msgspec.json.encode(document), status=503 if missing else 200)


class Description:
    """The OpenAPI document; its examples are orders on the markets that are loaded."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._made_s = 0.0
        self._page: Page | None = None

    def page(self) -> Page:
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
