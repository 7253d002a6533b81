"""Tool calls: run a command for the arguments, and return a result or an error that an agent can act on."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, cast

from swapcli import Cancelled, InvalidOption, UnknownToken
from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.encoding.json_text import to_json
from swapcli.core.encoding.text import printable, truncate
from swapcli.faces.cli.errors import error_document, report_of
from swapcli.faces.cli.tools.answers import FailedCommand, networks_of, page_size, read_answer
from swapcli.faces.cli.tools.arguments import (
    CallArguments,
    CommandLine,
    ServerOptions,
    build_command_line,
    split_arguments,
)
from swapcli.faces.cli.tools.brief_documents import bounded_echoes, brief_document, fit, to_text
from swapcli.faces.cli.tools.command_process import CommandProcesses
from swapcli.faces.cli.tools.payload_memory import PayloadMemory
from swapcli.faces.cli.tools.proof_memory import ProofMemory
from swapcli.faces.cli.tools.tool_errors import tool_error
from swapcli.faces.cli.tools.tool_table import FULL, PROOF, TOKEN_ARGUMENTS, TOOLS, ToolDefinition, find_tool
from swapcli.faces.mcp.tool import ReportProgress, Resource, ToolResult

if TYPE_CHECKING:
    from swapcli import Network
    from swapcli.interface.document_types import ErrorJson

MAX_PROCESSES: Final = 4
"""Maximum number of commands at a time. Further calls wait. An agent seldom needs more, and each command takes a
processor."""
TIMEOUT_S: Final = 300.0
"""Time limit of a command: an agent that waits longer has given up. Live reads of many pools take up to a minute."""
PROGRESS_S: Final = 2.0
"""Interval between progress reports, which keep clients from timing out."""
MAX_FOUND_TOKENS: Final = 5
"""Maximum number of tokens to look up. A node receives requests for each pair of them."""
_BUILD, _CHECK, _DECODE, _FIND = "build_transaction", "check", "decode", "find_pools"


class ToolCaller:
    """The caller of a server's tools, with the server's options. `find_network` raises `SwapcliError`.

    With `has_market_file`, calls may also name the network that the file defines.
    """

    def __init__(
        self,
        options: ServerOptions,
        find_network: Callable[[str], Network],
        *,
        has_market_file: bool = False,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._options = options
        self._find_network = find_network
        self._has_market_file = has_market_file
        self._timeout_s = timeout_s
        self._processes = CommandProcesses()
        self._places = asyncio.Semaphore(MAX_PROCESSES)
        self.payloads, self.proofs = PayloadMemory(), ProofMemory()
        self._found = FoundTokens()

    async def call(self, name: str, arguments: Mapping[str, Any], report: ReportProgress) -> ToolResult:
        """Call a tool. Every error becomes a result; only cancellation is raised."""
        tool = find_tool(name)
        if tool is not None and not self._options.offers(tool):
            tool = None
        try:
            if not _is_json(arguments):
                arguments = {}  # which an error may repeat
                raise InvalidOption("a number is too large", hint="write it as text")
            if tool is None:
                raise _unknown_tool(name, [each.name for each in TOOLS if self._options.offers(each)])
            progress = asyncio.create_task(_report_each(PROGRESS_S, tool.name, report))
            try:
                return await self._result(tool, split_arguments(tool, arguments, self._options))
            finally:
                progress.cancel()
        except FailedCommand as failed:
            error = cast("ErrorJson", failed.error)
        except Exception as raised:
            error = error_document(report_of(raised))
        explained = tool_error(tool, arguments, error)
        helper = find_tool(explained["next"].get("tool") or "")
        if helper is not None and not self._options.offers(helper):
            explained = {**explained, "next": {"reason": explained["next"]["reason"]}}
        document = bounded_echoes(dict(explained), arguments)
        return ToolResult(fit(document), is_error=True)

    def stop(self) -> bool:
        """Kill all running commands, and remove the directory of looked-up pools. Call this when the server ends.
        Return whether no command is left."""
        self._found.remove()
        return self._processes.kill_all()

    async def _result(self, tool: ToolDefinition, call: CallArguments) -> ToolResult:
        if tool.name == _CHECK and call.payload is not None:
            document = await self._check_payload(tool, call)
        elif call.proof:
            return await self._prove(tool, call)
        else:
            document = await self._document(tool, self._with_payload(tool, call))
        links: tuple[Resource, ...] = ()
        if tool.name == _BUILD:
            payload = self.payloads.keep(document, call.command)
            links = (payload.link(),)
            document = {"warnings": document["warnings"], "payload": payload.uri, **document}
        return self._answer(tool, call, document, links)

    async def _prove(self, tool: ToolDefinition, call: CallArguments) -> ToolResult:
        """Return the document of a quote and keep its proof: the document has its URI instead of the file's name."""
        with tempfile.TemporaryDirectory(prefix="swapcli-mcp-") as folder:
            file = os.path.join(folder, "proof.json")
            document = await self._document(tool, call._replace(command={**call.command, PROOF: file}))
            with open(file, encoding="utf-8") as stream:
                proof = self.proofs.keep(stream.read())
        return self._answer(tool, call, {**document, "proofFile": proof.uri}, (proof,))

    def _answer(
        self, tool: ToolDefinition, call: CallArguments, document: dict[str, Any], links: tuple[Resource, ...]
    ) -> ToolResult:
        if call.detail == FULL:
            return ToolResult(to_text(document), links)
        brief = brief_document(tool, document, networks_of(document, self._find_network))
        return ToolResult(fit(bounded_echoes(brief, call.command), tool.paged), links)

    def _with_payload(self, tool: ToolDefinition, call: CallArguments) -> CallArguments:
        """Return a call with the payload that it refers to. Raises `InvalidOption`."""
        if call.payload is None or not tool.stdin:
            return call
        payload = self.payloads.find(call.payload)
        return call._replace(command={"network": payload.network, **call.command, tool.stdin: payload.text})

    async def _check_payload(self, tool: ToolDefinition, call: CallArguments) -> dict[str, Any]:
        """Decode a payload, and check its order on a new quote. Raises `InvalidOption`, `FailedCommand`."""
        assert call.payload is not None
        payload = self.payloads.find(call.payload)
        decode = cast("ToolDefinition", find_tool(_DECODE))
        shared = {name: value for name, value in call.command.items() if name in decode.inputs}
        decoded = await self._document(decode, self._with_payload(decode, call._replace(command=shared)))
        known = tool.parameters()
        order = {name: value for name, value in payload.arguments.items() if name in known}
        checked = await self._document(tool, call._replace(command=order | call.command))
        warnings = {each["message"]: each for each in (*checked.get("warnings", ()), *decoded.get("warnings", ()))}
        dangers = decoded.get("dangers", [])
        return {**checked, "warnings": [*warnings.values()], "payload": payload.uri, "dangers": dangers}

    async def _document(self, tool: ToolDefinition, call: CallArguments) -> dict[str, Any]:
        """Return the full document of a call. Raises `SwapcliError`, `FailedCommand`."""
        command = dict(call.command)
        options = self._options
        if "network" in command and not self._has_market_file:
            # With a network in the settings, the command would read an unknown name as a token.
            self._find_network(command["network"])
        if tool.command == "pools":
            command["limit"] = str(call.offset + page_size(call))
        if tool.name == _FIND:
            network = self._find_network(command["network"])
            options = self._found.options(options)
            command["tokens"] = _with_main_tokens(command["tokens"], network)
        elif self._found.has(command):
            options = self._found.options(options)
        line = build_command_line(tool, command, options)
        document = read_answer(tool, call, await self._run(tool, line), self._find_network)
        return await self._with_found(document, call, options) if tool.name == _FIND else document

    async def _with_found(
        self, document: dict[str, Any], call: CallArguments, options: ServerOptions
    ) -> dict[str, Any]:
        """Return the document of a look-up with the tokens that it found. Raises `UnknownToken` if there are none."""
        tokens = cast("ToolDefinition", find_tool("tokens"))
        network, found = call.command["network"], []
        for each in call.command["tokens"]:
            line = build_command_line(tokens, {"network": network, "pattern": each}, options)
            with suppress(FailedCommand):
                found += read_answer(tokens, call, await self._run(tokens, line), self._find_network)["tokens"][:1]
        if not found:
            raise UnknownToken(f"no pool with {', '.join(call.command['tokens'])} was found on {network}")
        # Not by symbol: any token may call itself USDC.
        self._found.add(network, [token["address"] for token in found])
        return {**document, "found": found}

    async def _run(self, tool: ToolDefinition, line: CommandLine) -> Any:
        try:
            async with self._places, asyncio.timeout(self._timeout_s):
                return await self._processes.run(line)
        except TimeoutError:
            raise Cancelled(
                f"{tool.name} took longer than {self._timeout_s:g} seconds",
                hint="narrow the request, or try again later",
            ) from None


