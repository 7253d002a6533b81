"""Quotes as server-sent events: each order that somebody listens to is quoted at each block, once for all listeners.

A stream carries the newest quote, not every one: what a client has not read yet is replaced by what is newer, and a
client that does not read is disconnected. So a listener takes a few kilobytes, however slow it is. The stream of a key
that was revoked ends with its next event.

| event | data |
|---|---|
| `quote` | `{"quote", "state", "warnings"}`: a V2 route that differs from the last one, its state, its warning codes |
| `heartbeat` | `{"state"}`: the last quote still holds, at this state; after a time without another event |
| `unavailable` | `{"statusCode", "message"}`: there is no quote at present, as the state is too old; a quote ends it |

The id of a quote is the block and a digest of what it says. A client that reconnects with it in `Last-Event-ID` gets a
quote only if it is another one. Streams end after `MAX_STREAM_S` and when the service stops; clients then reconnect.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from swapcli.core.errors import MarketUnavailable, NoRoute, Overloaded, RateLimited, SwapcliError, UnknownToken
from swapcli.core.records import NamedTuple
from swapcli.faces.service.error_responses import Headers, error_response, with_v2_meta
from swapcli.faces.service.order_costs import OrderClass, classify_order
from swapcli.faces.service.refusal_reasons import RefusalReason
from swapcli.faces.service.request_io import get_closing, get_connection, get_context, get_header, wait_for_disconnect
from swapcli.interface import requests
from swapcli.interface.state_headers import STATE_HEADER, WARNINGS_HEADER, parse_state, parse_warnings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import Receive, Scope, Send

    from swapcli.faces.service.access_policy import AccessPolicy
    from swapcli.faces.service.endpoint_messages import EndpointRequest
    from swapcli.faces.service.endpoint_table import Handler
    from swapcli.faces.service.market_registry import MarketRegistry
    from swapcli.faces.service.metrics import Metrics
    from swapcli.faces.service.worker_thread import IsCancelled, Worker


HEARTBEAT_S: Final = 15.0
"""Proxies close connections on which nothing has arrived for a time, nginx after 60 seconds by default."""
MAX_STREAM_S: Final = 3_600.0
"""After this time a client reconnects, so that clients spread over new replicas."""
_TIMES: Final = frozenset({"meta", "state", "expiresAt", "warnings"})
"""Fields that change with time alone. The codes of the warnings count, not their sentences, which have ages."""


class _Message(NamedTuple):
    """An event as bytes. `digest` says what a quote contains, None for another event."""

    content: bytes
    digest: str | None = None


class _Found(NamedTuple):
    """What a search has found: the document of V2 route, and its headers."""

    document: Mapping[str, Any]
    headers: Headers
    timestamp: int | None
    """Unix time of the block of the state."""


class _Topic:
    """An order that somebody listens to, and the newest message about it.

    `version` is that of the market which was quoted last. `error` ended the order; `failure` is why it has no quote at
    present.
    """

    def __init__(self, key: object, handler: Handler, request: EndpointRequest, order_class: OrderClass) -> None:
        self.key, self.handler, self.request, self.order_class = key, handler, request, order_class
        self.listeners: dict[_Listener, None] = {}
        self.version: int | None = None
        self.block_s: float | None = None
        self.is_waiting = False
        self.is_settled = asyncio.Event()
        self.message: _Message | None = None
        self.found: _Found | None = None
        self.error: Exception | None = None
        self.failure: SwapcliError | None = None

    @property
    def network(self) -> str:
        return self.request.network.name

    @property
    def client(self) -> str:
        """The client whose turn the search takes: the one that has listened longest."""
        return next(iter(self.listeners)).client

    def set_message(self, message: _Message) -> None:
        """Replace the newest message, and wake the listeners."""
        self.message = message
        self.wake()

    def wake(self) -> None:
        for listener in self.listeners:
            listener.wakeup.set()


class _Listener:
    """One open stream. `sent` is the message that it got last."""

    __slots__ = ("client", "is_gone", "sent", "sent_digest", "topic", "wakeup")

    def __init__(self, client: str, topic: _Topic, last_digest: str | None) -> None:
        self.client, self.topic = client, topic
        self.sent: _Message | None = None
        self.sent_digest = last_digest
        self.wakeup = asyncio.Event()
        self.is_gone = False

    def leave(self) -> None:
        """End the stream."""
        self.is_gone = True
        self.wakeup.set()

    def take(self) -> _Message | None:
        """Return the newest message unless the client has it."""
        message = self.topic.message
        if message is None or message is self.sent:
            return None
        is_known = self.sent is None and message.digest is not None and message.digest == self.sent_digest
        self.sent = message
        return None if is_known else message


class RouteEvents:
    """All streams of this process. Everything runs on the event loop, except searches, which run on the worker.

    `max_streams` is the number of streams of all clients; the policy knows that of one client.
    """

    def __init__(
        self, registry: MarketRegistry, worker: Worker, metrics: Metrics, policy: AccessPolicy, max_streams: int
    ) -> None:
        self._registry, self._worker, self._metrics, self._policy = registry, worker, metrics, policy
        self._max_streams = max_streams
        self._topics: dict[object, _Topic] = {}
        self._open: Counter[str] = Counter()
        self._lanes: dict[str, deque[_Topic]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing: asyncio.Event | None = None

    @property
    def open_streams(self) -> int:
        """The number of open streams."""
        return self._open.total()

    async def stream(
        self, handler: Handler, request: EndpointRequest, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Send the quotes of the order in the request until its client leaves.

        Raises the errors of `handler` for the first quote, before anything is sent; `RateLimited` and `Overloaded` if
        there are too many streams.
        """
        self._start()
        order = requests.parse_order(request.query_pairs(), request.network, requests.ROUTE_V2)
        key_id = request.api_key.id if request.api_key and order.has_integrator else None
        key = request.network.name, order, key_id, order.has_integrator
        _, _, last_digest = (get_header(scope, b"last-event-id") or "").rpartition("-")
        with self._listening(key, handler, request, scope, last_digest or None) as listener:
            gone = asyncio.get_running_loop().create_task(wait_for_disconnect(receive))
            gone.add_done_callback(lambda _: listener.leave())
            try:
                await self._send_all(listener, scope, send)
            finally:
                gone.cancel()

    def close(self) -> None:
        """Stop searching."""
        for task in self._tasks:
            task.cancel()

    # --- listeners

    def _start(self) -> None:
        if self._loop is None:
            self._loop = loop = asyncio.get_running_loop()

            def on_change(network: str) -> None:
                with suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(self._on_block, network, loop.time())

            self._registry.add_listener(on_change)

    @contextmanager
    def _listening(
        self, key: object, handler: Handler, request: EndpointRequest, scope: Scope, last_digest: str | None
    ) -> Iterator[_Listener]:
        context = get_context(scope)
        client = context.client
        self._check_room(client, context.address, context.api_key.id if context.api_key else None)
        order_class = classify_order(context.pattern or "", request.network.name, request.query)
        topic = self._topics.setdefault(key, _Topic(key, handler, request, order_class))
        listener = _Listener(context.queue_client, topic, last_digest)
        topic.listeners[listener] = None
        self._open[client] += 1
        self._watch_closing(get_closing(scope))
        self._enqueue(topic)
        try:
            yield listener
        finally:
            self._open[client] -= 1
            if not self._open[client]:
                del self._open[client]
            del topic.listeners[listener]
            if not topic.listeners:
                self._forget(topic)

    def _check_room(self, client: str, address: str | None, key_id: str | None) -> None:
        limit = self._policy.max_streams(address, key_id)
        if limit is not None and self._open[client] >= limit:
            self._metrics.record_refusal(RefusalReason.CLIENT_STREAMS)
            raise RateLimited(
                f"more than {limit} open streams", retry_after_s=int(HEARTBEAT_S), hint="close some of them"
            )
        if self.open_streams >= self._max_streams:
            self._metrics.record_refusal(RefusalReason.STREAMS)
            raise Overloaded("too many open streams", retry_after_s=int(HEARTBEAT_S), hint="retry in a moment")

    def _watch_closing(self, closing: asyncio.Event | None) -> None:
        """End all streams when the service stops."""
        if closing is None or closing is self._closing:
            return
        self._closing = closing

        async def end_all() -> None:
            await closing.wait()
            for topic in self._topics.values():
                for listener in topic.listeners:
                    listener.leave()

        self._spawn(end_all())

    async def _send_all(self, listener: _Listener, scope: Scope, send: Send) -> None:
        """Send the events of a stream until it ends. Raises the error of the first quote, before anything is sent."""
        loop, topic = asyncio.get_running_loop(), listener.topic
        ends_s = loop.time() + MAX_STREAM_S
        await self._wait_for_first_quote(listener)
        if listener.is_gone:
            return
        connection = get_connection(scope)
        if connection is not None:
            connection.begin_stream()
        await send(_head(topic.found.headers if topic.found else ()))
        has_body, is_key_valid = scope["method"] != "HEAD", get_context(scope).is_key_valid
        while has_body and not listener.is_gone and loop.time() < ends_s and is_key_valid():
            message = await self._next_message(listener)
            if message is not None:
                await send({"type": "http.response.body", "body": message.content, "more_body": True})
                self._metrics.record_event()
        if connection is not None and connection.is_dropped:
            self._metrics.record_dropped_stream()
        if topic.error is not None:
            raise topic.error
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _wait_for_first_quote(self, listener: _Listener) -> None:
        """Wait until the order has been quoted or the client has left. Raises the error if there is no quote."""
        topic = listener.topic
        while not topic.is_settled.is_set() and not listener.is_gone:
            await listener.wakeup.wait()
            listener.wakeup.clear()
        if listener.is_gone:
            return
        self._check_age(topic)
        problem = topic.error or topic.failure
        if problem is not None:
            raise problem

    async def _next_message(self, listener: _Listener) -> _Message | None:
        """Return the newest message if the client does not have it; else a heartbeat after `HEARTBEAT_S`.

        None if the wait for the heartbeat ended early: there is a new message, or the stream ends.
        """
        listener.wakeup.clear()  # before looking: a message that arrives from now on ends the wait
        message = listener.take()
        if message is not None:
            return message
        try:
            async with asyncio.timeout(HEARTBEAT_S):
                await listener.wakeup.wait()
        except TimeoutError:
            return self._heartbeat(listener.topic)
        return None

    def _heartbeat(self, topic: _Topic) -> _Message | None:
        """Return a heartbeat; None if the state has just become too old, which all listeners are now told."""
        had_failed = topic.failure is not None
        self._check_age(topic)
        if topic.failure is not None or topic.found is None:
            return _Message(b": no quote yet\n\n") if had_failed else None
        return _Message(_encode("heartbeat", {"state": self._state(topic.found, topic.network)}))

    def _check_age(self, topic: _Topic) -> None:
        """Report a failure if the state has become too old since the last block."""
        source = self._registry.sources.get(topic.network)
        if source is None or topic.failure is not None:
            return
        try:
            self._registry.check_age(source)
        except MarketUnavailable as error:
            self._report_failure(topic, error)

    # --- searches

    def _on_block(self, network: str, at_s: float) -> None:
        for topic in list(self._topics.values()):
            if topic.network == network:
                topic.block_s = at_s
                self._enqueue(topic)

    def _enqueue(self, topic: _Topic) -> None:
        """Have the order quoted unless it has been on this state. A client's searches run one after the other."""
        if topic.is_waiting or topic.version == self._registry.version(topic.network):
            return
        topic.is_waiting = True
        lane = self._lanes.get(topic.client)
        if lane is None:
            lane = self._lanes[topic.client] = deque()
            self._spawn(self._search_lane(topic.client, lane))
        lane.append(topic)

    async def _search_lane(self, client: str, lane: deque[_Topic]) -> None:
        try:
            while lane:
                topic = lane.popleft()
                topic.is_waiting = False
                if topic.listeners and topic.version != self._registry.version(topic.network):
                    await self._search(topic)
        finally:
            del self._lanes[client]
            for topic in lane:
                topic.is_waiting = False

    async def _search(self, topic: _Topic) -> None:
        try:
            topic.version, found = await self._worker.run(
                lambda is_cancelled: self._quote(topic, is_cancelled),
                client=topic.client,
                order_class=topic.order_class,
            )
        except Overloaded as error:
            # The quote that is there stays until the next block.
            if topic.message is None:
                self._settle(topic, error)
        except SwapcliError as error:
            if topic.message is None:
                self._settle(topic, error)
            elif topic.failure is None:
                self._report_failure(topic, error)
        except Exception as error:  # a defect ends the streams of its order, and is logged by them
            self._settle(topic, error)
            for listener in topic.listeners:
                listener.leave()
        else:
            self._publish(topic, found)

    def _settle(self, topic: _Topic, error: Exception | None) -> None:
        topic.error = error
        if error is not None:
            self._forget(topic)  # the next listener makes a new one
        topic.is_settled.set()
        topic.wake()

    def _forget(self, topic: _Topic) -> None:
        if self._topics.get(topic.key) is topic:
            del self._topics[topic.key]

    def _quote(self, topic: _Topic, is_cancelled: IsCancelled) -> tuple[int, _Found]:
        """Quote the order on the worker thread; return the version of the market before that, and the quote."""
        name = topic.network
        version = self._registry.version(name)
        try:
            response = topic.handler(self._registry, topic.request._replace(is_cancelled=is_cancelled))
            document, headers = cast("Mapping[str, Any]", response.document), response.headers
        except (NoRoute, UnknownToken) as error:
            reply = error_response(error)
            assert reply is not None
            amended = with_v2_meta(reply, self._registry.network_time_ms(name))
            document, headers = cast("Mapping[str, Any]", amended.document), ()
        source = self._registry.sources.get(name)
        return version, _Found(document, headers, source.market.timestamp if source else None)

    def _publish(self, topic: _Topic, found: _Found) -> None:
        topic.found, topic.failure = found, None
        warnings = parse_warnings(_header(found.headers, WARNINGS_HEADER)).codes
        content = {name: value for name, value in found.document.items() if name not in _TIMES}
        digest = blake2b(msgspec.json.encode([content, warnings], order="sorted"), digest_size=12).hexdigest()
        if topic.message is None or topic.message.digest != digest:
            state = self._state(found, topic.network)
            data = {"quote": found.document, "state": state, "warnings": warnings}
            event_id = f"{state.get('block') or 0}-{digest}"
            topic.set_message(_Message(_encode("quote", data, event_id), digest))
        if topic.block_s is not None:
            assert self._loop is not None
            self._metrics.record_event_delay(self._loop.time() - topic.block_s)
            topic.block_s = None
        self._settle(topic, None)

    def _report_failure(self, topic: _Topic, error: SwapcliError) -> None:
        topic.failure = error
        reply = error_response(error)
        status = 503 if reply is None else reply.status
        topic.set_message(_Message(_encode("unavailable", {"statusCode": status, "message": error.message})))

    def _state(self, found: _Found, network: str) -> dict[str, object]:
        """Return the state of a quote with its age now."""
        state = parse_state(_header(found.headers, STATE_HEADER))
        if state is None:
            return {}
        age_s = (
            None if found.timestamp is None else max(0, int(self._registry.network_time_s(network)) - found.timestamp)
        )
        return {"kind": state.provenance, "block": state.block, "ageS": age_s, "tag": state.tag}

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _header(headers: Iterable[tuple[str, str]], name: str) -> str | None:
    return dict(headers).get(name)


def _encode(event: str, data: object, event_id: str | None = None) -> bytes:
    """Return an event. Its data is one line, as JSON has no line ends outside strings, and escapes those inside."""
    head = f"event: {event}\n" if event_id is None else f"event: {event}\nid: {event_id}\n"
    return head.encode() + b"data: " + msgspec.json.encode(data) + b"\n\n"


def _head(headers: Headers) -> dict[str, Any]:
    """Return the start of the response. Its connection ends with it: it has other buffers than those of requests."""
    all_headers = [
        (b"content-type", b"text/event-stream; charset=utf-8"),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-accel-buffering", b"no"),  # nginx then passes every event on at once
        (b"connection", b"close"),
        *((name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers),
    ]
    return {"type": "http.response.start", "status": 200, "headers": all_headers}
