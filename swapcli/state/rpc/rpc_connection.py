"""A connection that sends JSON-RPC to a node over any transport, and the redaction of its messages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol
from urllib.parse import parse_qsl, unquote

from swapcli.core.encoding.text import ELLIPSIS, single_line
from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from urllib.parse import SplitResult

MAX_RESPONSE_BYTES = 32 * 2**20
"""Maximum size of a response, compressed or decompressed: about 100,000 events."""
OK, TOO_LARGE = 200, 413
"""HTTP statuses, which connections without HTTP use too."""

_MIN_SECRET = 6
"""Characters: shorter strings are not keys, and may be part of any word."""


class RpcResponse(NamedTuple):
    """A response from a node. `status` is the HTTP status; `content` is the decoded JSON, None if it is not JSON;
    `retry_after_s` is the pause that the node requests, 0 for none. `text` is the beginning of a body that is not JSON;
    `location` is the target of a redirect. `date` is the `Date` header, empty if there is none."""

    status: int
    content: object
    retry_after_s: int = 0
    text: str = ""
    location: str = ""
    date: str = ""


class RpcConnection(Protocol):
    """A connection to one node. The first exchange opens it."""

    @property
    def redacted_url(self) -> str:
        """The node's URL without credentials, for messages."""

    def exchange(self, body: bytes, timeout_s: float) -> RpcResponse:
        """Send a request or a batch in JSON, and return the response.

        Requests must be idempotent, because they may be sent twice. Raises `Unreachable`, `UpstreamTimeout`,
        `UpstreamRejected` or `InvalidUpstreamResponse`.
        """

    def redact(self, words: str) -> str:
        """Return a server's text on one line, without URLs and secrets. The server may have repeated its own URL, or
        the key in it."""

    def close(self) -> None:
        """Close the connection."""


def redact(words: str, secrets: Iterable[str]) -> str:
    """Return a server's text on one line, without URLs and without `secrets`."""
    return single_line(re.sub(r"\S*://\S*", "", hide_secrets(words, secrets)))


def hide_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return the text with each of `secrets` replaced by an ellipsis."""
    for secret in secrets:
        text = text.replace(secret, ELLIPSIS)
    return text


def find_secrets(parts: SplitResult, headers: Iterable[str]) -> tuple[str, ...]:
    """Return the user names, passwords, path segments and query values of a URL, and the header values, both encoded
    and decoded.

    Longer secrets come first.
    """
    words = [word for value in headers for word in (value, *value.split())]
    values = [value for _, value in parse_qsl(parts.query)] + words
    written = [parts.username or "", parts.password or "", *parts.path.split("/"), *re.split("[&=]", parts.query)]
    found = {*values, *written, *map(unquote, written)}
    return tuple(sorted((each for each in found if len(each) >= _MIN_SECRET), key=len, reverse=True))
