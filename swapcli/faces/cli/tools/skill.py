"""The texts that agents read before they call a tool: the server's instructions, and the skill with worked examples.

Both are made from the tool table and the topic `agents`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from swapcli.core.records import NamedTuple
from swapcli.faces.cli.help_topics import topic_text
from swapcli.faces.cli.overview import PURPOSE
from swapcli.faces.cli.tools.tool_table import TOOLS

INSTRUCTIONS = (
    "Amounts are strings in whole tokens, such as 1.5, 2k or $1000. Tokens are symbols or addresses: if you are not"
    " sure of a symbol, find its address with the tool tokens.",
    "Read the warnings of each response to the user. Say first if prices are modelled, because they are not live.",
    "Before the user signs: call check or build_transaction, and stop if the verdict is block. Call decode for"
    " payloads from others, with the user's account as sender, and stop unless the verdict is no_danger_found.",
    "Never retype calldata: pass the URI of the payload.",
    "No tool signs or sends. Never ask for a private key: the user signs in a wallet.",
    'Responses are brief; detail "full" returns everything. For the rest of a list, pass nextOffset as offset.',
    "After an error, make the call in next. If next has no tool, its reason says what to do.",
)
"""The rules for agents, in the order in which they need them."""
_USES = (
    "Use it for prices, quotes and the depth of token pairs, for unsigned swap transactions, and to check a payload"
    " before it is signed."
)
SKILL_SUMMARY = "How to work with the tools: rules, tools and worked examples."
_RESPONSES, _LIMITS = "THE RESPONSES", "WHAT NO TOOL DOES"


class WorkedExample(NamedTuple):
    """A user's question, the tool calls to make for it, and how to answer the user from the responses."""

    question: str
    calls: tuple[tuple[str, Mapping[str, Any]], ...]
    conclusion: str


_WALLET = "0x1111111111111111111111111111111111111111"
_ORDER = {"network": "base", "token_in": "ETH", "token_out": "USDC", "amount": "1.5"}
EXAMPLES: tuple[WorkedExample, ...] = (
    WorkedExample(
        "What do I get for 1.5 ETH in USDC on Base?",
        (("quote", _ORDER),),
        "Report outputAmount, minReceived (the minimum after slippage), outputAfterGas, priceImpactPercent, and the"
        " warnings.",
    ),
    WorkedExample(
        "How much ETH do I need for 5,000 USDC?",
        (("quote", _ORDER | {"amount": "5000", "reverse": True}),),
        "inputAmount is the amount to sell. A payload for this output may deliver less, as its warning explains.",
    ),
    WorkedExample(
        "How much cBTC can I sell on Citrea before I lose 1%?",
        (("depth", {"network": "citrea", "token_in": "cBTC", "token_out": "USDC.e"}),),
        "In levels, the entry with impactPercent 1.0: within is the largest amount below it, beyond the next amount.",
    ),
    WorkedExample(
        "Sell $1000 of ETH for the dollar token on Base, to my wallet.",
        (
            ("tokens", {"network": "base", "pattern": "usdc"}),
            ("build_transaction", _ORDER | {"amount": "$1000", "destination": _WALLET}),
        ),
        "Give the user the URI in payload, or the transactions in that resource, with warnings, verdict and"
        " minReceived. The error MODELLED_STATE means that no node returned live prices: tell the user, and build"
        " nothing on modelled prices unless the user requests it.",
    ),
    WorkedExample(
        "A site wants me to sign this. Is it safe?",
        (
            (
                "decode",
                {
                    "network": "base",
                    "to": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
                    "calldata": f"0x095ea7b3{'c' * 40:0>64}{'f' * 64}",
                },
            ),
        ),
        "The verdict is danger: the approval lets an unknown contract take all USDC. Advise not to sign it.",
    ),
)


def instructions() -> str:
    """Return the text that an agent receives when it connects."""
    return " ".join((PURPOSE, *INSTRUCTIONS))


def skill() -> str:
    """Return the skill as Markdown with front matter, the form in which agents load it from a file."""
    return "\n".join(_skill_lines()) + "\n"


def _skill_lines() -> Iterator[str]:
    tools = ", ".join(each.name for each in TOOLS)
    yield from ("---", "name: swapcli", "description: >-", f"  {PURPOSE}", f"  {_USES}", "---", "")
    yield from ("# swapcli", "", PURPOSE, "", f"The server `swapcli mcp` has the tools {tools}.", "")
    yield from ("## Rules", "", *(f"* {each}" for each in INSTRUCTIONS), "", "## Tools", "")
    yield from ("| tool | use | required |", "|---|---|---|")
    for tool in TOOLS:
        yield f"| `{tool.name}` | {tool.description} | {', '.join(f'`{each}`' for each in tool.required) or '-'} |"
    yield from ("", "The other arguments are in the schema of each tool: `swapcli schema mcp-quote-input`.", "")
    for heading in (_RESPONSES, _LIMITS):
        yield from (f"## {heading.capitalize()}", "", *_section(heading), "")
    yield from ("## Worked examples",)
    for example in EXAMPLES:
        yield from ("", f"**{example.question}**", "", "```json")
        for name, arguments in example.calls:
            yield json.dumps({"name": name, "arguments": arguments})
        yield from ("```", "", example.conclusion)


def _section(heading: str) -> list[str]:
    """Return the lines of a section of the topic, with its table as it stands."""
    body = topic_text("agents").split(f"\n{heading}\n")[1]
    text = re.split(r"\n\n(?=[A-Z ]{6,}\n)", body)[0].strip("\n")
    # Four spaces make a table of the topic one of fixed width in Markdown.
    return [f"  {line}" if line.startswith("  ") else line for line in text.splitlines()]
