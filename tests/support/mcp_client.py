"""The SDK's own client of `swapcli mcp`, in a process of its own over stdio."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, TextContent

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
    """Return what `use` makes of a client of a new server."""

    async def run() -> T:
        async with mcp_client(*options, env=env) as client:
            return await use(client)

    return asyncio.run(run())


def document(result: CallToolResult) -> dict[str, Any]:
    """Return the document of an answer, which is the same in its text and in its structured content."""
    (text,) = result.content
    assert isinstance(text, TextContent)
    assert parse_json(text.text.encode(), "answer") == result.structured_content
    assert isinstance(result.structured_content, dict)
    return result.structured_content
