"""Quotes as server-sent events. Each order that has listeners is quoted at each block, once for all its listeners.

A stream carries the latest quote, not every quote: a newer quote replaces an unread one, and a client that does not
read is disconnected. A listener therefore takes a few kilobytes, however slow it is. If a key is revoked, its streams
end with their next event. Streams without a key end the same way once the service requires one.

| event | data |
|---|---|
| `quote` | `{"quote", "state", "warnings"}`: a V2 route, its state, its warning codes |
| `heartbeat` | `{"state"}`: the last quote still holds, at this state; after a time without another event |
| `unavailable` | `{"statusCode", "message"}`: no quote, because the state is too old; ends with the next quote |

A quote is sent if its `success`, one of its amounts (`inputAmount`, `outputAmount`, `outputAmountAfterFee`), its
`route` or its set of warning codes differs from the last one. Other differences do not count: fields that depend on gas
or USD prices, such as the output after gas, the search time, the expiry, and the codes in `_MOMENTARY`.

The id of a quote is its block and a digest of the fields that count. Its search starts from the block's state alone, so
every worker and replica has the same id at a block, unless the search runs out of time. A client that reconnects with
an id in `Last-Event-ID` gets a quote only if it differs, and no quote from an earlier block before the first heartbeat.
Streams end after `MAX_STREAM_S`, and when the service stops. Clients then reconnect.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from swapcli.core.errors import MarketUnavailable, NoRoute, Overloaded, SwapcliError, UnknownToken
from swapcli.core.records import NamedTuple
from swapcli.faces.service.error_responses import Headers, error_response, with_v2_meta
from swapcli.faces.service.order_costs import OrderClass, classify_order
from swapcli.faces.service.refusal_reasons import RefusalReason, refusal_of, refused
from swapcli.faces.service.request_io import (
    RequestContext,
    get_closing,
    get_connection,
    get_context,
    get_header,
    wait_for_disconnect,
)
from swapcli.interface.state_headers import STATE_HEADER, WARNINGS_HEADER, ReportedState, parse_state, parse_warnings
from swapcli.quoting.price_policy import PriceUse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import Receive, Scope, Send

    from swapcli.core.model.market import MarketState
    from swapcli.faces.service.access_policy import AccessPolicy
    from swapcli.faces.service.endpoint_messages import EndpointRequest, EndpointWork
    from swapcli.faces.service.market_registry import MarketRegistry
    from swapcli.faces.service.metrics import Metrics
    from swapcli.faces.service.worker_thread import IsCancelled, Worker


HEARTBEAT_S: Final = 15.0
"""Interval of heartbeats. Proxies close connections on which nothing has arrived for some time, nginx after 60 seconds
by default."""
MAX_STREAM_S: Final = 3_600.0
"""Maximum length of a stream. Clients then reconnect, and so spread over new replicas."""
_CONTENT: Final = ("success", "inputAmount", "outputAmount", "outputAmountAfterFee", "route")
"""Fields whose changes make a new quote."""
_MOMENTARY: Final = frozenset({"CLOCK_DIFFERS", "LIVE_UNAVAILABLE", "SEARCH_TIME_UP", "STATE_OLD"})
"""Codes of warnings that depend on this machine and the time, not on a block's state."""
_EVENT_ID: Final = re.compile(r"([0-9]{1,18})-([0-9a-f]{24})")


class _Found(NamedTuple):
    """The result of a search: the V2 route as JSON, its response headers, and the warning codes."""

    document: msgspec.Raw
    headers: Headers
    warnings: tuple[str, ...]
    state: ReportedState | None
    timestamp: int | None
    """Unix time of the state's block."""
    block: int
    digest: str