class FoundTokens:
    """The tokens that find_pools has looked up, and a directory for their pools, which is removed when the server ends.

    The user's own store stays unchanged.
    """

    def __init__(self) -> None:
        self._folder: str | None = None
        self._tokens: set[tuple[str, str]] = set()

    def options(self, server: ServerOptions) -> ServerOptions:
        """Return the server's options, with the directory of looked-up pools as the store."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="swapcli-mcp-")
        return ServerOptions({**server.values, "store": self._folder})

    def add(self, network: str, tokens: list[str]) -> None:
        """Add tokens whose pools were looked up."""
        self._tokens.update((network, each.lower()) for each in tokens)

    def has(self, command: Mapping[str, Any]) -> bool:
        """Return whether a command is for one of the looked-up tokens."""
        named = [command.get(each) for each in TOKEN_ARGUMENTS]
        words = [each.lower() for each in (*named, *(command.get("tokens") or ())) if isinstance(each, str)]
        return any((command.get("network"), each) in self._tokens for each in words)

    def remove(self) -> None:
        """Remove the directory."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
        self._tokens.clear()


def _with_main_tokens(tokens: list[str], network: Network) -> list[str]:
    """Return tokens with those that they most often trade against. Raises `InvalidOption`."""
    named = list(dict.fromkeys(tokens))
    if (
        not named
        or len(named) > MAX_FOUND_TOKENS
        or any(each.strip()[:1] in ("", "@") or "," in each for each in named)
    ):
        raise InvalidOption(f"tokens: expected 1 to {MAX_FOUND_TOKENS} addresses or symbols")
    return [*named, network.native.symbol, *network.stablecoins[:1]]


async def _report_each(interval_s: float, name: str, report: ReportProgress) -> None:
    """Report the progress of a call until it is cancelled."""
    start = time.monotonic()
    with suppress(Exception):  # a client that no longer listens ends its reports, and not its call
        while True:
            await asyncio.sleep(interval_s)
            elapsed_s = time.monotonic() - start
            await report(round(elapsed_s, 1), f"{name} has been running for {elapsed_s:.0f} s")


def _is_json(arguments: Mapping[str, Any]) -> bool:
    """Return whether arguments can be written as JSON: the SDK reads 1e400 as infinity."""
    try:
        to_json(dict(arguments))
    except ValueError:
        return False
    return True


def _unknown_tool(name: str, names: Sequence[str]) -> InvalidOption:
    closest = closest_names(name, names)
    hint = did_you_mean(closest) or f"tools: {', '.join(names)}"
    return InvalidOption(f'no tool "{printable(truncate(name, 40))}"', hint=hint, details={"closest": closest})
