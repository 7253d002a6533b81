"""Run the application: bind the socket, report readiness, and shut down without losing a request.

A client has `CLIENT_TIMEOUT_S` to send the head of a request, and the same time for its body. Between two requests, the
connection may be idle for `keep_alive_s`. On SIGTERM or SIGINT the service stops accepting connections and finishes
open requests, for at most `GRACE_S`. With `max_requests` it does the same after that number of requests.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, cast

import uvicorn

from swapcli.core.records import NamedTuple
from swapcli.faces.service.error_responses import status_error
from swapcli.faces.service.http_protocol import HttpProtocol, protocol_with
from swapcli.faces.service.listeners import STOPPING, notify_manager
from swapcli.faces.service.metrics_app import MetricsPort
from swapcli.faces.service.parent_channel import ParentMessage
from swapcli.faces.service.refusal_reasons import OnRefusal, RefusalReason, ignore_refusal
from swapcli.faces.service.request_io import BodyTooSlow, send_json, set_closing
from swapcli.faces.service.shared_listener import SharedListener

if TYPE_CHECKING:
    from types import FrameType

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from swapcli.faces.service.parent_channel import ParentChannel
    from swapcli.faces.service.worker_group import GroupMember

GRACE_S = 10
CLIENT_TIMEOUT_S = 10.0
KEEPALIVE_GRACE_S = 0.2
"""Grace period after shutdown starts, in which idle keep-alive connections may send one last request."""
SWITCH_INTERVAL_S = 0.0005
"""Interpreter switch interval. The default of 5 ms would let the worker thread delay the event loop."""

DEFAULT_MAX_CONNECTIONS = 1_024
DEFAULT_KEEP_ALIVE_S = 75.0
"""Longer than the 60 s after which nginx, and most load balancers, stop reusing an idle connection. A service that
closes first may do so while a request is in transit, and a proxy repeats a POST only if it is configured to."""

BACKLOG = 2_048
_OTHER_FILES = 128
"""Open files reserved for purposes other than connections: stores, nodes, and connections being accepted or
rejected."""
_PUBLISH_TICKS = 5
"""Number of 0.1-second ticks between two publications of metrics, which take 2 ms."""
_POLL_S = 0.02
_CLOSE = (("Connection", "close"),)
_STOPPING = status_error(503, "the service is stopping", _CLOSE, hint="retry on a new connection")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_HANGUP: signal.Signals | None = getattr(signal, "SIGHUP", None)


class ServerLimits(NamedTuple):
    """The limits of a server. It exits after `max_requests`, if that is set."""

    max_requests: int | None = None
    max_connections: int = DEFAULT_MAX_CONNECTIONS
    keep_alive_s: float = DEFAULT_KEEP_ALIVE_S
    grace_s: int = GRACE_S
    timeout_s: float = CLIENT_TIMEOUT_S


_DEFAULT_LIMITS = ServerLimits()


class WorkerPart(NamedTuple):
    """What a server in a group of workers needs in addition. `publish` is called twice a second, and at the end."""

    member: GroupMember
    parent: ParentChannel
    publish: Callable[[], None]


def serve(
    app: ASGIApp,
    listener: socket.socket,
    limits: ServerLimits = _DEFAULT_LIMITS,
    *,
    on_ready: Callable[[], None],
    is_prepared: Callable[[], bool] | None = None,
    on_hangup: Callable[[], Awaitable[None]] | None = None,
    is_terminal_gone: Callable[[], bool] | None = None,
    metrics: MetricsPort | None = None,
    on_refusal: OnRefusal = ignore_refusal,
    worker: WorkerPart | None = None,
) -> int:
    """Serve the connections of a socket until stopped, and return 0. Metrics with a separate port are served in
    parallel. `on_refusal` counts what the server rejects before the application sees it.

    Connections are accepted once `is_prepared` returns True, or immediately; then `on_ready` is called. `on_hangup` is
    awaited after each SIGHUP, one call at a time; if `is_terminal_gone` then returns True, the service stops instead. A
    `worker` shares the socket with the other members of its group, and acts on its parent's messages and on SIGTERM.
    """
    server = _new_server(app, limits, on_refusal)
    server.is_prepared, server.on_ready, server.on_hangup = is_prepared, on_ready, on_hangup
    server.is_terminal_gone = is_terminal_gone
    server.serve_beside(metrics)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    with listener:
        if worker is None:
            server.run(sockets=[listener])
        else:
            server.worker, server.listener = worker, listener
            server.run(sockets=[])
            worker.publish()
    return 0


def _new_server(
    app: ASGIApp, limits: ServerLimits, on_refusal: OnRefusal, no_room: RefusalReason = RefusalReason.CONNECTIONS
) -> _Server:
    request_counter = RequestCounter(app, limits, on_refusal)
    config = uvicorn.Config(
        request_counter,
        loop="auto",
        http=protocol_with(max(1, allow_open_files(limits.max_connections)), on_refusal, no_room),
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=limits.keep_alive_s,  # type: ignore[arg-type]  # only the event loop's timer sees it
        timeout_graceful_shutdown=limits.grace_s,
        backlog=BACKLOG,
    )
    return _Server(config, request_counter, limits.timeout_s)


def allow_open_files(count: int) -> int:
    """Raise the limit of open files to `count` plus a reserve, as far as the system allows. Return how many of `count`
    may be opened."""
    try:
        import resource
    except ModuleNotFoundError:
        return count
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    required = count + _OTHER_FILES
    if soft == resource.RLIM_INFINITY or soft >= required:
        return count
    with suppress(ValueError, OSError):
        allowed = required if hard == resource.RLIM_INFINITY else min(required, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return min(count, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _OTHER_FILES)


class RequestCounter:
    """A wrapper that passes at most `ServerLimits.max_requests` requests to an application."""

    def __init__(self, app: ASGIApp, limits: ServerLimits, on_refusal: OnRefusal) -> None:
        self._app, self._on_refusal = app, on_refusal
        self._remaining, self._timeout_s = limits.max_requests, limits.timeout_s
        self._answering = 0
        self.closing = asyncio.Event()
        """Set when the service accepts no further requests. It ends responses that do not end by themselves."""

    @property
    def is_finished(self) -> bool:
        """Whether the maximum number of requests has been processed."""
        return self._remaining == 0 and not self._answering

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, unless it exceeds the maximum number."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        if self._remaining == 0:
            self._on_refusal(RefusalReason.STOPPING)
            return await send_json(scope, send, _STOPPING)
        if self._remaining is not None:
            self._remaining -= 1
            if self._remaining == 0:
                self.closing.set()
        self._answering += 1
        set_closing(scope, self.closing)
        try:
            await self._app(scope, with_body_timeout(receive, self._timeout_s), send)
        finally:
            self._answering -= 1
        return None


def with_body_timeout(receive: Receive, timeout_s: float) -> Receive:
    """Return a `receive` that raises `BodyTooSlow` if the body does not arrive in time."""
    deadline_s = asyncio.get_running_loop().time() + timeout_s
    is_complete = False

    async def receive_with_timeout() -> Message:
        nonlocal is_complete
        if is_complete:
            return await receive()
        try:
            async with asyncio.timeout_at(deadline_s):
                message = await receive()
        except TimeoutError:
            raise BodyTooSlow from None
        is_complete = not message.get("more_body", False)
        return message

    return receive_with_timeout


class _Server(uvicorn.Server):
    """A uvicorn server that returns after a signal instead of raising it again."""

    def __init__(self, config: uvicorn.Config, request_counter: RequestCounter, timeout_s: float) -> None:
        super().__init__(config)
        self.is_prepared: Callable[[], bool] | None = None
        self.on_ready: Callable[[], None] | None = None
        self.on_hangup: Callable[[], Awaitable[None]] | None = None
        self.is_terminal_gone: Callable[[], bool] | None = None
        self.worker: WorkerPart | None = None
        self.listener: socket.socket | None = None
        self._hangups = 0
        self._reloading: asyncio.Future[None] | None = None
        self._request_counter = request_counter
        self._timeout_s = timeout_s
        self._shared_listener: SharedListener | None = None
        self._handles_signals = True
        self._metrics_listener: socket.socket | None = None
        self._metrics_server: _Server | None = None
        self._serving_metrics: asyncio.Task[None] | None = None

    def serve_beside(self, metrics: MetricsPort | None) -> None:
        """Serve the metrics on a separate port, from the start of this server to its end."""
        if metrics is None:
            return
        self._metrics_listener = metrics.listener
        limits = ServerLimits(max_connections=metrics.max_connections)
        self._metrics_server = _new_server(metrics.app, limits, metrics.on_refusal, RefusalReason.METRICS_CONNECTIONS)
        self._metrics_server.config.lifespan = "off"
        self._metrics_server._handles_signals = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if self.worker is not None:
            self._listen_to_parent(self.worker.parent)
        while self.is_prepared and not self.is_prepared() and not self.should_exit:
            await asyncio.sleep(_POLL_S)
        await super().startup(sockets)
        if self.should_exit:
            return
        if self.worker is not None and self.listener is not None:
            create_protocol = partial(
                cast("Callable[..., asyncio.Protocol]", self.config.http_protocol_class),
                config=self.config,
                server_state=self.server_state,
                app_state=self.lifespan.state,
            )
            self._shared_listener = SharedListener(
                self.listener, self.worker.member, create_protocol, lambda: len(self._connections)
            )
            self._shared_listener.open()
        if self._metrics_server is not None and self._metrics_listener is not None:
            serving = self._metrics_server.serve(sockets=[self._metrics_listener])
            self._serving_metrics = asyncio.get_running_loop().create_task(serving)
            while not self._metrics_server.started and not self._serving_metrics.done():
                await asyncio.sleep(0)
        if self.on_ready is not None:
            self.on_ready()

    def _listen_to_parent(self, parent: ParentChannel) -> None:
        """Act on the messages of the parent process."""

        def on_message() -> None:
            for message in parent.receive():
                if message is ParentMessage.RELOAD:
                    self._hangups += 1
                else:
                    self.should_exit = True
                    self.force_exit = self.force_exit or message is ParentMessage.STOP_NOW
                if message is ParentMessage.PARENT_ENDED:
                    loop.remove_reader(parent.fileno())

        loop = asyncio.get_running_loop()
        loop.add_reader(parent.fileno(), on_message)

    @property
    def _connections(self) -> set[HttpProtocol]:
        return cast("set[HttpProtocol]", self.server_state.connections)

    async def on_tick(self, counter: int) -> bool:
        for connection in list(self._connections):
            connection.check_times(self._timeout_s)
        if self._hangups and self.on_hangup is not None and (self._reloading is None or self._reloading.done()):
            self._hangups = 0
            self._reloading = asyncio.ensure_future(self.on_hangup())
        if self.worker is not None and counter % _PUBLISH_TICKS == 0:
            self.worker.publish()
        if self._shared_listener is not None:
            self._shared_listener.report_count()
        return await super().on_tick(counter) or self._request_counter.is_finished

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.worker is None and self._handles_signals:
            notify_manager(STOPPING)
        self._request_counter.closing.set()
        self.server_state.default_headers.append((b"connection", b"close"))  # of requests that still arrive
        for connection in self._connections:
            connection.end_after_response()
        for server in self.servers:
            server.close()
        if self._shared_listener is not None:
            self._shared_listener.close()
        if not self._request_counter.is_finished:
            await asyncio.sleep(KEEPALIVE_GRACE_S)
        await super().shutdown(sockets)
        if self._metrics_server is not None and self._serving_metrics is not None:
            self._metrics_server.should_exit = True
            self._metrics_server.force_exit = self.force_exit
            await self._serving_metrics

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {}
        if not self._handles_signals:
            yield
            return
        with suppress(ValueError):  # signals can only be set in the main thread
            if self.worker is not None:
                before = {signal.SIGTERM: signal.signal(signal.SIGTERM, self._stop_gently)}
            else:
                before = {each: signal.signal(each, self._stop) for each in _SIGNALS}
                if self.on_hangup is not None and _HANGUP is not None:
                    before[_HANGUP] = signal.signal(_HANGUP, self._count_hangup)
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _count_hangup(self, _signal: int, _frame: FrameType | None) -> None:
        if self.is_terminal_gone is not None and self.is_terminal_gone():
            self.should_exit = True  # always gracefully: a shell repeats the kernel's signal
        else:
            self._hangups += 1

    def _stop_gently(self, _signal: int, _frame: FrameType | None) -> None:
        """Shut down gracefully. A service manager may signal all of its processes, and the parent passes the signal on,
        so a second signal does not mean urgency."""
        self.should_exit = True

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        """Shut down gracefully; on a second signal, immediately."""
        self.force_exit = self.should_exit
        self.should_exit = True