class _Topic:
    """An order with listeners, and its newest quote.

    `version` is the version of the last quoted market. `error` ended the order; `failure` is why it currently has no
    quote.
    """

    def __init__(self, key: object, network: str, work: EndpointWork, order_class: OrderClass) -> None:
        self.key, self.network, self.work, self.order_class = key, network, work, order_class
        self.listeners: dict[_Listener, None] = {}
        self.version: int | None = None
        self.block_s: float | None = None
        self.is_waiting = False
        self.is_settled = asyncio.Event()
        self.found: _Found | None = None
        self.error: Exception | None = None
        self.failure: SwapcliError | None = None

    @property
    def context(self) -> RequestContext:
        """The request in whose turn the search runs: the one that has listened longest."""
        return next(iter(self.listeners)).context

    @property
    def client(self) -> str:
        """That request's client."""
        return self.context.queue_client

    def wake(self) -> None:
        for listener in self.listeners:
            listener.wakeup.set()


class _Listener:
    """One open stream.

    `digest` belongs to the quote that the client has, and `block` to the quote that it had from another worker: it gets
    no quote from an earlier block. `failure` is the last failure it was told of.
    """

    __slots__ = ("block", "context", "digest", "failure", "heartbeat_s", "is_gone", "topic", "wakeup")

    def __init__(self, context: RequestContext, topic: _Topic, last_event_id: str) -> None:
        self.context, self.topic = context, topic
        known = _EVENT_ID.fullmatch(last_event_id)
        self.block, self.digest = (int(known[1]), known[2]) if known else (0, "")
        self.failure: SwapcliError | None = None
        self.wakeup = asyncio.Event()
        self.heartbeat_s = 0.0
        self.is_gone = False

    def leave(self) -> None:
        """End the stream."""
        self.is_gone = True
        self.wakeup.set()


