"""The service as an ASGI application."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from swapcli.core.errors import MarketUnavailable
from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.access_policy import AccessPolicy
from swapcli.faces.service.asgi_handlers import (
    EndpointHandler,
    HealthHandler,
    PageHandler,
    QuoteFormHandler,
    ServiceContext,
    not_found,
)
from swapcli.faces.service.balance_check import BalanceChecker
from swapcli.faces.service.endpoint_table import ENDPOINTS, NETWORK_PREFIX, PATHS, QUOTE_FORM
from swapcli.faces.service.health_checks import HealthMonitor
from swapcli.faces.service.issued_routes import IssuedRoutes, ProcessRouteTimes, RouteTimes
from swapcli.faces.service.key_file import KeyLookup
from swapcli.faces.service.key_file_watch import KeyFileWatch
from swapcli.faces.service.key_usage import UsageWriter
from swapcli.faces.service.market_followers import NetworkThreads
from swapcli.faces.service.market_registry import MarketRegistry
from swapcli.faces.service.metrics import MarketMetrics, Metrics
from swapcli.faces.service.metrics_app import MetricsApp, MetricsPort
from swapcli.faces.service.middleware import AccessLogMiddleware, AuthMiddleware, CorsMiddleware
from swapcli.faces.service.operations_pages import build_pages
from swapcli.faces.service.quote_stream import RouteEvents
from swapcli.faces.service.rate_limits import RejectionPacer
from swapcli.faces.service.redis_state import ROUTE_LIFE_S, RedisState
from swapcli.faces.service.state_confirmer import StateConfirmer
from swapcli.faces.service.trace_export import Tracer, open_tracer
from swapcli.faces.service.unnamed_proxy import UnnamedProxyWatch
from swapcli.faces.service.worker_group import GroupMember, share_of
from swapcli.faces.service.worker_thread import IsCancelled, Worker
from swapcli.quoting.config.settings import ServiceSettings
from swapcli.state.rpc.node import StateOverrideNode
from swapcli.state.rpc.witness_node import Witnesses

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

STUCK_CHECK_S = 1.0
"""Seconds between two checks for a stuck search."""

_NO_KEYS = KeyLookup()
_NO_NODES: Mapping[str, StateOverrideNode] = MappingProxyType({})
_NO_WITNESSES: Mapping[str, Witnesses] = MappingProxyType({})


class ServiceApp:
    """The service as an ASGI application.

    `pages` are handlers by path, and `endpoints` are handlers of the paths below a network. `policy` may be replaced
    while the service runs. `lifespan` is the context that is open while the service runs.
    """

    def __init__(
        self,
        pages: Mapping[str, ASGIApp],
        endpoints: Mapping[str, ASGIApp],
        policy: AccessPolicy,
        metrics: Metrics,
        lifespan: Callable[[], AbstractAsyncContextManager[None]],
    ) -> None:
        self._pages, self._endpoints = pages, endpoints
        self.policy, self.metrics, self.lifespan = policy, metrics, lifespan
        self.outermost: ASGIApp = self.handle
        """The receiver of requests: a middleware around `handle`."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or the start and the end of the service."""
        if scope["type"] != "lifespan":
            return await self.outermost(scope, receive, send)
        await receive()
        async with self.lifespan():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        return await send({"type": "lifespan.shutdown.complete"})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the handler for its path. The last path segment may be a token address."""
        path = scope["path"]
        handler = self._pages.get(path)
        if handler is None:
            network, _, rest = path[1:].partition("/")
            scope["path_params"] = {"network": network}
            folder = rest.rpartition("/")[0]
            handler = self._endpoints.get(rest) or self._endpoints.get(f"{folder}/{{address}}", not_found)
        await handler(scope, receive, send)


def create_app(
    registry: MarketRegistry,
    settings: ServiceSettings,
    *,
    keys: KeyLookup = _NO_KEYS,
    log: AccessLog | None = None,
    followers: NetworkThreads | None = None,
    nodes: Mapping[str, StateOverrideNode] = _NO_NODES,
    witnesses: Mapping[str, Witnesses] = _NO_WITNESSES,
    member: GroupMember | None = None,
    state: RedisState | None = None,
) -> ServiceApp:
    """Return the application. Markets are opened in the background at start-up, or by the first request.

    `followers` keep markets current, and report it to metrics and health checks. `nodes` run balance checks, and
    `witnesses` confirm the state of payloads, both by network name. `member` is this process's place in a group of
    workers, which share the limits on clients, the queue and connections. `state` is the state shared with other
    services.
    """
    followers = followers or NetworkThreads()
    metrics = Metrics(registry.networks, PATHS, member)
    worker = Worker(share_of(settings.max_queue, member), on_wait=metrics.record_wait)
    registry.issued_routes = IssuedRoutes(_route_times(registry, member, state))
    metrics.watch_queue(lambda: worker.queue_length)
    metrics.watch_stuck_searches(lambda: worker.stuck_searches)
    metrics.watch_markets(lambda: _market_metrics(registry, followers))
    if log is not None:
        metrics.watch_log(lambda: log.dropped)
    if state is not None:
        metrics.watch_state(lambda: state.figures)
    pacer = RejectionPacer()
    policy = AccessPolicy(settings, keys, member, state, registry.networks, registry.clock)
    events = RouteEvents(registry, worker, metrics, policy, share_of(max(1, settings.max_connections // 2), member))
    metrics.watch_streams(lambda: events.open_streams)
    proxy_watch = UnnamedProxyWatch(policy, metrics, log, member)
    key_watch = KeyFileWatch(policy, log, registry.clock, member)
    metrics.watch_key_file(lambda: key_watch.is_valid)
    now_s = registry.clock.now_s
    tracer = open_tracer(os.environ, lambda problem: log.log_trace_export(problem, now_s()) if log else None)
    service = ServiceContext(registry, worker, metrics, BalanceChecker(nodes), StateConfirmer(witnesses), pacer, events)
    monitor = HealthMonitor(registry, worker, followers.modes, member)

    def read_warnings() -> list[str]:
        return [*proxy_watch.warnings, *key_watch.warnings]

    app = ServiceApp(
        dict(_pages(service, read_warnings, settings, policy, member)),
        dict(_endpoints(service, monitor)),
        policy,
        metrics,
        lambda: _lifespan(service, monitor, key_watch, policy, state, log, member, tracer),
    )
    within_limits = AuthMiddleware(app.handle, registry.clock, policy, metrics, pacer)
    app.outermost = AccessLogMiddleware(
        CorsMiddleware(within_limits, policy), registry.clock, log, metrics, policy, proxy_watch, tracer
    )
    return app


def _route_times(registry: MarketRegistry, member: GroupMember | None, state: RedisState | None) -> RouteTimes:
    own = ProcessRouteTimes() if member is None else member.group.route_times
    return own if state is None else state.route_times(own, max(ROUTE_LIFE_S, 2 * registry.rules.terms.ttl_s))


def open_metrics_port(app: ServiceApp, listener: socket.socket) -> MetricsPort:
    """Return the parts of a separate metrics port: `listener`, the application, and the function that counts
    refusals."""
    return MetricsPort(listener, MetricsApp(app.metrics), app.metrics.record_refusal)


def _endpoints(service: ServiceContext, monitor: HealthMonitor) -> Iterator[tuple[str, ASGIApp]]:
    """Yield the handlers of the paths below a network, in lower case."""
    for path in PATHS:
        endpoints = [each for each in ENDPOINTS if each.path == path and each.networks]
        if not endpoints:
            continue
        is_health = endpoints[0].handler is None
        handler: ASGIApp = (
            HealthHandler(endpoints[0], service.registry, monitor)
            if is_health
            else EndpointHandler(path, endpoints, service)
        )
        yield path.removeprefix(f"{NETWORK_PREFIX}/").lower(), handler


def _pages(
    service: ServiceContext,
    read_warnings: Callable[[], list[str]],
    settings: ServiceSettings,
    policy: AccessPolicy,
    member: GroupMember | None,
) -> Iterator[tuple[str, ASGIApp]]:
    rules = service.registry.rules
    yield QUOTE_FORM, QuoteFormHandler(rules.max_slippage_ppm, rules.max_impact_ppm)
    builders = build_pages(
        service.registry,
        service.metrics,
        member,
        is_alive=lambda: service.worker.is_alive,
        read_warnings=read_warnings,
        has_metrics=settings.metrics_port is None,
        requires_key=lambda: policy.rules.requires_key,
    )
    for path, builder in builders.items():
        yield path, PageHandler(path, builder, service.worker)


@asynccontextmanager
async def _lifespan(
    service: ServiceContext,
    monitor: HealthMonitor,
    key_watch: KeyFileWatch,
    policy: AccessPolicy,
    state: RedisState | None,
    log: AccessLog | None,
    member: GroupMember | None,
    tracer: Tracer | None,
) -> AsyncIterator[None]:
    loop = asyncio.get_running_loop()
    freezes = gc.get_freeze_count() == 0
    opening = loop.create_task(_open_markets(service))
    usage = UsageWriter(policy.usage, log, service.registry.clock)
    watching = [
        loop.create_task(work)
        for work in (
            _replace_stuck_searches(service, log, member),
            key_watch.run(),
            usage.run(lambda: policy.usage_storage),
        )
    ]
    if state is not None:
        await state.connect()
    try:
        yield
    finally:
        opening.cancel()
        for task in watching:
            task.cancel()
        if freezes:  # objects frozen by the surrounding process stay frozen
            gc.unfreeze()
        monitor.close()
        service.events.close()
        service.worker.close()
        service.checker.close()
        service.confirmer.close()
        await usage.store(policy.usage_storage)
        if state is not None:
            await state.close()
        if tracer is not None:
            tracer.close()


async def _open_markets(service: ServiceContext) -> None:
    for network in service.registry.served_networks:
        with suppress(MarketUnavailable):
            await service.worker.run(partial(_open_market, service.registry, network.name), is_urgent=True)
    # Markets live as long as the service: without freezing, each full collection would scan them and delay requests.
    gc.collect()
    gc.freeze()


async def _replace_stuck_searches(service: ServiceContext, log: AccessLog | None, member: GroupMember | None) -> None:
    """Check for a stuck search periodically. A worker in a group of several ends, and is replaced."""
    worker = service.worker
    while True:
        await asyncio.sleep(STUCK_CHECK_S)
        if not worker.replace_if_stuck():
            continue
        if log is not None:
            log.log_stuck_search(worker.stuck_searches, service.registry.clock.now_s(), is_alive=worker.is_alive)
        if member is not None and not worker.is_alive:
            signal.raise_signal(signal.SIGTERM)


def _open_market(registry: MarketRegistry, name: str, _: IsCancelled) -> None:
    registry.open_source(name)


def _market_metrics(registry: MarketRegistry, followers: NetworkThreads) -> Iterator[MarketMetrics]:
    sources, followed = registry.sources, followers.figures()
    for name in sources.keys() | followed.keys():
        figures = followed.get(name, MarketMetrics(name))
        if name in sources:
            state_source = sources[name].state_source
            pools = len(sources[name].market.pools)
            figures = figures._replace(
                pools=pools,
                age_s=state_source.age_s,
                block=state_source.block,
                has_real_prices=state_source.is_live,
            )
        yield figures
