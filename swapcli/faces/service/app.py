"""The service as an ASGI application."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Route

from swapcli.core.errors import MarketUnavailable
from swapcli.faces.service.access_log import AccessLog
from swapcli.faces.service.access_policy import AccessPolicy, KeyLookup, NoKeys
from swapcli.faces.service.asgi_handlers import (
    EndpointHandler,
    HealthHandler,
    PageHandler,
    QuoteFormHandler,
    ServiceContext,
    not_found,
)
from swapcli.faces.service.balance_check import BalanceChecker
from swapcli.faces.service.endpoint_table import ENDPOINTS, PATHS, QUOTE_FORM
from swapcli.faces.service.health_checks import HealthMonitor
from swapcli.faces.service.issued_routes import IssuedRoutes, ProcessRouteTimes, RouteTimes
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
from swapcli.faces.service.unnamed_proxy import UnnamedProxyWatch
from swapcli.faces.service.worker_group import GroupMember, share_of
from swapcli.faces.service.worker_thread import IsCancelled, Worker
from swapcli.quoting.config.settings import ServiceSettings
from swapcli.state.rpc.head_source import FollowMode
from swapcli.state.rpc.node import StateOverrideNode
from swapcli.state.rpc.witness_node import Witnesses

if TYPE_CHECKING:
    from starlette.types import ASGIApp

STUCK_CHECK_S = 1.0
"""Between two looks for a stuck search."""

_NO_KEYS = NoKeys()
_NO_NODES: Mapping[str, StateOverrideNode] = MappingProxyType({})
_NO_WITNESSES: Mapping[str, Witnesses] = MappingProxyType({})


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
) -> Starlette:
    """Return the application. Markets are opened in the background at start-up, or by the first request.

    `followers` keep markets current, for metrics and health; `nodes` run balance checks, and `witnesses` confirm the
    state of payloads, both by network name. `member` is the place of this process in a group of workers, which share
    the limits of clients, of the queue and of connections; `state` is what this service shares with others.
    `get_policy` returns the access policy, which may be replaced while the application runs.
    """
    followers = followers or NetworkThreads()
    metrics = Metrics(registry.networks, PATHS, member)
    worker = Worker(
        share_of(settings.max_queue, member), on_wait=metrics.record_wait, on_refusal=metrics.record_refusal
    )
    registry.issued_routes = IssuedRoutes(_route_times(registry, member, state))
    metrics.watch_queue(lambda: worker.queue_length)
    metrics.watch_stuck_searches(lambda: worker.stuck_searches)
    metrics.watch_markets(lambda: _market_metrics(registry, followers))
    if log is not None:
        metrics.watch_log(lambda: log.dropped)
    if state is not None:
        metrics.watch_state(lambda: state.figures)
    pacer, policy = RejectionPacer(), AccessPolicy(settings, keys, member.group.buckets if member else None, state)
    events = RouteEvents(registry, worker, metrics, policy, share_of(max(1, settings.max_connections // 2), member))
    metrics.watch_streams(lambda: events.open_streams)
    proxy_watch = UnnamedProxyWatch(policy, metrics, log, member)
    service = ServiceContext(registry, worker, metrics, BalanceChecker(nodes), StateConfirmer(witnesses), pacer, events)
    monitor = HealthMonitor(registry, worker, followers.modes, member)
    app = Starlette(
        routes=[*_network_routes(service, monitor), *_page_routes(service, proxy_watch, settings, member)],
        middleware=[
            Middleware(AccessLogMiddleware, registry.clock, log, metrics, policy, proxy_watch),
            Middleware(CorsMiddleware, policy),
            Middleware(AuthMiddleware, registry.clock, policy, metrics, pacer),
        ],
        lifespan=lambda _: _lifespan(service, monitor, state, log, member),
    )
    app.state.policy, app.state.metrics = policy, metrics
    app.router.redirect_slashes = False
    app.router.default = not_found
    return app


def _route_times(registry: MarketRegistry, member: GroupMember | None, state: RedisState | None) -> RouteTimes:
    own = ProcessRouteTimes() if member is None else member.group.route_times
    return own if state is None else state.route_times(own, max(ROUTE_LIFE_S, 2 * registry.rules.terms.ttl_s))


def get_policy(app: Starlette) -> AccessPolicy:
    """Return the policy of an application that `create_app` built."""
    policy = app.state.policy
    assert isinstance(policy, AccessPolicy)
    return policy


def get_metrics(app: Starlette) -> Metrics:
    """Return the metrics of an application that `create_app` built."""
    metrics = app.state.metrics
    assert isinstance(metrics, Metrics)
    return metrics


def open_metrics_port(app: Starlette, listener: socket.socket) -> MetricsPort:
    """Return what serves the metrics of an application at a listening socket of their own."""
    metrics = get_metrics(app)
    return MetricsPort(listener, MetricsApp(metrics), metrics.record_refusal)


def _network_routes(service: ServiceContext, monitor: HealthMonitor) -> Iterator[BaseRoute]:
    by_path = {path: [each for each in ENDPOINTS if each.path == path and each.networks] for path in PATHS}
    for path, endpoints in by_path.items():
        if not endpoints:
            continue
        if endpoints[0].handler is None:
            handler: ASGIApp = HealthHandler(endpoints[0], service.registry, monitor)
            yield Route(path, handler)
        else:
            handler = EndpointHandler(path, endpoints, service)
            yield Route(path.lower(), handler)


def _page_routes(
    service: ServiceContext, proxy_watch: UnnamedProxyWatch, settings: ServiceSettings, member: GroupMember | None
) -> Iterator[BaseRoute]:
    rules = service.registry.rules
    yield Route(QUOTE_FORM, QuoteFormHandler(rules.max_slippage_ppm, rules.max_impact_ppm))
    builders = build_pages(
        service.registry,
        service.metrics,
        member,
        is_alive=lambda: service.worker.is_alive,
        read_warnings=lambda: proxy_watch.warnings,
        has_metrics=settings.metrics_port is None,
    )
    for path, builder in builders.items():
        yield Route(path, PageHandler(path, builder, service.worker))


@asynccontextmanager
async def _lifespan(
    service: ServiceContext,
    monitor: HealthMonitor,
    state: RedisState | None,
    log: AccessLog | None,
    member: GroupMember | None,
) -> AsyncIterator[None]:
    loop = asyncio.get_running_loop()
    freezes = gc.get_freeze_count() == 0
    opening = loop.create_task(_open_markets(service))
    watching = loop.create_task(_replace_stuck_searches(service, log, member))
    if state is not None:
        await state.connect()
    try:
        yield
    finally:
        opening.cancel()
        watching.cancel()
        if freezes:  # what the process around the service has frozen stays so
            gc.unfreeze()
        monitor.close()
        service.events.close()
        service.worker.close()
        service.checker.close()
        service.confirmer.close()
        if state is not None:
            await state.close()


async def _open_markets(service: ServiceContext) -> None:
    for network in service.registry.served_networks:
        with suppress(MarketUnavailable):
            await service.worker.run(partial(_open_market, service.registry, network.name), is_urgent=True)
    # Markets live as long as the service: without freezing, each full collection would scan them and delay requests.
    gc.collect()
    gc.freeze()


async def _replace_stuck_searches(service: ServiceContext, log: AccessLog | None, member: GroupMember | None) -> None:
    """Look for a stuck search again and again. A worker of a group with several of them ends, and is replaced."""
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
    sources, failures, modes, feeds = registry.sources, followers.failures(), followers.modes(), followers.feeds()
    for name in sources.keys() | failures.keys():
        is_subscribed = modes[name] is FollowMode.SUBSCRIPTION if name in modes else None
        figures = MarketMetrics(name, failures=failures.get(name), is_subscribed=is_subscribed, feed=feeds.get(name))
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
