"""Pages of the service itself: networks served, liveness, readiness, metrics, the OpenAPI document and its viewer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import parse_qs

import msgspec

from swapcli.core.records import NamedTuple
from swapcli.faces.service import html_pages, openapi
from swapcli.faces.service.endpoint_table import CHAINS, DOCS, DOCS_FOLDER, JSON, LIVE, METRICS, OPENAPI, READY
from swapcli.faces.service.error_responses import Headers, network_error
from swapcli.faces.service.examples import RequestExample, build_example
from swapcli.faces.service.market_registry import MarketRegistry
from swapcli.faces.service.metrics import CONTENT_TYPE, Metrics
from swapcli.faces.service.static_pages import StaticPage
from swapcli.faces.service.worker_group import GroupMember
from swapcli.interface.listings import render_chains

EXAMPLES_S = 20.0
"""Age at which the OpenAPI document's example routes are rebuilt; routes expire after a minute."""


class Page(NamedTuple):
    """An encoded response."""

    body: bytes
    content_type: str = JSON
    status: int = 200
    headers: Headers = ()


class PageBuilder(NamedTuple):
    """A function that builds a page from the raw query. A slow builder runs off the event loop."""

    build: Callable[[bytes], Page | StaticPage]
    is_slow: bool = False


def build_pages(
    registry: MarketRegistry,
    metrics: Metrics,
    member: GroupMember | None = None,
    is_alive: Callable[[], bool] = lambda: True,
    read_warnings: Callable[[], list[str]] = list,
    has_metrics: bool = True,
    requires_key: Callable[[], bool] = lambda: False,
) -> Mapping[str, PageBuilder]:
    """Return the builder of each page, by path. `is_alive` returns False if the process should be restarted.
    `read_warnings` returns warnings for the operator about a service that still works. Without `has_metrics` there is
    no metrics page, because metrics have a separate port. `requires_key` returns whether the service currently requires
    an API key."""
    pages = {
        CHAINS: PageBuilder(lambda _: Page(msgspec.json.encode(render_chains(registry.served_networks)))),
        LIVE: PageBuilder(lambda _: _liveness(is_alive=is_alive())),
        READY: PageBuilder(lambda query: _readiness(registry, query, member, is_alive(), read_warnings())),
        OPENAPI: PageBuilder(OpenApiPage(registry, requires_key, has_metrics=has_metrics).get, is_slow=True),
        DOCS: PageBuilder(lambda _: html_pages.docs_page()),
        DOCS_FOLDER: PageBuilder(lambda _: _DOCS_REDIRECT),
    }
    return pages | {METRICS: PageBuilder(lambda _: Page(metrics.render(), CONTENT_TYPE))} if has_metrics else pages


_DOCS_REDIRECT = Page(b"", status=308, headers=(("Location", f"..{DOCS}"),))
"""Relative, so that it also works behind a proxy that serves the service under a prefix."""


def _liveness(*, is_alive: bool) -> Page:
    return Page(msgspec.json.encode({"live": is_alive}), status=200 if is_alive else 503)


def _readiness(
    registry: MarketRegistry, query: bytes, member: GroupMember | None, is_alive: bool, warnings: list[str]
) -> Page:
    """Return whether every network has been tried and one can be quoted, or whether each network in the query can now
    be quoted."""
    names = [name.lower() for name in parse_qs(query.decode("latin-1")).get("network", ())]
    unknown = [name for name in names if name not in registry.networks]
    if unknown:
        return Page(msgspec.json.encode(network_error(registry.networks).document), status=404)
    missing = [name for name in names if not registry.can_quote(name)] if names else list(registry.missing_networks)
    is_ready = is_alive and (not missing if names else registry.is_ready)
    document: dict[str, object] = {"ready": is_ready, "missing": missing}
    if member is not None:
        document["workers"] = member.status._asdict()
    if warnings:
        document["warnings"] = warnings
    return Page(msgspec.json.encode(document), status=200 if is_ready else 503)


class OpenApiPage:
    """The OpenAPI document, with examples that are orders on the loaded markets."""

    def __init__(
        self, registry: MarketRegistry, requires_key: Callable[[], bool] = lambda: False, *, has_metrics: bool = True
    ) -> None:
        self._registry, self._requires_key, self._has_metrics = registry, requires_key, has_metrics
        self._built_at_s = 0.0
        self._page: StaticPage | None = None

    def get(self, _query: bytes = b"") -> StaticPage:
        """Return the document. It is rebuilt before its examples expire."""
        now_s = self._registry.clock.monotonic_s()
        if self._page is None or now_s - self._built_at_s > EXAMPLES_S:
            self._page, self._built_at_s = self._build(), now_s
        return self._page

    def _build(self) -> StaticPage:
        networks = tuple(self._registry.networks.values())
        document = openapi.build_document(
            networks, self._examples(), has_metrics=self._has_metrics, requires_key=self._requires_key()
        )
        return StaticPage(msgspec.json.encode(document), JSON)

    def _examples(self) -> dict[str, RequestExample]:
        registry = self._registry
        examples = {
            name: build_example(source.market, registry.network_time_ms(name))
            for name, source in registry.sources.items()
        }
        return {name: example for name, example in examples.items() if example}
