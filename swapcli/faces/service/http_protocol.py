"""Uvicorn's HTTP/1.1 protocol with limits on the resources of a connection.

* A head (request line, header lines and trailers) has at most `MAX_HEAD_BYTES` and `MAX_HEADER_LINES`; otherwise status
  431.
* HTTP/1.1 requires exactly one Host header. Any other number is a 400, as is a request that cannot be parsed.
* Pipelined requests are parsed after the response to the request before them.
* A client that closes its sending side is gone: its requests are cancelled.
* There are at most `max_connections`. A new connection evicts, from the address with the most connections, those that
  have waited longest for their client: idle ones, and those whose head or body is still in transit.
* A connection is closed if its client does not read its responses, or does not complete a head in time.
* A stream (a response that does not end by itself) has small buffers, so that a client that does not read costs little
  and is noticed soon.
"""

from __future__ import annotations

import asyncio
import errno
import re
import socket
import sys
from collections.abc import Iterable
from contextlib import suppress
from heapq import nsmallest
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn, cast

import httptools
import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from swapcli.faces.service.error_responses import JsonResponse, status_error
from swapcli.faces.service.refusal_reasons import OnRefusal, RefusalReason, ignore_refusal
from swapcli.faces.service.request_io import set_connection, set_evicted, set_rejection

if TYPE_CHECKING:
    from starlette.types import Scope
    from uvicorn._types import ASGI3Application
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

MAX_HEAD_BYTES = 32 * 2**10
MAX_HEADER_LINES = 100
LINGER_S = 1.0
"""How long a rejected client may continue to send, so that it can read the response. Closing at once would reset the
connection."""
EVICTED_PART = 64
"""The fraction of connections (one in this many) to evict at once, so that one search makes room for several new ones.
The search takes a millisecond for a thousand connections."""
MAX_LINGERING = 64
"""Number of connections beyond the limit that get an error response. Further ones are reset."""
STREAM_UNREAD_S = 20.0
"""Time after which the system drops a stream whose client acknowledges nothing, or whose buffers stay full."""
_STREAM_SYSTEM_BUFFER_BYTES = 32 * 2**10
_STREAM_BUFFER_BYTES = 16 * 2**10
"""Maximum unread bytes of a stream, in the system's memory and in the process: about ten quotes. The defaults are
several megabytes."""
_MIN_READ_BYTES = 4_096
"""What a client must read in the time after which it counts as not reading."""
_SLICE_BYTES = 4_096
_TCP_INFO_BYTES = 128
_BYTES_ACKED = slice(120, 128)
"""The field `tcpi_bytes_acked` in the `tcp_info` of Linux 4.1 and later."""
_CLOSE = (("Connection", "close"),)
_HOST = re.compile(rb"[A-Za-z0-9._~!$&'()*+,;=%:\[\]-]*")
_LINE_ENDS = len(": \r\n")

_TOO_LARGE = status_error(
    431, "the head of the request is larger than 32 KiB or 100 lines", _CLOSE, hint="send fewer or shorter headers"
)
_TOO_SLOW = status_error(
    408, "the head of the request did not arrive in time", _CLOSE, hint="send the whole head at once"
)
_NOT_HTTP = status_error(
    400, "the request is not valid HTTP", _CLOSE, hint="send plain HTTP/1.1; TLS needs a proxy in front of the service"
)
_NO_HOST = status_error(400, "the request needs exactly one Host header", _CLOSE, hint="send the host of the URL, once")
_BAD_HOST = status_error(400, "the Host header is malformed", _CLOSE, hint="send a name or an address, and a port")


class _ParsingStopped(Exception):
    """Stops the parser from a callback."""


