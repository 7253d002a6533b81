"""ASGI applications for the paths of the service: endpoints of networks, health checks, pages.

Endpoints run on the worker thread, off the event loop. If a client disconnects, its work is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

import msgspec

from swapcli.core.errors import Cancelled, Overloaded, SwapcliError
from swapcli.core.model.network import Network
from swapcli.core.records import NamedTuple
from swapcli.faces.service.balance_check import BalanceChecker
from swapcli.faces.service.endpoint_messages import EndpointRequest, EndpointResponse, EndpointWork
from swapcli.faces.service.endpoint_table import EVENT_STREAM, JSON, QUOTE_FORM, Endpoint, known_names
from swapcli.faces.service.error_responses import (
    JsonResponse,
    error_response,
    method_error,
    network_error,
    status_error,
)
from swapcli.faces.service.health_checks import HealthMonitor
from swapcli.faces.service.html_pages import accepts_html, quote_page
from swapcli.faces.service.market_registry import MarketRegistry
from swapcli.faces.service.metrics import Metrics
from swapcli.faces.service.operations_pages import PageBuilder
from swapcli.faces.service.order_costs import classify_order
from swapcli.faces.service.quote_headers import with_unknown, with_witnesses
from swapcli.faces.service.quote_stream import RouteEvents
from swapcli.faces.service.rate_limits import RejectionPacer
from swapcli.faces.service.request_io import (
    get_context,
    get_header,
    read_body,
    send_body,
    send_json,
    wait_for_disconnect,
)
from swapcli.faces.service.state_confirmer import StateConfirmer
from swapcli.faces.service.static_pages import StaticPage
from swapcli.faces.service.worker_thread import IsCancelled, Worker, cancel_on_disconnect

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

OK = 200
MAX_READ_BYTES = 4_096
"""The longest query and body parsed on the event loop: an order, or a route with a few pools, in about 0.1 ms."""
NO_PATH = status_error(404, "no such path", hint="GET /openapi.json or /docs for the paths")


class ServiceContext(NamedTuple):
    """The parts of the service that handlers use."""

    registry: MarketRegistry
    worker: Worker
    metrics: Metrics
    checker: BalanceChecker
    confirmer: StateConfirmer
    pacer: RejectionPacer
    events: RouteEvents


class EndpointHandler:
    """The handler of the endpoints with one path. Which of them exist depends on the network."""

    def __init__(self, path: str, endpoints: Sequence[Endpoint], service: ServiceContext) -> None:
        self._path = path
        self._endpoints = tuple(endpoints)
        self._service = service
        self._known: dict[tuple[str, str], frozenset[str]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Select the endpoint by method and network, and send its response."""
        network = self._service.registry.networks.get(scope["path_params"]["network"])
        if network is None:
            return await send_json(scope, send, network_error(self._service.registry.networks))
        by_method = {each.method: each for each in self._endpoints if each.exists_on(network)}
        rejection = _check_method(scope, self._path, network, by_method)
        if rejection is not None:
            return await send_json(scope, send, rejection)
        endpoint = by_method[_method(scope)]
        body = await read_body(scope, receive)
        try:
            request = _build_request(scope, network, endpoint, body, self._known_names(endpoint, network))
            work = self._read(endpoint, request)
            if endpoint.content_type == EVENT_STREAM:
                return await self._service.events.stream(work, request, scope, receive, send)
            content, response = await self._run(endpoint, request, work, scope, receive)
            confirmation = await self._service.confirmer.run(network.name, request.built)
            if response.check is not None:
                await self._service.checker.run(network.name, response.check)
            amended = response.amend and await self._service.checker.run(network.name, response.amend)
            if confirmation is not None and response.add_witnesses is not None:
                document = response.document if amended is None else amended
                amended = response.add_witnesses(document, confirmation.witnesses)
            if amended is not None:
                content = _encode(amended, endpoint)
        except SwapcliError as error:
            reply = error_response(error, endpoint.error_format)
            if reply is None:
                raise
            get_context(scope).set_error(error)
            return await send_json(scope, send, reply)
        headers = response.headers
        if confirmation is not None:
            headers = with_witnesses(headers, confirmation.witnesses, is_confirmed=not confirmation.unconfirmed)
        if request.unknown:
            headers = with_unknown(headers, request.unknown)
        return await send_body(send, OK, endpoint.content_type.encode(), content, headers)

    def _known_names(self, endpoint: Endpoint, network: Network) -> frozenset[str]:
        key = endpoint.method, network.name
        if key not in self._known:
            self._known[key] = known_names(endpoint, network)
        return self._known[key]

    def _read(self, endpoint: Endpoint, request: EndpointRequest) -> EndpointWork:
        """Read a request here, so that an invalid one costs no more than this; a long one is read on the worker
        thread."""
        assert endpoint.handler is not None
        read = partial(endpoint.handler, self._service.registry, request)
        if len(request.query) + len(request.body) <= MAX_READ_BYTES or endpoint.content_type == EVENT_STREAM:
            return read()
        return EndpointWork(lambda is_cancelled: read().run(is_cancelled))

    async def _run(
        self, endpoint: Endpoint, request: EndpointRequest, work: EndpointWork, scope: Scope, receive: Receive
    ) -> tuple[bytes, EndpointResponse]:
        """Do a request's work on the worker thread, until the client disconnects."""
        worker, metrics, network = self._service.worker, self._service.metrics, request.network.name
        loop, context = asyncio.get_running_loop(), get_context(scope)
        try:
            job = worker.submit(
                partial(self._handle, endpoint, network, work),
                client=context.queue_client,
                order_class=classify_order(endpoint.path, network, work.order, len(request.query) + len(request.body)),
                connection=scope.get("client"),
                on_done=partial(metrics.record_search, context),
            )
        except Overloaded:
            await self._service.pacer.wait()
            raise
        try:
            return await cancel_on_disconnect(job, loop.create_task(wait_for_disconnect(receive)))
        except Cancelled:
            metrics.record_cancelled(network)
            raise

    def _handle(
        self, endpoint: Endpoint, network: str, work: EndpointWork, is_cancelled: IsCancelled
    ) -> tuple[bytes, EndpointResponse]:
        """Return the encoded document and the response, and record the time taken."""
        started_s = perf_counter()
        try:
            response = work.run(is_cancelled)
            return _encode(response.document, endpoint), response
        finally:
            self._service.metrics.record_solve(network, perf_counter() - started_s)


