"""The protocol side of the tools, through the protocol's SDK: the only module that imports the SDK.

The SDK handles the handshake, lists, pings and cancellations; a cancelled call cancels its handler. A tool that fails
returns an error for the agent to read, never a protocol error.

Results are text only. Clients validate structured content against the output schema, even in errors. Models read both
the text and the structured content, so a document sent as both would cost twice its size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS as INVALID_PARAMETERS
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    ResourceLink,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from mcp_types import Prompt as ListedPrompt
from mcp_types import PromptArgument as ListedArgument
from mcp_types import Resource as ListedResource
from mcp_types import Tool as ListedTool

from swapcli.core.encoding.text import printable, truncate
from swapcli.faces.mcp.tool import CallTool, Prompt, Resource, Resources, Tool

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from starlette.types import ASGIApp

HTTP_PATH = "/mcp"
_SHOWN = 60
"""Maximum characters of a name in an error."""


def build_server(
    tools: Sequence[Tool],
    call_tool: CallTool,
    resources: Resources,
    prompts: Sequence[Prompt],
    *,
    version: str,
    instructions: str,
) -> Server[Any]:
    """Return a server with the given tools, resources and prompts. `instructions` are for the agent."""
    listed = ListToolsResult(tools=[_list_tool(each) for each in tools])
    listed_resources = ListResourcesResult(resources=[_list_resource(each) for each in resources.listed])
    listed_prompts = ListPromptsResult(prompts=[_list_prompt(each) for each in prompts])
    templates = _list_templates(resources)

    async def list_tools(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        return listed

    async def list_resources(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListResourcesResult:
        return listed_resources

    async def list_templates(
        _: ServerRequestContext[Any], __: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return templates

    async def list_prompts(_: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListPromptsResult:
        return listed_prompts

    async def call(context: ServerRequestContext[Any], called: CallToolRequestParams) -> CallToolResult:
        async def report(elapsed_s: float, sentence: str) -> None:
            await context.session.report_progress(elapsed_s, message=sentence)

        result = await call_tool(called.name, called.arguments or {}, report)
        links = [ResourceLink(type="resource_link", **_fields(each)) for each in result.links]
        return CallToolResult(content=[TextContent(type="text", text=result.text), *links], is_error=result.is_error)

    async def read(_: ServerRequestContext[Any], wanted: ReadResourceRequestParams) -> ReadResourceResult:
        return _read_resource(resources, wanted.uri)

    async def get_prompt(_: ServerRequestContext[Any], wanted: GetPromptRequestParams) -> GetPromptResult:
        return _write_prompt(prompts, wanted.name, wanted.arguments or {})

    return Server(
        "swapcli",
        version=version,
        title="swapcli",
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def _list_templates(resources: Resources) -> ListResourceTemplatesResult:
    made = resources.template
    template = ResourceTemplate(
        uri_template=made.uri, name=made.name, description=made.description, mime_type=made.mime_type
    )
    return ListResourceTemplatesResult(resource_templates=[template])


def _read_resource(resources: Resources, uri: str) -> ReadResourceResult:
    found = resources.read(uri)
    if found is None:
        raise _invalid(f'no resource "{printable(truncate(uri, _SHOWN))}"')
    text, mime_type = found
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, text=text, mime_type=mime_type)])


def _write_prompt(prompts: Sequence[Prompt], name: str, given: Mapping[str, str]) -> GetPromptResult:
    """Return a prompt with the given arguments. Raises a protocol error if it needs more of them."""
    prompt = next((each for each in prompts if each.name == name), None)
    if prompt is None:
        raise _invalid(f'no prompt "{printable(truncate(name, _SHOWN))}"')
    missing = [each.name for each in prompt.arguments if each.required and not given.get(each.name)]
    if missing:
        raise _invalid(f"the prompt {prompt.name} needs {', '.join(missing)}")
    content = TextContent(type="text", text=prompt.write(given))
    return GetPromptResult(description=prompt.description, messages=[PromptMessage(role="user", content=content)])


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one client on stdin and stdout until stdin ends."""
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


def build_http_app(server: Server[Any]) -> ASGIApp:
    """Return the application that serves any number of clients at `HTTP_PATH` on a loopback address.

    Requests with another host name are rejected. Otherwise a web page whose own host name resolves to loopback could
    send them.
    """
    app: ASGIApp = server.streamable_http_app(streamable_http_path=HTTP_PATH, host="127.0.0.1")
    return app


def _invalid(message: str) -> MCPError:
    return MCPError(INVALID_PARAMETERS, message)


def _list_tool(tool: Tool) -> ListedTool:
    hints = ToolAnnotations(title=tool.title, read_only_hint=True, open_world_hint=None if tool.reads_nodes else False)
    return ListedTool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        annotations=hints,
    )


def _fields(resource: Resource) -> dict[str, Any]:
    return {
        "uri": resource.uri,
        "name": resource.name,
        "description": resource.description,
        "mime_type": resource.mime_type,
        "size": resource.size,
    }


def _list_resource(resource: Resource) -> ListedResource:
    return ListedResource(**_fields(resource))


def _list_prompt(prompt: Prompt) -> ListedPrompt:
    arguments = [
        ListedArgument(name=each.name, description=each.description, required=each.required)
        for each in prompt.arguments
    ]
    return ListedPrompt(name=prompt.name, title=prompt.title, description=prompt.description, arguments=arguments)
