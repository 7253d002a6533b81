"""Headers of responses for deprecated paths and parameters: Deprecation (RFC 9745), Sunset (RFC 8594) and a link to the
path that replaces a deprecated one (RFC 5829).
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_plus

from swapcli.core.model.deprecations import DeprecatedKind, Deprecation, deprecations_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

RawHeaders = list[tuple[bytes, bytes]]


class DeprecatedHandler:
    """A handler whose responses announce that its path, or parameters of the request, are deprecated."""

    def __init__(self, handler: ASGIApp, of_path: Deprecation | None, of_parameters: Mapping[str, Deprecation]) -> None:
        self._handler, self._of_path, self._of_parameters = handler, of_path, of_parameters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add headers to its response."""
        headers = deprecation_headers([*self._used(scope["query_string"])], scope.get("path_params", {}))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *headers]
            await send(message)

        await self._handler(scope, receive, send_with_headers)

    def _used(self, query: bytes) -> Iterator[Deprecation]:
        if self._of_path is not None:
            yield self._of_path
        names = dict.fromkeys(unquote_plus(each.partition("=")[0]) for each in query.decode("latin-1").split("&"))
        yield from (self._of_parameters[name] for name in names if name in self._of_parameters)


def announce_deprecations(handler: ASGIApp, path: str) -> ASGIApp:
    """Return a handler of a path that announces what is deprecated; `handler` itself if nothing of it can be."""
    of_path, of_parameters = deprecations_of(DeprecatedKind.PATH).get(path), deprecations_of(DeprecatedKind.PARAMETER)
    return DeprecatedHandler(handler, of_path, of_parameters) if of_path or of_parameters else handler


def deprecation_headers(found: Sequence[Deprecation], path_parameters: Mapping[str, str]) -> RawHeaders:
    """Return the headers of a response that uses deprecated things: the earliest dates of all, and a link for a path.

    `path_parameters` are the values of those in the path, as the client has sent them.
    """
    if not found:
        return []
    quoted = {name: quote(value, safe="") for name, value in path_parameters.items()}
    since = min(_at(each.deprecated_on) for each in found)
    headers = [(b"deprecation", f"@{int(since.timestamp())}".encode())]
    ends = [_at(each.dropped_on) for each in found if each.dropped_on is not None]
    if ends:
        headers.append((b"sunset", format_datetime(min(ends), usegmt=True).encode()))
    for each in found:
        if each.kind is DeprecatedKind.PATH:
            path = each.replacement.format_map(quoted)
            headers.append((b"link", f'<{path}>; rel="successor-version"'.encode()))
    return headers


def _at(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)
