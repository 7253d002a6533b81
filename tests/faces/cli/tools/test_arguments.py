"""Arguments become the words of a command, and no value becomes an option."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from typer.main import get_command

from swapcli.core.errors import InvalidAmount, InvalidOption, ModelledState
from swapcli.faces.cli.command_app import OptionText, parse_plain
from swapcli.faces.cli.quote_context import with_amount_last
from swapcli.faces.cli.tools.arguments import MAX_TEXT, CommandLine, ServerOptions, split_arguments
from swapcli.faces.cli.tools.arguments import build_command_line as build
from swapcli.faces.cli.tools.schemas import build_listed_schema
from swapcli.faces.cli.tools.tool_table import TOOLS, ToolDefinition, find_tool
from swapcli.faces.cli.typer_root import app

NONE = ServerOptions()
ORDER = {"network": "base", "token_in": "ETH", "token_out": "USDC", "amount": "1.5"}
ORDER_OF_BATCH = {"tokenIn": "USDC", "tokenOut": "ETH", "amount": "100"}
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)
DANGEROUS = ("svg", "run", "notify", "batch", "results", "config", "market", "store", "api_key_file", "rpc_url",
             "api_url", "keys_file", "output", "mermaid", "watch")  # fmt: skip
"""Options that name files, hosts or programs, or that do not end."""


def tool(name: str) -> ToolDefinition:
    found = find_tool(name)
    assert found is not None
    return found


def build_command_line(tool: ToolDefinition, arguments: dict[str, Any], server: ServerOptions) -> CommandLine:
    return build(tool, split_arguments(tool, arguments, server).command, server)


def parsed(words: tuple[str, ...]) -> dict[str, Any]:
    """Return what the command gets, parsed as the program does."""
    name, *rest = words
    registered = next(each for each in TOOLS if each.command == name).registered()
    values = parse_plain(registered, rest)
    if values is not None:
        return values
    root = get_command(app)
    command = root.get_command(None, name)  # type: ignore[attr-defined]
    return dict(command.make_context(name, rest, resilient_parsing=False).params)


def test_a_server_without_nodes_builds_only_for_a_user_who_asks_for_it() -> None:
    build, order = tool("build_transaction"), ORDER | {"destination": "0x" + "12" * 20}
    by_setting = ServerOptions(uses_no_node=True)
    by_option = ServerOptions({"offline": True}, uses_no_node=True)
    for server in (by_setting, by_option):
        assert split_arguments(build, order | {"offline": True}, server)
        with pytest.raises(ModelledState):
            split_arguments(build, order, server)
    # --live overrides the setting `live: never`, but not the option --offline.
    assert split_arguments(build, order | {"live": "require"}, by_setting).command["live"] == "require"
    with pytest.raises(ModelledState):
        split_arguments(build, order | {"live": "require"}, by_option)


@given(network=WORDS, token_in=WORDS, token_out=WORDS, amount=WORDS, gas_price=WORDS, protocols=st.lists(WORDS))
def test_no_value_is_taken_for_an_option(
    network: str, token_in: str, token_out: str, amount: str, gas_price: str, protocols: list[str]
) -> None:
    order = {"network": network, "token_in": token_in, "token_out": token_out, "amount": amount}
    assume(with_amount_last([token_in, token_out, amount])[2] == amount)
    arguments = order | {"gas_price": gas_price, "exclude_protocols": protocols, "reverse": True}
    values = parsed(build_command_line(tool("quote"), arguments, NONE).words)
    assert {name: values[name] for name in order} == order
    assert (values["gas_price"], [*(values["exclude_protocols"] or ())]) == (gas_price, protocols)
    assert (values["reverse"], values["json"], values["output_file"], values["run"]) == (True, True, None, None)


def test_numbers_are_taken_where_the_option_is_a_number() -> None:
    given = {"max_hops": 3.0, "slippage": 0.5, "direct": None, "amount": 1.5}
    line = build_command_line(tool("quote"), ORDER | given, NONE)
    assert line.words == ("route", "--max-hops=3", "--slippage=0.5", "--json", "--get=.", "base", "ETH", "USDC", "1.5")


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        (
            "price",
            {"network": "base", "tokens": '["ETH", "AERO"]'},
            ("price", "--json", "--get=.", "base", "ETH", "AERO"),
        ),
        ("price", {"network": "base", "tokens": "ETH"}, ("price", "--json", "--get=.", "base", "ETH")),
        (
            "quote",
            ORDER | {"direct": "true", "reverse": "False", "max_hops": "3"},
            ("route", "--direct", "--max-hops=3", "--json", "--get=.", *ORDER.values()),
        ),
        (
            "quote",
            ORDER | {"exclude_protocols": '["uniswapV4", "5"]'},
            ("route", "--exclude-protocols=uniswapV4", "--exclude-protocols=5", "--json", "--get=.", *ORDER.values()),
        ),
    ],
)
def test_lists_booleans_and_numbers_may_be_json_text(
    name: str, arguments: dict[str, Any], words: tuple[str, ...]
) -> None:
    assert build_command_line(tool(name), arguments, NONE).words == words


def test_orders_become_lines_of_a_batch() -> None:
    orders = [{"tokenIn": "ETH", "tokenOut": "USDC", "amount": 1}, {"id": "b", **ORDER_OF_BATCH}]
    aliases = [{"token_in": "ETH", "token_out": "USDC", "amount": 1}, orders[1]]
    for written in (orders, json.dumps(orders), aliases):
        line = build_command_line(tool("quote_batch"), {"network": "base", "orders": written}, NONE)
        assert line.words == ("route", "--batch=-", "--json", "--get=.", "base")
        assert [json.loads(each) for each in line.stdin.splitlines()] == [
            {"id": "1", "tokenIn": "ETH", "tokenOut": "USDC", "amount": "1"},
            {"id": "b", "tokenIn": "USDC", "tokenOut": "ETH", "amount": "100"},
        ]


@pytest.mark.parametrize("orders", [[], [{}], [5], "ETH", [ORDER_OF_BATCH] * 16, [ORDER_OF_BATCH | {"market": "/etc"}]])
def test_malformed_orders_are_rejected(orders: object) -> None:
    with pytest.raises(InvalidOption, match=r"^orders: "):
        split_arguments(tool("quote_batch"), {"network": "base", "orders": orders}, NONE)


def test_every_choice_is_a_value_of_its_option() -> None:
    """A metavar with placeholders, such as N|HASH, lists no choices."""
    choices = {
        (name, tuple(schema["enum"]))
        for each in TOOLS
        for name, schema in build_listed_schema(each)["properties"].items()
        if "enum" in schema
    }
    assert choices == {
        ("live", ("auto", "require")), ("shares", ("fine", "whole")), ("detail", ("brief", "full")),
        ("risk", ("none", "low", "medium", "high")),
    }  # fmt: skip


@pytest.mark.parametrize("offset", [0, 3.0, "7"])
def test_pages_are_counted_in_whole_numbers(offset: object) -> None:
    call = split_arguments(tool("pools"), {"network": "base", "offset": offset, "limit": "2"}, NONE)
    assert (call.offset, call.limit, call.command) == (int(float(str(offset))), 2, {"network": "base"})


@pytest.mark.parametrize("page", [{"offset": -1}, {"limit": 0}, {"limit": 1.5}, {"offset": "x"}, {"offset": True}])
def test_pages_that_do_not_exist_are_rejected(page: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption, match="expected a whole number"):
        split_arguments(tool("pools"), {"network": "base"} | page, NONE)


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ({}, "the argument network is missing", "quote needs network, token_in, token_out, amount"),
        (ORDER | {"tokn_in": "ETH"}, 'quote has no argument "tokn_in"', "did you mean token_in?"),
        (ORDER | {"from": "0x1"}, 'quote has no argument "from"', "did you mean sender?"),
        (ORDER | {"svg": "/tmp/x"}, 'quote has no argument "svg"', None),
        (ORDER | {"amount": [1.5]}, "amount: expected a string, not [1.5]", None),
        (
            ORDER | {"amount": 10**21},
            f"amount: {10**21} has more digits than a JSON number can hold",
            "write it as text",
        ),
        (
            ORDER | {"amount": 0.1234567890123456},
            "amount: 0.1234567890123456 has more digits than a JSON number can hold",
            "write it as text",
        ),
        (ORDER | {"detail": "all"}, "detail: expected brief or full, not 'all'", None),
        (ORDER | {"slippage": True}, "slippage: expected a number, not True", None),
        (ORDER | {"reverse": "yes"}, "reverse: expected true or false, not 'yes'", None),
        (ORDER | {"exclude_protocols": [9]}, "exclude_protocols: expected an array of strings, not [9]", None),
        (ORDER | {"amount": "1" * (MAX_TEXT + 1)}, "amount: 10,001 characters are too many", "use at most 10,000"),
        (ORDER | {"token_in": "E\0"}, "token_in: has invalid characters", None),
        (ORDER | {"token_in": "\ud800"}, "token_in: has invalid characters", None),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], message: str, hint: str | None) -> None:
    with pytest.raises(InvalidOption) as caught:
        build_command_line(tool("quote"), arguments, NONE)
    assert caught.value.message == message
    assert hint is None or caught.value.hint == hint


def test_orders_of_a_batch_have_different_ids() -> None:
    """The default id is the order's number, which another order may have."""
    for orders in ([{"id": "a"}, {"id": "a"}], [{"id": 2}, {}]):
        arguments = {"network": "base", "orders": [ORDER_OF_BATCH | each for each in orders]}
        with pytest.raises(InvalidOption, match="orders: order 2 repeats the id"):
            build_command_line(tool("quote_batch"), arguments, NONE)


