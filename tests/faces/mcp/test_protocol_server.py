"""The official clients see every result, valid or not: both TypeScript SDKs, the Python SDK, and the inspector."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from mcp import Client
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from swapcli.faces.cli.help_topics import ORDER as TOPICS
from swapcli.faces.cli.tools.tool_table import TOOLS
from swapcli.faces.mcp.protocol_server import build_server
from swapcli.faces.mcp.tool import (
    Prompt,
    PromptArgument,
    ReportProgress,
    Resource,
    Resources,
    Tool,
    ToolResult,
)
from tests.contracts.evm import NODE_MODULES
from tests.examples import few_rows
from tests.faces.cli.commands.test_mcp import CALLS as WHOLE_CALLS
from tests.faces.cli.commands.test_mcp import NEED_NODE
from tests.support.command import clean_environment

NODE_CLIENT = NODE_MODULES.parent / "mcp_client.mjs"
INSPECTOR = NODE_MODULES / "@modelcontextprotocol" / "inspector-cli" / "build" / "index.js"
SERVER = (sys.executable, "-m", "swapcli", "mcp")
TIMEOUT_S = 120.0
_SMALL = {"network": "citrea", "token_in": "cBTC", "token_out": "USDC.e"}
CALLS = WHOLE_CALLS | {
    "quote": _SMALL | {"amount": "1"},
    "compare": _SMALL | {"amount": "1", "max_hops": 1},
    "depth": _SMALL | {"amounts": ["1"]},
    "health": {"networks": ["citrea"]},
}
"""A call of each tool, the cheap ones on the smallest market: only what clients make of results matters here."""
FEW = ("networks", "tokens", "build_transaction", "check")
INVALID: dict[str, dict[str, Any]] = {name: {**arguments, "no_such": 1} for name, arguments in CALLS.items()}
"""A wrong call of each tool, which needs no process."""
FAILING: tuple[tuple[str, dict[str, Any]], ...] = (
    ("quote", CALLS["quote"] | {"token_out": "NOPE"}),
    ("quote", CALLS["quote"] | {"network": "bass"}),
    ("quote", {}),
    ("quotes", {}),
    ("decode", {"calldata": "0xzz"}),
    ("build_transaction", CALLS["build_transaction"] | {"destination": "me"}),
)
"""Errors of the commands, beside those of arguments."""


@pytest.mark.parametrize(("library", "names"), few_rows([("sdk", FEW), ("sdk", tuple(CALLS)), ("client", FEW)], 1))
def test_a_typescript_client_sees_every_result(library: str, names: tuple[str, ...]) -> None:
    """The former SDK has every tool; the present one, which reads results in the same way, only a few."""
    calls = [*((name, CALLS[name]) for name in names), *INVALID.items(), *(FAILING if names != FEW else FAILING[:4])]
    ran = subprocess.run(
        ["node", str(NODE_CLIENT), library, *SERVER],
        input=json.dumps({"calls": calls}),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env=clean_environment(),
        check=True,
    )
    seen = json.loads(ran.stdout)
    assert [each for each in seen["results"] if "thrown" in each] == []
    assert seen["tools"] == [each.name for each in TOOLS]
    assert len(seen["resources"]) == 1 + len(TOPICS)
    assert seen["prompts"] == ["swap_safely"]
    for (name, arguments), result in zip(calls, seen["results"], strict=True):
        document = json.loads(result["content"][0]["text"])
        is_invalid = "no_such" in arguments or (name, arguments) in FAILING
        assert result["isError"] == (is_invalid or name in NEED_NODE), (name, document)
        assert not result["isError"] or (document["message"] and document["next"]["reason"])
    (payload,) = seen["links"]
    assert json.loads(payload)["transactions"]


@contextmanager
def served() -> Iterator[str]:
    """Serve over HTTP, and yield the URL."""
    words = [*SERVER, "--http", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=clean_environment()) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.terminate()


def inspect(url: str, *words: str) -> dict[str, Any]:
    ran = subprocess.run(
        ["node", str(INSPECTOR), url, "--transport", "http", *words],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=True,
    )
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def inspect_call(url: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call a tool by the inspector, which parses each argument as JSON if it can."""
    given = [f"{key}={each if isinstance(each, str) else json.dumps(each)}" for key, each in arguments.items()]
    return inspect(url, "--method", "tools/call", "--tool-name", name, *(["--tool-arg", *given] if given else []))


@pytest.mark.slow
def test_the_inspector_sees_a_result_and_an_error() -> None:
    with served() as url:
        good = inspect_call(url, "price", CALLS["price"])
        bad = inspect_call(url, *FAILING[0])
    assert "prices" in json.loads(good["content"][0]["text"])
    assert (bad["isError"], json.loads(bad["content"][0]["text"])["code"]) == (True, "UNKNOWN_TOKEN")


@pytest.mark.slow
def test_the_inspector_sees_every_result() -> None:
    with served() as url:
        listed = inspect(url, "--method", "tools/list")
        assert [each["name"] for each in listed["tools"]] == [each.name for each in TOOLS]
        for name, arguments in (*CALLS.items(), *INVALID.items(), *FAILING[:3]):
            result = inspect_call(url, name, arguments)
            is_invalid = "no_such" in arguments or (name, arguments) in FAILING
            assert result.get("isError", False) == (is_invalid or name in NEED_NODE), (name, result)


def server_of(call: Any) -> Server[Any]:
    tool = Tool("wait", "Wait", "Wait for a moment.", {"type": "object"})
    prompt = Prompt("ask", "Ask", "Ask.", (PromptArgument("word", "A word."),), lambda given: f"Say {given['word']}.")
    resource = Resource("x://a", "a", "The letter.", "text/plain", 1)
    resources = Resources((resource,), lambda uri: ("a", "text/plain") if uri == "x://a" else None, resource)
    return build_server([tool], call, resources, [prompt], version="1", instructions="Wait.")


def test_progress_reaches_the_client() -> None:
    async def call(_: str, __: object, report: ReportProgress) -> ToolResult:
        await report(2.0, "two seconds")
        await report(4.0, "four seconds")
        return ToolResult("{}")

    async def run() -> list[tuple[float, str | None]]:
        reports: list[tuple[float, str | None]] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            del total
            reports.append((progress, message))

        async with Client(server_of(call)) as client:
            await client.call_tool("wait", {}, progress_callback=note)
        return reports

    assert asyncio.run(run()) == [(2.0, "two seconds"), (4.0, "four seconds")]


def test_unknown_resources_and_prompts_are_protocol_errors() -> None:
    async def call(*_: object) -> ToolResult:
        return ToolResult("{}")

    async def run() -> list[str]:
        async with Client(server_of(call)) as client:
            assert (await client.read_resource("x://a")).contents[0].text == "a"  # type: ignore[union-attr]
            assert (await client.get_prompt("ask", {"word": "yes"})).messages[0].content.text == "Say yes."  # type: ignore[union-attr]
            errors = []
            for failing in (client.read_resource("x://b"), client.get_prompt("no", {}), client.get_prompt("ask", {})):
                with pytest.raises(MCPError) as raised:
                    await failing
                errors.append(raised.value.message)
            return errors

    assert asyncio.run(run()) == ['no resource "x://b"', 'no prompt "no"', "the prompt ask needs word"]
