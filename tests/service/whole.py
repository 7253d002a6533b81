"""A whole service on the embedded markets: the application, its description, and a quick way to ask it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

import httpx
from starlette.applications import Starlette

from swapcli.config.settings import ServiceSettings
from swapcli.engine.opening import open_market
from swapcli.model.market import Market
from swapcli.networks.catalogue import network, network_names
from swapcli.service.app import create_app
from swapcli.service.desk import Desk

BASE_URL = "http://service.example"


@cache
def market(name: str) -> Market:
    """An embedded market."""
    return open_market(name, network).market


def open_desk(names: Iterable[str] | None = None) -> Desk:
    """A desk whose markets are open."""
    served = tuple(names or network_names())
    desk = Desk([network(name) for name in served], {name: lambda name=name: market(name) for name in served})  # type: ignore[misc]
    for name in served:
        desk.open(name)
    return desk


def whole_app(desk: Desk | None = None, settings: ServiceSettings | None = None, **others: Any) -> Starlette:
    """The application with its own description."""
    return create_app(desk or open_desk(), settings or ServiceSettings(), **others)


@cache
def description() -> dict[str, Any]:
    """The OpenAPI document that the service serves."""
    found: dict[str, Any] = ask(whole_app(), "GET", "/openapi.json").json()
    return found


class Operation(NamedTuple):
    """What the document says of a method of a path."""

    method: str
    path: str
    told: Mapping[str, Any]
    shared: tuple[Mapping[str, Any], ...]

    @property
    def parameters(self) -> tuple[Mapping[str, Any], ...]:
        """Those of the path and its own."""
        return (*self.shared, *self.told.get("parameters", ()))

    def networks(self) -> list[str]:
        """The networks that it stands for; empty where it is of none."""
        named = [each["schema"]["enum"] for each in self.shared if each["name"] == "network"]
        first = self.path.split("/")[1]
        return list(named[0]) if named else [first] if first in network_names() else []


def operations(document: Mapping[str, Any]) -> list[Operation]:
    """All of a document."""
    return [
        Operation(method, path, told, tuple(item.get("parameters", ())))
        for path, item in document["paths"].items()
        for method, told in item.items()
        if method != "parameters"
    ]


def ask(app: Starlette, method: str, path: str, **given: Any) -> httpx.Response:
    """One answer, from an event loop of its own."""
    return ask_all(app, [(method, path, given)])[0]


def ask_all(app: Starlette, requests: Iterable[tuple[str, str, Mapping[str, Any]]]) -> list[httpx.Response]:
    """Answers, one after the other, with the application as it is in service: started, and ended."""

    async def answers() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app, raise_app_exceptions=True)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client,
        ):
            return [await client.request(method, path, **given) for method, path, given in requests]

    return asyncio.run(answers())
