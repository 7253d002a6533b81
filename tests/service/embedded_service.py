"""A whole service on the embedded markets: the application, its description, and a quick way to ask it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from threading import Thread
from typing import Any, NamedTuple

import httpx
import uvicorn
from starlette.applications import Starlette

from swapcli.config.settings import ServiceSettings
from swapcli.engine.load_market import open_market
from swapcli.model.market import Market
from swapcli.networks.catalogue import network, network_names
from swapcli.service.app import create_app
from swapcli.service.market_registry import MarketRegistry

BASE_URL = "http://service.example"


@cache
def market(name: str) -> Market:
    """An embedded market."""
    return open_market(name, network).market


def open_registry(names: Iterable[str] | None = None) -> MarketRegistry:
    """A registry whose markets are open."""
    served = tuple(names or network_names())
    registry = MarketRegistry([network(name) for name in served], {name: partial(market, name) for name in served})
    for name in served:
        registry.open_source(name)
    return registry


def whole_app(
    registry: MarketRegistry | None = None, settings: ServiceSettings | None = None, **others: Any
) -> Starlette:
    """The application with its own description."""
    return create_app(registry or open_registry(), settings or ServiceSettings(), **others)


@cache
def description() -> dict[str, Any]:
    """The OpenAPI document that the service serves."""
    return described(whole_app())


def described(app: Starlette) -> dict[str, Any]:
    """What a service says of itself now: the routes of its examples do not stay good for long."""
    found: dict[str, Any] = ask_all(app, [("GET", "/openapi.json", {})])[0].json()
    return found


@contextmanager
def serving(app: Starlette) -> Iterator[str]:
    """Serves over HTTP from a thread, at the address given."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, log_level="critical", access_log=False)
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    host, port = server.servers[0].sockets[0].getsockname()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        thread.join()


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


Ask = Callable[..., httpx.Response]


@contextmanager
def asking(app: Starlette) -> Iterator[Ask]:
    """Asks the application as it is in service: started, and ended afterwards. Arguments are those of httpx."""

    async def start() -> tuple[Any, httpx.AsyncClient]:
        life = app.router.lifespan_context(app)
        await life.__aenter__()
        return life, httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE_URL)

    async def end(life: Any, client: httpx.AsyncClient) -> None:
        await client.aclose()
        await life.__aexit__(None, None, None)

    with asyncio.Runner() as runner:
        life, client = runner.run(start())
        try:
            yield lambda *args, **given: runner.run(client.request(*args, **given))
        finally:
            runner.run(end(life, client))


def ask_all(app: Starlette, requests: Iterable[tuple[str, str, Mapping[str, Any]]]) -> list[httpx.Response]:
    """Answers, one after the other."""
    with asking(app) as ask:
        return [ask(method, path, **given) for method, path, given in requests]
