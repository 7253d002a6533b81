"""`swapcli mcp` from its start to its end: cancelled calls, several clients, HTTP, signals, a node that is silent."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import anyio
import pytest
from mcp import Client

from swapcli.core.model.token import whole_tokens
from swapcli.core.networks.catalogue import find_network
from swapcli.faces.cli.tools.arguments import ServerOptions
from swapcli.faces.cli.tools.caller import ToolCaller
from tests.examples import few
from tests.support.command import clean_environment, run_swapcli
from tests.support.loopback_server import FakeExchange, loopback_server
from tests.support.mcp_client import document, mcp_client, with_client
from tests.support.waiting import until

ORDER = {"network": "base", "token_in": "ETH", "token_out": "USDC", "amount": "1.5"}
SILENT_S = 60.0


async def no_progress(_: float, __: str) -> None:
    """Report progress to nobody."""


def processes(marker: str) -> list[str]:
    """Return the command lines of processes that have a word, as a sign that a command runs."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().split(b"\0")
        except OSError:
            continue
        if marker.encode() in words:
            found.append(b" ".join(words).decode())
    return found


@contextmanager
def silent_node() -> Iterator[dict[str, str]]:
    """A node that accepts requests and answers none, as the variables of a user who has set it."""

    def stay_silent(exchange: FakeExchange) -> None:
        exchange.wait(SILENT_S)

    with loopback_server(stay_silent) as node:
        yield {"SWAPCLI_NETWORKS_BASE_RPC_URL": node.url, "SWAPCLI_TIMEOUT_S": str(int(SILENT_S))}


@contextmanager
def served_over_http(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server on a free port, with its URL."""
    words = [sys.executable, "-m", "swapcli", "mcp", "--http", "0", *options]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=clean_environment()) as process:
        assert process.stdout is not None
        try:
            ready = json.loads(process.stdout.readline())
            assert ready["pid"] == process.pid
            yield process, ready["url"]
        finally:
            process.kill()


def test_a_cancelled_call_ends_its_command_alone() -> None:
    amount = "1.2345"

    async def use(client: Client) -> dict[str, Any]:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "quote", ORDER | {"amount": amount, "live": "require"})
            while not processes(amount):
                await anyio.sleep(0.02)
            group.cancel_scope.cancel()
        with anyio.fail_after(10):
            while processes(amount):
                await anyio.sleep(0.02)
        return document(await client.call_tool("quote", ORDER | {"offline": True}))

    with silent_node() as env:
        answer = with_client(use, env=env)
    assert answer["outputToken"]["symbol"] == "USDC"


@pytest.mark.parametrize("number", few([signal.SIGTERM, signal.SIGINT, None], 1))
def test_a_server_ends_with_its_commands(number: signal.Signals | None) -> None:
    """On a signal, or when stdin ends, in the middle of a call."""
    amount = f"1.{4321 if number is None else 4322 + number}"
    greeting = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    call = {"name": "quote", "arguments": ORDER | {"amount": amount, "live": "require"}}
    messages = (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    )
    words = [sys.executable, "-m", "swapcli", "mcp"]
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with silent_node() as env, subprocess.Popen(words, **pipes, text=True, env=clean_environment(env)) as process:
        assert process.stdin
        assert process.stderr
        process.stdin.write("".join(f"{json.dumps(each)}\n" for each in messages))
        process.stdin.flush()
        until(lambda: processes(amount))
        if number is None:
            process.stdin.close()
        else:
            process.send_signal(number)
        assert process.wait(timeout=20) == 0
        assert process.stderr.read() == ""
        until(lambda: not processes(amount))


def test_a_command_that_takes_too_long_is_a_plain_error() -> None:
    async def call() -> tuple[dict[str, Any], bool]:
        caller = ToolCaller(ServerOptions(), find_network, timeout_s=0.05)
        result = await caller.call("quote", ORDER, no_progress)
        return json.loads(result.text), result.is_error

    answer, is_error = asyncio.run(call())
    assert is_error
    assert (answer["code"], answer["retryable"]) == ("CANCELLED", True)
    assert answer["message"] == "quote took longer than 0.05 seconds"
    assert "tool" not in answer["next"]


@pytest.mark.slow
def test_clients_over_http_have_the_same_answers_side_by_side() -> None:
    async def use(url: str) -> list[dict[str, Any]]:
        # Of the present protocol, and of the one before, with a handshake and a session.
        async with Client(url) as first, Client(url, mode="legacy") as second:
            calls = (each.call_tool("quote", ORDER) for each in (first, second) * 3)
            return [document(each) for each in await asyncio.gather(*calls)]

    with served_over_http() as (process, url):
        answers = asyncio.run(use(url))
        process.terminate()
        assert process.wait(timeout=20) == 0
    printed = run_swapcli("route", *ORDER.values(), "--json").json
    whole = whole_tokens(int(printed["outputAmount"]), 6).replace(",", "")
    assert {each["outputAmount"] for each in answers} == {f"{whole} USDC"}


@pytest.mark.parametrize("header", [{"Host": "evil.example:80"}, {"Origin": "https://evil.example"}])
def test_pages_of_other_hosts_are_refused_over_http(header: dict[str, str]) -> None:
    with served_over_http("--offline") as (_, url):
        assert url.startswith("http://127.0.0.1:")
        posted = urllib.request.Request(url, b"{}", {"Content-Type": "application/json", **header})
        with pytest.raises(HTTPError) as refused:
            urllib.request.urlopen(posted, timeout=20)
    refused.value.close()
    assert refused.value.code in (403, 421)


@pytest.mark.parametrize("port", ["-1", "65536", "x"])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    ran = run_swapcli("mcp", f"--http={port}")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "--http: expected a port from 0 to 65535" in ran.stderr


def test_a_port_in_use_is_a_plain_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        ran = run_swapcli("mcp", "--offline", "--http", str(other.getsockname()[1]))
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "cannot listen on 127.0.0.1" in ran.stderr
    assert "--http 0 picks a free port" in ran.stderr


def test_modelled_prices_become_no_transaction_unasked() -> None:
    """If no node responds, an agent gets no modelled price and no payload that the user did not request."""
    no_network = {"SWAPCLI_LIVE": "auto", "HTTPS_PROXY": "http://127.0.0.1:9"}
    paid = ORDER | {"destination": "0x1111111111111111111111111111111111111111"}

    async def use(client: Client) -> list[dict[str, Any]]:
        requested = {"offline": True}
        calls = (
            ("quote", ORDER),
            ("quote", ORDER | requested),
            ("build_transaction", paid),
            ("build_transaction", paid | requested),
        )
        return [document(await client.call_tool(name, arguments)) for name, arguments in calls]

    unrequested, quoted, rejected, built = with_client(use, env=no_network)
    for answer in (unrequested, rejected):
        assert (answer["code"], answer["next"].get("tool")) == ("MODELLED_STATE", None)
        assert not {"outputAmount", "payload"} & set(answer)
    assert quoted["state"]["kind"] == "modelled"
    assert "STATE_MODELLED" in {each["code"] for each in quoted["warnings"]}
    assert built["payload"].startswith("swapcli://payload/")
    assert "do not sign: " in built["warnings"][0]["message"]


@pytest.mark.slow
def test_a_client_that_leaves_ends_its_own_server_only() -> None:
    async def use() -> dict[str, Any]:
        async with mcp_client() as second:
            async with mcp_client() as first:
                await first.list_tools()
            return document(await second.call_tool("networks", {}))

    assert asyncio.run(use())["networks"]
