"""`swapcli mcp`: the SDK's own client calls every tool of a real server."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from decimal import Decimal
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
from tests.support.mcp_client import SharedClient, document, mcp_client, shared_client, with_client
from tests.support.testnet import write_market_file

USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
Called = tuple[bool, dict[str, Any]]
ORDER = {"network": "base", "token_in": "ETH", "token_out": "USDC", "amount": "1.5"}
CALLS: dict[str, dict[str, Any]] = {
    "quote": ORDER | {"certify": True, "max_hops": 3, "slippage": 0.3},
    "compare": ORDER | {"max_hops": 2},
    "plan": ORDER | {"amount": "500", "over": "1h", "parts": 4, "risk": "low", "only_protocols": ["uniswapV3"]},
    "depth": {"network": "citrea", "token_in": "cBTC", "token_out": "USDC.e", "amounts": ["1,5", "10"]},
    "pools": {"network": "base", "token": "ETH", "other": "USDC", "limit": 2},
    "price": {"network": "base", "tokens": ["cbBTC", "AERO"], "unit": "USDC"},
    "build_transaction": ORDER | {"destination": WALLET, "deadline": "20m", "offline": True},
    "decode": {"calldata": {"to": USDC, "data": APPROVAL}, "network": "base"},
    "check": ORDER | {"destination": WALLET},
    "health": {"networks": ["base", "monad"]},
    "quote_batch": {"network": "base", "orders": [{"tokenIn": "ETH", "tokenOut": "USDC", "amount": "1"}]},
    "protocols": {"network": "base"},
    "find_pools": {"network": "base", "tokens": ["0x" + "12" * 20]},
    "balance": {"network": "base", "account": WALLET},
    "allowance": {"network": "base", "owner": WALLET, "token": "USDC"},
    "networks": {},
    "tokens": {"network": "base", "pattern": "usd"},
}
"""A call of each tool that succeeds without a node, but for `NEED_NODE`."""
NEED_NODE = ("check", "find_pools", "balance", "allowance")
MAX_LIST_BYTES, MAX_RESPONSE_BYTES = 20_000, 4_000


async def call(client: Client, name: str, arguments: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
    result = await client.call_tool(name, arguments)
    return result.is_error, document(result)


def size(result: Any) -> int:
    """Return the size of a result or a list as clients without a compact writer count it."""
    return len(json.dumps(result.model_dump(mode="json", by_alias=True, exclude_none=True)))


@pytest.fixture(scope="module")
def server() -> Iterator[SharedClient]:
    with shared_client() as client:
        yield client


def test_every_tool_keeps_to_its_schema_and_its_size(server: SharedClient) -> None:
    async def call_all(client: Client) -> tuple[Any, dict[str, tuple[Any, Any]]]:
        listed = await client.list_tools()

        async def both(name: str, arguments: dict[str, Any]) -> tuple[Any, Any]:
            brief = client.call_tool(name, arguments)
            full = client.call_tool(name, arguments | {"detail": "full"})
            return (await brief, await full)

        results = await asyncio.gather(*(both(name, arguments) for name, arguments in CALLS.items()))
        return listed, dict(zip(CALLS, results, strict=True))

    listed, results = server.use(call_all)
    assert size(listed) <= MAX_LIST_BYTES
    tools = {each.name: each for each in listed.tools}
    assert list(tools) == [each.name for each in TOOLS]
    for tool in TOOLS:
        brief, full = results[tool.name]
        assert size(brief) <= MAX_RESPONSE_BYTES, tool.name
        assert Draft202012Validator(tools[tool.name].input_schema).is_valid(CALLS[tool.name])
        answer = json.loads(full.content[0].text)
        assert brief.is_error == full.is_error == (tool.name in NEED_NODE), answer
        if tool.name not in NEED_NODE:
            schema = build_answer_schema(tool)
            if tool.name == "build_transaction":
                assert answer.pop("payload").startswith("swapcli://payload/")
            errors = [str(each) for each in Draft202012Validator(schema).iter_errors(answer)]
            assert not errors, (tool.name, errors[0][:500])
            assert next(iter(answer)) == "warnings"
    refusal = document(results["check"][0])
    assert refusal["message"] == "the tool check needs a node of an EVM network, but the setting `live` is `never`"


def test_a_full_quote_is_that_of_the_command_line(server: SharedClient) -> None:
    async def quote(client: Client) -> tuple[dict[str, Any], dict[str, Any]]:
        (_, brief), (_, full) = [await call(client, "quote", ORDER | each) for each in ({}, {"detail": "full"})]
        return brief, full

    brief, answer = server.use(quote)
    printed = run_swapcli("route", *ORDER.values(), "--json").json
    printed |= {"priceImpactPercent": printed.pop("priceImpact"), "slippagePercent": printed.pop("slippage")}
    changing = {"time", "meta", "expiresAt"}
    assert answer.keys() - {"notes", "amounts"} == printed.keys()
    assert {name: answer[name] for name in printed.keys() - changing} == {
        name: printed[name] for name in printed.keys() - changing
    }
    assert answer["warnings"][0]["code"] == "STATE_MODELLED"
    amounts = {each["field"]: (each["whole"], each["symbol"], each["baseUnits"]) for each in answer["amounts"]}
    assert amounts["inputAmount"] == ("1.5", "ETH", "1500000000000000000")
    assert amounts["outputAmount"][1:] == ("USDC", printed["outputAmount"])
    assert float(amounts["minReceived"][0]) * 1e6 == pytest.approx(int(printed["minReceived"]))
    assert brief["inputAmount"] == "1.5 ETH"
    assert brief["outputAmount"] == f"{amounts['outputAmount'][0]} USDC"
    assert brief["priceImpactPercent"] == printed["priceImpactPercent"]
    assert "ETH > USDC" in brief["route"][0]


def test_a_plan_is_that_of_the_command_line(server: SharedClient) -> None:
    order, words = ORDER | {"amount": "500"}, ("base", "ETH", "USDC", "500")

    async def plan(client: Client) -> list[tuple[bool, dict[str, Any]]]:
        timed = {"over": "1h", "parts": 4, "start": "2000000000"}
        calls = (timed | {"detail": "full"}, timed, {"over": "soon"}, {"over": "1h", "parts": 0})
        return [await call(client, "plan", order | each) for each in calls]

    (is_error, full), (_, brief), soon, none = server.use(plan)
    printed = run_swapcli("plan", *words, "--over", "1h", "--parts", "4", "--start", "2000000000", "--json").json
    assert not is_error
    assert full.keys() - {"notes", "amounts"} == printed.keys()
    moving = {"createdAt", "startsAt", "endsAt", "expiresAt", "parts", "digest", "cowTwap", "state"}
    same = printed.keys() - moving
    assert {name: full[name] for name in same} == {name: printed[name] for name in same}
    assert [each["inputAmount"] for each in full["parts"]] == [each["inputAmount"] for each in printed["parts"]]
    assert [each["time"] for each in brief["parts"]] == [2_000_000_000 + 1_200 * each for each in range(4)]
    cost = int(printed["forecast"]["cost"])
    assert brief["forecast"]["cost"] == f"{Decimal(cost).scaleb(-6):f} USDC"
    assert brief["priceBand"] == printed["priceBand"]
    for (is_error, refused), options in ((soon, ("--over", "soon")), (none, ("--over", "1h", "--parts", "0"))):
        error = run_swapcli("plan", *words, *options, "--json").error
        assert is_error
        assert (refused["code"], refused["message"].lstrip("-")) == (error["code"], error["message"].lstrip("-"))


def test_only_the_named_protocols_are_used_by_every_tool_that_quotes(server: SharedClient) -> None:
    amount = {"network": "base", "orders": [{"tokenIn": "ETH", "tokenOut": "USDC", "amount": "1.5"}], "detail": "full"}

    async def quote(client: Client) -> Any:
        only = {"only_protocols": ["uniswapV3"]}
        single = await call(client, "quote", ORDER | only | {"detail": "full"})
        return single, await call(client, "quote_batch", amount | only)

    (_, single), (_, batch) = server.use(quote)
    printed = run_swapcli("route", *ORDER.values(), "--only-protocols", "uniswapV3", "--json").json
    assert single["outputAmount"] == printed["outputAmount"]
    assert batch["quotes"][0]["result"]["outputAmount"] == printed["outputAmount"]
    takers = {each.name for each in TOOLS if "only_protocols" in each.parameters()}
    assert takers == {each.name for each in TOOLS if "exclude_protocols" in each.parameters()}


def test_a_payload_is_passed_by_its_uri(server: SharedClient) -> None:
    order = ORDER | {"destination": WALLET, "amount": "50"}

    async def use(client: Client) -> tuple[Any, Any, dict[str, Any], dict[str, Any]]:
        built = await client.call_tool("build_transaction", order | {"offline": True})
        uri = document(built)["payload"]
        read = await client.read_resource(uri)
        _, decoded = await call(client, "decode", {"payload": uri})
        _, checked = await call(client, "check", {"payload": uri})
        return built, read, decoded, checked

    built, read, decoded, checked = server.use(use)
    text, link = built.content
    assert "0x8619b04e" not in text.text, "no calldata"
    assert (link.type, link.uri) == ("resource_link", document(built)["payload"])
    payload = json.loads(read.contents[0].text)
    assert payload["transactions"][0]["data"].startswith("0x8619b04e")
    assert list(decoded)[:2] == ["warnings", "verdict"]
    assert (decoded["network"], decoded["verdict"]["status"], "dangers" in decoded) == ("base", "unknown", False)
    assert decoded["verdict"]["message"].startswith(f"Unknown: the output goes to {WALLET}, ")
    assert (decoded["order"]["inputAmount"], decoded["order"]["recipient"]) == ("50 ETH", WALLET)
    assert decoded["order"]["minReceived"] == document(built)["minReceived"]
    assert checked["message"] == "the tool check needs a node of an EVM network, but the setting `live` is `never`"


def test_long_input_is_not_repeated(server: SharedClient) -> None:
    long = "x" * 100_000
    calls = (
        ("quote", ORDER | {"token_in": long}),
        ("quote", ORDER | {"token_in": long[:9_000]}),
        ("quote", ORDER | {"amount": "9" * 9_000}),
        ("quote", ORDER | {long: "1"}),
        (long, ORDER),
        ("decode", {"calldata": "0x" + "ab" * 50_000}),
        ("decode", {"calldata": [{"to": long}]}),
        ("quote_batch", {"network": "base", "orders": [{"tokenIn": "y" * 200, "tokenOut": "ETH", "amount": "1"}]}),
    )

    async def use(client: Client) -> list[Any]:
        return await asyncio.gather(*(client.call_tool(*each) for each in calls))

    for result in server.use(use):
        text = result.content[0].text
        assert size(result) <= MAX_RESPONSE_BYTES
        assert not [run for run in ("x" * 201, "9" * 201, "ab" * 101) if run in text], text[:500]


def test_aggregators_are_asked_only_where_a_call_names_them(tmp_path: Path) -> None:
    with fake_aggregators({"mine": Character("4700000000")}) as fake:
        settings = tmp_path / "config.yaml"
        settings.write_text(json.dumps({"aggregators": fake.settings()}))

        async def compare() -> list[tuple[bool, dict[str, Any]]]:
            async with mcp_client(env={"SWAPCLI_CONFIG": str(settings)}) as client:
                plain = await call(client, "compare", ORDER)
                assert fake.server.exchanges == []
                asked = ORDER | {"aggregators": ["mine"], "sender": WALLET, "detail": "full"}
                return [plain, await call(client, "compare", asked)]

        (_, plain), (is_error, asked) = asyncio.run(compare())
    assert not is_error, asked
    (exchange,) = fake.server.exchanges
    assert WALLET in exchange.target
    assert not {"hostsContacted", "sender"} & plain.keys()
    assert asked["sender"] == WALLET
    rows = [each for each in asked["alternatives"] if each["kind"] == "aggregator"]
    assert [(each["name"], each["promisedAmount"]) for each in rows] == [("Mine", "4700000000")]
    assert rows[0]["simulation"]["outcome"] == "notSimulated"


def test_an_unknown_tool_is_an_error_with_near_ones(server: SharedClient) -> None:
    is_error, answer = server.use(lambda client: call(client, "quotes", {}))
    assert is_error
    assert (answer["code"], answer["hint"]) == ("INVALID_OPTION", "did you mean quote?")
    assert Draft202012Validator(closed(build_error_schema())).is_valid(answer)


def test_an_agent_is_told_of_a_setting_that_leaves_no_protocol() -> None:
    arguments = ORDER | {"exclude_protocols": ["uniswapV3"]}
    env = {"SWAPCLI_ONLY_PROTOCOLS": "uniswapV3"}
    is_error, answer = with_client(lambda client: call(client, "quote", arguments), "--offline", env=env)
    assert is_error
    assert answer["message"] == "every allowed protocol is also excluded: uniswapV3"
    assert answer["hint"] == "exclude fewer protocols, or allow others in the setting only_protocols"


def test_options_of_the_server_are_none_of_the_tools() -> None:
    async def look(client: Client) -> tuple[set[str], tuple[bool, dict[str, Any]]]:
        listed = {each.name: each for each in (await client.list_tools()).tools}
        refused = await call(client, "quote", ORDER | {"offline": False})
        return set(listed["quote"].input_schema["properties"]), refused

    properties, (is_error, answer) = with_client(look, "--offline")
    assert "offline" not in properties
    assert is_error
    assert answer["message"] == "offline is set on this server's command line and cannot be changed here"


@pytest.mark.slow
def test_a_named_network_is_not_read_as_a_token(tmp_path: Path) -> None:
    """With a network in the settings, the commands take a first word that is not a network as a token."""
    calls: dict[str, dict[str, Any]] = {"price": {"tokens": ["USDC"]}, "pools": {"token": "USDC"}, "tokens": {}}

    async def call_each(client: Client) -> list[tuple[bool, dict[str, Any]]]:
        return [await call(client, name, {"network": "ETH"} | more) for name, more in calls.items()]

    for is_error, answer in with_client(call_each, "--offline", env={"SWAPCLI_NETWORK": "base"}):
        assert (is_error, answer["code"], answer["message"]) == (True, "UNKNOWN_NETWORK", 'no network "ETH"')

    market = write_market_file(tmp_path)

    async def call_own(client: Client) -> tuple[bool, dict[str, Any]]:
        return await call(client, "quote", {"network": "testnet", "token_in": "AAA", "token_out": "BBB", "amount": "1"})

    is_error, answer = with_client(call_own, "--market", market, env={"SWAPCLI_NETWORK": "base"})
    assert (is_error, answer["network"]) == (False, "testnet")


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
    assert "reads stdin, which the agent uses" in ran.stderr


def test_a_server_has_only_the_tools_that_its_user_names() -> None:
    async def look(client: Client) -> tuple[list[str], Called, Called]:
        names = [each.name for each in (await client.list_tools()).tools]
        built = await call(client, "build_transaction", ORDER | {"destination": WALLET})
        return names, built, await call(client, "quote", ORDER | {"token_in": "ETHH"})

    for env, options in (({}, ("--tools", "quote,price")), ({"SWAPCLI_MCP_TOOLS": "quote,price"}, ())):
        names, (is_error, answer), (_, unknown) = with_client(look, *options, env=env)
        assert sorted(names) == ["price", "quote"]
        assert is_error
        assert (answer["code"], answer["message"]) == ("INVALID_OPTION", 'no tool "build_transaction"')
        assert unknown["next"].get("tool") in (None, "quote", "price")
    ran = run_swapcli("mcp", "--tools", "quot,price")
    assert (ran.exit_code, ran.stderr) == (
        2, 'error: --tools: no tool "quot"\nhint:  did you mean quote or quote_batch?\n',
    )  # fmt: skip


def test_an_offline_server_builds_only_at_the_users_request() -> None:
    arguments = ORDER | {"destination": WALLET}

    async def build(client: Client) -> tuple[Called, Called, Called]:
        quoted = await call(client, "quote", ORDER)
        refused = await call(client, "build_transaction", arguments)
        return quoted, refused, await call(client, "build_transaction", arguments | {"offline": True})

    for env, options in (({}, ("--offline",)), ({"SWAPCLI_LIVE": "never"}, ())):
        quoted, refused, built = with_client(build, *options, env=env)
        assert not quoted[0], quoted
        assert (refused[0], refused[1]["code"], "tool" in refused[1]["next"]) == (True, "MODELLED_STATE", False)
        assert (built[0], "payload" in built[1]) == (False, True), built


def test_a_missing_market_file_ends_the_server_at_once(tmp_path: Path) -> None:
    ran = run_swapcli("mcp", "--market", str(tmp_path / "nofile"))
    assert (ran.exit_code, "nofile" in ran.stderr) == (2, True), ran.stderr
