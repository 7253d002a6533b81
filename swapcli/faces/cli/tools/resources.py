"""The resources and the prompt of the MCP server: the skill, the help topics, and the payloads and proofs made so
far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swapcli.faces.cli.help_topics import ORDER, topic_text
from swapcli.faces.cli.tools.payload_memory import TEMPLATE, PayloadMemory
from swapcli.faces.cli.tools.proof_memory import ProofMemory
from swapcli.faces.cli.tools.skill import SKILL_SUMMARY, skill
from swapcli.faces.mcp.tool import Prompt, PromptArgument, Resource, Resources

SKILL_URI: Final = "swapcli://skill"
_TOPIC_URI: Final = "swapcli://topics/"
_MARKDOWN, _PLAIN = "text/markdown", "text/plain"


def build_resources(payloads: PayloadMemory, proofs: ProofMemory) -> Resources:
    """Return the resources of a server. `payloads` are the payloads that it builds, and `proofs` the proofs of its
    quotes."""
    topics = (
        Resource(_TOPIC_URI + name, name, topic_text(name).partition("\n")[0], _PLAIN, len(topic_text(name)))
        for name in ORDER
    )
    skill_resource = Resource(SKILL_URI, "skill", SKILL_SUMMARY, _MARKDOWN, len(skill()))

    def read(uri: str) -> tuple[str, str] | None:
        if uri == SKILL_URI:
            return skill(), _MARKDOWN
        topic = uri.removeprefix(_TOPIC_URI)
        if topic != uri:
            return (topic_text(topic), _PLAIN) if topic in ORDER else None
        return payloads.read(uri) or proofs.read(uri)

    return Resources((skill_resource, *topics), read, TEMPLATE)


def _write_safe_swap(given: Mapping[str, str]) -> str:
    order = f"Swap {given['amount']} {given['token_in']} for {given['token_out']} on {given['network']}"
    steps = (
        "Find both tokens with tokens and compare their addresses with those that I confirm.",
        "Call quote. Tell me the output, the minimum, the price impact, the gas, and every warning. Stop if prices are"
        " modelled.",
        "Call check with my address as destination and sender. Stop if the verdict is block.",
        "After I agree, call build_transaction, then decode with the URI of its payload and my address as sender. Stop"
        " if the verdict is danger, and read me what is unknown.",
        "Give me the transactions in their order. I sign them in my wallet; never ask for a private key.",
    )
    numbered = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))
    return f"{order}, to {given['destination']}. Do it safely:\n{numbered}"


PROMPTS: Final = (
    Prompt(
        "swap_safely",
        "Swap safely",
        "Quote, check, build and decode a swap, and stop at each danger.",
        (
            PromptArgument("network", "Network, such as base."),
            PromptArgument("token_in", "Token to sell: symbol or address."),
            PromptArgument("token_out", "Token to buy: symbol or address."),
            PromptArgument("amount", "Amount to sell, such as 1.5 or $1000."),
            PromptArgument("destination", "Address that receives the tokens."),
        ),
        _write_safe_swap,
    ),
)
