"""`swapcli mcp`: the SDK's own client calls every tool of a real server."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator
from mcp import Client

from swapcli.faces.cli.tools.schemas import build_answer_schema, build_error_schema
from swapcli.faces.cli.tools.tool_table import TOOLS
from tests.faces.cli.commands.test_schema import closed
from tests.faces.cli.json_commands import APPROVAL, WALLET
from tests.support.command import run_swapcli
from tests.support.fake_aggregators import Character, fake_aggregators
from tests.support.mcp_client import document, mcp_client, with_client

USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
ORDER = {"network": "base", "token_in": "ETH", "token_out": "USDC", "amount": "1.5"}
CALLS: dict[str, dict[str, Any]] = {
    "quote": ORDER | {"certify": True, "max_hops": 3, "slippage": 0.3},
    "compare": ORDER | {"max_hops": 2},
    "depth": {"network": "citrea", "token_in": "cBTC", "token_out": "USDC.e", "amounts": ["1,5", "10"]},
    "pools": {"network": "base", "token": "ETH", "other": "USDC", "limit": 2},
    "price": {"network": "base", "tokens": ["cbBTC", "AERO"], "unit": "USDC"},
    "build_transaction": ORDER | {"destination": WALLET, "deadline": "20m"},
    "decode": {"calldata": {"to": USDC, "data": APPROVAL}, "network": "base"},
    "check": ORDER | {"destination": WALLET},
    "health": {"networks": ["base", "monad"]},
    "networks": {},
    "tokens": {"network": "base", "pattern": "usd"},
}
"""A call of each tool that succeeds without a node, but for the check."""


async def call(client: Client, name: str, arguments: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
    result = await client.call_tool(name, arguments)
    return result.is_error, document(result)


def test_every_tool_answers_as_its_schema_says() -> None:
    async def call_all(client: Client) -> dict[str, tuple[Any, Any, Any]]:
        listed = {each.name: each for each in (await client.list_tools()).tools}
        assert list(listed) == [each.name for each in TOOLS]
        return {
            name: (listed[name].input_schema, listed[name].output_schema, await call(client, name, arguments))
            for name, arguments in CALLS.items()
        }

    answers = with_client(call_all)
    assert set(answers) == {each.name for each in TOOLS}
    is_refused, refusal = answers.pop("check")[2]
    assert is_refused
    assert refusal["message"] == "--check asks a node of an EVM network, but the setting live excludes it (never)"
    for name, (input_schema, output_schema, (is_error, answer)) in answers.items():
        assert not is_error, answer
        assert Draft202012Validator(input_schema).is_valid(CALLS[name])
        errors = [str(each) for each in Draft202012Validator(output_schema).iter_errors(answer)]
        assert not errors, errors[0][:500]
        assert next(iter(answer)) == "warnings"


def test_a_quote_is_that_of_the_command_line_with_whole_amounts() -> None:
    is_error, answer = with_client(lambda client: call(client, "quote", ORDER))
    printed = run_swapcli("route", *ORDER.values(), "--json").json
    assert not is_error
    own = {"notes", "amounts"}
    changing = {"time", "meta", "expiresAt"}
    assert answer.keys() - own == printed.keys()
    assert {name: answer[name] for name in printed.keys() - changing} == {
        name: printed[name] for name in printed.keys() - changing
    }
    assert answer["warnings"][0]["code"] == "STATE_MODELLED"
    amounts = {each["field"]: (each["whole"], each["symbol"], each["raw"]) for each in answer["amounts"]}
    assert amounts["inputAmount"] == ("1.5", "ETH", "1500000000000000000")
    assert amounts["outputAmount"][1:] == ("USDC", printed["outputAmount"])
    assert float(amounts["minReceived"][0]) * 1e6 == pytest.approx(int(printed["minReceived"]))


def test_aggregators_are_asked_only_where_a_call_names_them(tmp_path: Path) -> None:
    with fake_aggregators({"mine": Character("4700000000")}) as fake:
        settings = tmp_path / "config.yaml"
        settings.write_text(json.dumps({"aggregators": fake.settings()}))

        async def compare() -> list[tuple[bool, dict[str, Any]]]:
            async with mcp_client(env={"SWAPCLI_CONFIG": str(settings)}) as client:
                plain = await call(client, "compare", ORDER)
                assert fake.server.exchanges == []
                return [plain, await call(client, "compare", ORDER | {"aggregators": ["mine"], "sender": WALLET})]

        (_, plain), (is_error, asked) = asyncio.run(compare())
    assert not is_error, asked
    (exchange,) = fake.server.exchanges
    assert WALLET in exchange.target
    assert (plain["hostsAsked"], plain["sender"]) == ([], None)
    assert asked["sender"] == WALLET
    rows = [each for each in asked["alternatives"] if each["kind"] == "aggregator"]
    assert [(each["name"], each["outputAmount"]) for each in rows] == [("Mine", "4700000000")]
    assert rows[0]["simulation"]["outcome"] == "notSimulated"
    schema = build_answer_schema(next(each for each in TOOLS if each.name == "compare"))
    assert Draft202012Validator(schema).is_valid(asked)


def test_an_unknown_tool_is_an_error_with_near_ones() -> None:
    is_error, answer = with_client(lambda client: call(client, "quotes", {}))
    assert is_error
    assert (answer["code"], answer["hint"]) == ("INVALID_OPTION", "did you mean quote?")
    assert Draft202012Validator(closed(build_error_schema())).is_valid(answer)


def test_options_of_the_server_are_none_of_the_tools() -> None:
    async def look(client: Client) -> tuple[set[str], tuple[bool, dict[str, Any]]]:
        listed = {each.name: each for each in (await client.list_tools()).tools}
        refused = await call(client, "quote", ORDER | {"offline": False})
        return set(listed["quote"].input_schema["properties"]), refused

    properties, (is_error, answer) = with_client(look, "--offline")
    assert "offline" not in properties
    assert is_error
    assert answer["message"] == "offline: the command line of this server sets it"


def test_two_clients_have_a_server_each_and_the_same_answers() -> None:
    async def both() -> list[tuple[bool, dict[str, Any]]]:
        async with mcp_client() as first, mcp_client() as second:
            return await asyncio.gather(*(call(each, "quote", ORDER) for each in (first, second)))

    (_, first), (_, second) = asyncio.run(both())
    assert first["outputAmount"] == second["outputAmount"]


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    ran = run_swapcli("mcp")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.splitlines() == [
        "error: swapcli mcp needs the Python package mcp, which is not installed",
        "hint:  in swapcli's source folder, run pip install '.[mcp]'",
    ]


def test_a_market_on_stdin_is_refused() -> None:
    ran = run_swapcli("mcp", "--market", "-")
    assert ran.exit_code == 2
    assert "reads stdin, where the agent speaks" in ran.stderr
