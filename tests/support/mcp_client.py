"""The Python SDK's client of `swapcli mcp`, which runs in a separate process over stdio."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, ResourceLink, TextContent

from swapcli.core.encoding.strict_json import parse_json
from tests.support.command import clean_environment

T = TypeVar("T")
TIMEOUT_S = 60.0
NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


def mcp_client(*options: str, env: Mapping[str, str] = NO_VARIABLES) -> Client:
    """Return a client that starts a server with these options, without the developer's own settings."""
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "swapcli", "mcp", *options], env=clean_environment(env)
    )
    return Client(command, read_timeout_seconds=TIMEOUT_S)


def with_client(use: Callable[[Client], Awaitable[T]], *options: str, env: Mapping[str, str] = NO_VARIABLES) -> T:
    """Return the result of `use` for the client of a new server."""

    async def run() -> T:
        async with mcp_client(*options, env=env) as client:
            return await use(client)

    return asyncio.run(run())


class SharedClient:
    """The client of one server for several tests: to start a server takes a second of CPU."""

    def __init__(self, client: Client, portal: BlockingPortal) -> None:
        self._client, self._portal = client, portal

    def use(self, use: Callable[[Client], Awaitable[T]]) -> T:
        """Return the result of `use`, which runs in the client's own thread."""
        return self._portal.call(use, self._client)


@contextmanager
def shared_client(*options: str, env: Mapping[str, str] = NO_VARIABLES) -> Iterator[SharedClient]:
    """Start a server with these options, and stop it in the end."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(mcp_client(*options, env=env)) as client,
    ):
        yield SharedClient(client, portal)


def document(result: CallToolResult) -> dict[str, Any]:
    """Return the document of a result, which is its text; resource links may follow."""
    text, *links = result.content
    assert isinstance(text, TextContent)
    assert all(isinstance(each, ResourceLink) for each in links)
    assert result.structured_content is None
    parsed = parse_json(text.text.encode(), "result")
    assert isinstance(parsed, dict)
    return parsed
