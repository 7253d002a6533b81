"""Run the application: bind the socket, report readiness, and shut down without losing a request.

A client has `CLIENT_TIMEOUT_S` to send the head of a request, and the same time for its body. Between two requests its
connection may be idle for `keep_alive_s`. On SIGTERM or SIGINT the
service accepts no new connections, finishes open requests, and waits at most `GRACE_S` for that. With `max_requests` it
does the same after that number of requests.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

import uvicorn

from swapcli.core.errors import InvalidOption
from swapcli.core.records import NamedTuple
from swapcli.faces.service.client_timeouts import IdleReaper, with_body_timeout
from swapcli.faces.service.endpoint_table import METRICS
from swapcli.faces.service.error_responses import status_error
from swapcli.faces.service.metrics_app import MetricsPort
from swapcli.faces.service.parent_channel import ParentMessage
from swapcli.faces.service.refusal_reasons import OnRefusal, RefusalReason, ignore_refusal
from swapcli.faces.service.request_io import send_json, set_closing
from swapcli.faces.service.shared_listener import SharedListener

if TYPE_CHECKING:
    from types import FrameType

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from swapcli.faces.service.client_timeouts import Connection
    from swapcli.faces.service.parent_channel import ParentChannel
    from swapcli.faces.service.worker_group import GroupMember

GRACE_S = 10
CLIENT_TIMEOUT_S = 10.0
KEEPALIVE_GRACE_S = 0.2
"""Grace period in which idle keep-alive connections may send one last request after shutdown starts."""
SWITCH_INTERVAL_S = 0.0005
"""Interpreter switch interval: the worker thread must not delay the event loop by the default of 5 ms."""

DEFAULT_MAX_CONNECTIONS = 1_024
DEFAULT_KEEP_ALIVE_S = 75.0
"""Longer than the 60 s after which nginx, and most load balancers, stop reusing an idle connection. A service that
closes first may do so while a request is on its way, and a proxy must not repeat a POST."""

BACKLOG = 2_048
_OTHER_FILES = 128
"""Open files reserved for other uses than connections: stores, nodes, connections being accepted or rejected."""
_PUBLISH_TICKS = 5
"""Ticks of 0.1 seconds between two publications of metrics, which take 2 ms."""
_POLL_S = 0.02
_CLOSE = (("Connection", "close"),)
_STOPPING = status_error(503, "the service is stopping", _CLOSE, hint="retry on a new connection")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_HANGUP: signal.Signals | None = getattr(signal, "SIGHUP", None)


def serve(
    app: ASGIApp,
    *,
    host: str,
    port: int,
    on_ready: Callable[[str], None],
    is_prepared: Callable[[], bool] | None = None,
    on_hangup: Callable[[], Awaitable[None]] | None = None,
    is_terminal_gone: Callable[[], bool] | None = None,
    max_requests: int | None = None,
    max_connections: int = DEFAULT_MAX_CONNECTIONS,
    keep_alive_s: float = DEFAULT_KEEP_ALIVE_S,
    grace_s: int = GRACE_S,
    timeout_s: float = CLIENT_TIMEOUT_S,
    metrics: MetricsPort | None = None,
    on_refusal: OnRefusal = ignore_refusal,
) -> int:
    """Serve until stopped; return 0. `port` 0 selects a free port. `metrics` are served beside, if they have a port.
    `on_refusal` counts what the server refuses before the application sees it.

    Connections are accepted once `is_prepared` returns True, or immediately; then `on_ready` is called with the base
    URL. `on_hangup` is awaited after each SIGHUP, one call at a time; if `is_terminal_gone` returns True then, the
    service stops instead. Raises `InvalidOption` if the address cannot be bound.
    """
    listener = bind(host, port)
    limits = _Limits(max_requests, max_connections, keep_alive_s, grace_s, timeout_s)
    server = _new_server(app, limits, on_refusal)
    server.is_prepared, server.on_hangup = is_prepared, on_hangup
    server.is_terminal_gone = is_terminal_gone
    server.on_ready = lambda: on_ready(base_url(listener))
    server.serve_beside(metrics)
    with listener, _short_switch_interval():
        server.run(sockets=[listener])
    return 0


def serve_as_worker(
    app: ASGIApp,
    listener: socket.socket,
    member: GroupMember,
    parent: ParentChannel,
    *,
    on_hangup: Callable[[], Awaitable[None]],
    publish: Callable[[], None],
    max_connections: int = DEFAULT_MAX_CONNECTIONS,
    keep_alive_s: float = DEFAULT_KEEP_ALIVE_S,
    grace_s: int = GRACE_S,
    timeout_s: float = CLIENT_TIMEOUT_S,
    metrics: MetricsPort | None = None,
    on_refusal: OnRefusal = ignore_refusal,
) -> int:
    """Serve connections of a listening socket that the members of a group share, until the parent or SIGTERM says stop.

    `on_hangup` is awaited when the parent says so. `publish` is called twice a second, and at the end. `on_refusal` is
    that of `serve`.
    """
    server = _new_server(app, _Limits(None, max_connections, keep_alive_s, grace_s, timeout_s), on_refusal)
    server.on_hangup, server.on_ready = on_hangup, parent.report_ready
    server.worker = _WorkerPart(listener, member, parent, publish)
    server.serve_beside(metrics)
    with _short_switch_interval():
        server.run(sockets=[])
    publish()
    return 0


class _Limits(NamedTuple):
    """The limits of a server."""

    max_requests: int | None = None
    max_connections: int = DEFAULT_MAX_CONNECTIONS
    keep_alive_s: float = DEFAULT_KEEP_ALIVE_S
    grace_s: int = GRACE_S
    timeout_s: float = CLIENT_TIMEOUT_S


def _new_server(
    app: ASGIApp, limits: _Limits, on_refusal: OnRefusal, no_room: RefusalReason = RefusalReason.CONNECTIONS
) -> _Server:
    request_counter = RequestCounter(app, limits.max_requests, limits.timeout_s, on_refusal)
    config = uvicorn.Config(
        request_counter,
        loop="auto",
        http=_protocol(_limit_to_open_files(limits.max_connections), on_refusal, no_room),
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
    return _Server(config, request_counter, IdleReaper(limits.timeout_s))


def _protocol(max_connections: int, on_refusal: OnRefusal, no_room: RefusalReason) -> Any:
    """Return our HTTP protocol, or uvicorn's where `httptools` is not installed."""
    try:
        from swapcli.faces.service.http_protocol import protocol_with
    except ModuleNotFoundError:
        return "auto"
    return protocol_with(max_connections, on_refusal, no_room)


