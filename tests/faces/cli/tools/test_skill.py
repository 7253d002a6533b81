"""The skill and llms.txt are up to date, and each worked example works."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client

from swapcli.faces.cli.help_topics import ORDER
from swapcli.faces.cli.overview import command_names
from swapcli.faces.cli.tools.skill import EXAMPLES, INSTRUCTIONS, instructions, skill
from swapcli.faces.cli.tools.tool_table import TOOLS
from tests.generate.llms_text import FILE, ROOT, llms_text
from tests.generate.site.pages import documents
from tests.support.command import run_swapcli
from tests.support.mcp_client import SharedClient, document, shared_client

CALL = re.compile(r'^\{"name": .*\}$', re.MULTILINE)
MAX_INSTRUCTIONS = 1_200
"""Characters: they are in each conversation of an agent, whether it swaps or not."""


@pytest.fixture(scope="module")
def server() -> Iterator[SharedClient]:
    with shared_client() as client:
        yield client


def test_each_worked_example_works_as_it_is_shown(server: SharedClient) -> None:
    calls = [json.loads(line) for line in CALL.findall(skill())]
    assert len(calls) == sum(len(example.calls) for example in EXAMPLES) > len(EXAMPLES)

    for each in calls:  # the tests' server uses no node, so the user has to request modelled prices
        if each["name"] == "build_transaction":
            each["arguments"]["offline"] = True

    async def use(client: Client) -> list[tuple[bool, dict[str, Any]]]:
        results = [await client.call_tool(each["name"], each["arguments"]) for each in calls]
        return [(each.is_error, document(each)) for each in results]

    answers = server.use(use)
    assert [answer for is_error, answer in answers if is_error] == []
    quoted, reverse, depth, _, built, decoded = (answer for _, answer in answers)
    assert all(quoted[name].endswith(" USDC") for name in ("outputAmount", "minReceived", "outputAfterGas"))
    assert set(re.findall(r"\b[a-z]+[A-Z]\w+", EXAMPLES[0].conclusion)) <= quoted.keys()
    assert quoted["priceImpactPercent"] < 1
    assert reverse["outputAmount"].startswith("5000")
    (level,) = (each for each in depth["levels"] if each["impactPercent"] == 1.0)
    within, beyond = (float(level[each]["inputAmount"].split()[0]) for each in ("within", "beyond"))
    assert within < beyond
    assert built["transactions"][-1]["what"] == "swap"
    assert built["payload"].startswith("swapcli://payload/")
    assert decoded["dangers"]


def test_the_skill_is_printed_with_every_tool() -> None:
    printed = run_swapcli("mcp", "--print-skill").stdout
    assert printed == skill()
    front = printed.split("---\n")[1]
    assert re.search(r"^name: swapcli$", front, re.MULTILINE)
    assert "description:" in front
    assert all(f"| `{tool.name}` |" in printed for tool in TOOLS)
    assert "## The responses" in printed
    assert "## What no tool does" in printed


def test_the_server_tells_the_rules_to_an_agent_that_connects(server: SharedClient) -> None:
    async def use(client: Client) -> str | None:
        return client.instructions

    told = server.use(use)
    assert told == instructions()
    assert all(rule in told for rule in INSTRUCTIONS)
    assert len(told) <= MAX_INSTRUCTIONS


def test_llms_text_is_up_to_date_and_complete() -> None:
    text = llms_text()
    assert FILE.read_text() == text, "run `make completions`"
    assert all((ROOT / target).is_file() for target in re.findall(r"\]\(([^)]+)\)", text))
    assert all(f"swapcli help {topic}`" in text for topic in ORDER)
    assert all(f"- `swapcli {name}`: " in text for name in command_names())
    assert all(f"- `{tool.name}`: " in text for tool in TOOLS)


def test_llms_text_of_the_site_links_to_its_pages() -> None:
    names = documents()
    text = llms_text(lambda path: f"{names[path]}.html")
    assert set(re.findall(r"\]\(([^)]+)\)", text)) <= {f"{page}.html" for page in names.values()}
