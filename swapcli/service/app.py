"""The service as one ASGI application."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from types import MappingProxyType

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute, Route

from swapcli.chain.node import SimulatingNode
from swapcli.config.settings import ServiceSettings
from swapcli.errors import MarketUnavailable
from swapcli.service.access_log import REQUEST_ID_HEADER, AccessLog
from swapcli.service.checking import Checker
from swapcli.service.desk import Desk
from swapcli.service.health import HealthDesk
from swapcli.service.layers import Gate, Journal, Keys, NoKeys
from swapcli.service.limits import Limiter
from swapcli.service.metrics import Metrics, Watched
from swapcli.service.pages import pages_of
from swapcli.service.resource import HealthResource, PageResource, Resource, Workshop, nothing
from swapcli.service.solving import IsCancelled, Solver
from swapcli.service.table import ENDPOINTS, HEALTH_V1, HEALTH_V2, HEALTH_WHERE, PATHS
from swapcli.wire.provenance import STATE_HEADER, WARNINGS_HEADER
from swapcli.wire.terms import Generation

_NO_KEYS = NoKeys()
_NO_NODES: Mapping[str, SimulatingNode] = MappingProxyType({})
_ASKING_HEADERS = ("X-API-Key", "Authorization", "Content-Type", REQUEST_ID_HEADER)
_TELLING_HEADERS = (
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "Retry-After",
    REQUEST_ID_HEADER,
    STATE_HEADER,
    WARNINGS_HEADER,
)


def create_app(
    desk: Desk,
    settings: ServiceSettings,
    *,
    keys: Keys = _NO_KEYS,
    log: AccessLog | None = None,
    failures: Callable[[], Mapping[str, int]] = dict,
    nodes: Mapping[str, SimulatingNode] = _NO_NODES,
) -> Starlette:
    """The application. Markets open in the background as it starts, or when they are first asked.

    `failures` tells how often those that are kept fresh could not be; `nodes` are asked for checks. Both by network.
    """
    solver = Solver(settings.max_queue)
    metrics = Metrics(desk.networks, PATHS)
    metrics.watch_queue(lambda: solver.queue_length)
    metrics.watch_markets(lambda: _watched(desk, failures()))
    workshop = Workshop(desk, solver, metrics, Checker(nodes))
    health = HealthDesk(desk, solver)
    app = Starlette(
        routes=[*_endpoint_routes(workshop), *_health_routes(desk, health), *_page_routes(workshop)],
        middleware=[
            Middleware(Journal, desk.clock, log, metrics),
            *_cors(settings),
            Middleware(Gate, desk.clock, keys, Limiter(settings), metrics),
        ],
        lifespan=lambda _: _life(workshop, health),
    )
    app.router.redirect_slashes = False
    app.router.default = nothing
    return app


def _endpoint_routes(workshop: Workshop) -> Iterator[BaseRoute]:
    for path in dict.fromkeys(each.path for each in ENDPOINTS):
        here = [each for each in ENDPOINTS if each.path == path]
        yield Route(path.lower(), Resource(path, here, workshop))


def _health_routes(desk: Desk, health: HealthDesk) -> Iterator[BaseRoute]:
    for path, generation in ((HEALTH_V1, Generation.V1), (HEALTH_V2, Generation.V2)):
        yield Route(path, HealthResource(path, generation, HEALTH_WHERE[path], desk, health))


def _page_routes(workshop: Workshop) -> Iterator[BaseRoute]:
    for path, maker in pages_of(workshop.desk, workshop.metrics).items():
        yield Route(path, PageResource(path, maker, workshop.solver))


def _cors(settings: ServiceSettings) -> list[Middleware]:
    if not settings.cors_origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=("GET", "POST"),
            allow_headers=_ASKING_HEADERS,
            expose_headers=_TELLING_HEADERS,
        )
    ]


@asynccontextmanager
async def _life(workshop: Workshop, health: HealthDesk) -> AsyncIterator[None]:
    opening = asyncio.get_running_loop().create_task(_open_markets(workshop))
    try:
        yield
    finally:
        opening.cancel()
        gc.unfreeze()
        health.close()
        workshop.solver.close()
        workshop.checker.close()


async def _open_markets(workshop: Workshop) -> None:
    desk, solver = workshop.desk, workshop.solver
    for network in desk.served:
        with suppress(MarketUnavailable):
            await solver.run(partial(_open, desk, network.name), is_urgent=True)
    # Markets live as long as the service: looking through them again and again would make everybody wait.
    gc.collect()
    gc.freeze()


def _open(desk: Desk, name: str, _: IsCancelled) -> None:
    desk.open(name)


def _watched(desk: Desk, failures: Mapping[str, int]) -> Iterator[Watched]:
    for name, source in desk.loaded.items():
        origin = source.origin
        yield Watched(name, len(source.market.pools), origin.age_s, origin.block, failures.get(name))
    for name in failures.keys() - desk.loaded.keys():
        yield Watched(name, failures=failures[name])