def _limit_to_open_files(max_connections: int) -> int:
    """Return the number of connections allowed: fewer if the system's limit of open files is lower."""
    return max(1, allow_open_files(max_connections))


def allow_open_files(count: int) -> int:
    """Raise the limit of open files to `count` and some others, as far as the system allows; return how many of `count`
    may be opened.
    """
    try:
        import resource
    except ModuleNotFoundError:
        return count
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    required = count + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < required:
        soft = required if hard == resource.RLIM_INFINITY else min(required, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return min(count, soft - _OTHER_FILES)
    return count


def bind(host: str, port: int, option: str = "--port") -> socket.socket:
    """Return a socket bound to the address. Raises `InvalidOption` if it cannot be bound; `option` sets the port."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _cannot_bind(host, port, option, error) from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise _cannot_bind(host, port, option, error) from None
    return listener


def _cannot_bind(host: str, port: int, option: str, error: OSError) -> InvalidOption:
    return InvalidOption(
        f"cannot listen on {host}, port {port}: {error.strerror or error}",
        hint=f"choose another --host or {option}; port 0 takes a free one",
    )


def base_url(listener: socket.socket) -> str:
    """Return the URL of the service."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def metrics_url(listener: socket.socket) -> str:
    """Return the URL of the metrics at a listening socket of their own."""
    return base_url(listener) + METRICS


class RequestCounter:
    """Counts requests, and rejects them after the maximum number."""

    def __init__(
        self,
        app: ASGIApp,
        max_requests: int | None,
        timeout_s: float = CLIENT_TIMEOUT_S,
        on_refusal: OnRefusal = ignore_refusal,
    ) -> None:
        self._app = app
        self._on_refusal = on_refusal
        self._remaining = max_requests
        self._timeout_s = timeout_s
        self._answering = 0
        self._closing = asyncio.Event()

    @property
    def is_closing(self) -> bool:
        """Whether no further request is accepted."""
        return self._closing.is_set()

    def close(self) -> None:
        """Accept no further request on open connections, and end responses that would not end by themselves."""
        self._closing.set()

    @property
    def is_finished(self) -> bool:
        """Whether the maximum number of requests has been answered."""
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
                self.close()
        self._answering += 1
        set_closing(scope, self._closing)
        try:
            await self._app(scope, with_body_timeout(receive, self._timeout_s), self._with_close(send))
        finally:
            self._answering -= 1
        return None

    def _with_close(self, send: Send) -> Send:
        """Return a `send` that adds `Connection: close` when no further request is accepted."""

        async def send_with_close(message: Message) -> None:
            if message["type"] == "http.response.start" and self.is_closing:
                headers = [header for header in message["headers"] if header[0] != b"connection"]
                message["headers"] = [*headers, (b"connection", b"close")]
            await send(message)

        return send_with_close


class _WorkerPart(NamedTuple):
    """What a server that is one of several has besides its application."""

    listener: socket.socket
    member: GroupMember
    parent: ParentChannel
    publish: Callable[[], None]


class _Server(uvicorn.Server):
    """A uvicorn server that returns after a signal instead of raising it again."""

    def __init__(self, config: uvicorn.Config, request_counter: RequestCounter, idle_reaper: IdleReaper) -> None:
        super().__init__(config)
        self.is_prepared: Callable[[], bool] | None = None
        self.on_ready: Callable[[], None] | None = None
        self.on_hangup: Callable[[], Awaitable[None]] | None = None
        self.is_terminal_gone: Callable[[], bool] | None = None
        self.worker: _WorkerPart | None = None
        self._hangups = 0
        self._reloading: asyncio.Task[None] | None = None
        self._request_counter = request_counter
        self._idle_reaper = idle_reaper
        self._shared_listener: SharedListener | None = None
        self._handles_signals = True
        self._metrics_listener: socket.socket | None = None
        self._metrics_server: _Server | None = None
        self._serving_metrics: asyncio.Task[None] | None = None

    def serve_beside(self, metrics: MetricsPort | None) -> None:
        """Serve the metrics at their own port, from the start of this server to its end."""
        if metrics is None:
            return
        self._metrics_listener = metrics.listener
        limits = _Limits(max_connections=metrics.max_connections)
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
        if self.worker is not None:
            self._shared_listener = SharedListener(
                self.worker.listener, self.worker.member, self._create_protocol, self._count_connections
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

    def _create_protocol(self) -> asyncio.Protocol:
        protocol_class: Callable[..., asyncio.Protocol] = self.config.http_protocol_class
        return protocol_class(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

    def _count_connections(self) -> int:
        return len(self.server_state.connections)

    async def on_tick(self, counter: int) -> bool:
        now_s = time.monotonic()
        self._idle_reaper.close_idle(cast("set[Connection]", self.server_state.connections), now_s)
        for connection in list(self.server_state.connections):
            check_progress = getattr(connection, "check_progress", None)  # uvicorn's own protocols have none
            if check_progress is not None:
                check_progress(now_s, self._idle_reaper.timeout_s)
        if self._hangups and (self._reloading is None or self._reloading.done()):
            self._hangups = 0
            self._reloading = asyncio.get_running_loop().create_task(self._reload())
        if self.worker is not None and counter % _PUBLISH_TICKS == 0:
            self.worker.publish()
        if self._shared_listener is not None:
            self._shared_listener.report_count()
        return await super().on_tick(counter) or self._request_counter.is_finished

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._request_counter.close()
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
        with suppress(ValueError):  # signals can be set in the main thread only
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

    async def _reload(self) -> None:
        if self.on_hangup is not None:
            await self.on_hangup()

    def _count_hangup(self, _signal: int, _frame: FrameType | None) -> None:
        if self.is_terminal_gone is not None and self.is_terminal_gone():
            self.should_exit = True  # never in a hurry: a shell repeats the signal of the kernel
        else:
            self._hangups += 1

    def _stop_gently(self, _signal: int, _frame: FrameType | None) -> None:
        """Shut down gracefully. A manager of services may signal all its processes, and the parent passes that on, so
        that a second signal means no hurry."""
        self.should_exit = True

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        """Shut down gracefully; on a second signal, immediately."""
        self.force_exit = self.should_exit
        self.should_exit = True


@contextmanager
def _short_switch_interval() -> Iterator[None]:
    """Use a short interpreter switch interval, so that the event loop stays responsive while orders are solved."""
    before_s = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before_s)
