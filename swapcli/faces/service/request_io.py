"""The context of a request while it is processed; reading its body, and sending its response."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

import msgspec

from swapcli.core.errors import ConfigError, MarketUnavailable, SwapcliError
from swapcli.core.model.api_version import ApiVersion, version_of_path
from swapcli.faces.service.error_responses import JsonResponse, with_v2_meta
from swapcli.faces.service.key_file import ApiKey
from swapcli.faces.service.rate_limits import client_name
from swapcli.faces.service.refusal_reasons import RefusalReason, refusal_of
from swapcli.state.clock import SYSTEM_CLOCK, Clock
from swapcli.state.tracing import Trace

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from swapcli.faces.service.worker_thread import JobFigures

MAX_BODY_BYTES = 2**20
JSON = b"application/json"

_SCOPE_KEY = "swapcli.context"
_REJECTION_KEY = "swapcli.rejection"
_CONNECTION_KEY = "swapcli.connection"
_CLOSING_KEY = "swapcli.closing"
_REFUSAL_KEY = "swapcli.refusal"
_SAFE_HEADERS = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))


class BodyTooLarge(Exception):
    """The body is larger than `MAX_BODY_BYTES`."""


class BodyTooSlow(Exception):
    """The body has not arrived in time."""


class ClientDisconnected(Exception):
    """The client disconnected before its request was complete."""


def _always() -> bool:
    return True


class StreamConnection(Protocol):
    """A connection whose response is a stream that does not end by itself."""

    is_dropped: bool
    """Whether it was closed because its client did not read it."""

    def begin_stream(self) -> None:
        """Buffer little data, close the connection soon if its client does not read, and treat the client's end of
        input as its end.

        An HTTP/1.0 client does not support chunks, so its response ends with the connection.
        """
        ...

    def end_stream(self) -> None:
        """Accept nothing more for the response except its end."""
        ...


class RequestContext:
    """The context of a request, filled in on the way to its endpoint and read by the access log.

    `path` is as sent by the client, except for slashes: see `endpoint_table.canonical_path`. `address` is the client's
    address behind trusted proxies, None if unknown. `clock` gives the time in V2 responses. `is_key_valid` returns
    whether the request's key is still valid, or, without a key, whether the service still requires none, because
    streams can outlive a key and the settings. `forwarded` is the name under which a client behind an untrusted proxy
    is queued. `refusal` is the limit that rejected the request, `error_code` the code of the error that ended it,
    `advice` a note for the operator, and `cpu_s` the processor time of its searches.
    """

    __slots__ = (
        "address",
        "advice",
        "api_key",
        "clock",
        "cpu_s",
        "error_code",
        "forwarded",
        "is_key_valid",
        "network",
        "path",
        "pattern",
        "refusal",
        "request_id",
        "status",
        "trace",
    )

    def __init__(self, request_id: str, path: str, address: str | None, clock: Clock = SYSTEM_CLOCK) -> None:
        self.request_id = request_id
        self.path = path
        self.address = address
        self.clock = clock
        self.pattern: str | None = None
        self.network: str | None = None
        self.status: int | None = None
        self.api_key: ApiKey | None = None
        self.is_key_valid: Callable[[], bool] = _always
        self.forwarded: str | None = None
        self.refusal: RefusalReason | None = None
        self.error_code: str | None = None
        self.advice: str | None = None
        self.cpu_s = 0.0
        self.trace: Trace | None = None

    def set_error(self, error: SwapcliError) -> None:
        """Record why the request ends with an error."""
        self.refusal, self.error_code = refusal_of(error), error.code
        if isinstance(error, MarketUnavailable | ConfigError):  # the operator's, with nothing about the client
            self.advice = f"{error.message}: {error.hint}" if error.hint else error.message

    def record_search(self, job: JobFigures) -> None:
        """Add the cost of a search for the request. Call this when the search has ended."""
        self.cpu_s += job.cpu_s
        if self.trace is not None and self.trace.spans is not None:
            end_ns = time.time_ns()
            start_ns = end_ns - int(1e9 * job.run_s)
            self.trace.add("queue", start_ns - int(1e9 * job.wait_s), start_ns)
            self.trace.add("search", start_ns, end_ns)

    @property
    def client(self) -> str:
        """The name under which the client is limited."""
        return client_name(self.address, self.api_key.id if self.api_key else None)

    @property
    def queue_client(self) -> str:
        """The name under which the client is queued: the same as `client`, except behind an untrusted proxy."""
        return self.forwarded if self.forwarded is not None and self.api_key is None else self.client


def begin_request(
    scope: Scope, request_id: str, address: str | None = None, clock: Clock = SYSTEM_CLOCK
) -> RequestContext:
    """Return the context of a new request."""
    context = scope[_SCOPE_KEY] = RequestContext(request_id, scope["path"], address, clock)
    return context


def get_context(scope: Scope) -> RequestContext:
    """Return the context of a request."""
    context = scope[_SCOPE_KEY]
    assert isinstance(context, RequestContext)
    return context


def set_rejection(scope: Scope, response: JsonResponse, refusal: RefusalReason) -> None:
    """Let `response`, with this reason for the rejection, replace the endpoint's response to a request with an invalid
    head."""
    scope[_REJECTION_KEY], scope[_REFUSAL_KEY] = response, refusal


def get_rejection(scope: Scope) -> JsonResponse | None:
    """Return the response set by `set_rejection`, or None for any other request."""
    rejection = scope.get(_REJECTION_KEY)
    return rejection if isinstance(rejection, JsonResponse) else None


def set_evicted(scope: Scope) -> None:
    """Record that a request's connection was closed before its body was complete, to make room for a new one."""
    scope[_REFUSAL_KEY] = RefusalReason.BODY_EVICTED


