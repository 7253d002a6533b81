"""A hundred mistakes of agents: each gets a plain error, and the server goes on."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator
from mcp import Client

from swapcli.faces.cli.tools.schemas import build_error_schema
from swapcli.faces.cli.tools.tool_table import TOOLS
from tests.faces.cli.commands.test_schema import closed
from tests.support.command import clean_environment
from tests.support.mcp_client import document, with_client
from tests.support.service_process import SWAPCLI_COMMAND

WALLET = "0x1111111111111111111111111111111111111111"
USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
ORDER = {"network": "base", "token_in": "ETH", "token_out": "USDC", "amount": "1"}
PAID = ORDER | {"destination": WALLET}
PAIR = {name: ORDER[name] for name in ("network", "token_in", "token_out")}
_WRONG: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
    ("quote", ORDER, {"network": "bass"}),
    ("quote", ORDER, {"network": ""}),
    ("quote", ORDER, {"network": 84530}),
    ("quote", ORDER, {"network": "999999"}),
    ("quote", ORDER, {"token_in": "ETHH"}),
    ("quote", ORDER, {"token_in": ""}),
    ("quote", ORDER, {"token_in": "0x12"}),
    ("quote", ORDER, {"token_in": "0x" + "12" * 20}),
    ("quote", ORDER, {"token_in": "USDC"}),
    ("quote", ORDER, {"token_in": ["ETH"]}),
    ("quote", ORDER, {"token_in": "--json"}),
    ("quote", ORDER, {"token_in": "--config=/etc/passwd"}),
    ("quote", ORDER, {"token_in": "-"}),
    ("quote", ORDER, {"token_in": "ETH\n"}),
    ("quote", ORDER, {"token_in": "E\0TH"}),
    ("quote", ORDER, {"token_in": "\U0001f600"}),
    ("quote", ORDER, {"token_in": "x" * 20_000}),
    ("quote", ORDER, {"token_out": "$(id)"}),
    ("quote", ORDER, {"token_out": "../../etc/passwd"}),
    ("quote", ORDER, {"token_out": {"symbol": "USDC"}}),
    ("quote", ORDER, {"amount": "0"}),
    ("quote", ORDER, {"amount": "-1"}),
    ("quote", ORDER, {"amount": "1,5,0"}),
    ("quote", ORDER, {"amount": "one"}),
    ("quote", ORDER, {"amount": "1e99"}),
    ("quote", ORDER, {"amount": "1.0000000000000000001"}),
    ("quote", ORDER, {"amount": 10**30}),
    ("quote", ORDER, {"amount": 0.1234567890123456}),
    ("quote", ORDER, {"detail": "everything"}),
    ("quote", ORDER, {"amount": True}),
    ("quote", ORDER, {"amount": "all"}),
    ("quote", ORDER, {"amount": "50%"}),
    ("quote", ORDER, {"amount": "9" * 80}),
    ("quote", ORDER, {"amount": "1.5", "raw": True}),
    ("quote", ORDER, {"raw": "yes"}),
    ("quote", ORDER, {"raw": 1}),
    ("quote", ORDER, {"max_hops": 0}),
    ("quote", ORDER, {"max_hops": -1}),
    ("quote", ORDER, {"max_hops": 1.5}),
    ("quote", ORDER, {"max_hops": "many"}),
    ("quote", ORDER, {"max_hops": 10**30}),
    ("quote", ORDER, {"max_pools": 0}),
    ("quote", ORDER, {"slippage": -0.5}),
    ("quote", ORDER, {"slippage": 100}),
    ("quote", ORDER, {"slippage": "half"}),
    ("quote", ORDER, {"slippage": [0.5]}),
    ("quote", ORDER, {"gas_price": "cheap"}),
    ("quote", ORDER, {"gas_price": "1gwie"}),
    ("quote", ORDER, {"gas_price": -5}),
    ("quote", ORDER, {"shares": "half"}),
    ("quote", ORDER, {"exclude_protocols": ["uniswapV9"]}),
    ("quote", ORDER, {"exclude_protocols": [9]}),
    ("quote", ORDER, {"exclude_protocols": {"a": 1}}),
    ("quote", ORDER, {"live": "sometimes"}),
    ("quote", ORDER, {"sender": WALLET}),
    ("quote", ORDER, {"max_age": "old"}),
    ("quote", ORDER, {"block": "yesterday"}),
    ("quote", ORDER, {"market": "/etc/passwd"}),
    ("quote", ORDER, {"rpc_url": "http://169.254.169.254/"}),
    ("quote", ORDER, {"api_url": "http://127.0.0.1:1"}),
    ("quote", ORDER, {"svg": "/tmp/picture.svg"}),
    ("quote", ORDER, {"run": "touch /tmp/ran"}),
    ("quote", ORDER, {"watch": ""}),
    ("quote", ORDER, {"get": ["state"]}),
    ("quote", ORDER, {"tokenIn": "ETH"}),
    ("quote", ORDER, {"Amount": "1"}),
    ("quote", ORDER, {"": "1"}),
    ("quote", {}, {}),
    ("quote", {}, {"network": "base"}),
    ("quote", {}, {"network": None, "token_in": None}),
    ("qoute", ORDER, {}),
    ("", {}, {}),
    ("route", ORDER, {}),
    ("execute", {}, {}),
    ("send_transaction", {}, {}),
    ("compare", ORDER, {"amount": "x"}),
    ("compare", ORDER, {"reverse": True}),
    ("depth", PAIR, {"amounts": [","]}),
    ("depth", PAIR, {"amounts": ["x"]}),
    ("depth", PAIR, {"amounts": ["50%"]}),
    ("depth", PAIR, {"amount": "1"}),
    ("depth", PAIR, {"token_out": "ETH"}),
    ("quote_batch", {"network": "base"}, {}),
    ("quote_batch", {"network": "base"}, {"orders": [{"tokenIn": "ETH"}]}),
    ("find_pools", {"network": "base"}, {"tokens": ["@/etc/passwd"]}),
    ("find_pools", {"network": "base"}, {"tokens": [" @/etc/passwd"]}),
    ("find_pools", {"network": "base"}, {"tokens": ["ETH,@/etc/passwd"]}),
    ("balance", {"network": "base"}, {"account": "me"}),
    ("allowance", {"network": "base"}, {"owner": WALLET}),
    ("protocols", {"network": "bass"}, {}),
    ("tokens", {"network": "base"}, {"offset": 1000}),
    ("decode", {}, {"payload": "swapcli://payload/0"}),
    ("check", {}, {"payload": 5}),
    ("pools", {"network": "base"}, {"limit": -1}),
    ("pools", {"network": "base"}, {"limit": 10**9}),
    ("pools", {"network": "base"}, {"token": "ETH", "other": "WETH"}),
    ("pools", {"network": "base"}, {"token": "NOPE"}),
    ("price", {"network": "base"}, {}),
    ("price", {"network": "base"}, {"tokens": []}),
    ("price", {"network": "base"}, {"tokens": ["NOPE"]}),
    ("price", {"network": "base", "tokens": ["ETH"]}, {"unit": "NOPE"}),
    ("build_transaction", ORDER, {}),
    ("build_transaction", PAID, {"destination": "me"}),
    ("build_transaction", PAID, {"destination": "0x" + "0" * 40}),
    ("build_transaction", PAID, {"destination": USDC}),
    ("build_transaction", PAID, {"destination": WALLET[:-1]}),
    ("build_transaction", PAID, {"deadline": "yesterday"}),
    ("build_transaction", PAID, {"deadline": "1"}),
    ("build_transaction", PAID, {"slippage": 30}),
    ("build_transaction", PAID, {"max_slippage": 49}),
    ("build_transaction", PAID, {"allow_recipient": USDC}),
    ("build_transaction", PAID, {"amount": "5000000"}),
    ("build_transaction", PAID, {"router_dialect": "sushi"}),
    ("build_transaction", PAID, {"simulate": True}),
    ("build_transaction", PAID, {"private_key": "0x" + "11" * 32}),
    ("decode", {}, {"calldata": ""}),
    ("decode", {}, {"calldata": "/etc/passwd"}),
    ("decode", {}, {"calldata": "0xzz"}),
    ("decode", {}, {"calldata": 5}),
    ("decode", {}, {"calldata": {"to": 5}}),
    ("decode", {}, {"calldata": "[" * 5_000}),
    ("decode", {"calldata": "0x095ea7b3"}, {"network": "bass"}),
    ("check", PAID, {}),
    ("check", ORDER, {}),
    ("check", PAID, {"check": "never"}),
    ("health", {}, {"networks": ["bass"]}),
    ("health", {}, {"networks": 5}),
    ("networks", {}, {"network": "base"}),
    ("networks", {}, {"probe": True}),
    ("tokens", {"network": "base"}, {"pattern": "no such token"}),
    ("tokens", {}, {}),
)
MISTAKES = [(name, right | wrong) for name, right, wrong in _WRONG]
GREETING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
AT_ONCE = 8
"""Calls that an agent makes side by side: more than commands run at a time."""
MARKS = ("Traceback", 'File "', "internal error", "swapcli/faces", "root:")
"""What no error of a user has."""


async def call(client: Client, name: str, arguments: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
    result = await client.call_tool(name, arguments)
    return result.is_error, document(result)


@pytest.mark.slow
def test_each_mistake_is_a_plain_error_and_the_server_goes_on() -> None:
    assert len(MISTAKES) >= 100

    async def use(client: Client) -> list[tuple[bool, dict[str, Any]]]:
        answers: list[tuple[bool, dict[str, Any]]] = []
        for start in range(0, len(MISTAKES), AT_ONCE):
            together = MISTAKES[start : start + AT_ONCE]
            answers += await asyncio.gather(*(call(client, name, arguments) for name, arguments in together))
        return [*answers, await call(client, "quote", ORDER)]

    *answers, (is_error, last) = with_client(use)
    assert not is_error
    assert last["outputToken"]["symbol"] == "USDC"
    validator = Draft202012Validator(closed(build_error_schema()))
    tools = {each.name for each in TOOLS}
    for mistake, (is_error, answer) in zip(MISTAKES, answers, strict=True):
        assert is_error, (mistake, str(answer)[:300])
        assert validator.is_valid(answer), (mistake, answer)
        assert not [mark for mark in MARKS if mark in str(answer)], (mistake, answer)
        assert answer["code"] not in ("INTERNAL", "ERROR"), (mistake, answer)
        assert answer["message"], mistake
        assert answer["next"]["tool"] in {*tools, None}
        assert answer["next"]["reason"]
        assert (answer["next"]["tool"], answer["next"]["arguments"]) != mistake
        texts = f"{answer['message']} {answer['hint']} {answer['next']['reason']}"
        assert not re.search(r"(?<![\w-])--[a-z]", re.sub(r'"[^"]*"', "", texts)), (mistake, answer)


def test_lines_that_are_no_messages_do_not_end_the_server() -> None:
    """Lines that are no messages have no answer, and wrong messages get an error of the protocol."""
    call = {"name": "quote", "arguments": ORDER}
    wrong: dict[int, dict[str, Any]] = {
        2: {"method": "no/such"},
        3: {"method": "tools/call", "params": {"name": 5}},
        4: {"method": "tools/call", "params": {"name": "quote", "arguments": [1]}},
        5: {"method": "tools/call"},
    }
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": GREETING}).encode(),
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        *(b"garbage", b"[1,2", b"\xff\xfe\0", b"{}", b'{"jsonrpc": "2.0", "id": 7}', b"", b"[" * 100_000),
        *(json.dumps({"jsonrpc": "2.0", "id": number} | each).encode() for number, each in wrong.items()),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}).encode(),
        json.dumps({"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": call})
        .replace('"amount": "1"', '"max_hops": 1e400')
        .encode(),
        b'{"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "networks"}}',
    ]
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([*SWAPCLI_COMMAND, "mcp", "--offline"], **pipes, env=clean_environment()) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(b"".join(line + b"\n" for line in lines))
        process.stdin.flush()
        answers: dict[int, dict[str, Any]] = {}
        while 8 not in answers:
            answer = json.loads(process.stdout.readline())
            answers[answer["id"]] = answer
        process.stdin.close()
        assert process.wait(timeout=20) == 0
        assert b"Traceback" not in process.stderr.read()
    assert all("error" in answers[number] for number in wrong)
    assert "structuredContent" not in answers[6]["result"]
    assert json.loads(answers[6]["result"]["content"][0]["text"])["message"] == "a number is too large"
    assert not answers[8]["result"]["isError"]


def test_a_hint_or_a_reason_says_what_to_do_about_a_misspelling() -> None:
    async def use(client: Client) -> list[tuple[bool, dict[str, Any]]]:
        near = ({"network": "bass"}, {"token_out": "USDCC"}, {"tokenIn": "ETH"}, {"gas_price": "1gwie"})
        return [await call(client, "quote", ORDER | each) for each in near]

    for word, (_, answer) in zip(("base", "USDC", "token_in", "gwei"), with_client(use), strict=True):
        assert word in answer["hint"], answer
