"""The protocol's side of the tools, by the SDK of the protocol: the only module that imports it.

The SDK answers the handshake, lists, pings and cancellations; a cancelled call cancels its handler. A tool that fails
answers with an error that the agent can read, never with one of the protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as ListedTool

from swapcli.core.encoding.json_text import to_json
from swapcli.faces.mcp.tool import CallTool, Tool

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from starlette.types import ASGIApp

HTTP_PATH = "/mcp"


def build_server(tools: Sequence[Tool], call_tool: CallTool, *, version: str, instructions: str) -> Server[Any]:
    """Return a server with these tools; `instructions` are for the agent."""
    listed = ListToolsResult(tools=[_list_tool(each) for each in tools])

    async def list_tools(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        return listed

    async def answer(_: ServerRequestContext[Any], called: CallToolRequestParams) -> CallToolResult:
        document, is_error = await call_tool(called.name, called.arguments or {})
        # Clients of before the structured answers read the text.
        text = TextContent(type="text", text=to_json(document))
        return CallToolResult(content=[text], structured_content=dict(document), is_error=is_error)

    return Server(
        "swapcli",
        version=version,
        title="swapcli",
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=answer,
    )


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one client on stdin and stdout until stdin ends."""
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


def build_http_app(server: Server[Any]) -> ASGIApp:
    """Return the application that serves any number of clients at `HTTP_PATH` of an address on loopback.

    Requests that name another host are refused: a page in a browser could send them by a name of its own that resolves
    to loopback.
    """
    app: ASGIApp = server.streamable_http_app(streamable_http_path=HTTP_PATH, host="127.0.0.1")
    return app


def _list_tool(tool: Tool) -> ListedTool:
    hints = ToolAnnotations(
        title=tool.title, read_only_hint=True, destructive_hint=False, open_world_hint=tool.asks_nodes
    )
    return ListedTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        output_schema=dict(tool.output_schema),
        annotations=hints,
    )
