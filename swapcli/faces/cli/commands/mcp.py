"""`swapcli mcp`: offer the commands to agents as tools of the Model Context Protocol."""

# No `from __future__ import annotations`: see `swapcli.startup`.

import os
from collections.abc import Awaitable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

from swapcli import ConfigError, InvalidOption, UnknownNetwork, __version__
from swapcli.core.model.live_and_check_modes import LiveMode
from swapcli.core.records import NamedTuple
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp, OptionalValue
from swapcli.faces.cli.files import STDIN
from swapcli.faces.cli.options import OUTPUT, OutputOptions, SourceOptions, option, settings_of
from swapcli.faces.cli.session import open_session
from swapcli.faces.cli.tools.arguments import ServerOptions
from swapcli.faces.garbage_collection import enable_garbage_collection

if TYPE_CHECKING:
    from swapcli import Network
    from swapcli.faces.cli.session import Session
    from swapcli.faces.cli.tools.caller import ToolCaller
    from swapcli.faces.mcp.tool import Tool
    from swapcli.interface.document_types import ListeningJson

INSTALL = ConfigError(
    "swapcli mcp needs the Python package mcp, which is not installed",
    hint="in swapcli's source folder, run pip install '.[mcp]'",
)

SERVER = "Server"
LOOPBACK, DEFAULT_PORT, MAX_PORT = "127.0.0.1", 8001, 65_535
"""The default port is the one after that of `swapcli serve`."""

_AGAIN_S = 0.01
"""How long to wait before trying again to kill commands that were starting. A process starts within milliseconds."""

app = CommandApp()


class ListeningServer(NamedTuple):
    """An MCP server that accepts connections, with its URL and process id."""

    url: str
    pid: int

    def document(self) -> "ListeningJson":
        """Return the line of JSON that `swapcli mcp --http` prints."""
        return {"url": self.url, "pid": self.pid}


@app.command()
def mcp(
    *,
    http: Annotated[
        str | None,
        option(
            "--http",
            f"Serve over HTTP on 127.0.0.1; 0 picks a free port.  [default: {DEFAULT_PORT}]",
            SERVER,
            "[PORT]",
            OptionalValue(str(DEFAULT_PORT), str.isdecimal),
        ),
    ] = None,
    tools: Annotated[str | None, option("--tools", "Offer only these tools: quote,price.", SERVER, "LIST")] = None,
    print_skill: Annotated[bool, option("--print-skill", "Print a skill file for agents, and exit.", OUTPUT)] = False,
    source: SourceOptions,
    config: options.ConfigFile = None,
) -> int:
    """Serve the commands to AI agents over MCP (Model Context Protocol).

    \b
    Example: swapcli mcp --print-skill > SKILL.md

    The server uses stdin and stdout, and exits when stdin ends. With --http it listens on this machine only and prints
    one line of JSON: {"url", "pid"}. Its tools quote, compare and check swaps, and build transactions; none can sign or
    send anything. Options set here apply to every tool, and agents cannot change them.

    See also: swapcli help agents.
    """
    if print_skill:
        from swapcli.faces.cli.tools.skill import skill

        print(skill(), end="")
        return exit_codes.OK

    def open_settings() -> "Session":
        return open_session(
            OutputOptions(config=config),
            settings_of(source, mcp_tools=tools),
            rpc_url=source.rpc_url,
            offline=source.offline,
        )

    def find_network(name: str) -> "Network":
        try:
            return session.networks.find(name)
        except UnknownNetwork:
            return open_settings().networks.find(name)  # the user may have added it since the server started

    session = open_settings()
    if source.market == STDIN:
        raise InvalidOption("--market - reads stdin, which the agent uses", hint="give a file name")
    session.markets.file_market()  # without it, every call would fail with the same error
    if find_spec("mcp") is None:
        raise INSTALL
    port = None if http is None else _parse_port(http)
    from asyncio import run

    from swapcli.faces.cli.tools.caller import ToolCaller
    from swapcli.faces.cli.tools.resources import PROMPTS, build_resources
    from swapcli.faces.cli.tools.skill import instructions
    from swapcli.faces.mcp.protocol_server import HTTP_PATH, build_http_app, build_server, serve_stdio

    given = {name: value for name, value in source._asdict().items() if value not in (None, False)}
    server_options = ServerOptions(
        given if config is None else given | {"config": config},
        _check_tools(session.settings.mcp_tools, "mcp_tools" if tools is None else "--tools"),
        uses_no_node=source.offline or (source.rpc_url is None and session.settings.live is LiveMode.NEVER),
    )
    enable_garbage_collection()
    caller = ToolCaller(server_options, find_network, has_market_file=session.settings.market is not None)
    server = build_server(
        _tools(server_options),
        caller.call,
        build_resources(caller.payloads, caller.proofs),
        PROMPTS,
        version=__version__,
        instructions=instructions(),
    )
    if port is None:
        try:
            run(_serve_stdio(serve_stdio(server), caller))
        finally:
            caller.stop()
        return exit_codes.OK
    from swapcli.faces.service.listeners import base_url, bind
    from swapcli.faces.service.server import serve

    try:
        listener = bind(LOOPBACK, port)
        ready = ListeningServer(base_url(listener) + HTTP_PATH, os.getpid())
        return serve(build_http_app(server), listener, on_ready=lambda: session.output.print_line(ready))
    except InvalidOption as error:  # swapcli serve has a hint with its own options
        error.hint = "--http 0 picks a free port"
        raise
    finally:
        caller.stop()


def _check_tools(names: Sequence[str], place: str) -> tuple[str, ...]:
    """Return the names of the only tools to offer. Raises `InvalidOption` for an unknown one."""
    from swapcli.core.encoding.closest import closest_names, did_you_mean
    from swapcli.core.encoding.text import printable, truncate
    from swapcli.faces.cli.tools.tool_table import TOOLS

    known = [each.name for each in TOOLS]
    for name in names:
        if name not in known:
            hint = did_you_mean(closest_names(name, known)) or f"tools: {', '.join(known)}"
            raise InvalidOption(f'{place}: no tool "{printable(truncate(name, 40))}"', hint=hint)
    return tuple(names)


def _parse_port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MAX_PORT)) and int(text) <= MAX_PORT):
        raise InvalidOption(f"--http: expected a port from 0 to {MAX_PORT}")
    return int(text)


async def _serve_stdio(serving: "Awaitable[None]", caller: "ToolCaller") -> None:
    """Serve until stdin ends, or until SIGTERM or SIGINT."""
    from asyncio import get_running_loop

    from swapcli.faces.cli.signals import SIGNALS

    for number in SIGNALS:
        get_running_loop().add_signal_handler(number, _end, caller)
    await serving


def _end(caller: "ToolCaller") -> None:
    """End the process. Cancelling the server would wait for the next line on stdin, which a thread is reading."""
    if caller.stop():
        os._exit(exit_codes.OK)
    from asyncio import get_running_loop

    get_running_loop().call_later(_AGAIN_S, _end, caller)


def _tools(server: ServerOptions) -> "list[Tool]":
    from swapcli.faces.cli.tools.schemas import build_listed_schema
    from swapcli.faces.cli.tools.tool_table import TOOLS
    from swapcli.faces.mcp.tool import Tool

    return [
        Tool(
            each.name,
            each.title,
            each.description,
            build_listed_schema(each, server),
            each.reads_nodes and "offline" not in server.values,
        )
        for each in TOOLS
        if server.offers(each)
    ]
