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
from starlette.routing import BaseRoute, Route

from swapcli.api.slippage import Generation
from swapcli.chain.node import StateOverrideNode
from swapcli.config.settings import ServiceSettings
from swapcli.errors import MarketUnavailable
from swapcli.service.access_log import AccessLog
from swapcli.service.access_policy import AccessPolicy, Keys, NoKeys
from swapcli.service.balance_check import Checker
from swapcli.service.endpoint_table import ENDPOINTS, HEALTH_V1, HEALTH_V2, HEALTH_WHERE, PATHS
from swapcli.service.handlers import HealthResource, PageResource, Resource, Workshop, nothing
from swapcli.service.health_checks import HealthDesk
from swapcli.service.market_registry import Desk
from swapcli.service.metrics import Metrics, Watched
from swapcli.service.middleware import Cors, Gate, Journal
from swapcli.service.pages import pages_of
from swapcli.service.refusal_pacing import RefusalPacer
from swapcli.service.worker import IsCancelled, Solver

_NO_KEYS = NoKeys()
_NO_NODES: Mapping[str, StateOverrideNode] = MappingProxyType({})


def create_app(
    desk: Desk,
    settings: ServiceSettings,
    *,
    keys: Keys = _NO_KEYS,
    log: AccessLog | None = None,
    failures: Callable[[], Mapping[str, int]] = dict,
    nodes: Mapping[str, StateOverrideNode] = _NO_NODES,
) -> Starlette:
    """The application. Markets open in the background as it starts, or when they are first asked.

    `failures` tells how often those that are kept fresh could not be; `nodes` are asked for checks. Both by network.
    `policy_of(app)` is what settings and keys amount to, and may be replaced while it runs.
    """
    solver = Solver(settings.max_queue)
    metrics = Metrics(desk.networks, PATHS)
    metrics.watch_queue(lambda: solver.queue_length)
    metrics.watch_markets(lambda: _watched(desk, failures()))
    if log is not None:
        metrics.watch_log(lambda: log.dropped)
    pacer, policy = RefusalPacer(), AccessPolicy(settings, keys)
    workshop = Workshop(desk, solver, metrics, Checker(nodes), pacer)
    health = HealthDesk(desk, solver)
    app = Starlette(
        routes=[*_endpoint_routes(workshop), *_health_routes(desk, health), *_page_routes(workshop)],
        middleware=[
            Middleware(Journal, desk.clock, log, metrics, policy),
            Middleware(Cors, policy),
            Middleware(Gate, desk.clock, policy, metrics, pacer),
        ],
        lifespan=lambda _: _life(workshop, health),
    )
    app.state.policy = policy
    app.router.redirect_slashes = False
    app.router.default = nothing
    return app


def policy_of(app: Starlette) -> AccessPolicy:
    """Return the policy of an application that `create_app` made."""
    policy = app.state.policy
    assert isinstance(policy, AccessPolicy)
    return policy


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