class HttpProtocol(HttpToolsProtocol):
    """One connection. `no_room` is the reason counted when a connection is refused because all are busy."""

    max_connections: int
    on_refusal: OnRefusal = staticmethod(ignore_refusal)
    no_room: RefusalReason = RefusalReason.CONNECTIONS

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._unparsed = b""
        """Received bytes of later requests, which are parsed after the response to the current one."""
        self._head_bytes = 0
        self._header_lines = 0
        self._silent_bytes = 0  # parsed bytes of an incomplete line, without a callback
        self._is_reading_head = False
        self._is_reading_body = False
        self._rejection: JsonResponse | None = None
        self._ignores_input = False
        self._running: RequestResponseCycle | None = None
        self.waiting_since_s = 0.0
        self._unsent, self._acknowledged, self._unread_since_s = 0, 0, 0.0
        """Response bytes in this process, those that the client's system has acknowledged, and the time since which the
        client has read nothing."""
        self._is_stream = False
        self.is_dropped = False

    @property
    def is_idle(self) -> bool:
        """Whether no request is being processed or waiting."""
        return (self.cycle is None or self.cycle.response_complete) and not self.pipeline and not self._unparsed

    @property
    def is_evictable(self) -> bool:
        """Whether the connection is waiting for its client: it is idle, or a head or a body is incomplete."""
        return (self.is_idle or self._is_awaiting_body) and not self._ignores_input

    @property
    def _is_awaiting_body(self) -> bool:
        cycle = self.cycle
        return (
            cycle is not None
            and cycle is self._running  # otherwise it is still responding to the previous request
            and cycle.more_body
            and not (cycle.response_started or cycle.disconnected)
        )

    # --- connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.waiting_since_s = self._unread_since_s = self.loop.time()
        if len(self.connections) > self.max_connections:
            self._make_room()

    def _make_room(self) -> None:
        connections = cast("set[HttpProtocol]", self.connections)
        open_ = [each for each in connections if each is not self and not each.transport.is_closing()]
        if len(open_) < self.max_connections:
            return
        evicted = _longest_waiting(open_, max(1, self.max_connections // EVICTED_PART))
        for each in evicted:
            each._evict()
        if evicted:
            return
        self.on_refusal(self.no_room)
        self._ignores_input = True
        if len(open_) >= self.max_connections + MAX_LINGERING:
            self.transport.abort()
            return
        self.transport.write(_TOO_MANY_CONNECTIONS)
        self._linger()

    def _evict(self) -> None:
        """Close the connection, to make room for a new one. A client that was sending a head or a body is told why."""
        if self._is_awaiting_body:
            self.on_refusal(RefusalReason.BODY_EVICTED)
            set_evicted(cast("Scope", self.scope))
            self.transport.write(_TOO_MANY_CONNECTIONS)
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        elif self._is_reading_head:
            self.on_refusal(RefusalReason.HEAD_EVICTED)
            self.transport.write(_TOO_MANY_CONNECTIONS)
        else:
            self.on_refusal(RefusalReason.IDLE_EVICTED)
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        # The system reports clients that acknowledged nothing in time.
        self.is_dropped = self.is_dropped or (isinstance(exc, OSError) and exc.errno == errno.ETIMEDOUT)
        super().connection_lost(exc)

    def end_after_response(self) -> None:
        """Close the connection after the current response, if there is one."""
        if self._running is not None:
            self._running.keep_alive = False

    def begin_stream(self) -> None:
        """Same as `StreamConnection.begin_stream`."""
        self._is_stream = True
        self.transport.set_write_buffer_limits(high=_STREAM_BUFFER_BYTES)
        connection = self.transport.get_extra_info("socket")
        with suppress(OSError, AttributeError):  # another kind of socket, or another system
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _STREAM_SYSTEM_BUFFER_BYTES)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * STREAM_UNREAD_S))
        if self._running is not None and self._running.scope["http_version"] == "1.0":
            self._running.chunked_encoding, self._running.expected_content_length = False, sys.maxsize

    def end_stream(self) -> None:
        """Same as `StreamConnection.end_stream`."""
        if self._running is not None:
            self._running.expected_content_length = 0

    def check_times(self, timeout_s: float) -> None:
        """Close the connection if for `timeout_s` its client has not read anything of a response, or has not completed
        a head.

        Uvicorn's only timer does not cover these cases: it is for idle connections, starts after a response and stops
        at the next byte. Call this periodically. A client that has begun a head gets an error response.
        """
        now_s, unsent = self.loop.time(), self.transport.get_write_buffer_size()
        # The system takes more from this process only once a third of its own buffer, perhaps of megabytes, is free.
        acknowledged = _acknowledged_bytes(self.transport) if unsent else self._acknowledged
        if not unsent or unsent < self._unsent or acknowledged >= self._acknowledged + _MIN_READ_BYTES:
            self._unread_since_s, self._acknowledged = now_s, acknowledged
        is_unread, self._unsent = unsent and self._unsent and now_s - self._unread_since_s > timeout_s, unsent
        if is_unread:
            self.is_dropped = True
            if not self._is_stream:  # dropped streams are counted as such
                self.on_refusal(RefusalReason.RESPONSE_UNREAD)
            self.transport.abort()
        elif (
            self.is_idle
            and self.timeout_keep_alive_task is None
            and not (self._ignores_input or self.transport.is_closing())
            and now_s - self.waiting_since_s > timeout_s
        ):
            if self._is_reading_head:
                self._reject(_TOO_SLOW, RefusalReason.HEAD_TIMEOUT)
            else:
                self.transport.close()

    # --- parsing

    def data_received(self, data: bytes) -> None:
        """Parse received bytes. After a rejection, drop them, because the client may keep sending while it reads the
        response."""
        if self._ignores_input:
            return
        if self.timeout_keep_alive_task is not None:
            self.waiting_since_s = self.loop.time()
            self._unset_keepalive_if_required()
        self._unparsed += data
        self._parse()

    def _parse(self) -> None:
        """Parse the received bytes until a request has to wait for the previous one."""
        received, self._unparsed = self._unparsed, b""
        offset = 0
        while offset < len(received) and not self.pipeline and not self._ignores_input:
            offset += self._feed(received[offset : offset + _SLICE_BYTES])
        if not self._ignores_input and offset < len(received):
            self._unparsed = received[offset:]
            self.flow.pause_reading()

    def _feed(self, chunk: bytes) -> int:
        """Parse a chunk; return the number of bytes parsed."""
        self._silent_bytes += len(chunk)
        parsed = len(chunk)
        try:
            self.parser.feed_data(chunk)
            if self._head_bytes + self._silent_bytes > MAX_HEAD_BYTES:
                self._reject(_TOO_LARGE, RefusalReason.HEAD_SIZE)
        except httptools.HttpParserUpgrade as upgrade:
            # Upgrades are ignored: the next request follows.
            parsed = max(1, int(upgrade.args[0]))
        except httptools.HttpParserError:
            reply = self._rejection or _NOT_HTTP
            self._reject(reply, RefusalReason.HEAD_SIZE if reply is _TOO_LARGE else RefusalReason.HEAD_SYNTAX)
        return parsed

    def on_message_begin(self) -> None:
        self._head_bytes = self._header_lines = self._silent_bytes = 0
        self._is_reading_head, self._is_reading_body = True, False
        super().on_message_begin()
        set_connection(cast("Scope", self.scope), self)

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._header_lines += 1
        self._count(len(name) + len(value) + _LINE_ENDS)
        if not self._is_reading_body:  # trailers are not headers
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Reject a request without exactly one valid Host header, which only HTTP/1.0 may omit; otherwise begin the
        body."""
        hosts = [value for name, value in self.headers if name == b"host"]
        is_host_missing = not hosts and self.parser.get_http_version() != "1.0"
        if is_host_missing or len(hosts) > 1:
            self._end_parsing(_NO_HOST)
        if hosts and not _HOST.fullmatch(hosts[0].strip()):
            self._end_parsing(_BAD_HOST)
        self._is_reading_head, self._is_reading_body = False, True
        self._silent_bytes = 0
        self.waiting_since_s = self.loop.time()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._silent_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._head_bytes = self._silent_bytes = 0
        super().on_message_complete()

    def _count(self, size: int) -> None:
        self._silent_bytes = 0
        self._head_bytes += size
        if self._head_bytes > MAX_HEAD_BYTES or self._header_lines > MAX_HEADER_LINES:
            self._end_parsing(_TOO_LARGE)

    def _end_parsing(self, reply: JsonResponse) -> NoReturn:
        """Raise an error, so that the parser stops and `_feed` rejects the request with `reply`."""
        self._rejection = reply
        raise _ParsingStopped

    # --- responses

    def _reject(self, reply: JsonResponse, refusal: RefusalReason) -> None:
        """Let the application respond to the current request with `reply`, and ignore all further input."""
        self.on_refusal(refusal)
        self._is_reading_head, self._ignores_input = False, True
        newest = self.cycle
        if newest is not None and newest.more_body and not newest.response_complete:
            # The error is in the body of a request that is already being processed, or after it.
            newest.disconnected = True
            newest.message_event.set()
            self.transport.close()
            return
        super().on_message_begin()
        self.url = b"/"
        super().on_headers_complete()  # begins the response, or lets it wait for the previous one
        self.scope["method"] = "OTHER"
        set_rejection(cast("Scope", self.scope), reply, refusal)
        transport = self.transport
        lingering = SimpleNamespace(write=transport.write, close=self._linger, is_closing=transport.is_closing)
        self.cycle.transport = cast("asyncio.Transport", lingering)
        self.cycle.keep_alive = self.cycle.more_body = False

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """Start the next request: one that waits in the pipeline, otherwise one in the bytes not yet parsed."""
        self.waiting_since_s = self.loop.time()
        if self._ignores_input and not self.pipeline:
            # This was the rejection, after which `_linger` closes the connection. Uvicorn's method would also wait for
            # the next request, with its keep-alive timeout; so only its counting is kept.
            self.server_state.total_requests += 1
            return
        super().on_response_complete()
        if self._unparsed and not self.transport.is_closing():
            self._unset_keepalive_if_required()
            self._parse()

    def _linger(self) -> None:
        """Close the sending side, and the whole connection once the client closes its own or `LINGER_S` has passed."""
        if not self.transport.is_closing():
            self.flow.resume_reading()
            self.transport.write_eof()
            self.loop.call_later(LINGER_S, self.transport.abort)


def protocol_with(
    max_connections: int, on_refusal: OnRefusal = ignore_refusal, no_room: RefusalReason = RefusalReason.CONNECTIONS
) -> type[HttpProtocol]:
    """Return the protocol class for a service with at most `max_connections`.

    `on_refusal` counts refusals. A connection beyond the maximum is counted with the reason `no_room`.
    """
    attributes = {"max_connections": max_connections, "on_refusal": staticmethod(on_refusal), "no_room": no_room}
    return type("BoundedHttpProtocol", (HttpProtocol,), attributes)


def _longest_waiting(connections: Iterable[HttpProtocol], count: int) -> list[HttpProtocol]:
    """Return up to `count` connections that have waited longest for their client, from the address with the most
    connections."""
    by_address: dict[str, list[HttpProtocol]] = {}
    for each in connections:
        if each.is_evictable:
            by_address.setdefault(each.client[0] if each.client else "", []).append(each)
    waiting = max(by_address.values(), key=len, default=[])
    return nsmallest(count, waiting, key=lambda each: each.waiting_since_s)


def _acknowledged_bytes(transport: asyncio.Transport) -> int:
    """Return the bytes that the client's system has acknowledged: 0 if this system does not count them.

    A client that does not read soon acknowledges nothing more.
    """
    with suppress(OSError, AttributeError):  # another kind of socket, or another system
        known = transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
        if len(known) == _TCP_INFO_BYTES:
            return int.from_bytes(known[_BYTES_ACKED], sys.byteorder)
    return 0


def _too_many_connections() -> bytes:
    hint = "reuse open connections, or retry in a moment"
    body = msgspec.json.encode(status_error(503, "too many connections", hint=hint).document)
    lines = ("HTTP/1.1 503 Service Unavailable", "content-type: application/json", f"content-length: {len(body)}")
    return ("\r\n".join([*lines, "retry-after: 1", "connection: close"]) + "\r\n\r\n").encode() + body


_TOO_MANY_CONNECTIONS = _too_many_connections()
