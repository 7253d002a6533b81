"""What stands at a path, as ASGI applications: the endpoints of networks, health, and pages that are the same for all.

The work of endpoints runs off the event loop; a client that leaves ends it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from swapcli.errors import Cancelled, Overloaded, SwapcliError
from swapcli.model.api_version import ApiVersion
from swapcli.model.network import Network
from swapcli.service.balance_check import BalanceChecker, EndpointResponse
from swapcli.service.endpoint_table import Endpoint
from swapcli.service.error_responses import JsonResponse, error_response, status_error, style_on, with_v2_meta
from swapcli.service.health_checks import HealthMonitor
from swapcli.service.market_registry import MarketRegistry
from swapcli.service.metrics import Metrics
from swapcli.service.pages import PageBuilder
from swapcli.service.refusal_pacing import RejectionPacer
from swapcli.service.request import EndpointRequest
from swapcli.service.request_context import (
    JSON,
    get_context,
    get_header,
    read_body,
    send_body,
    send_json,
    wait_for_disconnect,
)
from swapcli.service.worker import Worker, cancel_on_disconnect

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

OK = 200
NO_PATH = status_error(404, "there is nothing at this path")
NO_NETWORK = status_error(404, "there is no such network here")


class ServiceContext(NamedTuple):
    """What endpoints work with."""

    registry: MarketRegistry
    worker: Worker
    metrics: Metrics
    checker: BalanceChecker
    pacer: RejectionPacer


class EndpointHandler:
    """The endpoints of one path; which of them there are depends on the network."""

    def __init__(self, path: str, endpoints: Sequence[Endpoint], workshop: ServiceContext) -> None:
        self._path = path
        self._endpoints = tuple(endpoints)
        self._workshop = workshop

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Finds the endpoint of a request and lets it answer."""
        network = self._workshop.registry.networks.get(scope["path_params"]["network"])
        if network is None:
            return await send_json(send, NO_NETWORK)
        here = {each.method: each for each in self._endpoints if each.where(network)}
        refused = _enter(scope, self._path, network, here)
        if refused is not None:
            return await send_json(send, refused)
        endpoint = here[_method(scope)]
        body = await read_body(scope, receive)
        try:
            request = _build_request(scope, network, body)
            content, outcome = await self._work(endpoint, request, get_context(scope).client, receive)
            if outcome.check is not None:
                await self._workshop.checker.run(network.name, outcome.check)
        except SwapcliError as error:
            reply = error_response(error, style_on(endpoint.style, network.name))
            if reply is None:
                raise
            is_v2 = endpoint.api_version is ApiVersion.V2
            return await send_json(send, with_v2_meta(reply, self._workshop.registry.now_ms()) if is_v2 else reply)
        return await send_body(send, OK, JSON, content, outcome.headers)

    async def _work(
        self, endpoint: Endpoint, request: EndpointRequest, client: str, receive: Receive
    ) -> tuple[bytes, EndpointResponse]:
        solver, metrics = self._workshop.worker, self._workshop.metrics
        loop = asyncio.get_running_loop()
        try:
            solver.check_room(client)
            work = solver.run(
                lambda is_cancelled: self._run(endpoint, request._replace(is_cancelled=is_cancelled)), client=client
            )
            return await cancel_on_disconnect(loop.create_task(work), loop.create_task(wait_for_disconnect(receive)))
        except Overloaded:
            metrics.record_overloaded()
            await self._workshop.pacer.wait()
            raise
        except Cancelled:
            metrics.record_cancelled(request.network.name)
            raise

    def _run(self, endpoint: Endpoint, request: EndpointRequest) -> tuple[bytes, EndpointResponse]:
        """The document as it is sent, and the outcome that it is of."""
        started_s = perf_counter()
        try:
            answer = endpoint.run(self._workshop.registry, request)
            outcome = answer if isinstance(answer, EndpointResponse) else EndpointResponse(answer)
            return msgspec.json.encode(outcome.document), outcome
        finally:
            self._workshop.metrics.record_solve(request.network.name, perf_counter() - started_s)


class HealthHandler:
    """The health check of a generation."""

    def __init__(
        self,
        path: str,
        api_version: ApiVersion,
        where: Callable[[Network], bool],
        registry: MarketRegistry,
        health: HealthMonitor,
    ) -> None:
        self._path = path
        self._api_version = api_version
        self._where = where
        self._registry = registry
        self._health = health

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers without waiting for orders."""
        network = self._registry.networks.get(scope["path_params"]["network"])
        if network is None:
            return await send_json(send, NO_NETWORK)
        refused = _enter(scope, self._path, network, ("GET",) if self._where(network) else ())
        await read_body(scope, receive)
        return await send_json(send, refused or await self._health.check(network, self._api_version))


class PageHandler:
    """A page; a slow one is made ahead of all orders."""

    def __init__(self, path: str, maker: PageBuilder, solver: Worker) -> None:
        self._path = path
        self._maker = maker
        self._solver = solver

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Makes the page anew."""
        refused = _enter(scope, self._path, None, ("GET",))
        await read_body(scope, receive)
        if refused is not None:
            return await send_json(send, refused)
        (make, is_slow), query = self._maker, scope["query_string"]
        page = await self._solver.run(lambda _: make(query), is_urgent=True) if is_slow else make(query)
        return await send_body(send, page.status, page.content_type.encode(), page.body)


async def not_found(_scope: Scope, _receive: Receive, send: Send) -> None:
    """Where no path fits."""
    await send_json(send, NO_PATH)


def _enter(scope: Scope, path: str, network: Network | None, methods: Collection[str]) -> JsonResponse | None:
    """Notes where a request has come to; the answer where its method is not among those of the path."""
    if not methods:
        return NO_PATH
    context = get_context(scope)
    context.pattern, context.network = path, network.name if network else None
    if _method(scope) in methods:
        return None
    allowed = [*methods, "HEAD"] if "GET" in methods else methods
    return status_error(405, "this path does not take that method", (("Allow", ", ".join(sorted(allowed))),))


def _method(scope: Mapping[str, object]) -> str:
    """The method, HEAD being a GET of which only the headers are sent."""
    method = str(scope["method"])
    return "GET" if method == "HEAD" else method


def _build_request(scope: Scope, network: Network, body: bytes) -> EndpointRequest:
    context = get_context(scope)
    return EndpointRequest(
        network=network,
        query=scope["query_string"],
        body=body,
        content_type=get_header(scope, b"content-type") or "",
        path_tail=context.path.rpartition("/")[2],
        api_key=context.api_key,
        is_cancelled=_never,
    )


def _never() -> bool:
    return False