class RouteEvents:
    """All streams of this process. Everything runs on the event loop, except searches, which run on the worker thread.

    `max_streams` limits the streams of all clients together; the policy limits each client's streams.
    """

    def __init__(
        self, registry: MarketRegistry, worker: Worker, metrics: Metrics, policy: AccessPolicy, max_streams: int
    ) -> None:
        self._registry, self._worker, self._metrics, self._policy = registry, worker, metrics, policy
        self._max_streams = max_streams
        self._topics: dict[object, _Topic] = {}
        self.open_streams = 0
        self._lanes: dict[str, deque[_Topic]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing: asyncio.Event | None = None

    async def stream(
        self, work: EndpointWork, request: EndpointRequest, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Send the quotes for a request's order until its client disconnects.

        Before anything is sent, raises the errors of `work` for the first quote, and `RateLimited` or `Overloaded` if
        there are too many streams.
        """
        self._start()
        assert work.order is not None
        key_id = request.api_key.id if request.api_key and work.order.has_integrator else None
        key = request.network.name, work.order, key_id
        context = get_context(scope)
        async with self._policy.stream_slot(context.client, context.address, context.api_key):
            with self._listening(key, work, request, scope) as listener:
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
        self, key: object, work: EndpointWork, request: EndpointRequest, scope: Scope
    ) -> Iterator[_Listener]:
        context = get_context(scope)
        self._check_room()
        network = request.network.name
        order_class = classify_order(context.pattern or "", network, work.order, len(request.query))
        topic = self._topics.setdefault(key, _Topic(key, network, work, order_class))
        listener = _Listener(context, topic, get_header(scope, b"last-event-id") or "")
        topic.listeners[listener] = None
        self.open_streams += 1
        self._watch_closing(get_closing(scope))
        self._enqueue(topic)
        try:
            yield listener
        finally:
            self.open_streams -= 1
            del topic.listeners[listener]
            if not topic.listeners:
                self._forget(topic)

    def _check_room(self) -> None:
        if self.open_streams >= self._max_streams:
            error = Overloaded("too many open streams", retry_after_s=int(HEARTBEAT_S), hint="retry in a moment")
            raise refused(RefusalReason.STREAMS, error)

    def _watch_closing(self, closing: asyncio.Event | None) -> None:
        """End all streams when the service stops."""
        if closing is None or closing is self._closing:
            return
        self._closing = closing

        async def end_all() -> None:
            await closing.wait()
            for topic in self._topics.values():
                topic.wake()

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
        listener.heartbeat_s = loop.time() + HEARTBEAT_S
        has_body, is_key_valid = scope["method"] != "HEAD", get_context(scope).is_key_valid
        while has_body and not self._is_over(listener) and loop.time() < ends_s and is_key_valid():
            event = await self._next_event(listener)
            if event is not None:
                listener.heartbeat_s = loop.time() + HEARTBEAT_S
                await send({"type": "http.response.body", "body": event, "more_body": True})
                self._metrics.record_event()
        if connection is not None and connection.is_dropped:
            self._metrics.record_dropped_stream()
        if topic.error is not None:
            raise topic.error
        if connection is not None:
            connection.end_stream()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _is_over(self, listener: _Listener) -> bool:
        """Return whether the client has disconnected, the order has failed because of a defect, or the service is
        stopping."""
        is_closing = self._closing is not None and self._closing.is_set()
        return listener.is_gone or listener.topic.error is not None or is_closing

    async def _wait_for_first_quote(self, listener: _Listener) -> None:
        """Wait until the order has been quoted or the client has disconnected. Raises the error if there is no
        quote."""
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

    async def _next_event(self, listener: _Listener) -> bytes | None:
        """Return the newest event if the client does not have it; otherwise a heartbeat `HEARTBEAT_S` after the last
        event.

        None if the wait for the heartbeat ended early: the order has a new event, or the stream ends.
        """
        listener.wakeup.clear()  # before looking: anything that arrives from now on ends the wait
        event = self._take(listener)
        if event is not None:
            return event
        try:
            async with asyncio.timeout_at(listener.heartbeat_s):
                await listener.wakeup.wait()
        except TimeoutError:
            return self._heartbeat(listener)
        return None

    def _take(self, listener: _Listener) -> bytes | None:
        """Return the newest event about the order unless the client has it."""
        topic, found = listener.topic, listener.topic.found
        if topic.failure is not None:
            if topic.failure is listener.failure:
                return None
            listener.failure, listener.digest = topic.failure, ""  # the next quote is news, even the same one
            reply = error_response(topic.failure)
            data = {"statusCode": 503 if reply is None else reply.status, "message": topic.failure.message}
            return _encode("unavailable", data)
        if found is None or found.digest == listener.digest or found.block < listener.block:
            return None
        listener.digest, listener.block = found.digest, 0
        data = {"quote": found.document, "state": self._state(topic), "warnings": found.warnings}
        return _encode("quote", data, f"{found.block}-{found.digest}")

    def _heartbeat(self, listener: _Listener) -> bytes | None:
        """Return a heartbeat; None if the state has just become too old, of which all listeners are now told."""
        topic, listener.block = listener.topic, 0
        had_failed = topic.failure is not None
        self._check_age(topic)
        if topic.failure is not None or topic.found is None:
            return b": no quote yet\n\n" if had_failed else None
        return _encode("heartbeat", {"state": self._state(topic)})

    def _check_age(self, topic: _Topic) -> None:
        """Report a failure if the state has become too old since the last block."""
        source = self._registry.sources.get(topic.network)
        if source is None or topic.failure is not None:
            return
        try:
            self._registry.check_quotable(source, PriceUse.SHOWN)
        except MarketUnavailable as error:
            self._report_failure(topic, error)

    # --- searches

    def _on_block(self, network: str, at_s: float) -> None:
        for topic in list(self._topics.values()):
            if topic.network == network and topic.version != self._registry.version(network):
                topic.block_s = topic.block_s or at_s  # that at the first block without a quote
                self._enqueue(topic)

    def _enqueue(self, topic: _Topic) -> None:
        """Queue the order for quoting unless it was quoted on this state. A client's searches run one after the
        other."""
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
                on_done=partial(self._metrics.record_search, topic.context),
            )
        except Overloaded as error:
            # The existing quote stays until the next block, and no request is rejected.
            if topic.found is None:
                self._settle(topic, error)
            elif (reason := refusal_of(error)) is not None:
                self._metrics.record_refusal(reason)
        except SwapcliError as error:
            if topic.found is None:
                self._settle(topic, error)
            elif topic.failure is None:
                self._report_failure(topic, error)
        except Exception as error:  # a defect ends its order's streams, which log it
            self._settle(topic, error)
        else:
            self._publish(topic, found)

    def _settle(self, topic: _Topic, error: Exception | None) -> None:
        topic.error = error
        if error is not None:
            self._forget(topic)  # the next listener creates a new one
        topic.is_settled.set()
        topic.wake()

    def _forget(self, topic: _Topic) -> None:
        if self._topics.get(topic.key) is topic:
            del self._topics[topic.key]

    def _quote(self, topic: _Topic, is_cancelled: IsCancelled) -> tuple[int, _Found]:
        """Quote the order on the worker thread; return the market's version before that, and the quote."""
        name = topic.network
        version, source = self._registry.version(name), self._registry.sources.get(name)
        try:
            response = topic.work.run(is_cancelled)
            document, headers = cast("Mapping[str, Any]", response.document), response.headers
        except (NoRoute, UnknownToken) as error:
            reply = error_response(error)
            assert reply is not None
            amended = with_v2_meta(reply, self._registry.network_time_ms(name))
            document, headers = cast("Mapping[str, Any]", amended.document), ()
        return version, _describe(document, headers, source.market if source else None)

    def _publish(self, topic: _Topic, found: _Found) -> None:
        topic.found, topic.failure = found, None
        if topic.block_s is not None:
            assert self._loop is not None
            self._metrics.record_event_delay(self._loop.time() - topic.block_s)
            topic.block_s = None
        self._settle(topic, None)

    def _report_failure(self, topic: _Topic, error: SwapcliError) -> None:
        topic.failure = error
        topic.wake()

    def _state(self, topic: _Topic) -> dict[str, object]:
        """Return the state of the newest quote, with its current age."""
        found = topic.found
        if found is None or found.state is None:
            return {}
        now_s, from_s = int(self._registry.network_time_s(topic.network)), found.timestamp
        age_s = None if from_s is None else max(0, now_s - from_s)
        return {"kind": found.state.provenance, "block": found.state.block, "ageS": age_s, "tag": found.state.tag}

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _describe(document: Mapping[str, Any], headers: Headers, market: MarketState | None) -> _Found:
    """Return a quote with the digest of its fields that count. `market` was the newest one before the search."""
    reported = dict(headers)
    warnings = parse_warnings(reported.get(WARNINGS_HEADER)).codes
    lasting = sorted(code for code in warnings if code not in _MOMENTARY)
    content = [[document.get(name) for name in _CONTENT], lasting]
    digest = blake2b(msgspec.json.encode(content), digest_size=12).hexdigest()
    state = parse_state(reported.get(STATE_HEADER))
    block, timestamp = (market.block, market.timestamp) if market else (None, None)
    block = state.block if state else block
    return _Found(msgspec.Raw(msgspec.json.encode(document)), headers, warnings, state, timestamp, block or 0, digest)


def _encode(event: str, data: object, event_id: str | None = None) -> bytes:
    """Return an event. Its data is one line, because JSON has no line ends outside strings, and escapes those
    inside."""
    head = f"event: {event}\n" if event_id is None else f"event: {event}\nid: {event_id}\n"
    return head.encode() + b"data: " + msgspec.json.encode(data) + b"\n\n"


def _head(headers: Headers) -> dict[str, Any]:
    """Return the start of the response. Its connection ends with it, because it has different buffers than other
    responses."""
    all_headers = [
        (b"content-type", b"text/event-stream; charset=utf-8"),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-accel-buffering", b"no"),  # nginx then passes every event on at once
        (b"connection", b"close"),
        *((name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers),
    ]
    return {"type": "http.response.start", "status": 200, "headers": all_headers}
