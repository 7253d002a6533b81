"""Texts of commands are in the words of a tool, and no text has an option of the command line."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import swapcli
from swapcli.faces.cli.tools.skill import EXAMPLES, INSTRUCTIONS
from swapcli.faces.cli.tools.tool_table import TOOLS, find_tool
from swapcli.faces.cli.tools.wording import in_words_of

SOURCES = Path(swapcli.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z]")


@cache
def texts() -> tuple[str, ...]:
    """Return each text of the program that names an option, as errors, hints and warnings do."""
    nodes = (
        node
        for file in SOURCES.rglob("*.py")
        if OPTION.search(source := file.read_text())
        for node in ast.walk(ast.parse(source))
    )
    found = (each.value for each in nodes if isinstance(each, ast.Constant) and isinstance(each.value, str))
    return tuple(dict.fromkeys(text for text in found if OPTION.search(text)))


@pytest.mark.parametrize("tool", TOOLS, ids=lambda each: each.name)
def test_no_text_of_the_program_has_an_option_in_a_tool(tool: object) -> None:
    found = [text for text in texts() if '"' not in text]
    assert len(found) > 100
    assert [text for text in found if OPTION.search(in_words_of(tool, text))] == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "worded"),
    [
        ("give --offline", "give offline"),
        ("add --from ADDRESS", "add sender ADDRESS"),
        ("allow them with --allow-fees", "allow them with the user's option allow-fees"),
        (
            "give --rpc-url URL, or set SWAPCLI_NETWORKS_BASE_RPC_URL; to use these prices anyway, add --offline",
            "ask the user to set rpc_url or SWAPCLI_NETWORKS_BASE_RPC_URL; "
            "to use these prices anyway, set offline to true",
        ),
        ("set a node with --rpc-url", "set a node with the setting rpc_url"),
        ("swapcli tokens base lists the market's tokens", "the tool tokens lists the market's tokens"),
        ("swapcli sync NETWORK --store DIR creates it", "swapcli sync NETWORK with the option store DIR creates it"),
        ('no token "--json" on base', 'no token "--json" on base'),
    ],
)  # fmt: skip
def test_options_are_arguments_settings_or_the_users(text: str, worded: str) -> None:
    quote = find_tool("quote")
    assert quote is not None
    assert in_words_of(quote, text) == worded
    assert in_words_of(quote, {"notes": [text, 5]}) == {"notes": [worded, 5]}


def test_no_text_for_agents_has_an_option() -> None:
    written = [*INSTRUCTIONS, *(each.description for each in TOOLS), *(each.conclusion for each in EXAMPLES)]
    assert [text for text in written if OPTION.search(text)] == []


def test_arguments_of_the_command_have_the_names_of_the_tool() -> None:
    tool = find_tool("build_transaction")
    assert tool is not None
    assert in_words_of(tool, "AMOUNT 50% requires a sender") == "amount 50% requires a sender"
    assert in_words_of(tool, {"message": "ADDRESS: not an address"}) == {"message": "account: not an address"}
