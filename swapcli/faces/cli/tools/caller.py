"""Calls of tools: from arguments over a command to an answer, or an error that an agent can act on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.encoding.json_text import to_json
from swapcli.core.encoding.text import printable, truncate
from swapcli.core.errors import Cancelled, InvalidOption
from swapcli.faces.cli.errors import error_document, report_of
from swapcli.faces.cli.tools.answers import FailedCommand, read_answer
from swapcli.faces.cli.tools.arguments import ServerOptions, build_command_line
from swapcli.faces.cli.tools.command_process import CommandProcesses
from swapcli.faces.cli.tools.tool_errors import tool_error
from swapcli.faces.cli.tools.tool_table import TOOLS, ToolDefinition, find_tool
from swapcli.faces.mcp.tool import ToolAnswer

if TYPE_CHECKING:
    from swapcli.core.model.network import Network
    from swapcli.interface.document_types import ErrorJson

MAX_PROCESSES = 4
"""Commands at a time; further calls wait. An agent seldom asks for more, and each takes a processor."""
TIMEOUT_S = 300.0
"""Time of a command: an agent that waits longer has given up. Live reads of many pools take up to a minute."""


class ToolCaller:
    """Answers calls of the tools on a server with these options. `find_network` raises `SwapcliError`."""

    def __init__(
        self, options: ServerOptions, find_network: Callable[[str], Network], *, timeout_s: float = TIMEOUT_S
    ) -> None:
        self._options = options
        self._find_network = find_network
        self._timeout_s = timeout_s
        self._processes = CommandProcesses()
        self._places = asyncio.Semaphore(MAX_PROCESSES)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Answer a call. Raises nothing but cancellation: each error is an answer."""
        tool = find_tool(name)
        try:
            if not _is_json(arguments):
                arguments = {}  # which an error repeats
                raise InvalidOption("a number is too large", hint="write it as text")
            if tool is None:
                raise _unknown_tool(name)
            return ToolAnswer(await self._run(tool, arguments))
        except FailedCommand as failed:
            error = cast("ErrorJson", failed.error)
        except Exception as raised:
            error = error_document(report_of(raised))
        return ToolAnswer(dict(tool_error(tool, arguments, error)), is_error=True)

    def stop(self) -> bool:
        """End all commands that run, for a server that ends. Return whether none is left."""
        return self._processes.kill_all()

    async def _run(self, tool: ToolDefinition, arguments: Mapping[str, Any]) -> dict[str, Any]:
        line = build_command_line(tool, arguments, self._options)
        try:
            async with self._places, asyncio.timeout(self._timeout_s):
                output = await self._processes.run(line)
        except TimeoutError:
            raise Cancelled(
                f"{tool.name} took longer than {self._timeout_s:g} seconds", hint="ask for less, or try again later"
            ) from None
        return read_answer(tool, arguments.get("network"), output, self._find_network)


def _is_json(arguments: Mapping[str, Any]) -> bool:
    """Return whether arguments can be written as JSON: the SDK reads 1e400 as infinity."""
    try:
        to_json(dict(arguments))
    except ValueError:
        return False
    return True


def _unknown_tool(name: str) -> InvalidOption:
    names = [each.name for each in TOOLS]
    hint = did_you_mean(closest_names(name, names)) or f"tools: {', '.join(names)}"
    return InvalidOption(f'no tool "{printable(truncate(name, 40))}"', hint=hint)
