"""What the service knows of a request while it is answered, and how an answer is sent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from swapcli.service.error_responses import JsonResponse
from swapcli.service.key_file import ApiKey
from swapcli.service.limits import client_name

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

MAX_BODY_BYTES = 2**20
JSON = b"application/json"

_SCOPE_KEY = "swapcli.context"
_REFUSAL_KEY = "swapcli.refusal"
_SAFE_HEADERS = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))


class BodyTooLarge(Exception):
    """The body is over `MAX_BODY_BYTES`."""


class BodyTooSlow(Exception):
    """The body has not arrived in time."""


class ClientDisconnected(Exception):
    """The client went away before its request was complete."""


class RequestContext:
    """A request: filled in on its way to the endpoint, read by the log. `path` is as it was sent; `address` is the
    client's as judged behind trusted proxies, None where it is not known."""

    __slots__ = ("address", "api_key", "network", "path", "pattern", "request_id", "status")

    def __init__(self, request_id: str, path: str, address: str | None) -> None:
        self.request_id = request_id
        self.path = path
        self.address = address
        self.pattern: str | None = None
        self.network: str | None = None
        self.status: int | None = None
        self.api_key: ApiKey | None = None

    @property
    def client(self) -> str:
        """The name under which the client is limited and queued."""
        return client_name(self.address, self.api_key.id if self.api_key else None)


def begin_request(scope: Scope, request_id: str, address: str | None = None) -> RequestContext:
    """The context of a request that has just arrived."""
    context = scope[_SCOPE_KEY] = RequestContext(request_id, scope["path"], address)
    return context


def get_context(scope: Scope) -> RequestContext:
    """The context of a request."""
    context = scope[_SCOPE_KEY]
    assert isinstance(context, RequestContext)
    return context


def set_rejection(scope: Scope, reply: JsonResponse) -> None:
    """Let a request whose head is not acceptable be answered by `reply`, whatever it asks for."""
    scope[_REFUSAL_KEY] = reply


def get_rejection(scope: Scope) -> JsonResponse | None:
    """Return the reply of `set_rejection`, None for any other request."""
    found = scope.get(_REFUSAL_KEY)
    return found if isinstance(found, JsonResponse) else None


def get_header(scope: Scope, name: bytes) -> str | None:
    """The first header called `name` (in lower case), without what surrounds it."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1")).strip()
    return None


async def read_body(scope: Scope, receive: Receive) -> bytes:
    """The whole body. Raises `BodyTooLarge` as soon as that is known, `BodyTooSlow`, `ClientDisconnected`."""
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
    """Ends when the client goes away."""
    while (await receive())["type"] != "http.disconnect":
        continue


async def send_json(send: Send, reply: JsonResponse) -> None:
    """Sends an answer as JSON."""
    await send_body(send, reply.status, JSON, msgspec.json.encode(reply.document), reply.headers)


async def send_body(
    send: Send, status: int, content_type: bytes, body: bytes, headers: Iterable[tuple[str, str]] = ()
) -> None:
    """Sends an answer of any kind."""
    written = [
        (b"content-type", content_type),
        (b"content-length", str(len(body)).encode()),
        *_SAFE_HEADERS,
        *((name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers),
    ]
    await send({"type": "http.response.start", "status": status, "headers": written})
    await send({"type": "http.response.body", "body": body})