def get_counted_refusal(scope: Scope) -> RefusalReason | None:
    """Return the reason from `set_rejection` or `set_evicted`, which the HTTP protocol has already counted, or None."""
    refusal: RefusalReason | None = scope.get(_REFUSAL_KEY)
    return refusal


def set_connection(scope: Scope, connection: StreamConnection) -> None:
    """Record the connection of a request, in case its response is a stream."""
    scope[_CONNECTION_KEY] = connection


def get_connection(scope: Scope) -> StreamConnection | None:
    """Return the connection of a request, or None if the server is not swapcli's own."""
    connection: StreamConnection | None = scope.get(_CONNECTION_KEY)
    return connection


def set_closing(scope: Scope, closing: asyncio.Event) -> None:
    """Record the event that is set when the service stops, for responses that do not end by themselves."""
    scope[_CLOSING_KEY] = closing


def get_closing(scope: Scope) -> asyncio.Event | None:
    """Return the event that is set when the service stops, or None if the server has none."""
    closing: asyncio.Event | None = scope.get(_CLOSING_KEY)
    return closing


def get_header(scope: Scope, name: bytes) -> str | None:
    """Return the first header called `name` (in lower case), stripped, or None if there is none."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1")).strip()
    return None


async def read_body(scope: Scope, receive: Receive) -> bytes:
    """Return the complete body. Raises `BodyTooLarge` as early as possible, `BodyTooSlow`, `ClientDisconnected`."""
    declared = get_header(scope, b"content-length")
    if declared is not None and declared.isdecimal() and int(declared) > MAX_BODY_BYTES:
        raise BodyTooLarge
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnected
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            raise BodyTooLarge
        if not message.get("more_body", False):
            return bytes(body)


async def wait_for_disconnect(receive: Receive) -> None:
    """Return when the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        continue


async def send_json(scope: Scope, send: Send, response: JsonResponse) -> None:
    """Send a JSON response. It gets `meta` if the path belongs to API V2."""
    if version_of_path(scope["path"]) is ApiVersion.V2:
        context = scope.get(_SCOPE_KEY)
        clock = context.clock if isinstance(context, RequestContext) else SYSTEM_CLOCK
        response = with_v2_meta(response, int(clock.now_s() * 1000))
    await send_body(send, response.status, JSON, msgspec.json.encode(response.document), response.headers)


async def send_body(
    send: Send, status: int, content_type: bytes, body: bytes, headers: Iterable[tuple[str, str]] = ()
) -> None:
    """Send a response of any content type."""
    all_headers = [
        (b"content-type", content_type),
        (b"content-length", str(len(body)).encode()),
        *_SAFE_HEADERS,
        *((name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers),
    ]
    await send({"type": "http.response.start", "status": status, "headers": all_headers})
    await send({"type": "http.response.body", "body": body})
