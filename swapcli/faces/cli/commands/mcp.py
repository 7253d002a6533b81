"""`swapcli mcp`: offer the commands to agents, as tools of the Model Context Protocol."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from importlib.util import find_spec
from typing import TYPE_CHECKING

from swapcli import __version__
from swapcli.core.errors import ConfigError, InvalidOption
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.files import STDIN
from swapcli.faces.cli.garbage_collection import enable_garbage_collection
from swapcli.faces.cli.options import OutputOptions, SourceOptions, settings_of
from swapcli.faces.cli.session import open_session
from swapcli.faces.cli.tools.arguments import ServerOptions

if TYPE_CHECKING:
    from swapcli.faces.mcp.tool import Tool

INSTALL = ConfigError(
    "swapcli mcp needs the Python package mcp, which is not installed", hint="pip install 'swapcli[mcp]'"
)

app = CommandApp()


@app.command()
def mcp(*, source: SourceOptions, config: options.ConfigFile = None) -> int:
    """Offer the commands to agents, as tools of the Model Context Protocol.

    \b
    Example: swapcli help agents

    The server speaks over stdin and stdout, and ends with stdin. Its tools quote, compare, check and build, as the
    commands do, in processes of their own; none can sign or send anything. An option given here holds for every tool,
    and no agent can change it: with --offline no tool ever contacts a node.
    """
    session = open_session(
        OutputOptions(config=config), settings_of(source), rpc_url=source.rpc_url, offline=source.offline
    )
    if source.market == STDIN:
        raise InvalidOption("--market - reads stdin, where the agent speaks", hint="name the file")
    if find_spec("mcp") is None:
        raise INSTALL
    from asyncio import run

    from swapcli.faces.cli.tools.caller import ToolCaller
    from swapcli.faces.mcp.protocol_server import build_server, serve_stdio

    given = {name: value for name, value in source._asdict().items() if value not in (None, False)}
    server_options = ServerOptions(given if config is None else given | {"config": config})
    enable_garbage_collection()
    caller = ToolCaller(server_options, session.networks.find)
    server = build_server(_tools(server_options), caller.call, version=__version__, instructions="")
    run(serve_stdio(server))
    return exit_codes.OK


def _tools(server: ServerOptions) -> "list[Tool]":
    from swapcli.faces.cli.tools.schemas import build_answer_schema, build_input_schema
    from swapcli.faces.cli.tools.tool_table import TOOLS
    from swapcli.faces.mcp.tool import Tool

    return [
        Tool(
            each.name,
            each.title,
            each.description(),
            build_input_schema(each, server),
            build_answer_schema(each),
            each.asks_nodes and "offline" not in server.values,
        )
        for each in TOOLS
    ]
