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

from swapcli.chain.node import StateOverrideNode
from swapcli.config.settings import ServiceSettings
from swapcli.errors import MarketUnavailable
from swapcli.model.api_version import ApiVersion
from swapcli.service.access_log import AccessLog
from swapcli.service.access_policy import AccessPolicy, KeyLookup, NoKeys
from swapcli.service.balance_check import BalanceChecker
from swapcli.service.endpoint_table import ENDPOINTS, HEALTH_V1, HEALTH_V2, HEALTH_WHERE, PATHS
from swapcli.service.handlers import EndpointHandler, HealthHandler, PageHandler, ServiceContext, not_found
from swapcli.service.health_checks import HealthMonitor
from swapcli.service.market_registry import MarketRegistry
from swapcli.service.metrics import MarketMetrics, Metrics
from swapcli.service.middleware import AccessLogMiddleware, AuthMiddleware, CorsMiddleware
from swapcli.service.pages import build_pages
from swapcli.service.refusal_pacing import RejectionPacer
from swapcli.service.worker import IsCancelled, Worker

_NO_KEYS = NoKeys()
_NO_NODES: Mapping[str, StateOverrideNode] = MappingProxyType({})


def create_app(
    registry: MarketRegistry,
    settings: ServiceSettings,
    *,
    keys: KeyLookup = _NO_KEYS,
    log: AccessLog | None = None,
    failures: Callable[[], Mapping[str, int]] = dict,
    nodes: Mapping[str, StateOverrideNode] = _NO_NODES,
) -> Starlette:
    """The application. Markets open in the background as it starts, or when they are first request.

    `failures` tells how often those that are kept fresh could not be; `nodes` are asked for checks. Both by network.
    `policy_of(app)` is what settings and keys amount to, and may be replaced while it runs.
    """
    solver = Worker(settings.max_queue)
    metrics = Metrics(registry.networks, PATHS)
    metrics.watch_queue(lambda: solver.queue_length)
    metrics.watch_markets(lambda: _market_metrics(registry, failures()))
    if log is not None:
        metrics.watch_log(lambda: log.dropped)
    pacer, policy = RejectionPacer(), AccessPolicy(settings, keys)
    workshop = ServiceContext(registry, solver, metrics, BalanceChecker(nodes), pacer)
    health = HealthMonitor(registry, solver)
    app = Starlette(
        routes=[*_endpoint_routes(workshop), *_health_routes(registry, health), *_page_routes(workshop)],
        middleware=[
            Middleware(AccessLogMiddleware, registry.clock, log, metrics, policy),
            Middleware(CorsMiddleware, policy),
            Middleware(AuthMiddleware, registry.clock, policy, metrics, pacer),
        ],
        lifespan=lambda _: _lifespan(workshop, health),
    )
    app.state.policy = policy
    app.router.redirect_slashes = False
    app.router.default = not_found
    return app


def get_policy(app: Starlette) -> AccessPolicy:
    """Return the policy of an application that `create_app` made."""
    policy = app.state.policy
    assert isinstance(policy, AccessPolicy)
    return policy


def _endpoint_routes(workshop: ServiceContext) -> Iterator[BaseRoute]:
    for path in dict.fromkeys(each.path for each in ENDPOINTS):
        here = [each for each in ENDPOINTS if each.path == path]
        yield Route(path.lower(), EndpointHandler(path, here, workshop))


def _health_routes(registry: MarketRegistry, health: HealthMonitor) -> Iterator[BaseRoute]:
    for path, api_version in ((HEALTH_V1, ApiVersion.V1), (HEALTH_V2, ApiVersion.V2)):
        yield Route(path, HealthHandler(path, api_version, HEALTH_WHERE[path], registry, health))


def _page_routes(workshop: ServiceContext) -> Iterator[BaseRoute]:
    for path, maker in build_pages(workshop.registry, workshop.metrics).items():
        yield Route(path, PageHandler(path, maker, workshop.worker))


@asynccontextmanager
async def _lifespan(workshop: ServiceContext, health: HealthMonitor) -> AsyncIterator[None]:
    opening = asyncio.get_running_loop().create_task(_open_markets(workshop))
    try:
        yield
    finally:
        opening.cancel()
        gc.unfreeze()
        health.close()
        workshop.worker.close()
        workshop.checker.close()


async def _open_markets(workshop: ServiceContext) -> None:
    registry, solver = workshop.registry, workshop.worker
    for network in registry.served_networks:
        with suppress(MarketUnavailable):
            await solver.run(partial(_open_market, registry, network.name), is_urgent=True)
    # Markets live as long as the service: looking through them again and again would make everybody wait.
    gc.collect()
    gc.freeze()


def _open_market(registry: MarketRegistry, name: str, _: IsCancelled) -> None:
    registry.open_source(name)


def _market_metrics(registry: MarketRegistry, failures: Mapping[str, int]) -> Iterator[MarketMetrics]:
    for name, source in registry.sources.items():
        state_source = source.state_source
        yield MarketMetrics(name, len(source.market.pools), state_source.age_s, state_source.block, failures.get(name))
    for name in failures.keys() - registry.sources.keys():
        yield MarketMetrics(name, failures=failures[name])
