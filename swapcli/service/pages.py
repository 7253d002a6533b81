"""The pages that describe the service: `/openapi.json`, and the documentation that draws it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from swapcli.service import documentation, openapi
from swapcli.service.desk import Desk
from swapcli.service.examples import example_of
from swapcli.service.resource import Page

FRESH_S = 20.0
"""The examples hold routes, which are good for a minute."""


def pages(desk: Desk) -> Mapping[str, Callable[[], Page]]:
    """By path."""
    described = _Description(desk)
    return {"/openapi.json": described.page, "/docs": _documentation, "/": _documentation}


def _documentation() -> Page:
    return Page(200, documentation.CONTENT_TYPE, documentation.page())


class _Description:
    """The description of the networks that are served, with examples of those whose markets are open."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._made: tuple[float, Page] | None = None

    def page(self) -> Page:
        """Made anew once it is `FRESH_S` old."""
        now_s = self._desk.clock.timer_s()
        if self._made is None or now_s - self._made[0] > FRESH_S:
            self._made = now_s, self._make()
        return self._made[1]

    def _make(self) -> Page:
        import msgspec

        now_ms = self._desk.now_ms()
        examples = {name: example_of(source.market, now_ms) for name, source in dict(self._desk.loaded).items()}
        found = {name: example for name, example in examples.items() if example}
        document = openapi.document(self._desk.served, found)
        return Page(200, openapi.CONTENT_TYPE, msgspec.json.encode(document))