def test_the_numbers_of_a_batch_are_those_of_a_quote() -> None:
    amounts: tuple[Any, ...] = (2, 1.5, 1e-07, "1")
    orders = [{**ORDER_OF_BATCH, "amount": amount} for amount in amounts]
    lines = build_command_line(tool("quote_batch"), {"network": "base", "orders": orders}, NONE).stdin.splitlines()
    assert [json.loads(line)["amount"] for line in lines] == ["2", "1.5", "0.0000001", "1"]
    wrong: dict[str, Any] = {**ORDER_OF_BATCH, "amount": 0.1234567890123456}
    with pytest.raises(InvalidOption, match=r"orders: amount: 0\.1234567890123456 has more digits"):
        build_command_line(tool("quote_batch"), {"network": "base", "orders": [wrong]}, NONE)


@pytest.mark.parametrize("name", ["quote", "compare", "build_transaction", "check"])
@pytest.mark.parametrize(
    ("wrong", "order"),
    [
        ("token_in", {"token_in": "1.5", "token_out": "USDC", "amount": "ETH"}),
        ("token_out", {"token_in": "ETH", "token_out": "1.5", "amount": "USDC"}),
    ],
)
def test_a_misplaced_amount_is_not_moved(name: str, wrong: str, order: dict[str, str]) -> None:
    """On a command line, the same words in the same order are read as what the user probably meant."""
    arguments = (
        order | {"network": "base"} | ({} if name in ("quote", "compare") else {"destination": "0x" + "11" * 20})
    )
    with pytest.raises(InvalidAmount) as caught:
        build_command_line(tool(name), arguments, NONE)
    assert caught.value.message == f'amount: "{order["amount"]}" is not an amount'
    assert caught.value.hint == f"{wrong} is 1.5, which looks like the amount"


def test_options_of_the_server_hold_for_the_tools_that_have_them() -> None:
    server = ServerOptions({"offline": True, "store": "/pools", "config": "my.yaml"})
    assert build_command_line(tool("quote"), ORDER, server).words[1:6] == (
        "--store=/pools", "--offline", "--config=my.yaml", "--json", "--get=.",
    )  # fmt: skip
    assert build_command_line(tool("networks"), {}, server).words == (
        "networks",
        "--config=my.yaml",
        "--json",
        "--get=.",
    )
    with pytest.raises(InvalidOption, match=r"is set on this server.s command line"):
        build_command_line(tool("quote"), ORDER | {"offline": False}, server)


@pytest.mark.parametrize("each", TOOLS, ids=lambda each: each.name)
def test_no_tool_has_options_of_files_hosts_or_programs(each: ToolDefinition) -> None:
    assert not set(each.parameters()) & set(DANGEROUS)
    metavars = {
        note.metavar
        for parameter in each.parameters().values()
        if isinstance(note := parameter.annotation.__metadata__[0], OptionText)
    }
    assert not metavars & {"FILE", "DIR", "URL", "COMMAND", "[SECONDS]"}
