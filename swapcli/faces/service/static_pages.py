"""Pages that are the same for all clients until they are rebuilt, with an ETag, and compressed once with gzip."""

from __future__ import annotations

import gzip
import re
from hashlib import blake2b
from typing import TYPE_CHECKING

from swapcli.faces.service.error_responses import Headers
from swapcli.faces.service.request_io import get_header

if TYPE_CHECKING:
    from starlette.types import Scope, Send

_ENTITY_TAG = re.compile(r'(?:W/)?"([^"]*)"')


class StaticPage:
    """A body with its headers, in a plain and a compressed form with a strong ETag for each.

    Compressing a large body takes some 20 ms, so create large pages off the event loop.
    """

    def __init__(self, body: bytes, content_type: str, headers: Headers = ()) -> None:
        self.body, self.content_type, self.headers = body, content_type, headers
        self._compressed = gzip.compress(body, mtime=0)
        self._digest = blake2b(body, digest_size=12).hexdigest()

    async def respond(self, scope: Scope, send: Send, vary: str = "Accept-Encoding") -> None:
        """Send the form that the client prefers, or status 304 if the client already has it."""
        is_compressed = accepts_gzip(get_header(scope, b"accept-encoding"))
        tag = f"{self._digest}-gzip" if is_compressed else self._digest
        headers = [("ETag", f'"{tag}"'), ("Vary", vary), ("Cache-Control", "no-cache")]
        known = get_header(scope, b"if-none-match") or ""
        status, body = 304, b""
        if known != "*" and tag not in _ENTITY_TAG.findall(known):
            status, body = 200, self._compressed if is_compressed else self.body
            headers += [("Content-Type", self.content_type), ("Content-Length", str(len(body))), *self.headers]
            headers += [("Content-Encoding", "gzip")] * is_compressed + [("X-Content-Type-Options", "nosniff")]
        encoded = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        await send({"type": "http.response.start", "status": status, "headers": encoded})
        await send({"type": "http.response.body", "body": body})


def accepts_gzip(accept_encoding: str | None) -> bool:
    """Return whether an `Accept-Encoding` header accepts gzip and does not prefer the uncompressed body."""
    weights = parse_weights(accept_encoding)
    weight = weights.get("gzip", weights.get("x-gzip", weights.get("*", 0.0)))
    return weight > 0.0 and weight >= weights.get("identity", 0.0)


def parse_weights(accept: str | None) -> dict[str, float]:
    """Return the quality value of each name in a header such as `Accept`. A malformed value counts as 0."""
    weights = {}
    for part in (accept or "").lower().split(","):
        name, *parameters = (each.strip() for each in part.split(";"))
        text = next((each.removeprefix("q=") for each in parameters if each.startswith("q=")), "1")
        weights[name] = float(text) if re.fullmatch(r"[01](\.[0-9]{0,3})?", text) else 0.0
    return weights