def _encode(document: object, endpoint: Endpoint) -> bytes:
    if endpoint.content_type == JSON:
        return msgspec.json.encode(document)
    assert isinstance(document, str)
    return document.encode()


class HealthHandler:
    """The handler of health checks. It responds without waiting for orders."""

    def __init__(self, endpoint: Endpoint, registry: MarketRegistry, monitor: HealthMonitor) -> None:
        self._endpoint = endpoint
        self._registry = registry
        self._monitor = monitor

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the health of the network."""
        network = self._registry.networks.get(scope["path_params"]["network"])
        if network is None:
            return await send_json(scope, send, network_error(self._registry.networks))
        methods = ("GET",) if self._endpoint.exists_on(network) else ()
        rejection = _check_method(scope, self._endpoint.path, network, methods)
        await read_body(scope, receive)
        return await send_json(scope, send, rejection or await self._monitor.check(network, self._endpoint.api_version))


class PageHandler:
    """The handler of a page. A page that is slow to build is built on the worker thread, ahead of all orders."""

    def __init__(self, path: str, builder: PageBuilder, worker: Worker) -> None:
        self._path = path
        self._builder = builder
        self._worker = worker

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Build the page and send it."""
        rejection = _check_method(scope, self._path, None, ("GET",))
        await read_body(scope, receive)
        if rejection is not None:
            return await send_json(scope, send, rejection)
        (build, is_slow), query = self._builder, scope["query_string"]
        page = await self._worker.run(lambda _: build(query), is_urgent=True) if is_slow else build(query)
        if isinstance(page, StaticPage):
            return await page.respond(scope, send)
        return await send_body(send, page.status, page.content_type.encode(), page.body, page.headers)


class QuoteFormHandler:
    """The handler of the quote form, for browsers only. A client that does not accept HTML gets status 404 at `/`."""

    def __init__(self, max_slippage_ppm: int, max_impact_ppm: int) -> None:
        self._limits_ppm = max_slippage_ppm, max_impact_ppm

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the page, or the response of a path that does not exist."""
        if _method(scope) != "GET" or not accepts_html(get_header(scope, b"accept")):
            return await send_json(scope, send, NO_PATH)
        await read_body(scope, receive)
        get_context(scope).pattern = QUOTE_FORM
        return await quote_page(*self._limits_ppm).respond(scope, send, vary="Accept, Accept-Encoding")


async def not_found(scope: Scope, _receive: Receive, send: Send) -> None:
    """Respond to a request whose path does not match any endpoint."""
    await send_json(scope, send, NO_PATH)


def _check_method(scope: Scope, path: str, network: Network | None, methods: Collection[str]) -> JsonResponse | None:
    """Record the matched path; return an error if the path does not accept the method on this network."""
    if not methods:
        return NO_PATH
    context = get_context(scope)
    context.pattern, context.network = path, network.name if network else None
    if _method(scope) in methods:
        return None
    return method_error(methods)


def _method(scope: Mapping[str, object]) -> str:
    """Return the method. HEAD counts as GET: the server sends only the headers."""
    method = str(scope["method"])
    return "GET" if method == "HEAD" else method


def _build_request(
    scope: Scope, network: Network, endpoint: Endpoint, body: bytes, known: frozenset[str]
) -> EndpointRequest:
    context = get_context(scope)
    return EndpointRequest(
        network=network,
        use=endpoint.use,
        query=scope["query_string"],
        body=body,
        content_type=get_header(scope, b"content-type") or "",
        path_tail=context.path.rpartition("/")[2],
        api_key=context.api_key,
        built=[],
        known=known,
        unknown=[],
        refuses_unknown=endpoint.is_own,
        searches_afresh=endpoint.content_type == EVENT_STREAM,
    )
